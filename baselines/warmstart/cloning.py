"""Behaviour cloning: supervised learning of the actions in demonstrations."""

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
from hexathlon.baselines.tokens.soft import FIRST_SOFT
from hexathlon.tasks.seeding import generator_for

__all__ = ["CloneConfig", "clone"]


@dataclass(frozen=True, slots=True)
class CloneConfig:
    """Settings of behaviour cloning."""

    steps: int = 300
    batch: int = 32
    """Demonstrations per step."""

    observation_weight: float = 0.0
    """Weight of the loss on prompts and observations, relative to that on the actions."""

    observation_weight_final_fraction: float = 1.0
    """Fraction of that weight in the last step, reached linearly: a small model needs what it
    learns by predicting observations early, and its capacity for actions at the end."""

    clean: float = 0.0
    """Initial share of the steps that use only the demonstrations of highest reward, so that their
    skills are learned before noise hides them."""

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
    """Tokens per forward pass, including padding; small batches stay in a core's cache."""

    def __post_init__(self) -> None:
        if not 0 <= self.clean <= 1:
            raise ValueError(f"clean must be a share from 0 to 1, got {self.clean}")
        if not 0 <= self.observation_weight_final_fraction <= 1:
            raise ValueError(
                "observation_weight_final_fraction must be from 0 to 1, got "
                f"{self.observation_weight_final_fraction}"
            )


def _example(sample: Sample, *, with_observations: bool) -> Example:
    actions = sample.sampled
    if with_observations:
        observed = ~actions
        observed[0] = False  # nothing predicts the first token
        observed &= sample.ids < FIRST_SOFT  # nor are soft tokens or patches words
        sample = replace(sample, observed=observed)
    return Example(sample, np.zeros(len(actions)), actions.astype(np.float64))


def _batches(samples: Sequence[Sample], config: CloneConfig, seed: int) -> Iterator[list[int]]:
    """Yield the indices of each step's demonstrations."""
    draw = generator_for("cloning", seed)
    rewards = [math.fsum(sample.rewards) for sample in samples]
    highest = max(rewards)
    best = [number for number, reward in enumerate(rewards) if reward == highest]
    clean = round(config.clean * config.steps)
    stages = ((best, clean), (list(range(len(samples))), config.steps - clean))
    for pool, steps in stages:
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
    """Train a model on demonstrations, in a seeded order, each about equally often.

    Args:
        model: Changed in place.
        samples: Demonstrations, with their actions marked as sampled.
        config: Settings.
        seed: Seed of the order.
        report: Called after every step, with its number from 0 and its metrics.
        ranks: The learner ranks; they share every batch.
    """
    objective = Objective(surrogate="sft", observation_weight=config.observation_weight)
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
        decay = (1 - config.observation_weight_final_fraction) * step / max(1, config.steps - 1)
        weight = config.observation_weight * (1 - decay)
        objective = replace(objective, observation_weight=weight)
        learner.config = replace(learner.config, objective=objective)
        # By length, so that ranks get equal work.
        chosen.sort(key=lambda number: len(samples[number].ids))
        examples = [
            _example(samples[number], with_observations=config.observation_weight > 0)
            for number in ranks.share(chosen)
        ]
        report(step, learner.update(examples))
    model.eval()
