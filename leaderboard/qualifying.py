"""Qualification for a rank: the plan of a board, and the rows that played it.

Only rows with the same trials and no looser limits are ranked. Otherwise a submitter could choose
its tasks: with few enough of them any difference is insignificant, and easy ones raise the score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hexathlon.evaluators.records.canonical import content_hash
from hexathlon.evaluators.statistics import UnitSums
from hexathlon.evaluators.summary import EnvSummary
from hexathlon.leaderboard.submission import PlannedTrials, Submission, Trial

__all__ = ["BoardPlan", "Member", "PlanNameError", "board_plan", "check_plan_names"]

_FEWEST_DIGITS = 16
"""A second plan with the same first eight digits, the number shown on pages, can be found in
minutes.
"""


class Member(NamedTuple):
    """A submission on a board."""

    submission: Submission
    result: EnvSummary

    @property
    def complete(self) -> bool:
        """Whether every planned trial has a record."""
        return self.result.planned is None or self.result.score.trials >= self.result.planned

    @property
    def trials(self) -> PlannedTrials:
        """The trials that its plan has on this board."""
        return self.submission.planned[self.result.env]

    @property
    def units(self) -> UnitSums:
        """Its sums for paired tests."""
        return self.submission.units[self.result.env, self.result.version]

    @property
    def limits(self) -> Mapping[str, Any]:
        """The limits of its plan."""
        return self.submission.plan.get("limits") or {}


class PlanNameError(Exception):
    """No run has the named plan, or several plans are named for one board."""


class BoardPlan(NamedTuple):
    """The trials and limits that a row must have played to be ranked."""

    trials: PlannedTrials
    limits: Mapping[str, Any]
    hash: str = ""
    """Hash of the plan that the builder of the site named; empty if the rows decided."""
    replayed: bool = False
    """Whether rows with this plan were replayed; if so, rows that could not be replayed have no
    rank.
    """

    def disqualifies(self, member: Member) -> str | None:
        """Return why a row may not be ranked by this plan, or None."""
        fault = member.submission.contradiction
        if fault is not None:
            return f"inconsistent: {fault}"
        if not member.complete:
            planned = member.result.planned
            return f"incomplete: {member.result.score.trials} of {planned} planned trials"
        if member.trials.digest != self.trials.digest:
            return f"another plan: {_difference(member.trials.load(), self.trials.load())}"
        for name in sorted(member.limits.keys() | self.limits.keys()):
            own, usual = member.limits.get(name), self.limits.get(name)
            if _looser(name, own, usual):
                return f"other limits: {name} {_shown(own)}, the board's {_shown(usual)}"
        if self.replayed and member.submission.obstacle:
            return f"not verified: {member.submission.obstacle}"
        return None


def check_plan_names(names: Sequence[str], hashes: Sequence[str]) -> None:
    """Require that each name is the beginning of some plan's hash.

    Raises:
        PlanNameError: If one is not, or is too short to tell plans apart.
    """
    for name in names:
        if len(name) < _FEWEST_DIGITS:
            raise PlanNameError(
                f"{name!r} is too short for the hash of a plan: expected {_FEWEST_DIGITS} digits "
                "or more, as in `plan_hash` of plan.json"
            )
        if not any(digest.startswith(name.lower()) for digest in hashes):
            raise PlanNameError(f"no valid run has the plan {name}")


def board_plan(members: Sequence[Member], names: Sequence[str] = ()) -> BoardPlan:
    """Return the named plan of a board or, without one, the plan that most complete rows share.

    Among equally frequent plans, the largest wins. Rows that could not be replayed count only if
    none could, and reference agents only if there are no other rows.

    Args:
        members: The board's rows.
        names: Plan hashes or prefixes of them.

    Raises:
        PlanNameError: If plans with different trials or limits are named for this board.
    """
    plan = _named_plan(members, names) or _common_plan(members)
    competing = [one for one in members if one.submission.reference is None]
    replayed = (one for one in competing if one.submission.verified)
    return plan._replace(replayed=any(plan.disqualifies(one) is None for one in replayed))


def _named_plan(members: Sequence[Member], names: Sequence[str]) -> BoardPlan | None:
    found: dict[str, BoardPlan] = {}
    for one in members:
        digest = one.submission.plan["plan_hash"]
        if any(digest.startswith(name.lower()) for name in names):
            plan = BoardPlan(one.trials, dict(one.limits), digest)
            found[content_hash([plan.trials.digest, plan.limits])] = plan
    if len(found) > 1:
        first, second, *_ = (plan.hash for plan in found.values())
        raise PlanNameError(
            f"{first} and {second} are different plans for {members[0].result.env}: name one of "
            "them"
        )
    return next(iter(found.values()), None)


def _common_plan(members: Sequence[Member]) -> BoardPlan:
    sound = [one for one in members if one.complete and one.submission.contradiction is None]
    sound = [one for one in sound if not one.submission.obstacle] or sound
    voters = [one for one in sound if one.submission.reference is None] or sound or [*members]
    by_trials = {one.trials.digest: one.trials for one in reversed(voters)}
    sizes = {digest: trials.number for digest, trials in by_trials.items()}
    trials = by_trials[_most_frequent([one.trials.digest for one in voters], sizes)]
    limits = [dict(one.limits) for one in voters if one.trials.digest == trials.digest]
    digest = _most_frequent([content_hash(one) for one in limits], {})
    return BoardPlan(trials, next(one for one in limits if content_hash(one) == digest))


def _most_frequent(digests: Sequence[str], sizes: Mapping[str, int]) -> str:
    """Return the most frequent digest; ties go to the largest plan, then to the first by name."""
    counts = Counter(digests)
    return min(counts, key=lambda one: (-counts[one], -sizes.get(one, 0), one))


def _difference(own: frozenset[Trial], board: frozenset[Trial]) -> str:
    mine, all_of_them = {task for task, _, _ in own}, {task for task, _, _ in board}
    if mine == all_of_them:
        return f"{len(own)} trials of its {len(mine)} tasks, the board's has {len(board)}"
    if mine < all_of_them:
        return f"{len(mine)} of the board's {len(all_of_them)} tasks"
    return f"{len(mine)} tasks, {len(mine & all_of_them)} of them the board's {len(all_of_them)}"


def _looser(name: str, own: Any, usual: Any) -> bool:
    """Whether a limit leaves more room than the board's; None is none, or the task's own turns."""
    if own == usual:
        return False
    if own is None or (usual is None and name == "turns"):
        return True
    numbers = isinstance(own, int | float) and isinstance(usual, int | float)
    return usual is not None and not (numbers and own <= usual)


def _shown(limit: Any) -> str:
    return "unset" if limit is None else str(limit)
