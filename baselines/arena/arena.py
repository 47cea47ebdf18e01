"""Ratings of agents from pairwise comparisons of their performances."""

import asyncio
import inspect
import itertools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hexathlon.baselines import interrupts
from hexathlon.baselines.arena.simulation import Performance
from hexathlon.evaluators.statistics.ratings import (
    Comparison,
    RatedGroup,
    Rating,
    bradley_terry,
)

__all__ = ["ArenaResult", "Comparer", "run_arena", "run_arena_async"]

Comparer = Callable[[Performance, Performance], "float | None | Awaitable[float | None]"]
"""Returns the first performance's result: 1 better, 0.5 tie, 0 worse; None for an abstention."""


@dataclass(frozen=True, slots=True)
class ArenaResult:
    """Ratings and the comparisons they were computed from."""

    groups: Sequence[RatedGroup]
    """Ratings of each group of agents that comparisons connect; empty without comparisons."""

    comparisons: Sequence[Comparison]
    abstained: int
    """Number of pairs on which the comparer abstained; they do not affect the ratings."""

    unplayed: int
    """Number of performances that ended in infrastructure failures; they are not compared."""

    @property
    def ratings(self) -> Sequence[Rating]:
        """The ratings of all agents, best first; empty without comparisons.

        Raises:
            ValueError: If no chain of comparisons connects some agents: their ratings have no
                common scale, see `groups`.
        """
        if len(self.groups) > 1:
            names = "; ".join(group.name for group in self.groups)
            raise ValueError(
                f"expected agents connected by comparisons, got {len(self.groups)} groups without "
                f"a common scale: {names}; compare agents of different groups, or use `groups`"
            )
        return self.groups[0].ratings if self.groups else ()

    def as_json(self) -> dict[str, Any]:
        """Return the result as plain JSON, as in the arena's file."""
        return {
            "comparisons": [list(row) for row in self.comparisons],
            "abstained": self.abstained,
            "unplayed": self.unplayed,
            "groups": [asdict(group) for group in self.groups],
        }


def run_arena(
    performances: Sequence[Performance], compare: Comparer, **options: Any
) -> ArenaResult:
    """Run `run_arena_async` on a new event loop."""
    return interrupts.run(run_arena_async(performances, compare, **options))


async def run_arena_async(
    performances: Sequence[Performance],
    compare: Comparer,
    *,
    both_orders: bool = False,
    confidence: float = 0.95,
) -> ArenaResult:
    """Compare all pairs of performances on each scene and rate the agents.

    Args:
        performances: Results of `simulate`.
        compare: The comparer; see `hexathlon.baselines.arena.judges`.
        both_orders: Compare each pair in both orders and average the results, for comparers that
            do not do so themselves. An abstention in either order counts for the pair.
        confidence: Confidence level of the intervals.
    """
    played = [performance for performance in performances if performance.played]
    scenes: dict[str, list[Performance]] = {}
    for performance in played:
        scenes.setdefault(performance.scene, []).append(performance)
    pairs = [
        pair for group in scenes.values() for pair in itertools.combinations(group, 2)
    ]  # fmt: skip
    results = await _ask_all(pairs, compare, both_orders)
    comparisons = [
        Comparison(a.agent, b.agent, result, a.scene)
        for (a, b), result in zip(pairs, results, strict=True)
        if result is not None
    ]
    groups = bradley_terry(comparisons, confidence=confidence) if comparisons else []
    abstained = len(pairs) - len(comparisons)
    return ArenaResult(groups, comparisons, abstained, len(performances) - len(played))


async def _ask_all(
    pairs: Sequence[tuple[Performance, Performance]], compare: Comparer, both_orders: bool
) -> list[float | None]:
    return list(await asyncio.gather(*(_ask(a, b, compare, both_orders) for a, b in pairs)))


async def _ask(
    first: Performance, second: Performance, compare: Comparer, both_orders: bool
) -> float | None:
    forward = await _answer(compare(first, second))
    if not both_orders or forward is None:
        return forward
    backward = await _answer(compare(second, first))
    return None if backward is None else (forward + 1.0 - backward) / 2.0


async def _answer(result: "float | None | Awaitable[float | None]") -> float | None:
    return await result if inspect.isawaitable(result) else result
