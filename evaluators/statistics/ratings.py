"""Bradley-Terry ratings from comparisons, with intervals.

P(i beats j) = 1 / (1 + exp(s_j - s_i)); a tie counts as half a win for each. Strengths are fitted
by Newton's method on the likelihood with a weak prior (a tenth of a tie for each pair of players
that met), so that a player who won everything has a finite rating. Ratings are centred on 0 and
given on Elo's scale, 400 points for odds of ten to one. Intervals come from resampling whole
scenes, since comparisons on one scene are correlated, or from the curvature of the likelihood.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hexathlon.evaluators.statistics.distributions import normal_quantile
from hexathlon.tasks.seeding import generator_for

__all__ = ["Comparison", "Rating", "bradley_terry"]

SCALE = 400.0 / math.log(10.0)
"""Elo points per unit of strength."""

Array = NDArray[np.float64]


class Comparison(NamedTuple):
    """One comparison of two players."""

    first: str
    second: str
    result: float
    """Result of the first player: 1 won, 0.5 tie, 0 lost."""

    scene: str
    """The scene compared on; comparisons of one scene are resampled together."""


@dataclass(frozen=True, slots=True)
class Rating:
    """One player's rating."""

    player: str
    rating: float
    low: float
    high: float
    comparisons: int

    score: float
    """Share of comparisons won, ties counted by half."""


def bradley_terry(
    comparisons: Sequence[Comparison],
    *,
    method: str = "bootstrap",
    resamples: int = 200,
    confidence: float = 0.95,
    prior: float = 0.1,
    seed: int = 0,
) -> list[Rating]:
    """Return the ratings, best first.

    Args:
        comparisons: At least one, with results in [0, 1].
        method: `bootstrap` over scenes, or `hessian`.
        resamples: Number of bootstrap draws.
        confidence: Level of the intervals.
        prior: Weight of the tie that is added to each pair that met.
        seed: Seed of the draws.

    Raises:
        ValueError: If there is nothing to compare, a result is outside [0, 1], a player meets
            itself, or the method is unknown.
    """
    players = _players(comparisons)
    wins = _wins(comparisons, players)
    strengths, covariance = _fit(wins, prior)
    if method == "hessian":
        reach = normal_quantile(0.5 + confidence / 2.0) * np.sqrt(np.diag(covariance))
        low, high = strengths - reach, strengths + reach
    elif method == "bootstrap":
        low, high = _resampled(comparisons, players, prior, resamples, confidence, seed)
    else:
        raise ValueError(f"method must be 'bootstrap' or 'hessian', got {method!r}")
    met = wins + wins.T
    ratings = [
        Rating(
            player, float(strengths[i]) * SCALE, float(low[i]) * SCALE, float(high[i]) * SCALE,
            round(float(met[i].sum())), float(wins[i].sum() / met[i].sum()),
        )
        for i, player in enumerate(players)
    ]  # fmt: skip
    return sorted(ratings, key=lambda rating: (-rating.rating, rating.player))


def _players(comparisons: Sequence[Comparison]) -> list[str]:
    if not comparisons:
        raise ValueError("expected at least one comparison, got none")
    for row in comparisons:
        if not 0.0 <= row.result <= 1.0 or row.first == row.second:
            raise ValueError(f"expected two players and a result from 0 to 1, got {row}")
    return sorted({name for row in comparisons for name in (row.first, row.second)})


def _wins(comparisons: Sequence[Comparison], players: Sequence[str]) -> Array:
    """Return W with W[i, j] the wins of i over j, ties by half."""
    place = {player: i for i, player in enumerate(players)}
    wins = np.zeros((len(players), len(players)))
    for row in comparisons:
        i, j = place[row.first], place[row.second]
        wins[i, j] += row.result
        wins[j, i] += 1.0 - row.result
    return wins


def _fit(wins: Array, prior: float) -> tuple[Array, Array]:
    """Return strengths that sum to 0, and their covariance."""
    met = wins + wins.T
    wins = wins + prior / 2.0 * (met > 0)
    met = wins + wins.T
    count = len(wins)
    strengths = np.zeros(count)
    share = np.full((count, count), 1.0 / count)
    for _ in range(100):
        expected = 1.0 / (1.0 + np.exp(strengths[None, :] - strengths[:, None]))
        gradient = (wins - met * expected).sum(axis=1)
        weight = met * expected * (1.0 - expected)
        information = np.diag(weight.sum(axis=1)) - weight
        # Groups that never met have no common scale; the pseudo-inverse centres each.
        step = np.linalg.pinv(information, hermitian=True) @ gradient
        longest = float(np.abs(step).max())
        strengths = strengths + step * min(1.0, 2.0 / longest if longest else 1.0)
        if longest < 1e-9:
            break
    strengths = strengths - strengths.mean()
    return strengths, np.linalg.pinv(information + share, hermitian=True) - share


def _resampled(
    comparisons: Sequence[Comparison],
    players: Sequence[str],
    prior: float,
    resamples: int,
    confidence: float,
    seed: int,
) -> tuple[Array, Array]:
    scenes: dict[str, list[Comparison]] = {}
    for row in comparisons:
        scenes.setdefault(row.scene, []).append(row)
    tables = np.array([_wins(scenes[name], players) for name in sorted(scenes)])
    rng = generator_for("bradley-terry", seed, len(tables))
    samples = []
    for _ in range(resamples):
        picked = rng.integers(len(tables), size=len(tables))
        samples.append(_fit(tables[picked].sum(axis=0), prior)[0])
    tail = (1.0 - confidence) / 2.0
    return np.quantile(samples, tail, axis=0), np.quantile(samples, 1.0 - tail, axis=0)
