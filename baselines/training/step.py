"""One training step, top to bottom.

    source of groups → shaping → filters     until enough groups are left
          → replay → credit → update → publish → metrics

In a synchronous run, a step is a function of the recipe, its number and the current policy: the
step's number seeds the choice of tasks, task and member seed the rollouts. In an asynchronous run,
the source supplies groups that were submitted earlier. Formulas are in `algorithms`, the parts of
the stages in `pipeline`, gradients in `learner`; set-up, evaluation and resumption are left to
`trainer`.
"""

import time
from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np

from hexathlon.baselines.algorithms.catalogue import ESTIMATORS, TOKEN_RULES
from hexathlon.baselines.algorithms.estimators import Credit, all_samples, scaled_by_event
from hexathlon.baselines.algorithms.hapo import entropy_scale
from hexathlon.baselines.algorithms.samples import Array, Group, Sample
from hexathlon.baselines.algorithms.token_rules import TokenContext
from hexathlon.baselines.learner.batching import Example
from hexathlon.baselines.learner.errors import LossNotFinite
from hexathlon.baselines.learner.ranks import Ranks
from hexathlon.baselines.pipeline.catalogue import FILTERS
from hexathlon.baselines.pipeline.collect import Collected
from hexathlon.baselines.pipeline.shaping import shape
from hexathlon.baselines.pipeline.tasks_table import table_of
from hexathlon.baselines.training.components import Components
from hexathlon.baselines.training.controls import shuffled_rewards
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.baselines.training.source import BatchSource
from hexathlon.baselines.training.step_metrics import (
    prefix_metrics,
    replay_metrics,
    rollout_metrics,
)

__all__ = ["NothingToLearn", "nothing_to_learn", "training_step"]


class NothingToLearn(Exception):
    """No group is left in as many batches as the recipe allows: by the filters, or by failures."""


def training_step(run: Components, source: BatchSource, step: int) -> dict[str, float]:
    """Run one training step and return its metrics.

    Args:
        run: The components of the run.
        source: Supplies the groups.
        step: Number of the step, from 0; also the version of the policy that samples.

    Raises:
        NothingToLearn: If the filters leave no group in as many batches as the recipe allows.
        BatchLate: If there is no group to learn from within the recipe's deadline.
        LossNotFinite: If the update fails; the policy is unchanged, and a resumed run plays other
            groups.
        EngineError: If the engine does not sample from the policy after the update.
    """
    recipe = run.recipe
    began = time.perf_counter()
    progress = step / max(recipe.steps, 1)
    run.prefixes.share = recipe.palette.share_at(progress)
    source.begin(step)

    # Generate and filter, batch after batch, until enough groups are left.
    batches: list[Collected] = []
    kept: list[Group] = []
    for attempt in range(recipe.rollout.tries):
        batch = source.batch(step, attempt, recipe.rollout.groups - len(kept))
        batches.append(batch)

        groups = batch.groups
        for part in recipe.credit.shapings:
            groups = shape(part.name, groups, run.generation.known, **part.parameters)
        if recipe.control == "shuffled_rewards":
            groups = shuffled_rewards(groups, recipe.seed, step)
        groups = run.replay.repaired(groups, step, attempt)
        for part in recipe.credit.filters:
            groups = FILTERS[part.name](groups, **part.parameters)
        kept += groups
        if not recipe.credit.filters or len(kept) >= recipe.rollout.groups:
            break
    if not kept:
        raise nothing_to_learn(recipe, step, batches)

    # Replay: add groups of earlier steps, and those of peers.
    groups = run.replay.joined(kept[: recipe.rollout.groups], step)
    shared = run.of_peers(step)
    groups += shared
    collection_ended = time.perf_counter()
    run.rest()

    # Credit: an advantage and a weight for every sampled token.
    values = run.learner.values(all_samples(groups))
    estimator = recipe.credit.estimator
    credit = ESTIMATORS[estimator.name](groups, values, **estimator.parameters)
    if recipe.credit.per_event:
        tables = recipe.tasks
        events = [table_of(tables, group.task).label for group in groups for _ in group.samples]
        credit = scaled_by_event(credit, events)

    context = TokenContext(
        groups,
        progress,
        lambda: run.learner.entropies(all_samples(groups)),
        lambda: run.learner.disagreement(all_samples(groups)),
    )
    for part in recipe.credit.tokens:
        credit = TOKEN_RULES[part.name](credit, context, **part.parameters)
    if recipe.rollout.heat:
        run.heat(entropy_scale(context.entropies, credit.weights))

    # Update: each rank computes the gradients of its share; all take the same optimiser step.
    run.learner.version = step
    run.learner.model.train()
    try:
        examples = run.proximal.added(_examples(groups, credit, run.ranks), step)
        updated = run.learner.update(examples)
    except LossNotFinite as error:
        source.poison(str(error))
        raise
    finally:
        run.learner.model.eval()

    # Publish: send the new weights to the engine, and verify that it samples from them.
    run.proximal.note(step + 1)
    difference = source.publish(step + 1)
    ended = time.perf_counter()

    pruner = run.collector.pruner
    pruned = {} if pruner is None else {"rollouts/pruned": float(pruner.take_stopped())}
    return {
        **pruned,
        **rollout_metrics(batches, len(kept), step, recipe.tasks),
        **replay_metrics(groups, step, run.replay),
        **({"swarm/groups": float(len(shared))} if recipe.swarm.peers else {}),
        **(prefix_metrics(batches, run.prefixes.share) if recipe.palette.active else {}),
        **source.metrics(),
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
    named = [
        {name: stream[number] for name, stream in credit.streams.items()}
        for number in range(len(samples))
    ]
    streams = zip(samples, credit.advantages, credit.weights, targets, named, strict=True)
    examples = iter([_example(*stream) for stream in streams])
    whole = [list(islice(examples, len(group.samples))) for group in groups]
    return [example for group in ranks.share(whole) for example in group]


def _example(
    sample: Sample,
    advantage: Array,
    weight: Array,
    target: Array | None,
    streams: Mapping[str, Array],
) -> Example:
    """Return an example in which withheld tokens are counted but not trained on."""
    if sample.withheld is None:
        return Example(sample, advantage, weight, target, streams=streams)
    trained = np.where(sample.withheld, 0.0, weight)
    return Example(sample, advantage, trained, target, counted=weight != 0, streams=streams)


def nothing_to_learn(recipe: Recipe, step: int, batches: Sequence[Collected]) -> NothingToLearn:
    """Return the error that says why no group is left: no rollout has a score, or all are alike."""
    unscored = [record for batch in batches for record in batch.records if record["error"]]
    if unscored and not any(batch.groups for batch in batches):
        return NothingToLearn(
            f"step {step}: none of the {sum(len(batch.records) for batch in batches)} rollouts has "
            f"a score (the last: {unscored[-1]['error']}); fix this, then resume the run"
        )
    filters = ", ".join(part.name for part in recipe.credit.filters) or "none"
    return NothingToLearn(
        f"step {step}: {len(batches)} batches of {recipe.rollout.groups} groups left nothing to "
        f"learn from (filters: {filters}); the policy always or never succeeds on these tasks: "
        "clone it first, or choose another level"
    )
