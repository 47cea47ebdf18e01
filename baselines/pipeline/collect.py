"""Groups of rollouts for training: the same path that evaluation takes, with the tokens kept.

A group is planned, played by an executor, split where the recipe's structure says, and put together
again. Who plays the rollouts, and where, is left to `hexathlon.baselines.rollout.executor`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.pipeline.structures import ForkPoint, leaves
from hexathlon.baselines.rollout.executor import Executor, Outcome, Request
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.prefix import Prefix
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.evaluators.records import TrialRecord

__all__ = ["Collected", "Collector", "GroupPlan", "StartsDiffer", "scored_again"]


class StartsDiffer(Exception):
    """Rollouts of one group did not begin with the same tokens."""


class GroupPlan(NamedTuple):
    """Rollouts of one task that are wanted."""

    task: str
    env: str
    limits: TrialLimits
    members: int
    seed: int
    """Of the environments; all members see the same episode."""

    start: Prefix | None = None
    """Turns that all members go on from; None begins at the beginning."""


class Collected(NamedTuple):
    """What a batch of rollouts gave."""

    groups: list[Group]
    """In the order of the plans; a failed member is absent, and so is a group without any."""

    records: list[TrialRecord]
    """One per trial, in the order of plans and trials."""

    faults: int
    """Trials without a score; they are in no group."""

    @staticmethod
    def joined(parts: "Sequence[Collected]", tasks: Sequence[str]) -> "Collected":
        """Put the shares of several processes together, in the order of the tasks."""
        place = {task: number for number, task in enumerate(tasks)}
        groups = list(chain.from_iterable(part.groups for part in parts))
        records = list(chain.from_iterable(part.records for part in parts))
        groups.sort(key=lambda group: place[group.task])
        records.sort(key=lambda record: (place[record["key"]["task"]], record["key"]["trial"]))
        return Collected(groups, records, sum(part.faults for part in parts))


Logged = Callable[[list[Trajectory]], Sequence[Trajectory]]


class Collector:
    """Plays groups of rollouts.

    Args:
        executor: Plays them.
        splits: Where rollouts split; members of a group count the rollouts after all splits.
        logged: Is given the trajectories of a batch and returns those that samples are taken
            from.
    """

    def __init__(
        self,
        executor: Executor,
        splits: Sequence[ForkPoint] = (),
        logged: Logged = lambda played: played,
    ) -> None:
        self.logged = logged
        self._executor = executor
        self._splits = splits

    async def collect(self, plans: Sequence[GroupPlan]) -> Collected:
        """Play the groups.

        Raises:
            StartsDiffer: Two rollouts of a task began differently.
        """
        played = self.logged(await self._played(plans))
        by_task: dict[str, list[Trajectory]] = {plan.task: [] for plan in plans}
        for trajectory in played:
            by_task[trajectory.key[1]].append(trajectory)
        groups = []
        for task, members in by_task.items():
            _same_start(task, members)
            samples = chain.from_iterable(member.samples() for member in members)
            groups.append(Group(task, tuple(samples)))
        return Collected(
            [group for group in groups if group.samples],
            [trajectory.record for trajectory in played],
            sum(not trajectory.scored for trajectory in played),
        )

    async def _played(self, plans: Sequence[GroupPlan]) -> list[Trajectory]:
        """Play plans in stretches from split to split; return what came to its end, in order."""
        wide = leaves(self._splits)
        requests = [
            Request((plan.env, plan.task, plan.seed, root * wide), plan.limits, start=plan.start)
            for plan in plans
            for root in range(plan.members // wide)
        ]
        given = {plan.task: plan.start.turns if plan.start else 0 for plan in plans}
        done: list[Trajectory] = []
        for split in self._splits:
            wide //= split.width
            stretch = [
                one._replace(pause_after=given[one.key[1]] + split.after) for one in requests
            ]
            outcomes = await self._outcomes(stretch)
            requests = []
            for request, outcome in zip(stretch, outcomes, strict=True):
                if isinstance(outcome, Trajectory):
                    done.append(outcome)
                else:
                    requests += _siblings(request, outcome, split.width, wide)
        outcomes = await self._outcomes(requests)
        done += [one for one in outcomes if isinstance(one, Trajectory)]
        place = {plan.task: number for number, plan in enumerate(plans)}
        return sorted(done, key=lambda one: (place[one.key[1]], one.key[3]))

    async def _outcomes(self, requests: Sequence[Request]) -> list[Outcome]:
        """Play stretches; those that an abort paused early go on from what they have."""
        outcomes = await self._executor.run(requests)
        while early := [
            number
            for number, (request, outcome) in enumerate(zip(requests, outcomes, strict=True))
            if isinstance(outcome, Prefix) and not _reached(request, outcome)
        ]:
            again = [_from(requests[number], outcomes[number]) for number in early]
            for number, outcome in zip(early, await self._executor.run(again), strict=True):
                outcomes[number] = outcome
        return outcomes


def _reached(request: Request, prefix: Prefix) -> bool:
    return request.pause_after is not None and prefix.turns >= request.pause_after


def _from(request: Request, outcome: Outcome) -> Request:
    return request._replace(start=outcome) if isinstance(outcome, Prefix) else request


def _siblings(request: Request, reached: Prefix, width: int, wide: int) -> list[Request]:
    """Return the rollouts that go on from where one split.

    Trials are numbered by the leaves of the whole tree, so numbers do not depend on which rollouts
    end early; the first sibling goes on as the trial that took the turns.
    """
    env, task, seed, trial = request.key
    keys = [(env, task, seed, trial + number * wide) for number in range(width)]
    return [request._replace(key=key, start=reached, pause_after=None) for key in keys]


def _same_start(task: str, played: Sequence[Trajectory]) -> None:
    starts = {
        trajectory.tokens.nodes[0].ids
        for trajectory in played
        if trajectory.tokens is not None and trajectory.tokens.nodes
    }
    if len(starts) > 1:
        raise StartsDiffer(
            f"the rollouts of {task} began with {len(starts)} different prompts; an environment "
            "that does not reset to the same start cannot be trained on in groups"
        )


def scored_again(played: Sequence[Trajectory], records: Sequence[TrialRecord]) -> list[Trajectory]:
    """Return trajectories with other records of the same trials."""
    return [replace(one, record=record) for one, record in zip(played, records, strict=True)]
