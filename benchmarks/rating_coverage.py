"""Coverage of the intervals published with judged results.

Each case draws data from a known truth many times and counts how often the 95 % interval contains
it, for Bradley-Terry ratings, judged scores, kappa and alpha. Strengths are redrawn for each
repetition: with five scenes, the coverage at a single strength jumps with single comparisons, and
    the strength is unknown in practice. Dependence within scenes: this share of a scene's
    comparisons is decided by one common draw, which does not change the probability of each
    comparison's outcome.

Misses are counted on each side: a limit that is never missed is too wide, however good the total.

    python benchmarks/rating_coverage.py [--repetitions 1000] [--seed 0] [--json]

The exit code is 1 if a case is outside 93 to 97 % by more than twice its simulation error.
"""

import argparse
import itertools
import json
import math
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from hexathlon.evaluators.judges.audit.agreement import alpha_estimate, kappa_estimate
from hexathlon.evaluators.judges.audit.estimates import score_estimate
from hexathlon.evaluators.statistics.ratings import SCALE, Comparison, bradley_terry

TARGET = (0.93, 0.97)
"""Coverage at a nominal 95 %."""

Interval = tuple[float, float]
Draw = Callable[[np.random.Generator], Iterator[tuple[Interval, float]]]
"""Draws one data set; yields its intervals, each with the true value."""


class Case(NamedTuple):
    """One simulation."""

    name: str
    draw: Draw


class Coverage(NamedTuple):
    """Result of one case."""

    name: str
    covered: float
    below: float
    """Share of intervals that end below the true value."""

    above: float
    error: float
    """Standard error of `covered` over repetitions."""

    width: float
    """Median width, in Elo points for ratings."""

    @property
    def on_target(self) -> bool:
        """Whether the coverage is on target, up to twice the simulation's error."""
        slack = 2.0 * self.error
        return TARGET[0] - slack <= self.covered <= TARGET[1] + slack


def comparisons(
    draw: np.random.Generator,
    strengths: np.ndarray,
    scenes: int,
    *,
    repeats: int = 1,
    ties: float = 0.0,
    dependence: float = 0.0,
) -> list[Comparison]:
    """Return comparisons of all pairs on each scene, with these true strengths.

    Args:
        draw: Source of randomness.
        strengths: One per player.
        scenes: Number of scenes.
        repeats: Comparisons of a pair on a scene.
        ties: Share of the rarer result, and as much of the other, that becomes ties.
        dependence: Share of a scene's comparisons that are decided by its common draw.
    """
    found = []
    for scene in range(scenes):
        common = draw.random()
        for i, j in itertools.combinations(range(len(strengths)), 2):
            chance = 1.0 / (1.0 + math.exp(strengths[j] - strengths[i]))
            tied = ties * min(chance, 1.0 - chance)
            for _ in range(repeats):
                place = common if draw.random() < dependence else draw.random()
                result = 1.0 if place < chance - tied else 0.0 if place > chance + tied else 0.5
                found.append(Comparison(f"p{i}", f"p{j}", result, f"s{scene}"))
    return found


def ratings(players: int, scenes: int, spread: float = 1.0, **options: float) -> Draw:
    """Return the draw of ratings; a strength unit is 174 Elo points."""

    def once(draw: np.random.Generator) -> Iterator[tuple[Interval, float]]:
        strengths = draw.normal(0.0, spread, players)
        strengths -= strengths.mean()
        (group,) = bradley_terry(comparisons(draw, strengths, scenes, **options))  # type: ignore[arg-type]
        for rating in group.ratings:
            # With two players, one rating mirrors the other.
            if players > 2 or rating.player == "p0":
                truth = float(strengths[int(rating.player[1:])]) * SCALE
                yield (rating.low, rating.high), truth

    return once


def scores(tasks: int, trials: int = 1) -> Draw:
    """Return the draw of mean scores of 0 or 1, with tasks of unequal difficulty if repeated."""

    def once(draw: np.random.Generator) -> Iterator[tuple[Interval, float]]:
        mean = draw.uniform(0.1, 0.95)
        chances = draw.beta(4.0 * mean, 4.0 * (1.0 - mean), tasks)
        values = (draw.random((trials, tasks)) < chances).astype(float)
        found = score_estimate(values.ravel().tolist(), list(range(tasks)) * trials)
        assert found is not None
        yield (found.low, found.high), mean

    return once


