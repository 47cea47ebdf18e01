"""Submissions reproduced by another team with the same outcome.

Two runs do the same work if their plans agree except for the submitter. The start times of its
trials show that the second run is not a copy of the first. The teams' names are taken from the
plans; the builder of the site must verify who they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from hexathlon.evaluators.summary import Score
from hexathlon.leaderboard.submission import Submission


def with_reruns(submissions: Sequence[Submission]) -> list[Submission]:
    """Return the submissions, each with the names of the teams that confirm it."""
    groups: dict[str, list[Submission]] = defaultdict(list)
    for submission in submissions:
        groups[submission.work].append(submission)
    return [replace(one, rerun_by=_confirming(one, groups[one.work])) for one in submissions]


def _confirming(one: Submission, others: Sequence[Submission]) -> tuple[str, ...]:
    if not one.team or one.missing or one.contradiction:
        return ()
    return tuple(sorted({other.team for other in others if _confirms(one, other)}))


def _confirms(one: Submission, other: Submission) -> bool:
    if not other.team or other.team.casefold() == one.team.casefold():
        return False
    if other.missing or other.contradiction:
        return False
    if not one.begun().isdisjoint(other.begun()):
        return False
    pairs = [(mine, other.env(mine.env, mine.version)) for mine in one.summary.envs]
    return all(theirs is not None and _agree(mine.score, theirs.score) for mine, theirs in pairs)


def _agree(a: Score, b: Score) -> bool:
    """Whether each score lies in the other's 95 % interval."""
    if a.interval is None or b.interval is None or a.mean is None or b.mean is None:
        return False
    return (
        a.interval.low <= b.mean <= a.interval.high and b.interval.low <= a.mean <= b.interval.high
    )
