"""Behaviour cloning: a policy learns to write what demonstrations wrote."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from hexathlon.baselines.algorithms.objectives import Objective
from hexathlon.baselines.algorithms.samples import Sample
from hexathlon.baselines.learner.batching import Example
from hexathlon.baselines.learner.learner import Learner, LearnerConfig
from hexathlon.baselines.learner.optimiser import OptimiserConfig
from hexathlon.baselines.learner.ranks import ALONE, Ranks
from hexathlon.tasks.seeding import generator_for

__all__ = ["CloneConfig", "clone"]


@dataclass(frozen=True, slots=True)
class CloneConfig:
    """How demonstrations are learned."""

    steps: int = 300
    batch: int = 32
    """Demonstrations per step."""

    everything: float = 0.0
    """Weight of the loss on what was read, beside that on what was written."""

    everything_left: float = 1.0
    """Share of that weight which is left in the last step; it falls evenly, since what a small
    model learns by foretelling everything it needs at first, and room for its actions at last."""

    clean: float = 0.0
    """Share of the steps, from the first, that show only the demonstrations with most reward:
    what noise would hide is learned before the noise comes."""

    optimiser: OptimiserConfig = field(
        default_factory=lambda: OptimiserConfig(
            kind="muon",
            learning_rate=3e-3,
            matrix_learning_rate=0.02,
            warmup=20,
            decay="cosine",
            floor=0.1,
        )
    )
    token_budget: int = 4_096
    """Tokens with padding that go through the model at once; small parts stay in a core's cache."""

    def __post_init__(self) -> None:
        if not 0 <= self.clean <= 1:
            raise ValueError(f"clean is a share of the steps, from 0 to 1; it is {self.clean}")
        if not 0 <= self.everything_left <= 1:
            raise ValueError(
                f"everything_left is a share of a weight, from 0 to 1; it is {self.everything_left}"
            )


def _example(sample: Sample, everything: float) -> Example:
    written = sample.sampled
    if everything > 0:
        read = ~written
        read[0] = False
        sample = replace(sample, observed=read)
    weight = written.astype(np.float64)
    return Example(sample, np.zeros(len(written)), weight)


def _batches(samples: Sequence[Sample], config: CloneConfig, seed: int) -> Iterator[list[int]]:
    """Yield the numbers of each step's demonstrations."""
    draw = generator_for("cloning", seed)
    earned = [math.fsum(sample.rewards) for sample in samples]
    most = max(earned)
    best = [number for number, reward in enumerate(earned) if reward == most]
    every = list(range(len(samples)))
    clean = round(config.clean * config.steps)
    for pool, steps in ((best, clean), (every, config.steps - clean)):
        order: list[int] = []
        for _ in range(steps):
            while len(order) < config.batch:
                order += [pool[int(place)] for place in draw.permutation(len(pool))]
            yield order[: config.batch]
            order = order[config.batch :]


def clone(
    model: torch.nn.Module,
    samples: Sequence[Sample],
    config: CloneConfig,
    seed: int,
    report: Callable[[int, dict[str, float]], None] = lambda step, metrics: None,
    ranks: Ranks = ALONE,
) -> None:
    """Train a model on demonstrations, in a seeded order: those of a stage about equally often.

    Args:
        model: Changed in place.
        samples: Demonstrations with their actions marked as sampled.
        config: How.
        seed: Of the order.
        report: Is told of every step.
        ranks: The processes that learn together; they share every batch.
    """
    objective = Objective(surrogate="sft", observation_weight=config.everything)
    learner = Learner(
        model,
        LearnerConfig(
            optimiser=config.optimiser,
            objective=objective,
            token_budget=config.token_budget,
        ),
        config.steps,
        ranks=ranks,
    )
    model.train()
    for step, chosen in enumerate(_batches(samples, config, seed)):
        gone = (1 - config.everything_left) * step / max(1, config.steps - 1)
        objective = replace(objective, observation_weight=config.everything * (1 - gone))
        learner.config = replace(learner.config, objective=objective)
        # By length, so that ranks have as much to do as each other.
        chosen.sort(key=lambda number: len(samples[number].ids))
        examples = [_example(samples[number], config.everything) for number in ranks.share(chosen)]
        report(step, learner.update(examples))
    model.eval()
