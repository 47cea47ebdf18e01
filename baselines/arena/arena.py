"""The arena's second half: performances of one scene are compared pair by pair, and rated."""

import asyncio
import inspect
import itertools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hexathlon.baselines import interrupts
from hexathlon.baselines.arena.simulation import Performance
from hexathlon.evaluators.statistics.ratings import Comparison, Rating, bradley_terry

__all__ = ["ArenaResult", "Comparer", "run_arena", "run_arena_async"]

Comparer = Callable[[Performance, Performance], "float | None | Awaitable[float | None]"]
"""Returns the result of the first: 1 better, 0.5 tie, 0 worse; None for no answer."""


@dataclass(frozen=True, slots=True)
class ArenaResult:
    """What an arena found."""

    ratings: Sequence[Rating]
    """Best first; empty where nothing could be compared."""

    comparisons: Sequence[Comparison]
    abstained: int
    """Pairs on which the judge gave no answer; they count for nobody."""

    unplayed: int
    """Trajectories that infrastructure spoilt; they were not compared."""


def run_arena(
    performances: Sequence[Performance], compare: Comparer, **options: Any
) -> ArenaResult:
    """Do as `run_arena_async` does, on an event loop of its own."""
    return interrupts.run(run_arena_async(performances, compare, **options))


async def run_arena_async(
    performances: Sequence[Performance],
    compare: Comparer,
    *,
    both_orders: bool = False,
    resamples: int = 200,
    confidence: float = 0.95,
    seed: int = 0,
) -> ArenaResult:
    """Compare all pairs of performances on each scene and rate the agents.

    Args:
        performances: As `simulate` returns them.
        compare: A judge; see `hexathlon.baselines.arena.judges`.
        both_orders: Ask a second time with the places exchanged and take the mean; for judges that
            do not do so themselves. One silent order silences the pair.
        resamples: Of the intervals' bootstrap over scenes.
        confidence: Level of the intervals.
        seed: Of the bootstrap.
    """
    played = [one for one in performances if one.played]
    scenes: dict[str, list[Performance]] = {}
    for one in played:
        scenes.setdefault(one.scene, []).append(one)
    pairs = [
        pair for group in scenes.values() for pair in itertools.combinations(group, 2)
    ]  # fmt: skip
    results = await _ask_all(pairs, compare, both_orders)
    comparisons = [
        Comparison(a.agent, b.agent, result, a.scene)
        for (a, b), result in zip(pairs, results, strict=True)
        if result is not None
    ]
    ratings = (
        bradley_terry(comparisons, resamples=resamples, confidence=confidence, seed=seed)
        if comparisons
        else []
    )
    silent = len(pairs) - len(comparisons)
    return ArenaResult(ratings, comparisons, silent, len(performances) - len(played))


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


async def _answer(given: "float | None | Awaitable[float | None]") -> float | None:
    return await given if inspect.isawaitable(given) else given