def agreement(items: int, labels: int, *, of_alpha: bool = False) -> Draw:
    """Return the draw of kappa or alpha for a judge with a random error rate of at most a third."""
    names = [str(label) for label in range(labels)]

    def once(draw: np.random.Generator) -> Iterator[tuple[Interval, float]]:
        wrong = draw.uniform(0.02, 0.33)
        first = draw.uniform(0.7, 1.3) / labels
        true = np.array([first] + [(1.0 - first) / (labels - 1)] * (labels - 1))
        said = (1.0 - wrong) * true + wrong * (1.0 - true) / (labels - 1)
        a = draw.choice(labels, size=items, p=true)
        shift = draw.integers(1, labels, items)
        b = np.where(draw.random(items) < wrong, (a + shift) % labels, a)
        one, other = [names[i] for i in a], [names[i] for i in b]
        if of_alpha:
            found = alpha_estimate(list(zip(one, other, strict=True)), names)
            truth = 1.0 - wrong / (1.0 - float((((true + said) / 2.0) ** 2).sum()))
        else:
            found = kappa_estimate(one, other)
            truth = 1.0 - wrong / (1.0 - float((true * said).sum()))
        if found is not None:
            yield (found.low, found.high), truth

    return once


CASES = (
    *(
        Case(f"rating: {players} players, {scenes} scenes", ratings(players, scenes))
        for players in (2, 3, 5)
        for scenes in (5, 10, 20, 50)
    ),
    Case("rating: 4 players, 5 scenes, twice the spread", ratings(4, 5, 2.0)),
    Case("rating: 4 players, 20 scenes, twice the spread", ratings(4, 20, 2.0)),
    Case("rating: 4 players, 20 scenes, a fifth tied at most", ratings(4, 20, ties=0.2)),
    Case("rating: 4 players, 5 scenes, dependence 0.3", ratings(4, 5, dependence=0.3)),
    Case("rating: 4 players, 20 scenes, dependence 0.3", ratings(4, 20, dependence=0.3)),
    Case(
        "rating: 2 players, 10 scenes of 5 comparisons, dependence 0.5",
        ratings(2, 10, repeats=5, dependence=0.5),
    ),
    Case(
        "rating: 4 players, 10 scenes of 3 comparisons, dependence 0.5",
        ratings(4, 10, repeats=3, dependence=0.5),
    ),
    *(Case(f"score: {tasks} tasks", scores(tasks)) for tasks in (5, 10, 20, 50)),
    *(Case(f"score: {tasks} tasks, 4 trials each", scores(tasks, 4)) for tasks in (5, 10, 20)),
    *(Case(f"kappa: {items} items, 2 labels", agreement(items, 2)) for items in (5, 10, 20, 50)),
    Case("kappa: 20 items, 4 labels", agreement(20, 4)),
    *(
        Case(f"alpha: {items} items, 2 labels", agreement(items, 2, of_alpha=True))
        for items in (5, 10, 20, 50)
    ),
)


def coverage(case: Case, repetitions: int, seed: int = 0) -> Coverage:
    """Return the coverage of one case; the same seed gives the same figures."""
    shares, widths, below, above, count = [], [], 0, 0, 0
    for repetition in range(repetitions):
        draw = np.random.default_rng([seed, repetition])
        rows = list(case.draw(draw))
        if not rows:
            continue
        inside = [low <= truth <= high for (low, high), truth in rows]
        below += sum(high < truth for (_, high), truth in rows)
        above += sum(low > truth for (low, _), truth in rows)
        widths += [high - low for (low, high), _ in rows]
        shares.append(sum(inside) / len(rows))
        count += len(rows)
    return Coverage(
        case.name,
        float(np.mean(shares)),
        below / count,
        above / count,
        float(np.std(shares)) / math.sqrt(len(shares)),
        float(np.median(widths)),
    )


def main() -> int:
    """Print the coverage of every case."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="only cases whose names begin with this")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    arguments = parser.parse_args()
    missed = 0
    for case in CASES:
        if not case.name.startswith(arguments.only):
            continue
        result = coverage(case, arguments.repetitions, arguments.seed)
        missed += not result.on_target
        if arguments.json:
            print(json.dumps(result._asdict()), flush=True)
            continue
        print(
            f"{result.name:64} {result.covered:6.1%} ± {2 * result.error:.1%}"
            f"  below {result.below:.1%}  above {result.above:.1%}  width {result.width:8.2f}"
            f"{'' if result.on_target else '  OFF TARGET'}",
            flush=True,
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
