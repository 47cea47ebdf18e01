"""Trivial agents: one takes empty turns, one makes random tool calls."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hexathlon.baselines.agents.base import Episode, Turn, text_of
from hexathlon.envs.messages import Message
from hexathlon.tasks.seeding import generator_for

__all__ = ["NoopAgent", "RandomAgent", "random_arguments"]

_WORD = re.compile(r"\w[\w.%-]*")
_MAX_WORDS = 400
_DEPTH = 3


class NoopAgent:
    """Takes empty turns until the episode ends."""

    name = "noop"
    version = "1"
    asynchronous = False

    def begin(self, episode: Episode) -> "NoopAgent":
        """Return the agent itself, which has no state."""
        return self

    def act(self, messages: Sequence[Message]) -> Turn:
        """Return an empty turn."""
        return _EMPTY_TURN


_EMPTY_TURN = Turn("")


class RandomAgent:
    """Makes well-formed tool calls with random arguments.

    Strings consist of words from earlier messages, so that they sometimes name existing things.
    """

    name = "random"
    version = "1"
    asynchronous = False

    def begin(self, episode: Episode) -> "_RandomPlayer":
        """Return a player seeded by task, seed and trial."""
        return _RandomPlayer(episode)


class _RandomPlayer:
    def __init__(self, episode: Episode) -> None:
        self._rng = generator_for("random", episode.task.id, episode.seed, episode.trial)
        self._tools = episode.tools
        self._words: list[str] = []

    def act(self, messages: Sequence[Message]) -> Turn:
        """Return one random call."""
        self._words = (self._words + _WORD.findall(text_of(messages)))[-_MAX_WORDS:]
        if not self._tools:
            return Turn(_phrase(self._rng, self._words))
        tool = self._tools[int(self._rng.integers(len(self._tools)))]
        arguments = random_arguments(self._rng, tool["parameters"], self._words)
        call = {"name": tool["name"], "arguments": arguments}
        return Turn(json.dumps(call, ensure_ascii=False))


def random_arguments(
    rng: np.random.Generator, schema: Mapping[str, Any], words: Sequence[str]
) -> dict[str, Any]:
    """Draw arguments that satisfy an object's JSON schema.

    Optional arguments are present with probability 1/2.
    """
    required = schema.get("required", ())
    return {
        name: _value(rng, part, words, _DEPTH)
        for name, part in schema.get("properties", {}).items()
        if name in required or rng.random() < 0.5
    }


def _value(
    rng: np.random.Generator, schema: Mapping[str, Any], words: Sequence[str], depth: int
) -> Any:
    if schema.get("enum"):
        return schema["enum"][int(rng.integers(len(schema["enum"])))]
    kind = schema.get("type", "string")
    if not isinstance(kind, str):
        kind = kind[int(rng.integers(len(kind)))]
    if kind == "integer" or kind == "number":
        low = int(schema.get("minimum", 0))
        number = low + int(rng.integers(int(schema.get("maximum", low + 100)) - low + 1))
        return number if kind == "integer" else float(number)
    if kind == "boolean":
        return bool(rng.integers(2))
    if kind == "null":
        return None
    if kind == "array":
        count = int(rng.integers(min(schema.get("maxItems", 3), 3) + 1)) if depth else 0
        return [_value(rng, schema.get("items", {}), words, depth - 1) for _ in range(count)]
    if kind == "object":
        return random_arguments(rng, schema, words) if depth else {}
    return _phrase(rng, words)[: schema.get("maxLength")]


def _phrase(rng: np.random.Generator, words: Sequence[str]) -> str:
    if not words:
        return "?"
    picks = rng.integers(len(words), size=int(rng.integers(1, 4)))
    return " ".join(words[int(pick)] for pick in picks)
