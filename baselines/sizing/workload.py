"""The workload of one training step, in tokens and seconds; measured in a run or assumed."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import NormalDist, fmean, pstdev
from typing import Any, NamedTuple

from hexathlon.baselines.training.metrics import read_metrics

__all__ = ["MachineRates", "MeasuredStep", "StepWorkload", "mean_workload", "measured_steps"]


class StepWorkload(NamedTuple):
    """Mean workload of a step's rollouts."""

    rollouts: int
    """Rollouts per step."""

    turns: float
    """Model calls per rollout."""

    sampled: float
    """Tokens sampled per rollout."""

    tokens: float
    """Tokens of a whole rollout: prompts, observations and replies."""

    env_seconds: float = 0.0
    """Seconds that a rollout spends in its environment."""

    spread: float = 0.0
    """Standard deviation of the logarithm of a rollout's duration (log-normal)."""

    @property
    def context(self) -> float:
        """Mean number of tokens that a sampled token attends to."""
        return self.tokens / 2

    def longest(self, rollouts: int) -> float:
        """Return the duration of the longest of several rollouts, as a multiple of the mean.

        The expected maximum of log-normal values, by Blom's approximation of normal order
        statistics.
        """
        if self.spread == 0 or rollouts < 2:
            return 1.0
        share = (rollouts - 0.375) / (rollouts + 0.25)
        return max(1.0, math.exp(self.spread * NormalDist().inv_cdf(share) - self.spread**2 / 2))


class MeasuredStep(NamedTuple):
    """Durations of a step of a real run, in seconds."""

    step: int
    collect: float
    learn: float
    sampled: float
    """Tokens sampled per rollout."""

    tokens: float
    """Tokens per rollout."""

    @property
    def seconds(self) -> float:
        """Duration of the whole step."""
        return self.collect + self.learn


class MachineRates(NamedTuple):
    """Rates per rank, on the machine of a run."""

    rollout: float
    """Seconds of collection per rollout."""

    token: float
    """Seconds of learning per token."""

    @staticmethod
    def of(steps: Sequence[MeasuredStep], rollouts: int, ranks: int) -> "MachineRates":
        """Return the mean rates of measured steps.

        Args:
            steps: The steps.
            rollouts: Rollouts per step.
            ranks: Processes that shared the work.
        """
        share = rollouts / ranks
        return MachineRates(
            fmean(step.collect for step in steps) / share,
            fmean(step.learn / step.tokens for step in steps) / share,
        )

    def step(self, work: StepWorkload, ranks: int) -> tuple[float, float]:
        """Return the seconds of collection and of learning in a step with another workload."""
        share = work.rollouts / ranks
        return self.rollout * share, self.token * share * work.tokens


def measured_steps(run: Path) -> list[MeasuredStep]:
    """Read the steps of a training run's `metrics.jsonl`.

    Raises:
        ValueError: If it has no finished step.
    """
    path = run / "metrics.jsonl"
    steps = [
        MeasuredStep(
            int(row["step"]),
            float(row["seconds/collect"]),
            float(row["seconds/learn"]),
            float(row["tokens/sampled"]),
            float(row["tokens/all"]),
        )
        for row in read_metrics(path)
        if "seconds/collect" in row
    ]
    if not steps:
        raise ValueError(f"{path} has no finished step: expected a run of `hexathlon train`")
    return steps


def mean_workload(
    rollouts: int, steps: Sequence[MeasuredStep], records: Iterable[Mapping[str, Any]]
) -> StepWorkload:
    """Return the mean workload of a run.

    Args:
        rollouts: Rollouts per step.
        steps: Its measured steps.
        records: Trial records of its rollouts.
    """
    turns, waits, logs = [], [], []
    for record in records:
        timing = record["timing"]
        env = timing["reset"] + timing["env"] + timing["grade"]
        turns.append(len(record["steps"]))
        waits.append(env)
        logs.append(math.log(max(env + timing["agent"], 1e-6)))
    return StepWorkload(
        rollouts,
        turns=fmean(turns),
        sampled=fmean(step.sampled for step in steps),
        tokens=fmean(step.tokens for step in steps),
        env_seconds=fmean(waits),
        spread=pstdev(logs),
    )
