"""Rubrics: atomic criteria for judges, frozen before any answer is seen.

A rubric is a TOML file: a header (`id`, `version`, `aggregator`) and `[[criteria]]`. Its hash
covers every word, so that a judged record names exactly what was asked.
`hexathlon.evaluators.judges.lint` checks that a rubric is sound;
`hexathlon.evaluators.judges.rubric_files` reads the files.
"""

from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from hexathlon.evaluators.judges.labels import ABSTAIN, LABELS
from hexathlon.evaluators.records.canonical import content_hash

__all__ = [
    "Control",
    "Criterion",
    "Rubric",
    "RubricError",
    "Scope",
]

CriterionKind = Literal["hard", "soft", "pitfall"]
Scope = Literal["last", "agent", "transcript"]
"""Allowed location of evidence: the agent's last turn, all its turns, or any message."""


class RubricError(ValueError):
    """A rubric cannot be used; the message says why."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Control(_Part):
    """A planted answer whose label is known; mixed into every judged run."""

    reply: str = Field(min_length=1)
    label: str
    question: str = ""
    """The question that the reply answers."""


class Predicate(_Part):
    """Code that decides a criterion, by its registered name."""

    name: str
    params: dict[str, Any] = Field(default_factory=dict)


class Criterion(_Part):
    """One statement to decide."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,63}$")
    text: str = Field(min_length=1)
    """A statement about the transcript, true or false in itself."""

    weight: float = 1.0
    """Below 0 for a pitfall, above 0 otherwise; the unit is the rubric's own."""

    kind: CriterionKind = "soft"
    scope: Scope = "agent"
    why: str = ""
    """Why code cannot decide it. Required unless `check` is set."""

    check: Predicate | None = None
    """Decides by code; no judge is asked."""

    choices: tuple[str, ...] = ()
    """Labels of an ordinal criterion, worst to best; by default `not_met` and `met`."""

    parent: str = ""
    """The criterion above this one in a checkpoint tree."""

    dimension: str = ""
    """Name of the reward dimension, for aggregators that weight dimensions."""

    controls: tuple[Control, ...] = ()

    @property
    def menu(self) -> tuple[str, ...]:
        """The deciding labels, from worst to best."""
        return self.choices or LABELS

    def value_of(self, label: str) -> float | None:
        """Return (rank - 1)/(number of labels - 1), or None for an abstention."""
        if label == ABSTAIN:
            return None
        return self.menu.index(label) / (len(self.menu) - 1)


class Rubric(_Part):
    """Criteria, and the aggregator that combines them into one score."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,63}$")
    version: str = "1"
    title: str = ""
    aggregator: str = "healthbench"
    criteria: tuple[Criterion, ...] = Field(min_length=1)
    made_from: str = ""
    """Hash of the question from which a model wrote the criteria; empty for a written rubric."""

    @cached_property
    def hash(self) -> str:
        """SHA-256 over every word of the rubric."""
        return content_hash(self.model_dump(mode="json"))

    @cached_property
    def decided(self) -> tuple[Criterion, ...]:
        """The criteria that are decided directly: all except inner nodes of a tree."""
        above = {criterion.parent for criterion in self.criteria}
        return tuple(criterion for criterion in self.criteria if criterion.id not in above)

    @property
    def judged(self) -> tuple[Criterion, ...]:
        """The criteria that need a judge, since no code decides them."""
        return tuple(criterion for criterion in self.decided if criterion.check is None)

    def criterion(self, name: str) -> Criterion:
        """Return the criterion with this id.

        Raises:
            KeyError: If the id is unknown.
        """
        for criterion in self.criteria:
            if criterion.id == name:
                return criterion
        raise KeyError(name)
