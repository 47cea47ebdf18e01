"""Rubrics: atomic criteria for judges, frozen before any answer is seen.

A rubric is a TOML file: a head (`id`, `version`, `aggregator`) and `[[criteria]]`. Its hash covers
every word, so that a judged record names exactly what was asked. The validity of a rubric is
checked by `hexathlon.evaluators.judges.lint`.
"""

import tomllib
from collections.abc import Mapping
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hexathlon.evaluators.canonical import content_hash
from hexathlon.evaluators.judges.labels import ABSTAIN, LABELS

__all__ = [
    "Control",
    "Criterion",
    "Rubric",
    "RubricError",
    "Scope",
    "get_rubric",
    "read_rubric",
    "register_rubric",
    "rubric_names",
]

Kind = Literal["hard", "soft", "pitfall"]
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

    kind: Kind = "soft"
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
        above = {one.parent for one in self.criteria}
        return tuple(one for one in self.criteria if one.id not in above)

    @property
    def judged(self) -> tuple[Criterion, ...]:
        """The criteria that need a judge, since no code decides them."""
        return tuple(one for one in self.decided if one.check is None)

    def criterion(self, name: str) -> Criterion:
        """Return the criterion with this id.

        Raises:
            KeyError: If there is none.
        """
        for one in self.criteria:
            if one.id == name:
                return one
        raise KeyError(name)


_entries: dict[str, Path | None] = {}
_loaded: dict[str, Rubric] = {}


def register_rubric(name: str, path: Path) -> None:
    """Register a rubric file under a name that tasks can use.

    Raises:
        ValueError: If the name is taken by another file.
    """
    if name in rubric_names() and _entries.get(name) != path:
        raise ValueError(f"the rubric name {name!r} is taken; choose another")
    _entries[name] = path


def rubric_names() -> list[str]:
    """Return the names of all rubrics, shipped and registered."""
    folder = resources.files("hexathlon.evaluators.judges").joinpath("rubrics")
    shipped = {file.name.removesuffix(".toml") for file in folder.iterdir() if _is_toml(file.name)}
    return sorted(shipped | set(_entries))


def get_rubric(name: str) -> Rubric:
    """Return a rubric by its registered name.

    Raises:
        RubricError: If nothing is registered under the name, or its file is invalid.
    """
    if name not in _loaded:
        if name not in rubric_names():
            raise RubricError(f"there is no rubric {name!r}. Known: {', '.join(rubric_names())}")
        path = _entries.get(name)
        if path is None:
            folder = resources.files("hexathlon.evaluators.judges").joinpath("rubrics")
            text = folder.joinpath(f"{name}.toml").read_text(encoding="utf-8")
            _loaded[name] = parse_rubric(text, f"the shipped rubric {name}")
        else:
            _loaded[name] = read_rubric(path)
    return _loaded[name]


def read_rubric(path: Path) -> Rubric:
    """Read and check a rubric file.

    Raises:
        RubricError: If it cannot be read, or is invalid; the message lists every fault.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RubricError(f"cannot read the rubric {path}: {error}") from None
    return parse_rubric(text, str(path))


def parse_rubric(text: str, name: str) -> Rubric:
    """Parse and check the text of a rubric file.

    Raises:
        RubricError: If it is invalid; the message lists every fault.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RubricError(f"{name} is not TOML: {error}") from None
    return build_rubric(data, name)


def build_rubric(data: Mapping[str, Any], name: str) -> Rubric:
    """Build a rubric from plain data and check it.

    Raises:
        RubricError: If it is invalid; the message lists every fault.
    """
    from hexathlon.evaluators.judges.lint import lint

    try:
        rubric = Rubric.model_validate(data)
    except ValidationError as error:
        raise RubricError(f"{name}: {_explain(error, data)}") from None
    faults = [finding for finding in lint(rubric) if finding.fatal]
    if faults:
        raise RubricError(f"{name}: " + "; ".join(str(fault) for fault in faults))
    return rubric


def _explain(error: ValidationError, data: Mapping[str, Any]) -> str:
    lines = []
    for fault in error.errors(include_url=False):
        lines.append(f"{_place(fault['loc'], data)}: {fault['msg']}, got {fault['input']!r:.80}")
    return "; ".join(lines)


def _place(location: tuple[int | str, ...], data: Mapping[str, Any]) -> str:
    """Return the location of a fault, naming a criterion by its id if possible."""
    if len(location) > 1 and location[0] == "criteria" and isinstance(location[1], int):
        try:
            name = data["criteria"][location[1]]["id"]
        except (LookupError, TypeError):
            name = location[1] + 1
        return ".".join([f"criterion {name!r}", *map(str, location[2:])])
    return ".".join(map(str, location))


def _is_toml(name: str) -> bool:
    return name.endswith(".toml")
