"""Soft prefixes as tokens: ids that stand for embeddings which no text has.

The id of a soft token contains the number of its prefix and its place in it. The number determines
the embeddings, so equal ids are equal inputs, and token trees, requests, caches and trainers treat
soft tokens as they treat words. A model reads them once it has a palette
(`hexathlon.baselines.engines.local.soft`); no model samples them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from hexathlon.baselines.tokens.patches import FIRST_PATCH
from hexathlon.tasks.seeding import generator_for

__all__ = ["DRAWN", "FIRST_SOFT", "MOST_SOFT", "SoftPrefixes", "is_soft", "soft_ids", "soft_parts",
           "without_soft"]  # fmt: skip

_PLACE_BITS = 8

FIRST_SOFT: Final = 1 << 61
"""Ids from here to the first patch are soft tokens."""

MOST_SOFT: Final = 1 << _PLACE_BITS
"""Soft tokens of a prefix at most."""

DRAWN: Final = 1 << 51
"""Numbers below it are drawn for rollouts; others, below 2**52, are assigned."""


def soft_ids(number: int, count: int) -> tuple[int, ...]:
    """Return the ids of a prefix.

    Args:
        number: Number of the prefix, below 2**52.
        count: Its soft tokens.
    """
    first = FIRST_SOFT + (number << _PLACE_BITS)
    return tuple(range(first, first + count))


def is_soft(ids: Any) -> Any:
    """Return which ids are soft tokens; ids are an integer, or an array or tensor of 64 bits."""
    return (ids >= FIRST_SOFT) & (ids < FIRST_PATCH)


def soft_parts(ids: Any) -> tuple[Any, Any]:
    """Return the prefixes' numbers and the places in them, of an array or tensor of soft tokens."""
    return (ids - FIRST_SOFT) >> _PLACE_BITS, ids & (MOST_SOFT - 1)


def without_soft(ids: Sequence[int]) -> tuple[int, ...]:
    """Return the ids that are no soft tokens."""
    return tuple(token for token in ids if not is_soft(token))


@dataclass(slots=True)
class SoftPrefixes:
    """Draws a prefix, or none, for each rollout of a training run."""

    seed: int
    tokens: int
    """Soft tokens of a prefix."""

    share: float = 0.0
    """Share of the rollouts that get a prefix; may be set between two steps. A rollout with a
    prefix at one share also has it, the same one, at any larger share."""

    def drawn(self, *key: str | int) -> tuple[int, ...]:
        """Return the soft tokens of a rollout, which depend on the seed and its key; () for none.

        Args:
            key: The rollout's environment, task, seed and trial.
        """
        draw = generator_for("soft prefix", self.seed, *key)
        if draw.random() >= self.share:
            return ()
        return soft_ids(int(draw.integers(DRAWN)), self.tokens)
