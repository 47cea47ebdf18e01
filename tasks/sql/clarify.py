"""The simulated user of a task, who either resolves the question's ambiguity or has nothing to add.

Some fully specified questions also come with a user, so that the presence of a user does not show
that clarification is needed.
"""

from typing import Any

from hexathlon.tasks.sql.templates.draft import AmbiguitySlot

__all__ = ["agenda", "idle_agenda"]

_PATIENCE = 3


def agenda(slot: AmbiguitySlot) -> dict[str, Any]:
    """Return the agenda of a user who knows a slot's value and gives it when asked."""
    return {
        "goal": "I need the figures that I described.",
        "slots": {slot.name: {"value": slot.value, "say": list(slot.say), "ask": list(slot.ask)}},
        "patience": _PATIENCE,
    }


def idle_agenda() -> dict[str, Any]:
    """Return the agenda of a user with nothing to add."""
    return {"goal": "I need the figures that I described.", "slots": {}, "patience": _PATIENCE}
