"""Aggregation of criterion values into the score of one transcript, by named aggregators.

Each aggregator is a function of complete values. If some are missing, `score` gives the bounds
between their worst and best possible values; there is a score only if both agree, so that a
missing decision never counts as a pass or as a failure.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from hexathlon.evaluators.judges.rubric import Criterion, Rubric

__all__ = ["AGGREGATORS", "Aggregator", "BoundedScore", "mean_score", "score"]

CriterionValues = Mapping[str, float]
"""Value by criterion id, each 0 to 1."""


class BoundedScore(NamedTuple):
    """Score of one transcript."""

    value: float | None
    """None if undecided criteria leave it open."""

    low: float
    """With every undecided criterion at its worst."""

    high: float
    """With every undecided criterion at its best."""

    undecided: int


class Aggregator(NamedTuple):
    """A rule that combines many values into one score."""

    name: str
    function: Callable[[Rubric, CriterionValues], float]
    faults: Callable[[Rubric], Iterator[str]]
    """Yields the reasons why a rubric does not fit the rule."""

    source: str


def score(rubric: Rubric, values: Mapping[str, float | None]) -> BoundedScore:
    """Return a transcript's score by the rubric's aggregator, with bounds.

    Every aggregator is increasing in a criterion of positive weight and decreasing in a pitfall, so
    the two corners are the bounds.
    """
    function = AGGREGATORS[rubric.aggregator].function
    worst, best, undecided = {}, {}, 0
    for criterion in rubric.decided:
        value = values.get(criterion.id)
        undecided += value is None
        good, bad = (1.0, 0.0) if criterion.weight > 0 else (0.0, 1.0)
        worst[criterion.id] = bad if value is None else value
        best[criterion.id] = good if value is None else value
    low, high = function(rubric, worst), function(rubric, best)
    return BoundedScore(low if low == high else None, low, high, undecided)


def mean_score(aggregator: str, scores: Sequence[float]) -> float:
    """Return the mean over transcripts; HealthBench clips it (and not the single scores) to 0…1."""
    mean = math.fsum(scores) / len(scores)
    return min(1.0, max(0.0, mean)) if aggregator == "healthbench" else mean


def _healthbench(rubric: Rubric, values: CriterionValues) -> float:
    """Return s = sum_j w_j c_j / sum over w_j > 0 of w_j, which may be negative."""
    possible = math.fsum(criterion.weight for criterion in rubric.criteria if criterion.weight > 0)
    return (
        math.fsum(criterion.weight * values[criterion.id] for criterion in rubric.criteria)
        / possible
    )


def _rar(rubric: Rubric, values: CriterionValues) -> float:
    """Return r = sum_j w_j c_j / sum_j w_j."""
    total = math.fsum(criterion.weight for criterion in rubric.criteria)
    return (
        math.fsum(criterion.weight * values[criterion.id] for criterion in rubric.criteria) / total
    )


def _hard_gate(rubric: Rubric, values: CriterionValues) -> float:
    """Return the product of the hard rules times the soft score, clipped at 0.

    A hard rule holds at its best label only. Pitfalls subtract from the soft score. With hard
    rules alone the score is their product.
    """
    if any(values[criterion.id] < 1.0 for criterion in rubric.criteria if criterion.kind == "hard"):
        return 0.0
    soft = [criterion for criterion in rubric.criteria if criterion.kind != "hard"]
    possible = math.fsum(criterion.weight for criterion in soft if criterion.weight > 0)
    if possible == 0:
        return 0.0 if any(values[criterion.id] > 0 for criterion in soft) else 1.0
    return max(
        0.0, math.fsum(criterion.weight * values[criterion.id] for criterion in soft) / possible
    )


def _ordinal(rubric: Rubric, values: CriterionValues) -> float:
    """Return the weighted mean of (rank - 1)/(choices - 1)."""
    return _rar(rubric, values)


def _checkpoint_tree(rubric: Rubric, values: CriterionValues) -> float:
    """Return the score of the tree's roots: a leaf is its check, a node the mean of its children.

    Means are weighted by the children's weights; several roots count as children of one node.
    """
    children: dict[str, list[Criterion]] = {}
    for criterion in rubric.criteria:
        children.setdefault(criterion.parent, []).append(criterion)

    def node(criterion: Criterion) -> float:
        below = children.get(criterion.id)
        return mean(below) if below else values[criterion.id]

    def mean(members: list[Criterion]) -> float:
        total = math.fsum(criterion.weight for criterion in members)
        return math.fsum(criterion.weight * node(criterion) for criterion in members) / total

    return mean(children[""])


def _moa(rubric: Rubric, values: CriterionValues) -> float:
    """Return the mean over dimensions of the weighted mean within each: MOA without history.

    Weights that follow the training are `hexathlon.evaluators.judges.groups.pivot`.
    """
    means = dimension_means(rubric, values)
    return math.fsum(means.values()) / len(means)


def dimension_means(rubric: Rubric, values: CriterionValues) -> dict[str, float]:
    """Return the weighted mean of each dimension, in the rubric's order."""
    members: dict[str, list[Criterion]] = {}
    for criterion in rubric.criteria:
        members.setdefault(criterion.dimension, []).append(criterion)
    return {
        name: math.fsum(criterion.weight * values[criterion.id] for criterion in group)
        / math.fsum(criterion.weight for criterion in group)
        for name, group in members.items()
    }


