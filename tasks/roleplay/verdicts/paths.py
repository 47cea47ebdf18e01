"""Reckonings step by step, with at most one planted error of a known pattern.

The patterns are the six of Socratic-PRMBench: transformation (the question is restated wrongly),
decomposition (the plan leaves out a part), regather (a known value is copied wrongly), deduction
(a calculation is wrong), verification (a check that fails is accepted) and integration (parts are
combined wrongly). Steps after an error go on from what it says, so that only the first one is wrong
in itself.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hexathlon.tasks.roleplay.card import draw_pools
from hexathlon.tasks.task import Split

__all__ = ["PATTERNS", "ReckoningPath", "draw_path"]

PATTERNS = (
    "transformation", "decomposition", "regather", "deduction", "verification", "integration",
)  # fmt: skip

_WARES: Mapping[Split, Sequence[str]] = {
    "train": ("rope", "kettle", "lantern", "barrel", "cloak", "basket", "candle", "saddle"),
    "dev": ("blanket", "hammer", "mirror", "pillow", "needle", "spade"),
    "test": ("bell", "shovel", "bottle", "mitten", "anvil", "broom"),
    "heldout": ("comb", "drum", "flute", "ribbon", "sieve", "trunk"),
}


class ReckoningPath(NamedTuple):
    """A question and the steps of an answer."""

    question: str
    steps: tuple[str, ...]
    error: int | None
    """Number of the first wrong step, from 1; None if all are right."""


class _Purchase(NamedTuple):
    wares: tuple[str, str]
    counts: tuple[int, int]
    prices: tuple[int, int]
    paid: int


def draw_path(pattern: str, split: Split, rng: np.random.Generator) -> ReckoningPath:
    """Draw a reckoning with an error of a pattern, or without one for any other name."""
    bought = _purchase(split, rng)
    question = _question(bought, draw_pools(split, rng).take("given").en)
    first = 1 if pattern == "transformation" else 2 if pattern == "decomposition" else None
    steps = [_aim(rng, wrong=pattern == "transformation")]
    parts = (0,) if pattern == "decomposition" else (0, 1)
    steps.append(_plan(bought, parts))
    slip = int(rng.choice(parts)) if pattern in ("deduction", "regather") else -1
    costs = []
    for part in parts:
        cost = bought.counts[part] * bought.prices[part]
        if pattern == "deduction" and part == slip:
            cost, first = cost + _shift(rng), len(steps) + 1
        costs.append(cost)
        steps.append(_product(bought, part, cost))
    if pattern == "regather":
        costs[slip], first = costs[slip] + _shift(rng), len(steps) + 1
    steps.append(_gathered(bought, parts, costs))
    steps.append(_check(bought, rng, wrong=pattern == "verification"))
    first = len(steps) if pattern == "verification" else first
    wrong = pattern == "integration"
    steps.append(_sum(bought, costs, rng, steps[0], wrong=wrong))
    return ReckoningPath(question, tuple(steps), len(steps) if wrong else first)


def _purchase(split: Split, rng: np.random.Generator) -> _Purchase:
    one, other = (str(ware) for ware in rng.choice(_WARES[split], 2, replace=False))
    counts = int(rng.integers(2, 9)), int(rng.integers(2, 9))
    low, high = (int(price) for price in rng.choice(np.arange(3, 30), 2, replace=False))
    total = counts[0] * low + counts[1] * high
    return _Purchase((one, other), counts, (low, high), total + int(rng.integers(1, 60)))


def _shift(rng: np.random.Generator) -> int:
    return int(rng.integers(1, 5))


def _question(bought: _Purchase, name: str) -> str:
    (one, other), (n, m), (a, b) = bought.wares, bought.counts, bought.prices
    return (
        f"Prices: {one} {a} crowns, {other} {b} crowns. {name} buys {n} of {one}, {m} of {other}, "
        f"with {bought.paid} crowns in hand. How much is left?"
    )


def _aim(rng: np.random.Generator, *, wrong: bool) -> str:
    if not wrong:
        return "Sought: the money in hand minus the cost of all goods."
    goods = "the cost of all goods."
    return f"Sought: {goods}" if rng.random() < 0.5 else f"Sought: the money in hand plus {goods}"


def _plan(bought: _Purchase, parts: Sequence[int]) -> str:
    costs = ", then ".join(f"the cost of {bought.wares[part]}" for part in parts)
    return f"Plan: first {costs}, then what is sought."


def _product(bought: _Purchase, part: int, cost: int) -> str:
    ware, count, price = bought.wares[part], bought.counts[part], bought.prices[part]
    return f"Cost of {ware}: {count} × {price} = {cost}."


def _gathered(bought: _Purchase, parts: Sequence[int], costs: Sequence[int]) -> str:
    known = ", ".join(
        f"{bought.wares[part]} {cost}" for part, cost in zip(parts, costs, strict=True)
    )
    return f"Known so far: {known}."


def _check(bought: _Purchase, rng: np.random.Generator, *, wrong: bool) -> str:
    """Return a check of a price by the question, not by what the steps say before."""
    ware, count, price = bought.wares[0], bought.counts[0], bought.prices[0]
    claimed = price + _shift(rng) if wrong else price
    return f"Check: {count * price} ÷ {count} = {claimed}, the price of {ware}: it fits."


def _sum(
    bought: _Purchase, costs: Sequence[int], rng: np.random.Generator, aim: str, *, wrong: bool
) -> str:
    """Return the last step, which combines the known costs as the first step sought."""
    total = sum(costs) + (_shift(rng) if wrong else 0)
    added = " + ".join(map(str, costs))
    lead = f"Together: {added} = {total}." if len(costs) > 1 else f"Together: {total}."
    if "minus" in aim:
        return f"{lead} Left: {bought.paid} - {total} = {bought.paid - total}."
    if "plus" in aim:
        return f"{lead} Sought: {bought.paid} + {total} = {bought.paid + total}."
    return f"{lead} Sought: {total}."
