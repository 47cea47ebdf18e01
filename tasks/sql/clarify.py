"""The simulated user of a task: knows what the question leaves open, or has nothing to add.

Questions that leave nothing open sometimes come with a user too, so that being able to ask does
not tell that asking is needed.
"""

from typing import Any

from hexathlon.tasks.sql.templates.draft import Slot

__all__ = ["agenda", "idle_agenda"]

_PATIENCE = 3


def agenda(slot: Slot) -> dict[str, Any]:
    """The agenda of a user who knows the value of a slot and tells it when asked."""
    return {
        "goal": "I need the figures that I described.",
        "slots": {slot.name: {"value": slot.value, "say": list(slot.say), "ask": list(slot.ask)}},
        "patience": _PATIENCE,
    }


def idle_agenda() -> dict[str, Any]:
    """The agenda of a user who has said everything already."""
    return {"goal": "I need the figures that I described.", "slots": {}, "patience": _PATIENCE}
