"""BIRD's rules: execution accuracy, Soft F1 and the reward-based efficiency score.

They are unchanged for comparison with published numbers. Execution accuracy compares sets, so
duplicates and order are lost; Soft F1 pairs rows by position, so a tie can cost points; R-VES
measures wall-clock time, so it is not deterministic, and it can exceed 1 before it is capped here.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from statistics import fmean, pstdev
from time import perf_counter
from typing import Any

from hexathlon.evaluators.sql.runs import (
    GraderFault,
    ResultPair,
    images,
    marks_empty_gold,
    pairs,
)
from hexathlon.evaluators.sql.strict import submitted_sql, unscored, wrong
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.sql.world.backends.base import QueryLimits, StoredRow
from hexathlon.tasks.sql.world.backends.choice import open_image
from hexathlon.tasks.task import Task

__all__ = [
    "bird_ex",
    "bird_rves",
    "bird_soft_f1",
    "execution_accuracy",
    "rves_reward",
    "soft_f1",
    "trimmed_mean",
]

_BANDS = ((2.0, 1.25), (1.0, 1.0), (0.5, 0.75), (0.25, 0.5))
_ROUNDS = 100
_TIMED_ROWS = 200_000


@marks_empty_gold
def bird_ex(
    task: Task,
    params: Mapping[str, Any],
    final_state: Mapping[str, Any],
    transcript: Sequence[Mapping[str, Any]],
) -> Verdict:
    """Score 1 if both statements give the same set of rows on the visible database."""
    pair = _visible(task, params, final_state)
    if isinstance(pair, Verdict):
        return pair
    return Verdict(score=execution_accuracy(pair.gold.rows, pair.got.rows))


@marks_empty_gold
def bird_soft_f1(
    task: Task,
    params: Mapping[str, Any],
    final_state: Mapping[str, Any],
    transcript: Sequence[Mapping[str, Any]],
) -> Verdict:
    """Score by Soft F1 on the visible database."""
    pair = _visible(task, params, final_state)
    if isinstance(pair, Verdict):
        return pair
    return Verdict(score=soft_f1(pair.gold.rows, pair.got.rows))


@marks_empty_gold
def bird_rves(
    task: Task,
    params: Mapping[str, Any],
    final_state: Mapping[str, Any],
    transcript: Sequence[Mapping[str, Any]],
) -> Verdict:
    """Score by the square root of the reward of the time ratio, at most 1.

    The published number, which can reach 1.118, is in the term `rves`. Params: `rounds`.
    """
    pair = _visible(task, params, final_state)
    if isinstance(pair, Verdict):
        return pair
    if not execution_accuracy(pair.gold.rows, pair.got.rows):
        return Verdict(score=0.0, terms={"rves": 0.0})
    ratio = _time_ratio(task, params["gold"], final_state)
    reward = rves_reward(ratio)
    value = math.sqrt(reward)
    return Verdict(score=min(value, 1.0), terms={"rves": value, "reward": reward, "ratio": ratio})


def execution_accuracy(gold: Sequence[StoredRow], got: Sequence[StoredRow]) -> float:
    """Return 1 if the sets of rows are equal, else 0."""
    return float(set(gold) == set(got))


def soft_f1(gold: Sequence[StoredRow], got: Sequence[StoredRow]) -> float:
    """Return F1 over cells: duplicate rows dropped, rows paired by position.

    In a pair, of a gold row of n cells, each predicted cell that occurs in the gold row adds 1/n to
    the true positives, else to the false positives; each gold cell that does not occur in the
    predicted row adds 1/n to the false negatives. An unpaired row counts 1.
    """
    if not gold and not got:
        return 1.0
    gold, got = list(dict.fromkeys(gold)), list(dict.fromkeys(got))
    hits = 0.0
    wrong_cells = float(max(len(got) - len(gold), 0))
    missed = float(max(len(gold) - len(got), 0))
    for expected, given in zip(gold, got, strict=False):
        width = len(expected)
        matching = sum(cell in expected for cell in given)
        hits += matching / width
        wrong_cells += (len(given) - matching) / width
        missed += sum(cell not in given for cell in expected) / width
    precision = hits / (hits + wrong_cells) if hits + wrong_cells else 0.0
    recall = hits / (hits + missed) if hits + missed else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def rves_reward(ratio: float) -> float:
    """Return the reward of a ratio of gold time to predicted time."""
    if ratio == 0:
        return 0.0
    return next((reward for least, reward in _BANDS if ratio >= least), 0.25)


def trimmed_mean(values: Sequence[float]) -> float:
    """Return the mean of values within three standard deviations; of all when they are equal."""
    mean, spread = fmean(values), pstdev(values)
    inliers = [value for value in values if abs(value - mean) < 3 * spread]
    return fmean(inliers or values)


def _visible(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any]
) -> ResultPair | Verdict:
    sql, problem = submitted_sql(final_state)
    if problem:
        return wrong(problem)
    try:
        # Sets are compared, so a prediction may have more rows than the gold: fetch them too.
        pair = next(pairs(task, params["gold"], sql, final_state, spare_rows=_TIMED_ROWS))
    except GraderFault as fault:
        return unscored(fault)
    return wrong(f"error_{pair.got.error}") if pair.got.error else pair


def _time_ratio(task: Task, gold_sql: str, final_state: Mapping[str, Any]) -> float:
    """Return the mean over rounds of gold time / predicted time, both on the same connection."""
    limits = QueryLimits(seconds=30.0, rows=_TIMED_ROWS, result_bytes=64_000_000)
    rounds = int(task.params.get("rves_rounds", _ROUNDS))
    with closing(open_image(next(images(task)), task.params, "sqlite", purpose="gold")) as database:
        ratios = []
        for _ in range(rounds):
            seconds = []
            for sql in (final_state["sql"], gold_sql):
                start = perf_counter()
                database.run(sql, limits)
                seconds.append(max(perf_counter() - start, 1e-9))
            ratios.append(seconds[1] / seconds[0])
    return trimmed_mean(ratios)
