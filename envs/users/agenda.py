"""What a simulated user wants, knows and puts up with.

An agenda is plain JSON inside a task (`params["user"]`), so that generators can write it without
importing anything from here; this module is where it is checked.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["Agenda", "Slot"]

Value = str | int | float | bool


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Slot(_Strict):
    """One thing that the user knows and tells only when asked for it."""

    value: Value
    """What the user means; hidden until the slot is asked for or volunteered."""

    say: tuple[str, ...] = ()
    """Templates with `{value}` in each; the language's own bank where there are none."""

    ask: tuple[str, ...] = ()
    """Words and phrases of which one must stand in a question about this slot, whole words."""

    volunteer: bool = False
    """Whether the opening tells it unasked."""

    change_to: Value | None = None
    """A second value that the user switches to after the first was told."""

    label: str | None = None
    """How the user calls the slot when complaining about an offer; the slot's name otherwise."""

    @model_validator(mode="after")
    def _can_be_told(self) -> "Slot":
        if not self.volunteer and not self.ask:
            raise ValueError("a slot that is not volunteered needs at least one phrase in `ask`")
        if any(not phrase.strip() for phrase in self.ask):
            raise ValueError("a phrase in `ask` is empty and would match every question")
        if any("{value}" not in template for template in self.say):
            raise ValueError("every template in `say` must hold {value}")
        return self


class Agenda(_Strict):
    """What one simulated user wants."""

    goal: str = Field(min_length=1)
    """Said in the opening; must not give away a slot that is to be asked for."""

    slots: dict[str, Slot] = Field(default_factory=dict)
    patience: int = Field(default=4, ge=1)
    """How many useless, repeated or overloaded messages, and rejected offers, until they leave."""

    slots_per_turn: int = Field(default=2, ge=1)
    """Most slots that one answer reveals, however many were asked for."""

    style: Literal["plain", "warm"] = "plain"
    language: Literal["en", "zh"] = "en"

    @classmethod
    def parse(cls, data: "Agenda | dict[str, Any]") -> "Agenda":
        """Check an agenda that came as JSON.

        Raises:
            pydantic.ValidationError: A field is missing, unknown or of the wrong kind.
        """
        return data if isinstance(data, Agenda) else cls.model_validate(data)
