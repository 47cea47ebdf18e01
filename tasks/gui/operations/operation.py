"""An operation: a script that performs it, and its effect on the expected state."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hexathlon.tasks.gui.operations.expected import ExpectedPhone
from hexathlon.tasks.gui.pilot import NoSuchElement, PhonePilot
from hexathlon.tasks.gui.world.system.plan import PhonePlan
from hexathlon.tasks.source import Script

__all__ = [
    "PhoneOperation",
    "OperationScript",
    "answering",
    "asking",
    "done",
    "in_sequence",
    "outcome",
    "reading",
    "refusing",
    "tolerant",
]

OperationScript = Callable[[PhonePilot], Script]
"""A script, given the pilot that reads the screen for it."""


@dataclass(frozen=True)
class PhoneOperation:
    """Something done on a phone."""

    run: OperationScript
    effect: Callable[[ExpectedPhone], object] | None = None
    """None if it only reads; what it returns is ignored."""

    actions: int = 8
    """Typical number of the script's actions, of which budgets are a multiple."""


def reading(run: OperationScript) -> PhoneOperation:
    """Return an operation that only reads."""
    return PhoneOperation(run)


def in_sequence(*parts: PhoneOperation | OperationScript) -> OperationScript:
    """Run operations or scripts one after the other."""

    def run(pilot: PhonePilot) -> Script:
        for part in parts:
            yield from (part.run if isinstance(part, PhoneOperation) else part)(pilot)

    return run


def tolerant(script: OperationScript) -> OperationScript:
    """Report completion when a script no longer finds its elements; for scripts that must fail."""

    def run(pilot: PhonePilot) -> Script:
        try:
            yield from script(pilot)
        except (NoSuchElement, StopIteration, IndexError):
            yield from pilot.done()

    return run


def outcome(plan: PhonePlan, operations: Iterable[PhoneOperation]) -> dict[str, Any]:
    """Return the changes that operations make."""
    expected = ExpectedPhone(plan)
    for operation in operations:
        if operation.effect is not None:
            operation.effect(expected)
    return expected.changes()


def done(pilot: PhonePilot) -> Script:
    """Report the request as complete."""
    yield from pilot.done()


def answering(values: Sequence[object]) -> OperationScript:
    """Answer and report the request as complete."""
    return lambda pilot: pilot.answer(*values)


def refusing(record: str) -> OperationScript:
    """Report the request as infeasible because of an entry."""
    return lambda pilot: pilot.refuse(record, "conflict")


def asking(question: str) -> PhoneOperation:
    """Ask the user for a fact."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.act("ask_user", question=question)
        yield from pilot.act("wait")

    return PhoneOperation(run)
