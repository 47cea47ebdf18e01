"""Agenda of a simulated user: goal, slots and patience.

An agenda is plain JSON inside a task (`params["user"]`), so that generators can write it without
importing this module, which validates it.
"""

from typing import Any, Literal

from pydantic import Field, model_validator

from hexathlon.tasks.record import StrictRecord

__all__ = ["Agenda", "Slot"]

SlotValue = str | int | float | bool


class Slot(StrictRecord):
    """One fact that the user knows and reveals only when asked."""

    value: SlotValue
    """The true value; hidden until the slot is asked for or volunteered."""

    say: tuple[str, ...] = ()
    """Templates, each with `{value}`; empty: the language's own bank."""

    ask: tuple[str, ...] = ()
    """Words and phrases, matched as whole words; questions about this slot contain one of them."""

    volunteer: bool = False
    """Whether the opening reveals it without being asked."""

    change_to: SlotValue | None = None
    """A second value, to which the user switches after revealing the first."""

    label: str | None = None
    """The user's name for the slot when rejecting an offer; the slot's name by default."""

    @model_validator(mode="after")
    def _can_be_told(self) -> "Slot":
        if not self.volunteer and not self.ask:
            raise ValueError("a slot that is not volunteered needs at least one phrase in `ask`")
        if any(not phrase.strip() for phrase in self.ask):
            raise ValueError("a phrase in `ask` is empty and would match every question")
        if any("{value}" not in template for template in self.say):
            raise ValueError("every template in `say` must contain {value}")
        return self


class Agenda(StrictRecord):
    """Agenda of one simulated user."""

    goal: str = Field(min_length=1)
    """Stated in the opening; must not reveal a slot that has to be asked for."""

    slots: dict[str, Slot] = Field(default_factory=dict)
    patience: int = Field(default=4, ge=1)
    """Number of useless, repeated or overloaded messages and rejected offers before they leave."""

    slots_per_turn: int = Field(default=2, ge=1)
    """Maximum number of slots revealed in one answer, however many were asked for."""

    style: Literal["plain", "warm"] = "plain"
    language: Literal["en", "zh"] = "en"

    @classmethod
    def parse(cls, data: "Agenda | dict[str, Any]") -> "Agenda":
        """Validate an agenda given as JSON.

        Raises:
            InvalidRecord: If a field is missing, unknown or of the wrong kind.
        """
        return data if isinstance(data, Agenda) else cls.model_validate(data)
