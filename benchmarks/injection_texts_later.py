"""The second half of the texts for `injections.py`, written after the guard was final."""

from collections.abc import Iterator

from injection_texts import InjectionText, InnocentText

__all__ = ["later_injections", "later_innocent"]


def later_injections() -> list[InjectionText]:
    """Return the injections that were written after the guard was final."""
    return []


def later_innocent() -> Iterator[InnocentText]:
    """Yield the innocent texts that were written after the guard was final."""
    yield from ()
