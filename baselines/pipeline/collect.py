"""Collection of rollout groups for training, with their tokens.

A group is planned, played by an executor, forked at the splits of the recipe's structure or grown
branch by branch, and assembled from the trajectories. The executor decides where rollouts are
played.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple, cast

import numpy as np

from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.pipeline.growth import Branch, Leaf, RolloutTree, TreeGrowth
from hexathlon.baselines.pipeline.pruning import Pruner
from hexathlon.baselines.pipeline.structures import ForkPoint, leaves
from hexathlon.baselines.rollout.executor import Executor, Outcome, Request
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.prefix import Prefix
from hexathlon.baselines.tokens.soft import without_soft
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.baselines.tokens.tree import Node
from hexathlon.evaluators.records import TrialRecord
from hexathlon.tasks.seeding import generator_for

__all__ = [
    "Collected",
    "Collector",
    "GroupPlan",
    "Logged",
    "StartsDiffer",
    "collected_of",
    "rollouts_in",
    "scored_again",
]


MOST_DRAWN = 4
"""Rollouts begun per member of a tree, pruned ones included, after which it is only filled up."""


class StartsDiffer(Exception):
    """Rollouts of one group began with different tokens."""


class GroupPlan(NamedTuple):
    """The rollouts of one task to be played."""

    task: str
    env: str
    limits: TrialLimits
    members: int
    seed: int
    """Seed of the environments; all members see the same episode."""

    start: Prefix | None = None
    """Turns that members continue from; None starts at the beginning."""

    plain: int = 0
    """Number of the first members that start at the beginning even so."""

    hint: float = 0.0
    """Share of the oracle's actions in `start` or in the contexts, 1 with a solved example."""

    contexts: tuple[str, ...] = ()
    """Context of each rollout before it splits; those beyond have none."""


