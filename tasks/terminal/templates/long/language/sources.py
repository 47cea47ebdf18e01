"""The reference of Vela as a package of its own, for a given release."""

import inspect
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from hexathlon.tasks.terminal.templates.long.language import (
    compiling,
    declaring,
    expressing,
    meaning,
    scanning,
    world,
)

__all__ = ["reference_package"]

_MAIN = """import os
import sys
import threading

from vela.compiling import outcome

RULES = {rules!r}


def read(path):
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8") as source:
        return source.read()


def main():
    done = []
    threading.stack_size(512 * 2**20)
    worker = threading.Thread(target=lambda: done.append(outcome(read, sys.argv[1], RULES)))
    worker.start()
    worker.join()
    text, code = done[0]
    sys.stdout.write(text)
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
"""


@lru_cache(maxsize=1)
def _modules() -> dict[str, str]:
    own = f"{__name__.rpartition('.')[0]}."
    modules = (compiling, declaring, expressing, meaning, scanning, world)
    texts = {each.__name__.removeprefix(own): inspect.getsource(each) for each in modules}
    return {f"vela/{name}.py": text.replace(own, "vela.") for name, text in texts.items()}


def reference_package(rules: Mapping[str, Any]) -> dict[str, str]:
    """Return the reference's sources, bound to these rules, by path."""
    made = {"vela/__init__.py": "", "vela/__main__.py": _MAIN.format(rules=dict(rules))}
    return made | _modules()
