"""The character's free choices, as interpreted by both the visitor and the verifier."""

from collections.abc import Sequence

from hexathlon.tasks.roleplay.text import same_value

__all__ = ["chosen_option", "other_option"]


def chosen_option(options: Sequence[str], given: str) -> str | None:
    """Return the option that a typed value denotes, or None."""
    return next((option for option in options if same_value(given, option)), None)


def other_option(options: Sequence[str], given: str) -> str:
    """Return an option that was not chosen: the next one, cyclically."""
    chosen = chosen_option(options, given)
    place = options.index(chosen) if chosen is not None else 0
    return options[(place + 1) % len(options)]
