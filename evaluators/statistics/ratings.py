"""Bradley-Terry ratings from comparisons, by penalised likelihood with profile intervals.

P(i beats j) = 1 / (1 + exp(s_j - s_i)); a tie counts as half a win for each. Players that no chain
of comparisons connects have no common scale and are rated in separate groups. Ratings are centred
on 0 within a group and given on Elo's scale, 400 points for odds of ten to one.

The penalty is Firth's, half the log-determinant of the information (Bias reduction of maximum
likelihood estimates, Biometrika 80, 1993). Unlike a Gaussian prior, it has no scale to choose,
it removes the first-order bias, and a player that won everything has a finite rating. Limits are
where the profile of the penalised likelihood has fallen by half the squared quantile (Heinze and
Schemper, A solution to the problem of separation in logistic regression, Statistics in Medicine
21, 2002). Comparisons on one scene are correlated: the fall is divided by the mean inflation of
the variance by the scenes (Pace, Salvan and Sartori, Adjusting composite likelihood ratio
statistics, Statistica Sinica 21, 2011).
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hexathlon.evaluators.statistics.distributions import normal_quantile, t_quantile

__all__ = ["Comparison", "RatedGroup", "Rating", "bradley_terry"]

SCALE = 400.0 / math.log(10.0)
"""Elo points per unit of strength."""

_FARTHEST = 12.0
"""Maximum distance of a limit from its rating, in units of strength (2,085 Elo points); far
beyond it the information cannot be inverted in double precision."""

_STEPS = 200
_EXACT, _ROUGH = 1e-13, 1e-6
"""A climb ends at gains of log-likelihood below these: to the maximum, and towards a limit."""

Array = NDArray[np.float64]


class Comparison(NamedTuple):
    """One comparison of two players."""

    first: str
    second: str
    result: float
    """Result of the first player: 1 won, 0.5 tie, 0 lost."""

    scene: str
    """The scene compared on; comparisons of one scene may depend on each other."""


@dataclass(frozen=True, slots=True)
class Rating:
    """One player's rating."""

    player: str
    rating: float
    low: float
    high: float
    """Both limits are finite; low < rating < high."""

    comparisons: int

    score: float
    """Share of comparisons won, ties counted by half."""


@dataclass(frozen=True, slots=True)
class RatedGroup:
    """Players connected by comparisons, and their ratings on one scale."""

    name: str
    """The players, in alphabetical order."""

    ratings: tuple[Rating, ...]
    """Best first; their sum is 0. Not comparable with those of another group."""

    inflation: float
    """Inflation of the variance caused by dependence within scenes; at least 1."""