def _tournament(rubric: Rubric, values: CriterionValues) -> float:
    """Return the weighted mean of the criteria, for a transcript without rivals.

    Among rivals, scores come from `hexathlon.evaluators.judges.groups.tournament`.
    """
    return _rar(rubric, values)


def _needs_a_positive(rubric: Rubric) -> Iterator[str]:
    if not any(criterion.weight > 0 for criterion in rubric.criteria):
        yield "needs at least one criterion of positive weight"


def _no_pitfalls(rubric: Rubric) -> Iterator[str]:
    yield from (
        f"takes no pitfalls, and {criterion.id!r} is one; write what should hold instead"
        for criterion in rubric.criteria
        if criterion.kind == "pitfall"
    )


def _all_ordinal(rubric: Rubric) -> Iterator[str]:
    yield from _no_pitfalls(rubric)
    yield from (
        f"{criterion.id!r} has no choices" for criterion in rubric.criteria if not criterion.choices
    )


def _all_placed(rubric: Rubric) -> Iterator[str]:
    yield from _no_pitfalls(rubric)
    yield from (
        f"{criterion.id!r} names no dimension"
        for criterion in rubric.criteria
        if not criterion.dimension
    )


def _is_a_tree(rubric: Rubric) -> Iterator[str]:
    yield from _no_pitfalls(rubric)
    parents = {criterion.id: criterion.parent for criterion in rubric.criteria}
    for criterion in rubric.criteria:
        if criterion.parent and criterion.parent not in parents:
            yield f"{criterion.id!r} has the parent {criterion.parent!r}, which is not a criterion"
        seen, at = {criterion.id}, criterion.parent
        while at in parents:
            if at in seen:
                yield f"{criterion.id!r} stands above itself"
                break
            seen.add(at)
            at = parents[at]


AGGREGATORS: dict[str, Aggregator] = {
    aggregator.name: aggregator
    for aggregator in (
        Aggregator("healthbench", _healthbench, _needs_a_positive, "HealthBench"),
        Aggregator("rar", _rar, _no_pitfalls, "Rubrics as Rewards, 2507.17746"),
        Aggregator("hard_gate", _hard_gate, lambda rubric: iter(()), "OpenRubrics, 2510.07743"),
        Aggregator("ordinal", _ordinal, _all_ordinal, "Prometheus"),
        Aggregator("checkpoint_tree", _checkpoint_tree, _is_a_tree, "GTA-2"),
        Aggregator("moa", _moa, _all_placed, "MOA, 2512.09756"),
        Aggregator("tournament", _tournament, _no_pitfalls, "round robin over both orders"),
    )
}
"""Every aggregator by name."""
