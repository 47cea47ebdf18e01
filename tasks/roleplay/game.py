"""A game under construction, as a template passes it to the source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hexathlon.tasks.roleplay.stage import Stage
from hexathlon.tasks.task import ToolSchema

__all__ = ["Game"]


@dataclass
class Game:
    """A game with the scripts that validate it."""

    stage: Stage
    """Card, speech rules and secrets."""

    answering: str
    """Table whose lines explain how to answer."""

    check: str
    """Name of the verifier."""

    params: dict[str, Any]
    """Parameters of the scene, including the other speaker's knowledge; contain nothing of the
    verdict."""

    truth: dict[str, Any]
    """Parameters of the verifier."""

    tools: tuple[ToolSchema, ...]
    turns: int
    oracle: Sequence[str] = ()
    alternatives: Mapping[str, Sequence[str]] = field(default_factory=dict)
    mutants: Mapping[str, Sequence[str]] = field(default_factory=dict)
    policies: Mapping[str, Sequence[str]] = field(default_factory=dict)
