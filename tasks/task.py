"""The task record: what is asked of the agent, and by which checks it is judged.

A `Task` is immutable plain data and a pure function of (generator, version, split, index). It
holds nothing that runs: environments, verifiers and oracles are found by name. What it holds in
`params`, `checks` and `canary` is for the environment and the verifier; the agent sees
`instruction` and `tools`, nothing else.
"""

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field

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


class _Record(BaseModel):
    """An immutable record that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Limits(_Record):
    """What one episode may use up."""

    turns: int = Field(default=20, ge=1)
    """Assistant turns; the episode is truncated after the last one."""

    seconds_per_action: float = Field(default=10.0, gt=0)
    """Wall-clock seconds for one action inside the environment."""

    observation_chars: int = Field(default=20_000, ge=200, le=65_536)
    """Longest observation; longer ones are cut in the middle, with a marker that says so."""


class ToolSchema(_Record):
    """One tool as the agent is told of it."""

    name: str
    description: str
    parameters: dict[str, Any]
    """A JSON schema of type object."""


class Check(_Record):
    """One verifier, asked for by its registered name."""

    name: str
    params: dict[str, Any] = Field(default_factory=dict)
    """Passed to the verifier; may hold expected answers, which the agent never sees."""

    headline: bool = True
    """Whether the score depends on it; otherwise it is reported beside the score, as a term."""


class Task(_Record):
    """One task."""

    id: str = Field(pattern=r"^[a-z0-9-]+(/[A-Za-z0-9_.-]+){4}$")
    """`generator/template/level/split/index`."""

    family: str
    """The event: shopping, sql, terminal, web, gui or roleplay, or a plugin's own word."""

    generator: str
    version: str
    """Rises when the same id can mean another task."""

    level: Level
    split: Split
    seed: int
    instruction: str
    params: dict[str, Any] = Field(default_factory=dict)
    """What the environment needs to build the world; JSON values only."""

    tools: tuple[ToolSchema, ...] = ()
    limits: Limits = Limits()
    checks: tuple[Check, ...] = Field(min_length=1)
    """All must hold for a score of 1."""

    rubric: str | None = None
    """Name of the rubric that a judge applies, where code cannot decide."""

    twin: str | None = None
    """Id of the task that differs from this one in the deciding fact only."""

    canary: str = ""
    """A string planted in the truth; seen on the agent's side, it proves a leak."""

    @property
    def template(self) -> str:
        """The second part of the id: tasks of one template form a statistical cluster."""
        return self.id.split("/")[1]

    @cached_property
    def hash(self) -> str:
        """SHA-256 (hex) of the record's canonical JSON."""
        data = self.model_dump(mode="json")
        text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy the record; the copy works its hash out anew."""
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("hash", None)
        return copied