class Collected(NamedTuple):
    """A batch of rollouts."""

    groups: list[Group]
    """In the order of the plans, without failed members and empty groups."""

    records: list[TrialRecord]
    """One per trial, in the order of plans and trials."""

    faults: int
    """Number of trials without a score; they are in no group."""

    @staticmethod
    def joined(parts: "Sequence[Collected]", tasks: Sequence[str]) -> "Collected":
        """Join the shares of several processes, in the order of the tasks."""
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
        executor: Plays the rollouts.
        splits: Splits of every rollout; a plan's members count the rollouts after all splits.
        logged: Called with the trajectories of a batch; returns those from which samples are made.
        pruner: Stops rollouts after their first turns.
        growth: Chooses where rollouts branch, instead of fixed splits.
    """

    def __init__(
        self,
        executor: Executor,
        splits: Sequence[ForkPoint] = (),
        logged: Logged = lambda played: played,
        *,
        pruner: Pruner | None = None,
        growth: TreeGrowth | None = None,
    ) -> None:
        self.logged = logged
        self.pruner = pruner
        self._executor = executor
        self._splits = splits
        self._growth = growth

    async def collect(self, plans: Sequence[GroupPlan]) -> Collected:
        """Play the groups.

        Raises:
            StartsDiffer: If two rollouts of a task began with different tokens.
        """
        if self._growth is not None:
            played = await self._grown(plans, self._growth)
        else:
            played = await self._played([root for plan in plans for root in self._roots(plan)])
        place = {plan.task: number for number, plan in enumerate(plans)}
        played.sort(key=lambda rollout: (place[rollout.key[1]], rollout.key[3]))
        return self.assembled([plan.task for plan in plans], self.logged(played))

    def assembled(self, tasks: Sequence[str], played: Sequence[Trajectory]) -> Collected:
        """Return the groups of tasks, with the structure's labels as rewards if it gives any.

        Records keep the verifier's rewards.
        """
        collected = collected_of(tasks, played)
        if self._growth is None or self._growth.labels is None:
            return collected
        labelled: list[Trajectory] = []
        for task in tasks:
            scored = [one for one in played if one.key[1] == task and one.scored]
            labels = self._growth.labels(scored)
            labelled += [_relabelled(*pair) for pair in zip(scored, labels, strict=True)]
        return collected._replace(groups=collected_of(tasks, labelled).groups)

    def roots(self, plan: GroupPlan) -> int:
        """Return the number of parts of a group that can be played apart.

        These are the rollouts before they split, or one if the whole group grows as a tree.
        """
        return 1 if self._growth is not None else plan.members // leaves(self._splits)

    async def rollout(self, plan: GroupPlan, root: int) -> list[Trajectory]:
        """Play one rollout of a group, and those that split off it; return them in order.

        Args:
            plan: The group.
            root: Number of the rollout, less than `roots`.
        """
        if self._growth is not None:
            played = await self._grown([plan], self._growth)
        else:
            played = await self._played([self._roots(plan)[root]])
        return sorted(played, key=lambda rollout: rollout.key[3])

    def _roots(self, plan: GroupPlan) -> list[Request]:
        width = leaves(self._splits)
        keys = [(plan.env, plan.task, plan.seed, n * width) for n in range(self.roots(plan))]
        starts = [None if n < plan.plain else plan.start for n in range(len(keys))]
        for n, text in enumerate(plan.contexts[: len(keys)]):
            if text:
                starts[n] = replace(starts[n] or Prefix(keys[n]), context=text)
        return [
            Request(key, plan.limits, start=start) for key, start in zip(keys, starts, strict=True)
        ]

    async def _played(self, requests: list[Request]) -> list[Trajectory]:
        """Play rollouts in segments from split to split; return the trajectories."""
        if self.pruner is not None:
            return await self._pruned(requests, self.pruner)
        leaf_count = leaves(self._splits)
        hint_turns = {
            request.key[1]: request.start.turns if request.start else 0 for request in requests
        }
        finished: list[Trajectory] = []
        for split in self._splits:
            leaf_count //= split.width
            segment = [
                request._replace(pause_after=hint_turns[request.key[1]] + split.after)
                for request in requests
            ]
            outcomes = await self._outcomes(segment)
            requests = []
            for request, outcome in zip(segment, outcomes, strict=True):
                if isinstance(outcome, Trajectory):
                    finished.append(outcome)
                else:
                    requests += _siblings(request, outcome, split.width, leaf_count)
        outcomes = await self._outcomes(requests)
        return finished + [outcome for outcome in outcomes if isinstance(outcome, Trajectory)]

    async def _pruned(self, requests: list[Request], pruner: Pruner) -> list[Trajectory]:
        """Play the first turns of all rollouts, then the rest of those that go on."""
        segment = [
            request._replace(
                pause_after=(request.start.turns if request.start else 0) + pruner.after
            )
            for request in requests
        ]
        outcomes = await self._outcomes(segment)
        played = [outcome for outcome in outcomes if isinstance(outcome, Trajectory)]
        paused = [
            (request, outcome)
            for request, outcome in zip(requests, outcomes, strict=True)
            if isinstance(outcome, Prefix)
        ]
        going = pruner.chosen([(request.key, prefix) for request, prefix in paused])
        rest = [
            request._replace(start=prefix)
            for (request, prefix), goes in zip(paused, going, strict=True)
            if goes
        ]
        ended = await self._outcomes(rest)
        played += [outcome for outcome in ended if isinstance(outcome, Trajectory)]
        started = Counter(request.key[:3] for request in requests)
        played = [
            replace(each, survival=pruner.survival(each.key), started=started[each.key[:3]])
            for each in played
        ]
        pruner.learn(played)
        return played

    async def _grown(self, plans: Sequence[GroupPlan], growth: TreeGrowth) -> list[Trajectory]:
        """Grow the trees of groups in common rounds; return the trajectories."""
        roots = [Request((p.env, p.task, p.seed, 0), p.limits, start=p.start) for p in plans]
        trees = [RolloutTree(plan.members, plan.start) for plan in plans]
        draws = [generator_for("tree", *request.key[:3]) for request in roots]
        chains = [min(growth.chains(tree.members), tree.room) for tree in trees]
        chosen = [(number, Branch()) for number, count in enumerate(chains) for _ in range(count)]
        await self._branches(chosen, trees, roots, growth)
        if growth.reference:
            await self._solve(trees, roots)
        while chosen:
            chosen = [
                (number, branch)
                for number in dict.fromkeys(number for number, _ in chosen)
                for branch in _next_branches(trees[number], growth, draws[number])
            ]
            await self._branches(chosen, trees, roots, growth)
        return [trajectory for tree in trees for trajectory in tree.played()]

    async def _branches(
        self,
        chosen: Sequence[tuple[int, Branch]],
        trees: Sequence[RolloutTree],
        roots: Sequence[Request],
        growth: TreeGrowth,
    ) -> None:
        """Play branches and add them to their trees."""
        requests = [trees[number].request(branch, roots[number]) for number, branch in chosen]
        looks = growth.keep is not None
        ahead = [
            request._replace(pause_after=branch.after + 1)
            if looks and branch.leaf >= 0
            else request
            for request, (_, branch) in zip(requests, chosen, strict=True)
        ]
        outcomes = await self._outcomes(ahead)
        if growth.keep is not None:
            going = [
                number
                for number, ((tree, branch), outcome) in enumerate(
                    zip(chosen, outcomes, strict=True)
                )
                if branch.leaf < 0
                or (isinstance(outcome, Trajectory) and not outcome.scored)
                or growth.keep(trees[tree], branch, outcome)
            ]
            chosen = [chosen[number] for number in going]
            rest = [number for number in going if isinstance(outcomes[number], Prefix)]
            more = [_continued(requests[number], outcomes[number]) for number in rest]
            for number, outcome in zip(rest, await self._outcomes(more), strict=True):
                outcomes[number] = outcome
            outcomes = [outcomes[number] for number in going]
        for (number, branch), outcome in zip(chosen, outcomes, strict=True):
            assert isinstance(outcome, Trajectory), "without a pause, a rollout runs to its end"
            trees[number].add(Leaf(outcome, branch))

    async def _solve(self, trees: Sequence[RolloutTree], roots: Sequence[Request]) -> None:
        """Give trees the oracles' solutions; a task without one has no reference."""
        oracles = [
            root._replace(key=(*root.key[:3], 0), start=None, agent="agent:oracle")
            for root in roots
        ]
        for tree, outcome in zip(trees, await self._outcomes(oracles), strict=True):
            if isinstance(outcome, Trajectory) and outcome.record["reward"] == 1.0:
                tree.reference = outcome

    async def _outcomes(self, requests: Sequence[Request]) -> list[Outcome]:
        """Play segments; those that an abort paused early are continued from their prefixes."""
        outcomes = await self._executor.run(requests)
        while early := [
            number
            for number, (request, outcome) in enumerate(zip(requests, outcomes, strict=True))
            if isinstance(outcome, Prefix) and not _reached(request, outcome)
        ]:
            rest = [_continued(requests[number], outcomes[number]) for number in early]
            for number, outcome in zip(early, await self._executor.run(rest), strict=True):
                outcomes[number] = outcome
        return outcomes


