"""The task record: the agent's instruction and tools, and the checks that score the result.

A `Task` is immutable plain data and a pure function of (generator, version, split, index). It
contains no executable objects: environments, verifiers and oracles are looked up by name. The
environment and the verifier read `params`, `checks` and `canary`; the agent sees only `instruction`
and `tools`.
"""

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Self, get_args

from pydantic import Field

from hexathlon.tasks.record import StrictRecord

__all__ = [
    "LEVELS",
    "SPLITS",
    "Check",
    "Level",
    "Limits",
    "Split",
    "Task",
    "ToolSchema",
]

Level = Literal["tiny", "easy", "medium", "hard"]
Split = Literal["train", "dev", "test", "heldout"]

LEVELS: tuple[Level, ...] = get_args(Level)
SPLITS: tuple[Split, ...] = get_args(Split)


class Limits(StrictRecord):
    """Resource limits of one episode."""

    turns: int = Field(default=20, ge=1)
    """Assistant turns; a call beyond the first of its turn counts as one, too.

    The episode is truncated after the last one.
    """

    seconds_per_action: float = Field(default=10.0, gt=0)
    """Wall-clock seconds for one action inside the environment."""

    observation_chars: int = Field(default=20_000, ge=200, le=65_536)
    """Maximum length of an observation; longer ones are cut in the middle, with a marker."""


class ToolSchema(StrictRecord):
    """A tool's schema, as the agent sees it."""

    name: str
    description: str
    parameters: dict[str, Any]
    """A JSON schema of type object."""


class Check(StrictRecord):
    """A verifier, referenced by its registered name."""

    name: str
    params: dict[str, Any] = Field(default_factory=dict)
    """Parameters of the verifier; may contain expected answers, which the agent never sees."""

    headline: bool = True
    """Whether the check decides the score; otherwise it is reported as a separate term."""


class Task(StrictRecord):
    """A task: an immutable record."""

    id: str = Field(pattern=r"^[a-z0-9-]+(/[A-Za-z0-9_.-]+){4}$")
    """`generator/template/level/split/index`."""

    family: str
    """The event (shopping, sql, terminal, web, gui or roleplay) or a plugin's own name."""

    generator: str
    version: str
    """Incremented when an existing id may denote a different task."""

    level: Level
    split: Split
    seed: int
    instruction: str
    params: dict[str, Any] = Field(default_factory=dict)
    """Parameters from which the environment builds the world; JSON values only."""

    tools: tuple[ToolSchema, ...] = ()
    limits: Limits = Limits()
    checks: tuple[Check, ...] = Field(min_length=1)
    """All headline checks must pass for a score of 1."""

    rubric: str | None = None
    """Name of the rubric that a judge applies where no code can decide."""

    twin: str | None = None
    """Id of the task that differs from this one only in the deciding fact."""

    canary: str = ""
    """A string planted in the ground truth; its appearance on the agent's side proves a leak."""

    @property
    def template(self) -> str:
        """The template, second part of the id; tasks of one template form a statistical cluster."""
        return self.id.split("/")[1]

    @property
    def opaque_id(self) -> str:
        """The name by which the agent's side knows the task: generator and digest, and no more."""
        return f"{self.generator}/{self.hash[:16]}"

    @cached_property
    def hash(self) -> str:
        """SHA-256 (hex) of the record's canonical JSON."""
        data = self.model_dump(mode="json")
        text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy the record; the copy computes its own hash."""
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("hash", None)
        return copied
