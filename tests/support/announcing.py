"""The command with announced phases, for tests that interrupt it in one of them.

Run as `python -m support.announcing PHASE NUMBER JOURNAL ARGUMENTS`: when the phase begins for the
NUMBER-th time, a line is printed. The journal gets a line with the time for every step begun, and a
line with the hash for every record written. The phase `start-up` begins before the command is
imported; the phase `hang` is a step that does not end; `executed` interrupts source code that the
command executes during start-up, and `replaced` an import of the compiler, which raises a
SyntaxError instead.
"""

import signal
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

PHASES = {
    "hang": ("hexathlon.envs.base:Environment.step",),
    "reset": ("hexathlon.envs.base:Environment.reset",),
    "step": ("hexathlon.envs.base:Environment.step",),
    "scoring": ("hexathlon.envs.base:Environment.verdict",),
    "writing": ("hexathlon.evaluators.records.writer:RecordWriter.append",),
    "closing": ("hexathlon.baselines.rollout.rollout:EnvironmentSlot.close",),
    "request": ("hexathlon.baselines.engines.http:HttpEngine.chat",),
    "cloning": ("hexathlon.baselines.learner.learner:Learner.update",),
    "rollout": ("hexathlon.baselines.rollout.executor:LocalExecutor.run",),
    "update": ("hexathlon.baselines.learner.learner:Learner.update",),
}
"""The functions with which each phase begins."""


def announce() -> None:
    sys.stdout.write("begun\n")
    sys.stdout.flush()


def around(place: str, before: Callable[[], None], after: Callable[[Any], None]) -> None:
    """Call functions before and after a method of a class."""
    module, _, path = place.partition(":")
    name, _, method = path.partition(".")
    owner = getattr(import_module(module), name)
    original = getattr(owner, method)

    def called(*args: Any, **kwargs: Any) -> Any:
        before()
        result = original(*args, **kwargs)
        after(result)
        return result

    setattr(owner, method, called)


def interrupt_executed_text() -> None:
    from hexathlon_cli import app

    def run(arguments: list[str]) -> int:
        exec("import signal; signal.raise_signal(signal.SIGINT)")
        raise AssertionError("the interruption was not raised")

    app.run = run


def replace_the_interruption() -> None:
    from hexathlon_cli import app

    def run(arguments: list[str]) -> int:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise SyntaxError("can't load unicodedata module") from None
        raise AssertionError("the interruption was not raised")

    app.run = run


def main(phase: str, number: str, path: str, *arguments: str) -> None:
    if phase == "start-up":
        announce()
    elif phase == "executed":
        interrupt_executed_text()
    elif phase == "replaced":
        replace_the_interruption()
    else:
        from support.events import register_toy

        register_toy()
        journal = open(path, "a", buffering=1, encoding="utf-8")
        left = int(number)

        def begun() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                announce()
                if phase == "hang":
                    time.sleep(3600)

        def nothing(result: Any = None) -> None:
            return

        def step() -> None:
            journal.write(f"step {time.monotonic()}\n")

        def record(written: Any) -> None:
            journal.write(f"record {written['hash']}\n")

        around("hexathlon.envs.base:Environment.step", step, nothing)
        around("hexathlon.evaluators.records.writer:RecordWriter.append", nothing, record)
        for place in PHASES[phase]:
            around(place, begun, nothing)
    from hexathlon_cli import main as command

    command(list(arguments))


if __name__ == "__main__":
    main(*sys.argv[1:])
