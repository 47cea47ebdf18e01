"""The generate stage of a step: which tasks are rolled out, how often, and from where.

Tables of the mixture get their share of a step's groups; in each, the sampler chooses tasks among
candidates, the allocator divides the rollouts, and the hint says how far the oracle goes first.
What is known of a task's difficulty comes from rollouts without a hint.
"""

from collections.abc import Sequence

from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.pipeline.catalogue import ALLOCATORS, HINTS, SAMPLERS
from hexathlon.baselines.pipeline.collect import GroupPlan
from hexathlon.baselines.pipeline.structures import leaves
from hexathlon.baselines.pipeline.tables import GenerateTable
from hexathlon.baselines.pipeline.task_statistics import TaskStatistics
from hexathlon.baselines.pipeline.tasks_table import TasksTable, shares
from hexathlon.baselines.rollout.executor import Executor, Outcome, Request
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.prefix import Prefix
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.tasks.seeding import derive_seed, generator_for

__all__ = ["Generation", "HintFailed"]

_LONG_SOLUTION = 1_000_000


class HintFailed(Exception):
    """An oracle did not solve its task, so its actions are no hint."""


class Generation:
    """Plans the groups of a step.

    Args:
        tables: Sources of the tasks: one, or a mixture of several.
        config: The stage's parts.
        groups: Tasks per step.
        members: Rollouts per task, on average.
        seed: Of every draw.
        known: Estimates of each task's difficulty; updated by `observe`.
    """

    def __init__(
        self,
        tables: Sequence[TasksTable],
        config: GenerateTable,
        groups: int,
        members: int,
        seed: int,
        known: TaskStatistics,
    ) -> None:
        self._tables = tables
        self._config = config
        self._groups = groups
        self._members = members
        self._seed = seed
        self.known = known

    def tasks(self, step: int, attempt: int) -> dict[str, TasksTable]:
        """Return the train tasks of a step with the table that each comes from.

        A function of the configuration, the step, the attempt and the tasks' known difficulty.
        """
        place = (self._seed, step, attempt)
        counts = shares(self._tables, self._groups, *place)
        several = len(self._tables) > 1
        chosen: dict[str, TasksTable] = {}
        for table, count in zip(self._tables, counts, strict=True):
            own = (*place, table.label) if several else place
            for task in self._chosen(table, count, own):
                chosen[task] = table
        return chosen

    def _chosen(self, table: TasksTable, count: int, place: tuple[str | int, ...]) -> list[str]:
        generate = self._config
        draw = generator_for("train tasks", *place)
        candidates = table.drawn(count * generate.candidates, draw)
        candidates = list(dict.fromkeys(candidates))
        part = generate.sampler
        chosen = SAMPLERS[part.name](
            candidates,
            self.known,
            min(count, len(candidates)),
            generator_for("sampler", *place),
            **part.parameters,
        )
        return [candidates[number] for number in chosen]

    def plans(self, tasks: dict[str, TasksTable], step: int, attempt: int) -> list[GroupPlan]:
        """Return the groups to play, without hints."""
        seed = derive_seed("rollouts", self._seed, step, attempt) % 2**31
        wide = leaves(self._config.splits())
        part = self._config.allocator
        roots = ALLOCATORS[part.name](
            self.known.success(list(tasks)),
            len(tasks) * self._members // wide,
            **part.parameters,
        )
        return [
            GroupPlan(task, table.env, TrialLimits(turns=table.turns), count * wide, seed)
            for (task, table), count in zip(tasks.items(), roots, strict=True)
            if count
        ]

    async def hinted(self, plans: Sequence[GroupPlan], executor: Executor) -> list[GroupPlan]:
        """Return the plans with the oracle's first actions, as many as the hint says.

        Raises:
            HintFailed: The oracle did not solve a task.
        """
        success = self.known.success([plan.task for plan in plans])
        # Tasks that would get none of a long solution need no oracle.
        asked = [
            plan
            for plan, rate in zip(plans, success, strict=True)
            if self._given(rate, _LONG_SOLUTION)
        ]
        if not asked:
            return list(plans)
        oracles = [
            Request((plan.env, plan.task, plan.seed, 0), plan.limits, "agent:oracle")
            for plan in asked
        ]
        played = zip(asked, await executor.run(oracles), strict=True)
        solutions = {plan.task: _solution(plan, outcome) for plan, outcome in played}
        made = []
        for plan, rate in zip(plans, success, strict=True):
            solution = solutions.get(plan.task)
            if solution is not None:
                # The last action stays the policy's: a hint leaves something to do.
                actions = len(solution.record["steps"])
                given = min(self._given(rate, actions), actions - 1)
                plan = plan._replace(start=Prefix.of(solution, given) if given > 0 else None)
            made.append(plan)
        return made

    def _given(self, success: float, actions: int) -> int:
        """Return how many of so many actions the hint gives."""
        part = self._config.hint
        return HINTS[part.name](float(success), actions, **part.parameters)

    def observe(self, groups: Sequence[Group], plans: Sequence[GroupPlan]) -> None:
        """Take in the rollouts of tasks that were played without a hint."""
        plain = {plan.task for plan in plans if plan.start is None}
        self.known.observe([group for group in groups if group.task in plain])


def _solution(plan: GroupPlan, outcome: Outcome) -> Trajectory:
    if isinstance(outcome, Trajectory) and outcome.record["reward"] == 1.0:
        return outcome
    raise HintFailed(
        f"the oracle of {plan.task} did not solve it, so it gives no hint: leave generate.hint out "
        "or choose other tasks"
    )
