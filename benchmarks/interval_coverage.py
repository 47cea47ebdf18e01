"""Coverage of the published intervals and rank ranges, by simulation.

    python benchmarks/interval_coverage.py --repeats 4000

Tasks are drawn from a law of difficulty, four trials each. A score's 95 % interval should contain
the expected score on such tasks in 95 % of the repeats. A board's rank ranges should all contain
the true ranks in at least 95 % of the repeats. The hardest case is that of equal systems, whose
true ranks are all tied, and there the share should be close to 95 %. Systems that differ are
covered more often: a range of whole ranks is wrong only if a test finds a difference with the wrong
sign.
"""

from __future__ import annotations

import argparse
import json
import math

import numpy as np

from hexathlon.evaluators.statistics import UnitSums, score_interval, unit_rank_ranges

TRIALS = 4
LAWS = {"u-shaped, mean .5": (0.4, 0.4), "bell, mean .5": (3.0, 3.0), "skewed, mean .2": (0.4, 1.6)}


def scores(draws: np.random.Generator, tasks: int, law: tuple[float, float]) -> np.ndarray:
    """Return per-task means of four trials."""
    return draws.binomial(TRIALS, draws.beta(*law, tasks)) / TRIALS


def interval_coverage(tasks: int, law: tuple[float, float], repeats: int, seed: int) -> float:
    draws = np.random.default_rng(seed)
    expected = law[0] / (law[0] + law[1])
    inside = 0
    for _ in range(repeats):
        found = score_interval(scores(draws, tasks, law).tolist(), trials=tasks * TRIALS)
        inside += found.low <= expected <= found.high
    return inside / repeats


def clustered_coverage(templates: int, law: tuple[float, float], repeats: int, seed: int) -> float:
    """Coverage with five tasks per template, whose difficulties share half of their spread."""
    draws = np.random.default_rng(seed)
    tasks, names = templates * 5, [n // 5 for n in range(templates * 5)]
    expected = law[0] / (law[0] + law[1])
    inside = 0
    for _ in range(repeats):
        shared = np.repeat(draws.beta(*law, templates), 5)
        own = np.where(draws.random(tasks) < 0.5, shared, draws.beta(*law, tasks))
        values = draws.binomial(TRIALS, own) / TRIALS
        found = score_interval(values.tolist(), names, trials=tasks * TRIALS)
        inside += found.low <= expected <= found.high
    return inside / repeats


def rank_coverage(tasks: int, gaps: float, repeats: int, seed: int, systems: int = 6) -> float:
    """Return how often all rank ranges contain the true ranks of systems ``gaps`` apart."""
    draws = np.random.default_rng(seed)
    skills = np.array([gaps * n for n in range(systems)])
    hard = draws.normal(0, 1.5, (4_000,))
    expected = [float(np.mean(1 / (1 + np.exp(hard - skill)))) for skill in skills]
    inside = 0
    for _ in range(repeats):
        difficulty = draws.normal(0, 1.5, tasks)
        chance = 1 / (1 + np.exp(difficulty[None, :] - skills[:, None]))
        means = draws.binomial(TRIALS, chance) / TRIALS
        rows = [
            UnitSums(tuple(map(str, range(tasks))), tuple(row.tolist()), (1,) * tasks)
            for row in means
        ]
        inside += all(
            _contains(expected, place, found.best, found.worst)
            for place, found in enumerate(unit_rank_ranges(rows))
        )
    return inside / repeats


def _contains(expected: list[float], place: int, best: int, worst: int) -> bool:
    """Whether a range contains all ranks that a system may claim by its expected score."""
    own = expected[place]
    above = sum(one > own + 1e-12 for one in expected)
    equal = sum(math.isclose(one, own, abs_tol=1e-12) for one in expected)
    return best <= above + 1 and worst >= above + equal


def main() -> None:
    """Print one line per setting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=4000)
    parser.add_argument("--only", choices=("intervals", "ranks"))
    options = parser.parse_args()
    if options.only != "ranks":
        print_intervals(options.repeats)
    if options.only != "intervals":
        print_ranks(options.repeats)


def print_intervals(repeats: int) -> None:
    for tasks in (12, 30, 100):
        for name, law in LAWS.items():
            share = interval_coverage(tasks, law, repeats, tasks)
            print(json.dumps({"interval of": name, "tasks": tasks, "coverage": share}), flush=True)
    for templates in (12, 20):
        for name, law in LAWS.items():
            share = clustered_coverage(templates, law, repeats, templates)
            row = {"interval of": name, "templates": templates, "tasks": 5 * templates}
            print(json.dumps({**row, "coverage": share}), flush=True)


def print_ranks(repeats: int) -> None:
    settings = [("equal", 0.0, systems) for systems in (2, 3, 6, 12)]
    settings += [("close", 0.15, 6), ("apart", 0.6, 6)]
    for name, gaps, systems in settings:
        for tasks in (12, 30, 100):
            share = rank_coverage(tasks, gaps, repeats, tasks, systems)
            row = {"ranks of": f"{systems} systems, {name}", "tasks": tasks, "all covered": share}
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
