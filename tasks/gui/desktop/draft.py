"""Drafts of desktop tasks: what a template draws, before it becomes a task record."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hexathlon.tasks.gui.desktop.pilot import DesktopPilot
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level, Split

__all__ = ["DesktopDraft", "DesktopScene", "DesktopSolver", "DesktopTemplate", "Refusal"]

DesktopSolver = Callable[[DesktopPilot], Script]
"""A way to work on a task."""


@dataclass(frozen=True)
class DesktopScene:
    """Inputs of a template's draw."""

    rng: np.random.Generator
    level: Level
    split: Split
    feasible: bool
    """False for the infeasible one of two twins."""

    def pick(self, values: Sequence[Any]) -> Any:
        """Return one of the values."""
        return values[int(self.rng.integers(len(values)))]

    def sample(self, values: Sequence[Any], count: int) -> list[Any]:
        """Return distinct values in random order."""
        order = self.rng.permutation(len(values))[:count]
        return [values[int(at)] for at in order]

    def number(self, low: int, high: int) -> int:
        """Return an integer from `low` to `high`, inclusive."""
        return int(self.rng.integers(low, high + 1))


@dataclass(frozen=True)
class Refusal:
    """The correct report on an infeasible task."""

    reason: str
    record: str


@dataclass(frozen=True)
class DesktopDraft:
    """One task."""

    instruction: str
    files: Mapping[str, Mapping[str, Any]]
    """Path in the home folder → stored content, see `stored` of the environment."""

    solve: DesktopSolver
    mutants: Mapping[str, DesktopSolver]
    alternatives: Mapping[str, DesktopSolver]
    changed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Path → final content of the file: `kind` and the kind's own fields."""

    deleted: Sequence[str] = ()
    answer: Sequence[str] | None = None
    """Accepted answers; None if no answer is asked for."""

    refusal: Refusal | None = None
    turns: int = 60
    open_at_start: Sequence[tuple[str, str | None]] = ()


@dataclass(frozen=True)
class DesktopTemplate:
    """A kind of task."""

    name: str
    levels: Sequence[Level]
    draw: Callable[[DesktopScene], DesktopDraft | None]
    """Draws a task; None if the draw is unsuitable."""

    reason: str = ""
    """For templates with twins: the reason code that reports the task as infeasible."""

    programs: Sequence[str] = ()

    @property
    def twins(self) -> bool:
        """Whether one task of each pair is infeasible."""
        return bool(self.reason)
