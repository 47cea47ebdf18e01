"""The generate stage of a step: which tasks are rolled out, how often, and from where.

Tables of the mixture get their share of a step's groups; in each, the sampler chooses tasks among
candidates, the allocator divides the rollouts, and the hint says how far the oracle goes first.
What is known of a task's difficulty comes from rollouts without a hint.
"""

from collections.abc import Sequence

from hexathlon.baselines.algorithms.catalogue import ALLOCATORS, HINTS, SAMPLERS
from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.algorithms.statistics import TaskStatistics
from hexathlon.baselines.algorithms.structures import leaves
from hexathlon.baselines.rollout.executor import Executor, Outcome, Request
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.prefix import Prefix
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.baselines.training.collect import GroupPlan
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.baselines.training.tasks_table import TasksTable, shares
from hexathlon.tasks.seeding import derive_seed, generator_for

__all__ = ["Generation", "HintFailed"]

_LONG_SOLUTION = 1_000_000


class HintFailed(Exception):
    """An oracle did not solve its task, so its actions are no hint."""


class Generation:
    """Plans the groups of a step.

    Args:
        recipe: The recipe, with `scale` applied.
        known: What is known of each task's difficulty; updated by `observe`.
    """

    def __init__(self, recipe: Recipe, known: TaskStatistics) -> None:
        self._recipe = recipe
        self.known = known

    def tasks(self, step: int, attempt: int) -> dict[str, TasksTable]:
        """Return the train tasks of a step with the table that each comes from.

        A function of the recipe, the step, the attempt and what is known of the tasks.
        """
        recipe = self._recipe
        place = (recipe.seed, step, attempt)
        given = shares(recipe.tasks, recipe.rollout.groups, *place)
        several = len(recipe.tasks) > 1
        found: dict[str, TasksTable] = {}
        for table, count in zip(recipe.tasks, given, strict=True):
            own = (*place, table.label) if several else place
            for task in self._chosen(table, count, own):
                found[task] = table
        return found

    def _chosen(self, table: TasksTable, count: int, place: tuple[str | int, ...]) -> list[str]:
        generate = self._recipe.generate
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
        recipe = self._recipe
        seed = derive_seed("rollouts", recipe.seed, step, attempt) % 2**31
        wide = leaves(recipe.generate.splits())
        part = recipe.generate.allocator
        roots = ALLOCATORS[part.name](
            self.known.success(list(tasks)),
            len(tasks) * recipe.rollout.members // wide,
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
        part = self._recipe.generate.hint
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
