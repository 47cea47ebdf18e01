"""The training loop, top to bottom: collect, filter, credit, learn, measure, save.

One step is a function of the recipe, its number and the policy before it. Tasks are drawn by the
step's number, rollouts by task and member, so a run that was killed goes on from its last state
as if nothing had happened.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hexathlon.baselines.agents.policy import PolicyAgent
from hexathlon.baselines.algorithms.catalogue import ESTIMATORS
from hexathlon.baselines.algorithms.estimators import Credit, scaled_by_event
from hexathlon.baselines.algorithms.samples import Array, Group
from hexathlon.baselines.codecs import get_codec
from hexathlon.baselines.learner.batching import Example
from hexathlon.baselines.learner.critic import Critic
from hexathlon.baselines.learner.learner import Learner
from hexathlon.baselines.learner.ranks import ALONE, Ranks
from hexathlon.baselines.pipeline.catalogue import FILTERS, REPLAYS, SHAPINGS
from hexathlon.baselines.pipeline.collect import Collected, Collector, GroupPlan
from hexathlon.baselines.pipeline.generation import Generation
from hexathlon.baselines.pipeline.replay import MENDING, Memory
from hexathlon.baselines.pipeline.task_statistics import TaskStatistics
from hexathlon.baselines.pipeline.tasks_table import table_of
from hexathlon.baselines.rollout.executor import LocalExecutor
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.tokens.requests import TokenSampling
from hexathlon.baselines.training.engines import open_engine
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.baselines.training.rollouts import RolloutLog
from hexathlon.baselines.training.saving import latest_state, load_state, save_state
from hexathlon.envs.base import Environment
from hexathlon.evaluators.records import TrialRecord
from hexathlon.tasks.seeding import generator_for

__all__ = ["Measured", "NothingToLearn", "Trainer"]


class NothingToLearn(Exception):
    """No group was left by the filters in as many batches as the recipe allows."""


class Measured(NamedTuple):
    """A policy on dev tasks."""

    success: float
    records: list[TrialRecord]
    by_event: dict[str, float] = {}
    """Metrics of each table of a mixture."""


class Trainer:
    """Trains a policy in this process.

    Args:
        recipe: What is done; its dial is applied.
        model: The policy; changed in place.
        tokenizer: Its tokenizer.
        make: Makes an environment by its id.
        folder: Where states are kept.
        reference: A frozen copy to stay close to, where the recipe has a beta.
        ranks: The processes that train together.
    """

    def __init__(
        self,
        recipe: Recipe,
        model: Any,
        tokenizer: Any,
        make: Callable[[str], Environment],
        folder: Path,
        reference: Any = None,
        ranks: Ranks = ALONE,
    ) -> None:
        self.recipe = recipe = recipe.scaled()
        self.model = model
        self.step = 0
        self._ranks = ranks
        self._folder = folder / "states"
        self._make = make
        self._runner = asyncio.Runner()
        steps = recipe.steps * recipe.learn.minibatches * recipe.learn.epochs
        config = recipe.learner_config()
        critic = None
        if recipe.critic is not None:
            critic = Critic(model, recipe.critic, recipe.steps, config.token_budget, ranks)
        self.learner = Learner(model, config, steps, reference, critic, ranks)
        try:
            opening = open_engine(recipe, model, recipe.starting(folder), folder)
            self._opened = self._runner.run(opening)
        except BaseException:
            self._runner.close()
            raise
        self.engine = self._opened.engine
        self._renderer = ChatRenderer(tokenizer)
        self._executor = self._plays(recipe.rollout.temperature)
        self._collector = Collector(self._executor, recipe.generate.splits())
        self._generation = Generation(
            recipe.tasks,
            recipe.generate,
            recipe.rollout.groups,
            recipe.rollout.members,
            recipe.seed,
            TaskStatistics(),
        )
        self._memory = Memory(recipe.replay.groups, recipe.replay.tasks)
        rank = ranks.number if ranks.count > 1 else None
        self._rollouts = RolloutLog(
            folder / "rollouts", recipe.rollout.rewards, rank, tokens=recipe.rollout.keep_tokens
        )

    @property
    def _kept_memory(self) -> Memory | None:
        """The memory, where the recipe replays anything."""
        return None if self.recipe.replay.name == "none" else self._memory

    def resume(self) -> bool:
        """Go on from the newest state; return whether there was one.

        The engine draws from the policy afterwards, whatever it drew from before.

        Raises:
            StateTorn: It cannot be read.
            EngineError: The engine does not draw from this policy.
        """
        state = latest_state(self._folder)
        if state is not None:
            learner = self.learner
            kept = load_state(
                state, self.model, learner.optimisers, learner.critic, self._kept_memory
            )
            self.step = int(kept["step"])
            self._generation.known.counts = {
                task: (float(won), float(lost)) for task, (won, lost) in kept["known"].items()
            }
        self._publish()
        return state is not None

    def save(self) -> None:
        """Write the state."""
        save_state(
            self._folder,
            self.step,
            self.model,
            self.learner.optimisers,
            {"recipe": self.recipe.name, "known": self._generation.known.counts},
            self.learner.critic,
            self._kept_memory,
        )

    def advance(self) -> dict[str, float]:
        """Make one step and return its metrics.

        Raises:
            NothingToLearn: Filters left no group in as many batches as the recipe allows.
            LossNotFinite: The update failed; the policy is as it was.
            EngineError: The engine does not draw from the policy after the update.
        """
        begun = time.perf_counter()
        self._runner.run(self.engine.clear())
        groups, metrics = self._groups()
        collected = time.perf_counter()
        credit = self._credit(groups)
        self.learner.version = self.step
        self.model.train()
        try:
            learnt = self.learner.update(_examples(groups, credit, self._ranks))
        finally:
            self.model.eval()
        self.step += 1
        learnt["engine/difference"] = self._publish()
        ended = time.perf_counter()
        return {
            **metrics,
            **credit.metrics,
            **learnt,
            "seconds/collect": collected - begun,
            "seconds/learn": ended - collected,
        }

    def measure(self, count: int) -> Measured:
        """Play dev tasks once each, the same ones at every step, as `eval` would."""
        recipe = self.recipe
        self._runner.run(self.engine.clear())
        plans = [
            GroupPlan(task, table.env, TrialLimits(turns=table.turns), 1, 0)
            for table in recipe.tasks
            for task in table.addresses("dev", count)
        ]
        executor = self._plays(recipe.evaluation.temperature)
        try:
            got = self._collected(Collector(executor), plans)
        finally:
            executor.close()
        by_event = self._by_event("dev/success", got.records)
        return Measured(_mean(got.records), got.records, by_event)

    def close(self) -> None:
        """Close the environments, the engine and the event loop."""
        self._executor.close()
        try:
            self._runner.run(self._opened.close())
        finally:
            self._runner.close()

    def _publish(self) -> float:
        """Let the engine draw from the policy as it is now; return how far apart the two are."""
        return self._runner.run(self._opened.transport.publish(self.model, self.step))

    def _plays(self, temperature: float) -> LocalExecutor:
        recipe = self.recipe
        sampling = TokenSampling(
            temperature=temperature, max_tokens=recipe.rollout.max_tokens, seed=recipe.seed
        )
        agent = PolicyAgent(self.engine, self._renderer, get_codec(recipe.policy.dialect), sampling)
        return LocalExecutor(agent, self._make, recipe.rollout.concurrency)

    def _groups(self) -> tuple[list[Group], dict[str, float]]:
        recipe = self.recipe
        kept: list[Group] = []
        seen: list[Collected] = []
        for attempt in range(recipe.rollout.tries):
            got = self._played(attempt)
            seen.append(got)
            kept += self._filtered(self._mended(self._shaped(got.groups), attempt))
            if not recipe.credit.filters or len(kept) >= recipe.rollout.groups:
                break
        if not kept:
            filters = ", ".join(part.name for part in recipe.credit.filters) or "none"
            raise NothingToLearn(
                f"step {self.step}: {len(seen)} batches of {recipe.rollout.groups} groups left "
                f"nothing to learn from (filters: {filters}); the policy succeeds always or never "
                "here: clone it first, or choose another level"
            )
        joined = self._joined(kept[: recipe.rollout.groups])
        return joined, {**self._described(seen, len(kept)), **self._replays(joined)}

    def _played(self, attempt: int) -> Collected:
        """Plan a batch of groups, play it, and learn how difficult its tasks are."""
        generation = self._generation
        tasks = generation.tasks(self.step, attempt)
        plans = generation.plans(tasks, self.step, attempt)
        plans = self._runner.run(generation.hinted(plans, self._executor))
        self._collector.logged = partial(self._rollouts.keep, self.step + 1, attempt)
        got = self._collected(self._collector, plans)
        generation.observe(got.groups, plans)
        return got

    def _mended(self, groups: list[Group], attempt: int) -> list[Group]:
        """Put stored successes into failed groups, before filters can drop them."""
        if self.recipe.replay.name not in MENDING:
            return groups
        mended = self._replay(groups, attempt)
        self._memory.keep(groups)
        return mended

    def _joined(self, groups: list[Group]) -> list[Group]:
        """Let groups of earlier steps join the fresh ones that filters left."""
        if self.recipe.replay.name in MENDING:
            return groups
        joined = self._replay(groups, 0)
        if self._kept_memory is not None:
            self._memory.keep(groups)
        return joined

    def _replay(self, groups: list[Group], attempt: int) -> list[Group]:
        table = self.recipe.replay
        draw = generator_for("replay", self.recipe.seed, self.step, attempt)
        return REPLAYS[table.name](groups, self._memory, draw, **table.parameters)

    def _replays(self, joined: Sequence[Group]) -> dict[str, float]:
        """Count the samples of an update that the policies of earlier steps drew."""
        if self._kept_memory is None:
            return {}
        drawn_by = [
            one.version[one.sampled].max()
            for group in joined
            for one in group.samples
            if one.version is not None and one.sampled.any()
        ]
        return {"samples/replayed": float(sum(version < self.step for version in drawn_by))}

    def _collected(self, collector: Collector, plans: Sequence[GroupPlan]) -> Collected:
        """Play this rank's share of the plans; return all ranks' rollouts in the plans' order."""
        mine = self._runner.run(collector.collect(self._ranks.share(plans)))
        parts = self._ranks.joined([mine])
        return Collected.joined(parts, [plan.task for plan in plans])

    def _shaped(self, groups: list[Group]) -> list[Group]:
        for part in self.recipe.credit.shapings:
            groups = SHAPINGS[part.name](groups, **part.parameters)
        if self.recipe.control == "shuffled_rewards":
            groups = self._shuffled(groups)
        return groups

    def _shuffled(self, groups: list[Group]) -> list[Group]:
        """Deal the batch's rewards out at random: what is left to learn is nothing."""
        draw = generator_for("shuffled rewards", self.recipe.seed, self.step)
        samples = [sample for group in groups for sample in group.samples]
        order = iter(draw.permutation(len(samples)))
        return [
            replace(
                group,
                samples=tuple(
                    replace(
                        sample,
                        rewards=(
                            *(0.0,) * (len(sample.rewards) - 1),
                            samples[int(next(order))].reward,
                        ),
                    )
                    for sample in group.samples
                ),
            )
            for group in groups
        ]

    def _filtered(self, groups: list[Group]) -> list[Group]:
        for part in self.recipe.credit.filters:
            groups = FILTERS[part.name](groups, **part.parameters)
        return groups

    def _credit(self, groups: Sequence[Group]) -> Credit:
        part = self.recipe.credit.estimator
        values = self.learner.values([sample for group in groups for sample in group.samples])
        credit = ESTIMATORS[part.name](groups, values, **part.parameters)
        if self.recipe.credit.per_event:
            tables = self.recipe.tasks
            events = [table_of(tables, g.task).label for g in groups for _ in g.samples]
            credit = scaled_by_event(credit, events)
        return credit

    def _described(self, seen: Sequence[Collected], kept: int) -> dict[str, float]:
        groups = [group for got in seen for group in got.groups]
        samples = [sample for group in groups for sample in group.samples]
        records = [record for got in seen for record in got.records]
        scored = [float(r["reward"] or 0.0) for r in records if r["status"] == "scored"]
        versions = [one.version[one.sampled] for one in samples if one.version is not None]
        drawn_by = np.concatenate(versions) if versions else np.array([self.step])
        return {
            "reward": float(np.mean(scored)) if scored else 0.0,
            "success": float(np.mean([value == 1.0 for value in scored])) if scored else 0.0,
            "groups/kept": float(kept),
            "groups/flat": float(sum(not group.varies for group in groups)),
            "trials/faults": float(sum(got.faults for got in seen)),
            "tokens/drawn": float(sum(sample.tokens for sample in samples)),
            "tokens/sampled": float(np.mean([sample.tokens for sample in samples])),
            "tokens/all": float(np.mean([len(sample.ids) for sample in samples])),
            "version/oldest": float(drawn_by.min()),
            "version/newest": float(drawn_by.max()),
            "unfinished": float(np.mean([not sample.finished for sample in samples])),
            **self._by_event("reward", records),
        }

    def _by_event(self, name: str, records: Sequence[TrialRecord]) -> dict[str, float]:
        """Return the mean reward of each table of a mixture; nothing where there is one table."""
        tables = self.recipe.tasks
        if len(tables) == 1:
            return {}
        of_table: dict[str, list[TrialRecord]] = {}
        for record in records:
            label = table_of(tables, record["key"]["task"]).label
            of_table.setdefault(label, []).append(record)
        return {f"{name}/{label}": _mean(part) for label, part in sorted(of_table.items())}


def _mean(records: Sequence[TrialRecord]) -> float:
    """Return the mean reward, in which trials without a score count as failed."""
    return float(np.mean([float(record["reward"] or 0.0) for record in records]))


def _examples(groups: Sequence[Group], credit: Credit, ranks: Ranks) -> list[Example]:
    """Return this rank's share of what is learned; groups stay whole, for their beginnings."""
    samples = [sample for group in groups for sample in group.samples]
    targets: Sequence[Array | None] = credit.returns or [None] * len(samples)
    streams = zip(samples, credit.advantages, credit.weights, targets, strict=True)
    examples = iter([Example(*stream) for stream in streams])
    whole = [list(islice(examples, len(group.samples))) for group in groups]
    return [example for group in ranks.share(whole) for example in group]
