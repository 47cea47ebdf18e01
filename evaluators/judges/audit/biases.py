"""Biases of a judge: position, length and kinship; and chance, that is, flips between repeats."""

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from hexathlon.evaluators.judges.audit.estimates import (
    Estimate,
    difference_of_means,
    mean_estimate,
    rate_estimate,
    score_estimate,
    slope_estimate,
)
from hexathlon.evaluators.statistics.rank_correlation import kendall_tau

__all__ = [
    "FlipRate",
    "SwapTest",
    "flip_rate",
    "length_slope",
    "place_rate",
    "rank_agreement",
    "self_preference",
    "swap_test",
]


ShownCall = tuple[Sequence[int], "Sequence[float] | None"]
"""Members in the order shown, and their values by place; None for a call without an answer."""


class SwapTest(NamedTuple):
    """Results of asking pairs in both orders."""

    consistency: Estimate | None
    """Share of pairs with the same winner (or a tie) in both orders."""

    first_rate: Estimate | None
    """Among pairs with different winners in the two orders, the share naming the one shown first;
    0.5 without position bias."""

    accuracy: Estimate | None
    """Share of pairs whose known winner is named in both orders."""

    unscored: int


class FlipRate(NamedTuple):
    """Results of repeating the same question."""

    disagreement: Estimate | None
    """Probability that two answers on one item differ, mean over items."""

    unstable: Estimate | None
    """Share of items whose labels are not all equal."""

    askings: int


def swap_test(
    pairs: Sequence[tuple[str | None, str | None]], better: Sequence[str] | None = None
) -> SwapTest:
    """Evaluate pairs asked in both orders.

    Args:
        pairs: Labels `first`, `second` or `tie` with one member shown first, and with it shown
            second (as answered: `first` then means the other member). None for no answer.
        better: For each pair the known winner, `first` or `second` in terms of the first order.
    """
    read = [(a, b) for a, b in pairs if a in _OTHER and b in _OTHER]
    same = sum(a == _OTHER[str(b)] for a, b in read)
    torn = [(a, b) for a, b in read if a == b and a != "tie"]
    first = sum(a == "first" for a, b in torn)
    accuracy = None
    if better is not None:
        known = [
            (a, b, truth)
            for (a, b), truth in zip(pairs, better, strict=True)
            if a in _OTHER and b in _OTHER
        ]
        right = sum(a == truth and _OTHER[str(b)] == truth for a, b, truth in known)
        accuracy = rate_estimate(right, len(known))
    return SwapTest(
        rate_estimate(same, len(read)),
        rate_estimate(first, len(torn)),
        accuracy,
        len(pairs) - len(read),
    )


_OTHER = {"first": "second", "second": "first", "tie": "tie"}


def length_slope(
    lengths: Sequence[int],
    judged: Sequence[float],
    truth: Sequence[float],
    strata: Sequence[Hashable] | None = None,
    clusters: Sequence[Hashable] | None = None,
) -> Estimate | None:
    """Return the increase of the judged value, relative to the true one, per doubling of length.

    Args:
        lengths: Characters of each reply.
        judged: The judge's values.
        truth: The true values.
        strata: Criterion and label, or other correlates of length; only differences inside a
            stratum count.
        clusters: Values of one cluster (one reply) are not independent.
    """
    x = [math.log2(max(1, length)) for length in lengths]
    y = [a - b for a, b in zip(judged, truth, strict=True)]
    names = [0] * len(x) if strata is None else strata
    return slope_estimate(_within(x, names), _within(y, names), clusters)


def _within(values: Sequence[float], strata: Sequence[Hashable]) -> list[float]:
    """Return values minus the mean of their stratum."""
    members: dict[Hashable, list[float]] = {}
    for value, name in zip(values, strata, strict=True):
        members.setdefault(name, []).append(value)
    means = {name: math.fsum(row) / len(row) for name, row in members.items()}
    return [value - means[name] for value, name in zip(values, strata, strict=True)]


def self_preference(own: Sequence[float], others: Sequence[float]) -> Estimate | None:
    """Return the mean of (judged - true) on replies of the judge's kin, minus that on others."""
    return difference_of_means(own, others)


def flip_rate(repeats: Sequence[Sequence[str | None]]) -> FlipRate:
    """Evaluate items that were asked several times; an unreadable answer counts as a label.

    The probability that two answers on an item differ is 1 - sum_l C(n_l, 2)/C(k, 2).
    """
    chances, unstable, askings = [], 0, 0
    for labels in repeats:
        k = len(labels)
        askings += k
        if k < 2:
            continue
        same = sum(math.comb(count, 2) for count in Counter(labels).values())
        chances.append(1.0 - same / math.comb(k, 2))
        unstable += len(set(labels)) > 1
    # Wilson's interval takes a spread as wide as that of passes and failures; these have less.
    alike = len(set(chances)) == 1
    disagreement = score_estimate(chances) if alike else mean_estimate(chances)
    return FlipRate(disagreement, rate_estimate(unstable, len(chances)), askings)


def place_rate(groups: Sequence[tuple[Sequence[ShownCall], Sequence[float]]]) -> Estimate | None:
    """Return how often the earlier shown of two members of a group gets the better value.

    0.5 without position bias, 1 for a judge that ranks by place alone; equal values count as half.
    Only members of different known values count, since a ranking has to order equal ones somehow,
    and only pairs of calls in opposite orders, both answered.

    Args:
        groups: For each group its calls, every second one in the reverse order of the one before,
            and its members' known values.
    """
    rates = []
    for calls, known in groups:
        wins = []
        for one, other in zip(calls[::2], calls[1::2], strict=False):
            if one[1] is not None and other[1] is not None:
                wins += [*_wins(one[0], one[1], known), *_wins(other[0], other[1], known)]
        if wins:
            rates.append(math.fsum(wins) / len(wins))
    return score_estimate(rates) if len(set(rates)) == 1 else mean_estimate(rates)


def _wins(order: Sequence[int], values: Sequence[float], known: Sequence[float]) -> Iterator[float]:
    rows = zip(order, values, strict=True)
    for (a, first), (b, second) in itertools.combinations(rows, 2):
        if known[a] != known[b]:
            yield 0.5 if first == second else float(first > second)


def rank_agreement(
    groups: Sequence[tuple[Sequence[float | None], Sequence[float]]],
) -> Estimate | None:
    """Return the mean Kendall tau-b between judged and known values, over groups.

    Groups with a missing value, or in which either side is all ties, are excluded.
    """
    taus = []
    for judged, known in groups:
        values = [value for value in judged if value is not None]
        if len(values) == len(judged):
            tau = kendall_tau(values, known)
            if tau is not None:
                taus.append(tau)
    return mean_estimate(taus)
