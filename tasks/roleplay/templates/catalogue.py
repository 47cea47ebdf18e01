"""The templates by name."""

from collections.abc import Callable, Mapping

from hexathlon.tasks.roleplay.stage import Order, Stage
from hexathlon.tasks.roleplay.templates.boundary import boundary, timepoint

__all__ = ["DIALOGUES"]

DIALOGUES: Mapping[str, Callable[[Order], Stage]] = {
    "boundary": boundary,
    "timepoint": timepoint,
}
"""Templates whose tasks are beats of a dialogue."""
