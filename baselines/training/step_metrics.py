"""The metrics of a step's rollouts, by name; those of an update come from the learner."""

from collections.abc import Sequence

import numpy as np

from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.pipeline.collect import Collected
from hexathlon.baselines.pipeline.replay import ReplayStage
from hexathlon.baselines.pipeline.tasks_table import TasksTable, table_of
from hexathlon.baselines.tokens.soft import is_soft
from hexathlon.evaluators.records import TrialRecord

__all__ = ["mean_reward", "mean_rewards_by_event", "prefix_metrics", "replay_metrics",
           "rollout_metrics"]  # fmt: skip


def rollout_metrics(
    batches: Sequence[Collected], kept: int, step: int, tables: Sequence[TasksTable]
) -> dict[str, float]:
    """Return the metrics of the batches that were played for a step.

    Args:
        batches: All of them, before filters.
        kept: Number of groups that the filters kept.
        step: Version of the policy, for samples that carry none.
        tables: Sources of the tasks.
    """
    groups = [group for batch in batches for group in batch.groups]
    samples = [sample for group in groups for sample in group.samples]
    records = [record for batch in batches for record in batch.records]
    scored = [float(r["reward"] or 0.0) for r in records if r["status"] == "scored"]
    versions = [s.version[s.sampled] for s in samples if s.version is not None]
    sampled_by = np.concatenate(versions) if versions else np.array([step])
    return {
        "reward": float(np.mean(scored)) if scored else 0.0,
        "success": float(np.mean([value == 1.0 for value in scored])) if scored else 0.0,
        "groups/kept": float(kept),
        "groups/flat": float(sum(not group.varies for group in groups)),
        "trials/faults": float(sum(batch.faults for batch in batches)),
        "tokens/drawn": float(sum(sample.tokens for sample in samples)),
        "tokens/sampled": float(np.mean([sample.tokens for sample in samples])),
        "tokens/all": float(np.mean([len(sample.ids) for sample in samples])),
        "version/oldest": float(sampled_by.min()),
        "version/newest": float(sampled_by.max()),
        "unfinished": float(np.mean([not sample.finished for sample in samples])),
        **mean_rewards_by_event("reward", records, tables),
    }


def replay_metrics(groups: Sequence[Group], step: int, replay: ReplayStage) -> dict[str, float]:
    """Return the number of an update's samples from earlier policies."""
    if not replay.active:
        return {}
    sampled_by = [
        sample.version[sample.sampled].max()
        for group in groups
        for sample in group.samples
        if sample.version is not None and sample.sampled.any()
    ]
    return {"samples/replayed": float(sum(version < step for version in sampled_by))}


def prefix_metrics(batches: Sequence[Collected], share: float) -> dict[str, float]:
    """Return the share of a step's rollouts that get a soft prefix, and how those do that got one.

    Args:
        batches: The batches that were played for the step.
        share: The share that the recipe sets.
    """
    samples = [s for batch in batches for group in batch.groups for s in group.samples]
    soft = [bool(is_soft(sample.ids[0])) for sample in samples]
    rewards = [sample.reward for sample, steered in zip(samples, soft, strict=True) if steered]
    return {
        "palette/share": share,
        "palette/drawn": float(np.mean(soft)),
        **({"palette/reward": float(np.mean(rewards))} if rewards else {}),
    }


def mean_rewards_by_event(
    name: str, records: Sequence[TrialRecord], tables: Sequence[TasksTable]
) -> dict[str, float]:
    """Return the mean reward of each table of a mixture, as `name/LABEL`; {} for a single table."""
    if len(tables) == 1:
        return {}
    by_label: dict[str, list[TrialRecord]] = {}
    for record in records:
        label = table_of(tables, record["key"]["task"]).label
        by_label.setdefault(label, []).append(record)
    return {f"{name}/{label}": mean_reward(part) for label, part in sorted(by_label.items())}


def mean_reward(records: Sequence[TrialRecord]) -> float:
    """Return the mean reward; trials without a score count as failed."""
    return float(np.mean([float(record["reward"] or 0.0) for record in records]))