def collected_of(tasks: Sequence[str], played: Sequence[Trajectory]) -> Collected:
    """Return the groups of tasks and the records of trajectories, both in the given order.

    Raises:
        StartsDiffer: If two rollouts of a task began with different tokens.
    """
    by_task: dict[str, list[Trajectory]] = {task: [] for task in tasks}
    for trajectory in played:
        by_task[trajectory.key[1]].append(trajectory)
    groups = []
    for task, members in by_task.items():
        _check_starts(task, members)
        samples = chain.from_iterable(member.samples() for member in members)
        groups.append(Group(task, tuple(samples)))
    return Collected(
        [group for group in groups if group.samples],
        [trajectory.record for trajectory in played],
        sum(not trajectory.scored for trajectory in played),
    )


def _next_branches(
    tree: RolloutTree, growth: TreeGrowth, draw: np.random.Generator
) -> Sequence[Branch]:
    """Return the branches of a tree's next round; chains where the structure names none."""
    if tree.drawn >= MOST_DRAWN * tree.members:
        return [Branch()] * tree.room
    return growth.choose(tree, draw) or [Branch()] * -(-tree.room // 2)


def _relabelled(trajectory: Trajectory, label: float) -> Trajectory:
    """Return a trajectory whose whole reward is a label, at its end."""
    steps = [{**step, "reward": 0.0} for step in trajectory.record["steps"]]
    record = {**trajectory.record, "steps": steps, "reward": label}
    return replace(trajectory, record=cast("TrialRecord", record))


def rollouts_in(group: Group) -> int:
    """Return the number of rollouts that a group's samples come from."""
    return len({sample.key for sample in group.samples})


def _reached(request: Request, prefix: Prefix) -> bool:
    return request.pause_after is not None and prefix.turns >= request.pause_after


def _continued(request: Request, outcome: Outcome) -> Request:
    return request._replace(start=outcome) if isinstance(outcome, Prefix) else request


def _siblings(request: Request, prefix: Prefix, width: int, leaf_count: int) -> list[Request]:
    """Return the rollouts that continue from a split.

    Trials are numbered by the leaves of the whole tree, so that numbers do not depend on which
    rollouts end early; the first sibling keeps the number of the trial before the split.

    Args:
        request: The rollout before the split.
        prefix: Its turns.
        width: Number of siblings.
        leaf_count: Number of rollouts into which each sibling splits.
    """
    env, task, seed, trial = request.key
    keys = [(env, task, seed, trial + number * leaf_count) for number in range(width)]
    return [request._replace(key=key, start=prefix, pause_after=None) for key in keys]


def _without_context(root: Node) -> tuple[int, ...]:
    start, stop = root.hint or (0, 0)
    return without_soft(root.ids[:start] + root.ids[stop:])


def _check_starts(task: str, played: Sequence[Trajectory]) -> None:
    starts = {
        _without_context(trajectory.tokens.nodes[0])
        for trajectory in played
        if trajectory.tokens is not None and trajectory.tokens.nodes
    }
    if len(starts) > 1:
        raise StartsDiffer(
            f"the rollouts of {task} began with {len(starts)} different prompts, expected one; "
            "training in groups requires an environment with a deterministic reset"
        )


def scored_again(played: Sequence[Trajectory], records: Sequence[TrialRecord]) -> list[Trajectory]:
    """Return trajectories with other records of the same trials, such as rescored ones."""
    return [replace(run, record=record) for run, record in zip(played, records, strict=True)]