def bradley_terry(
    comparisons: Sequence[Comparison], *, confidence: float = 0.95
) -> list[RatedGroup]:
    """Return the ratings of each group of connected players, largest group first.

    Args:
        comparisons: At least one, with results in [0, 1].
        confidence: Level of the intervals.

    Raises:
        ValueError: If there is nothing to compare, a result is outside [0, 1], a player meets
            itself, or the confidence is not between 0 and 1.
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    groups = [
        _rated(players, [row for row in comparisons if row.first in players], confidence)
        for players in _connected(comparisons)
    ]
    return sorted(groups, key=lambda group: (-len(group.ratings), group.name))


def _connected(comparisons: Sequence[Comparison]) -> list[set[str]]:
    """Return the players of each connected component."""
    if not comparisons:
        raise ValueError("expected at least one comparison, got none")
    groups: dict[str, set[str]] = {}
    for row in comparisons:
        if not 0.0 <= row.result <= 1.0 or row.first == row.second:
            raise ValueError(f"expected two players and a result from 0 to 1, got {row}")
        a, b = (groups.setdefault(name, {name}) for name in (row.first, row.second))
        if a is not b:
            a |= b
            groups.update(dict.fromkeys(b, a))
    return list({id(group): group for group in groups.values()}.values())


def _rated(names: set[str], comparisons: Sequence[Comparison], confidence: float) -> RatedGroup:
    players = sorted(names)
    likelihood = _Likelihood(players, comparisons)
    fit = likelihood.maximum()
    inflation, freedom = likelihood.inflation(fit)
    tail = 0.5 + confidence / 2.0
    quantile = normal_quantile(tail) if math.isinf(freedom) else t_quantile(tail, freedom)
    fall = 0.5 * inflation * quantile * quantile
    met = Counter(name for row in comparisons for name in (row.first, row.second))
    won = likelihood.wins.sum(axis=1)
    ratings = []
    for i, player in enumerate(players):
        low, high = (likelihood.limit(fit, i, side, fall) for side in (-1, 1))
        score = float(won[i]) / met[player]
        ratings.append(
            Rating(player, float(fit[i]) * SCALE, low * SCALE, high * SCALE, met[player], score)
        )
    ratings.sort(key=lambda rating: (-rating.rating, rating.player))
    return RatedGroup(", ".join(players), tuple(ratings), inflation)


class _Likelihood:
    """The penalised likelihood of strengths, which sum to 0.

    Shapes: k players; pairs P that met; strengths [k], designs [P, k - 1].
    """

    def __init__(self, players: Sequence[str], comparisons: Sequence[Comparison]) -> None:
        place = {player: i for i, player in enumerate(players)}
        count = len(players)
        self.wins = np.zeros((count, count))
        self._rows = [(place[r.first], place[r.second], r.result, r.scene) for r in comparisons]
        for i, j, result, _ in self._rows:
            self.wins[i, j] += result
            self.wins[j, i] += 1.0 - result
        met = self.wins + self.wins.T
        first, second = np.nonzero(np.triu(met))
        self._met, self._won = met[first, second], self.wins[first, second]
        # Columns: an orthonormal basis of the strengths that sum to 0.
        centred = np.eye(count) - 1.0 / count
        self._basis: Array = np.linalg.svd(centred)[0][:, : count - 1]
        self._design: Array = self._basis[first] - self._basis[second]

    def maximum(self) -> Array:
        """Return the strengths that maximise the penalised likelihood."""
        dimensions = self._basis.shape[1]
        fit = self._climb(np.zeros(dimensions), np.eye(dimensions), _EXACT)
        strengths: Array = self._basis @ fit
        return strengths

    def limit(self, fit: Array, player: int, side: int, fall: float) -> float:
        """Return where the profile in a player's strength has fallen this far below its maximum.

        Args:
            fit: The strengths at the maximum.
            player: The player's number.
            side: -1 for the lower limit, 1 for the upper one.
            fall: Difference of log-likelihoods, above 0.
        """
        start: Array = self._basis.T @ fit
        axis = self._basis[player]
        # Moving along `along` by t raises the player's strength by t; `free` leaves it as it is.
        along = axis / float(axis @ axis)
        free: Array = np.linalg.svd(axis[:, None])[0][:, 1:]
        level = self._value(start) - fall
        warm = start

        def above(distance: float) -> float:
            nonlocal warm
            offset = side * distance - float(axis @ (warm - start))
            warm = self._climb(warm + offset * along, free, _ROUGH)
            return self._value(warm) - level

        error = math.sqrt(float(axis @ np.linalg.solve(self._information(start), axis)))
        inner, outer = 0.0, min(_FARTHEST, math.sqrt(2.0 * fall) * error)
        near, far = fall, above(outer)
        while far > 0.0 and outer < _FARTHEST:
            inner, near, outer = outer, far, min(_FARTHEST, 1.5 * outer)
            far = above(outer)
        return float(fit[player]) + side * (
            outer if far > 0.0 else _root(above, inner, near, outer, far)
        )

    def inflation(self, fit: Array) -> tuple[float, float]:
        """Return the mean inflation of the variance by scenes, and its degrees of freedom.

        Only products of different comparisons of a scene enter: without them, the inflation is 1
        and its freedom infinite. Data that some order of the players explains completely say
        nothing about the dependence; repeated comparisons of a pair on a scene then count as one.
        """
        scenes: dict[str, Array] = {}
        own: Array = np.zeros((self._basis.shape[1],) * 2)
        for i, j, result, scene in self._rows:
            axis = self._basis[i] - self._basis[j]
            residual = axis * (result - 1.0 / (1.0 + math.exp(fit[j] - fit[i])))
            scenes[scene] = scenes.get(scene, 0.0) + residual
            own += np.outer(residual, residual)
        count, dimensions = len(scenes), len(own)
        if count < 2:
            return max(1.0, self._repeats()), math.inf
        sums = np.array(list(scenes.values()))
        across = (sums.T @ sums - own) * count / (count - 1)
        information = self._information(self._basis.T @ fit)
        excess = float(np.trace(np.linalg.solve(information, across))) / dimensions
        if self._separated():
            return max(1.0 + excess, self._repeats()), math.inf
        if excess < 1e-9:
            return 1.0, math.inf
        freedom = (count - 1) * dimensions * ((1.0 + excess) / excess) ** 2
        return 1.0 + excess, freedom

    def _repeats(self) -> float:
        """Return the mean number of comparisons of a comparison's pair on its scene."""
        cells = Counter((min(i, j), max(i, j), scene) for i, j, _, scene in self._rows)
        return sum(n * n for n in cells.values()) / len(self._rows)

    def _separated(self) -> bool:
        """Whether the unpenalised likelihood has no maximum (Ford 1957).

        That is so unless every player has a chain of wins to every other one.
        """
        reached = self.wins > 0
        for k in range(len(reached)):
            reached = reached | (reached[:, k : k + 1] & reached[k : k + 1, :])
        return not bool((reached | np.eye(len(reached), dtype=bool)).all())

    def _chances(self, point: Array) -> tuple[Array, Array]:
        """Return each pair's chance that the first wins, and the weight of its comparisons."""
        odds = np.exp(-np.abs(self._design @ point))
        likely = 1.0 / (1.0 + odds)
        chances: Array = np.where(self._design @ point > 0.0, likely, odds * likely)
        # Not p (1 - p), which is 0 from p = 1 - 1e-16 on.
        return chances, self._met * odds * likely * likely

    def _information(self, point: Array) -> Array:
        _, weights = self._chances(point)
        information: Array = (self._design * weights[:, None]).T @ self._design
        return information

    def _value(self, point: Array) -> float:
        """Return the penalised log-likelihood."""
        odds = self._design @ point
        likelihood = self._won * odds - self._met * np.logaddexp(0.0, odds)
        sign, logarithm = np.linalg.slogdet(self._information(point))
        return float(likelihood.sum()) + 0.5 * float(logarithm) if sign > 0 else -math.inf

    def _climb(self, point: Array, free: Array, least: float) -> Array:
        """Return the maximum over `point` plus the span of the columns of `free`.

        Args:
            point: Where to start.
            free: Directions in columns.
            least: Gain of log-likelihood that ends the climb.
        """
        if not free.shape[1]:
            return point
        value = self._value(point)
        for _ in range(_STEPS):
            chances, weights = self._chances(point)
            information = (self._design * weights[:, None]).T @ self._design
            spread = np.linalg.solve(information, self._design.T)
            leverage = weights * np.einsum("pd,dp->p", self._design, spread)
            score = self._won - self._met * chances + leverage * (0.5 - chances)
            gradient = free.T @ (self._design.T @ score)
            step = free @ np.linalg.solve(free.T @ information @ free, gradient)
            longest = float(np.abs(step).max())
            step *= min(1.0, 2.0 / longest) if longest else 1.0
            # Scoring overshoots where the penalty bends the likelihood more than the data do.
            while (after := self._value(point + step)) < value and longest > 1e-9:
                step, longest = step / 2.0, longest / 2.0
            if after < value:
                break
            gain, point, value = after - value, point + step, after
            if gain < least:
                break
        return point


def _root(
    function: Callable[[float], float], inner: float, near: float, outer: float, far: float
) -> float:
    """Return a root between two points, by false position with Illinois' correction.

    Args:
        function: Continuous.
        inner: A point where the function is `near`, above 0.
        near: See `inner`.
        outer: A point where the function is `far`, at most 0.
        far: See `outer`.
    """
    side = 0
    for _ in range(_STEPS):
        place = (inner * far - outer * near) / (far - near)
        value = function(place)
        if abs(value) < 1e-4 or abs(outer - inner) < 1e-6:
            return place
        if value > 0.0:
            inner, near = place, value
            far = far / 2.0 if side > 0 else far
            side = 1
        else:
            outer, far = place, value
            near = near / 2.0 if side < 0 else near
            side = -1
    return 0.5 * (inner + outer)
