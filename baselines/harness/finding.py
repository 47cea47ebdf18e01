"""Findings of a verification: where a run and its replay, or its plan, disagree."""

from typing import Any, NamedTuple

from hexathlon.evaluators.records import TrialKey

__all__ = ["Finding", "abridged", "key_text"]

_LONGEST = 160


class Finding(NamedTuple):
    """One discrepancy between a run and its replay."""

    trial: str
    """The trial's key as text; `plan`, `records` or a judged file's name for the whole run."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.trial}: {self.field}: {self.message}"


def key_text(key: TrialKey) -> str:
    """Return a trial's key as text."""
    env, task, seed, trial = key
    return f"{env} {task} seed {seed} trial {trial}"


def abridged(value: Any) -> str:
    """Return a value as text of limited length."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
