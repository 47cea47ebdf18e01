"""Choices of records: the subset with the largest total weight that a bound allows."""

from collections.abc import Sequence
from itertools import combinations

from hexathlon.tasks.web.templates.draft import WebScene
from hexathlon.tasks.web.templates.shifts.ledger import DayStatement
from hexathlon.tasks.web.templates.shifts.records import JobTarget, RecordJob

__all__ = ["best_parts", "draw_choice", "largest_first"]

Labels = frozenset[str]


def best_parts(targets: Sequence[JobTarget], bound: int) -> list[Labels]:
    """Return every subset of the records with the largest total weight up to a bound."""
    sums: dict[int, list[Labels]] = {}
    for count in range(1, len(targets) + 1):
        for part in combinations(targets, count):
            total = sum(each.weight for each in part)
            if total <= bound:
                sums.setdefault(total, []).append(frozenset(each.label for each in part))
    return sums[max(sums)] if sums else []


def largest_first(targets: Sequence[JobTarget], bound: int) -> Labels:
    """Return the records that a greedy choice takes: repeatedly the largest that still fits."""
    taken, left = set[str](), bound
    for target in sorted(targets, key=lambda each: -each.weight):
        if target.weight <= left:
            taken.add(target.label)
            left -= target.weight
    return frozenset(taken)


def draw_choice(scene: WebScene, source: str, job: RecordJob) -> DayStatement | None:
    """Draw a request for the best subset of a job's records, which is unique.

    Returns:
        None if the job has no weights, or a greedy choice is right for every bound.
    """
    if job.limit is None or len(job.targets) < 4:
        return None
    total = sum(each.weight for each in job.targets)
    for share in scene.sample(range(45, 80), 20):
        bound = total * share // 10_000 * 100 if total > 10_000 else total * share // 100
        best, hasty = best_parts(job.targets, bound), largest_first(job.targets, bound)
        if len(best) == 1 and best[0] != hasty and len(best[0]) > 1:
            return DayStatement("ask", source, 0, "", job, best[0], bound, hasty)
    return None
