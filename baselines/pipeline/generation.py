"""The generate stage: the tasks of a step, the rollouts of each, and the prefixes they start from.

Each table of the mixture gets its share of a step's groups. The sampler chooses tasks among
candidates, the allocator divides the rollouts among them, the hint sets how many of the oracle's
actions each rollout starts from, and the context what it reads after its task. Difficulty is
estimated from rollouts without a hint.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from hexathlon.baselines.algorithms.samples import Group, turns_given
from hexathlon.baselines.pipeline.catalogue import (
    ALLOCATORS,
    CONTEXTS,
    HINTS,
    HORIZONS,
    SAMPLERS,
)
from hexathlon.baselines.pipeline.collect import GroupPlan
from hexathlon.baselines.pipeline.contexts import Context, written
from hexathlon.baselines.pipeline.structures import leaves
from hexathlon.baselines.pipeline.tables import GenerateTable
from hexathlon.baselines.pipeline.task_statistics import TaskStatistics
from hexathlon.baselines.pipeline.tasks_table import TasksTable, shares
from hexathlon.baselines.rollout.executor import Executor, Outcome, Request
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.prefix import Prefix
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.seeding import derive_seed, generator_for
from hexathlon.tasks.source import parse_address

__all__ = ["Generation", "HintFailed"]

_LONG_SOLUTION = 1_000_000
"""A solution so long that a hint which gives none of its actions never gives any."""


class HintFailed(Exception):
    """An oracle did not solve its task, so its actions cannot be a hint."""


class Generation:
    """Plans the groups of a step.

    Args:
        tables: Sources of the tasks: one, or a mixture of several.
        config: The stage's parts.
        groups: Tasks per step.
        members: Rollouts per task, on average.
        seed: Seed of all draws.
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
        known.text = _instruction

    def tasks(self, step: int, attempt: int) -> dict[str, TasksTable]:
        """Return the train tasks of a step, each with its table.

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
        leaf_count = leaves(self._config.splits())
        part = self._config.allocator
        roots = ALLOCATORS[part.name](
            self.known.success(list(tasks)),
            len(tasks) * self._members // leaf_count,
            **part.parameters,
        )
        horizon = self._config.horizon

        def limits(table: TasksTable) -> TrialLimits:
            turns = HORIZONS[horizon.name](step, table.turns, **horizon.parameters)
            return TrialLimits(turns=turns)

        return [
            GroupPlan(task, table.env, limits(table), count * leaf_count, seed)
            for (task, table), count in zip(tasks.items(), roots, strict=True)
            if count
        ]

    async def hinted(self, plans: Sequence[GroupPlan], executor: Executor) -> list[GroupPlan]:
        """Return the plans with their hints: the oracle's first actions as start, and contexts.

        Raises:
            HintFailed: If the oracle does not solve a task.
        """
        success = self.known.success([plan.task for plan in plans])
        contexts = [self._contexts(plan, rate) for plan, rate in zip(plans, success, strict=True)]
        # Play the oracle only for tasks whose hint can give an action.
        hinted = [
            plan
            for plan, rate, texts in zip(plans, success, contexts, strict=True)
            if self._hint_length(plan.task, rate, _LONG_SOLUTION)
            or any(text.share for text in texts)
        ]
        others = {
            plan.task: self._example_task(plan)
            for plan, texts in zip(plans, contexts, strict=True)
            if any(text.example for text in texts)
        }
        hinted += [plan._replace(task=others[plan.task]) for plan in plans if plan.task in others]
        solutions = await self._solutions(hinted, executor)
        started = []
        for plan, rate, texts in zip(plans, success, contexts, strict=True):
            solution = solutions.get(plan.task)
            actions = _actions(solution) if solution else []
            example = others.get(plan.task, "")
            shown = _example_text(example, solutions[example]) if example else ""
            plan = _with_contexts(plan, texts, actions, shown)
            if solution is not None:
                # The last action is always left to the policy.
                length = min(self._hint_length(plan.task, rate, len(actions)), len(actions) - 1)
                if length > 0:
                    plan = plan._replace(
                        start=Prefix.of(solution, length),
                        plain=math.floor(plan.members * (1.0 - self._config.hinted) + 1e-9),
                        hint=length / len(actions),
                    )
            started.append(plan)
        return started

    async def _solutions(
        self, plans: Sequence[GroupPlan], executor: Executor
    ) -> dict[str, Trajectory]:
        """Let the oracle play the plans' tasks, each once; all plans have the same seed."""
        by_task = {plan.task: plan for plan in plans}
        if not by_task:
            return {}
        oracles = [
            Request((plan.env, plan.task, plan.seed, 0), plan.limits, "agent:oracle")
            for plan in by_task.values()
        ]
        outcomes = await executor.run(oracles)
        return {
            task: _solution(task, outcome) for task, outcome in zip(by_task, outcomes, strict=True)
        }

    def _example_task(self, plan: GroupPlan) -> str:
        """Return another train task of the same table; the same one if there is no other."""
        (table,) = (table for table in self._tables if table.holds(plan.task))
        drawn = table.drawn(2, generator_for("example", plan.seed, plan.task))
        return next((task for task in drawn if task != plan.task), plan.task)

    def _contexts(self, plan: GroupPlan, success: float) -> list[Context]:
        """Return the contexts of a group's rollouts before they split."""
        part, roots = self._config.context, plan.members // leaves(self._config.splits())
        draw = generator_for("contexts", plan.seed, plan.task)
        return CONTEXTS[part.name](float(success), roots, draw, **part.parameters)

    def _hint_length(self, task: str, success: float, actions: int) -> int:
        """Return how many of a solution's actions the hint gives."""
        part = self._config.hint
        rounds = self.known.hinted.get(task, ())
        return HINTS[part.name](float(success), actions, rounds, **part.parameters)

    def observe(self, groups: Sequence[Group], plans: Sequence[GroupPlan]) -> None:
        """Update the estimates of difficulty; those with a hint are counted apart."""
        hints = {plan.task: plan.hint for plan in plans}
        whole = []
        for group in groups:
            told = hints.get(group.task, 0.0) > 0
            given = [turns_given(s) > 0 or (told and s.context != "") for s in group.samples]
            if any(given):
                plain, hinted = (
                    tuple(s for s, each in zip(group.samples, given, strict=True) if each is want)
                    for want in (False, True)
                )
                if told:
                    self.known.observe_hinted(replace(group, samples=hinted), hints[group.task])
                group = replace(group, samples=plain)
            if group.samples:
                whole.append(group)
        self.known.observe(whole)


def _with_contexts(
    plan: GroupPlan, contexts: Sequence[Context], actions: Sequence[str], example: str
) -> GroupPlan:
    texts = tuple(written(context, actions, example) for context in contexts)
    if not any(texts):
        return plan
    shares = [1.0 if context.example else context.share for context in contexts]
    return plan._replace(contexts=texts, hint=max(shares))


def _actions(solution: Trajectory) -> list[str]:
    return [step["action"] for step in solution.record["steps"]]


def _example_text(task: str, solution: Trajectory) -> str:
    return "\n".join([_instruction(task), "", *_actions(solution)])


def _instruction(task: str) -> str:
    return get_source(parse_address(task).source).build(task).instruction


def _solution(task: str, outcome: Outcome) -> Trajectory:
    if isinstance(outcome, Trajectory) and outcome.record["reward"] == 1.0:
        return outcome
    raise HintFailed(
        f"the oracle of {task} did not solve it, so there is no hint: remove generate.hint and "
        "generate.context, or choose other tasks"
    )
