"""The reference of Vela as a package of its own, for a given release."""

import ast
import inspect
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from hexathlon.tasks.terminal.templates.long.language import (
    compiling,
    declaring,
    expressing,
    jumping,
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
    modules = (compiling, declaring, expressing, jumping, meaning, scanning, world)
    texts = {each.__name__.removeprefix(own): _bare(inspect.getsource(each)) for each in modules}
    return {f"vela/{name}.py": text.replace(own, "vela.") for name, text in texts.items()}


def _bare(text: str) -> str:
    """Return a module's source without docstrings and comments: an action has limited length."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [each for each in body if not _is_text(each)]
            node.body = kept or [ast.Pass()]  # type: ignore[attr-defined]
    return ast.unparse(tree) + "\n"


def _is_text(node: ast.stmt) -> bool:
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return False
    return isinstance(node.value.value, str)


def reference_package(rules: Mapping[str, Any]) -> dict[str, str]:
    """Return the reference's sources, bound to these rules, by path."""
    made = {"vela/__init__.py": "", "vela/__main__.py": _MAIN.format(rules=dict(rules))}
    return made | _modules()
