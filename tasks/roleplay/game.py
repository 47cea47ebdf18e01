"""A game in the making: what a template of a goal with a pay-off hands to the source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hexathlon.tasks.roleplay.stage import Stage
from hexathlon.tasks.task import ToolSchema

__all__ = ["Game"]


@dataclass
class Game:
    """One game with the scripts that prove it."""

    stage: Stage
    """Card, rules of speech and secrets."""

    answering: str
    """Table whose lines say how to answer."""

    check: str
    """Name of the verifier."""

    params: dict[str, Any]
    """For the scene; holds what the other speaker knows, and nothing of the verdict."""

    truth: dict[str, Any]
    """For the verifier."""

    tools: tuple[ToolSchema, ...]
    turns: int
    oracle: Sequence[str] = ()
    alternatives: Mapping[str, Sequence[str]] = field(default_factory=dict)
    mutants: Mapping[str, Sequence[str]] = field(default_factory=dict)
    policies: Mapping[str, Sequence[str]] = field(default_factory=dict)
