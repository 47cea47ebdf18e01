"""One training step, top to bottom.

    tasks → plans → hints → rollouts → shaping → filters     until enough groups are left
          → replay → credit → update → publish → metrics

A step is a function of the recipe, its number and the policy before it: tasks are drawn by the
step's number, rollouts by task and member. Formulas are in `algorithms`, the parts of the stages in
`pipeline`, gradients in `learner`; set-up, evaluation and resumption are left to `trainer`.
"""

import asyncio
import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from hexathlon.baselines import interrupts
from hexathlon.baselines.algorithms.catalogue import ESTIMATORS
from hexathlon.baselines.algorithms.estimators import Credit, all_samples, scaled_by_event
from hexathlon.baselines.algorithms.samples import Array, Group
from hexathlon.baselines.learner.batching import Example
from hexathlon.baselines.learner.learner import Learner
from hexathlon.baselines.learner.ranks import Ranks
from hexathlon.baselines.pipeline.catalogue import FILTERS, SHAPINGS
from hexathlon.baselines.pipeline.collect import Collected, Collector, GroupPlan
from hexathlon.baselines.pipeline.generation import Generation
from hexathlon.baselines.pipeline.replay import ReplayStage
from hexathlon.baselines.pipeline.tasks_table import table_of
from hexathlon.baselines.rollout.executor import Executor
from hexathlon.baselines.training.controls import shuffled_rewards
from hexathlon.baselines.training.engines import OpenedEngine
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.baselines.training.rollouts import RolloutLog
from hexathlon.baselines.training.step_metrics import replay_metrics, rollout_metrics

__all__ = ["Components", "NothingToLearn", "training_step"]

T = TypeVar("T")


class NothingToLearn(Exception):
    """The filters left no group in as many batches as the recipe allows."""


@dataclass(frozen=True, slots=True)
class Components:
    """The components of a run that a step works with; `Trainer` makes them."""

    recipe: Recipe
    """With `scale` applied."""

    model: Any
    """The policy; the learner changes it in place."""

    learner: Learner
    opened: OpenedEngine
    """The engine that samples, and the transport of the weights to it."""

    executor: Executor
    collector: Collector
    generation: Generation
    replay: ReplayStage
    rollouts: RolloutLog
    ranks: Ranks
    runner: asyncio.Runner
    """The event loop that engine and environments belong to."""

    central: bool = False
    """Whether rank 0 plays the rollouts of all ranks; otherwise each plays its share."""

    def complete(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the run's event loop and return its result."""
        return interrupts.run(work, self.runner)

    def collect(self, collector: Collector, plans: Sequence[GroupPlan]) -> Collected:
        """Play this rank's share of the plans; return all ranks' rollouts in the plans' order."""
        if self.central:
            return self.ranks.from_first(lambda: self.complete(collector.collect(plans)))
        share = self.complete(collector.collect(self.ranks.share(plans)))
        return Collected.joined(self.ranks.joined([share]), [plan.task for plan in plans])

    def hinted(self, plans: Sequence[GroupPlan]) -> list[GroupPlan]:
        """Return the plans with their hints, the same on every rank."""

        def play() -> list[GroupPlan]:
            return self.complete(self.generation.hinted(plans, self.executor))

        return self.ranks.from_first(play) if self.central else play()


def training_step(run: Components, step: int) -> dict[str, float]:
    """Make one step and return its metrics.

    Args:
        run: The components of the run.
        step: Number of the step, from 0; also the version of the policy that samples.

    Raises:
        NothingToLearn: If the filters leave no group in as many batches as the recipe allows.
        LossNotFinite: If the update fails; the policy is as it was.
        EngineError: If the engine does not sample from the policy after the update.
    """
    recipe = run.recipe
    began = time.perf_counter()
    run.complete(run.opened.engine.clear())

    # Generate and filter, batch after batch, until enough groups are left.
    batches: list[Collected] = []
    kept: list[Group] = []
    for attempt in range(recipe.rollout.tries):
        tasks = run.generation.tasks(step, attempt)
        plans = run.generation.plans(tasks, step, attempt)
        plans = run.hinted(plans)
        run.collector.logged = partial(run.rollouts.keep, step + 1, attempt)
        batch = run.collect(run.collector, plans)
        run.generation.observe(batch.groups, plans)
        batches.append(batch)

        groups = batch.groups
        for part in recipe.credit.shapings:
            groups = SHAPINGS[part.name](groups, **part.parameters)
        if recipe.control == "shuffled_rewards":
            groups = shuffled_rewards(groups, recipe.seed, step)
        groups = run.replay.mended(groups, step, attempt)
        for part in recipe.credit.filters:
            groups = FILTERS[part.name](groups, **part.parameters)
        kept += groups
        if not recipe.credit.filters or len(kept) >= recipe.rollout.groups:
            break
    if not kept:
        raise _nothing_to_learn(recipe, step, len(batches))

    # Replay: groups of earlier steps join the fresh ones.
    groups = run.replay.joined(kept[: recipe.rollout.groups], step)
    collection_ended = time.perf_counter()

    # Credit: an advantage and a weight for every sampled token.
    values = run.learner.values(all_samples(groups))
    estimator = recipe.credit.estimator
    credit = ESTIMATORS[estimator.name](groups, values, **estimator.parameters)
    if recipe.credit.per_event:
        tables = recipe.tasks
        events = [table_of(tables, group.task).label for group in groups for _ in group.samples]
        credit = scaled_by_event(credit, events)

    # Update: each rank computes the gradients of its share, all take the same optimiser step.
    run.learner.version = step
    run.model.train()
    try:
        updated = run.learner.update(_examples(groups, credit, run.ranks))
    finally:
        run.model.eval()

    # Publish: the engine samples from the new weights, which is verified.
    difference = run.complete(run.opened.transport.publish(run.model, step + 1))
    ended = time.perf_counter()

    return {
        **rollout_metrics(batches, len(kept), step, recipe.tasks),
        **replay_metrics(groups, step, run.replay),
        **credit.metrics,
        **updated,
        "engine/difference": difference,
        "seconds/collect": collection_ended - began,
        "seconds/learn": ended - collection_ended,
    }


def _examples(groups: Sequence[Group], credit: Credit, ranks: Ranks) -> list[Example]:
    """Return this rank's share of the examples; groups stay whole, so that prefixes are shared."""
    samples = all_samples(groups)
    targets: Sequence[Array | None] = credit.returns or [None] * len(samples)
    streams = zip(samples, credit.advantages, credit.weights, targets, strict=True)
    examples = iter([Example(*stream) for stream in streams])
    whole = [list(islice(examples, len(group.samples))) for group in groups]
    return [example for group in ranks.share(whole) for example in group]


def _nothing_to_learn(recipe: Recipe, step: int, batches: int) -> NothingToLearn:
    filters = ", ".join(part.name for part in recipe.credit.filters) or "none"
    return NothingToLearn(
        f"step {step}: {batches} batches of {recipe.rollout.groups} groups left nothing to learn "
        f"from (filters: {filters}); the policy succeeds always or never here: clone it first, or "
        "choose another level"
    )
