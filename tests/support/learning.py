"""A tiny model and examples for tests of the learner, also on one rank of several."""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from hexathlon.baselines.algorithms.objectives import Objective
from hexathlon.baselines.algorithms.samples import Sample
from hexathlon.baselines.learner.batching import Example
from hexathlon.baselines.learner.learner import Learner, LearnerConfig
from hexathlon.baselines.learner.optimiser import OptimiserConfig
from hexathlon.baselines.learner.ranks import ALONE, Ranks
from hexathlon.tasks.seeding import generator_for

VOCABULARY = 61


def model(seed: int = 0) -> Any:
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(seed)
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=VOCABULARY,
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=16,
            max_position_embeddings=128,
            tie_word_embeddings=False,
        )
    ).eval()


def examples(count: int) -> list[Example]:
    """Return samples of unequal lengths with two turns each."""
    draw = generator_for("learner examples", count)
    made = []
    for number in range(count):
        first, second = (int(n) for n in draw.integers(1, 9, size=2))
        sampled = [False] * 3 + [True] * first + [False] * 2 + [True] * second
        observed = [False] * (3 + first) + [True] * 2 + [False] * second
        turn = [-1] * 3 + [0] * first + [-1] * 2 + [1] * second
        mask = np.array(sampled)
        sample = Sample(
            ids=draw.integers(0, VOCABULARY, size=len(mask)),
            sampled=mask,
            observed=np.array(observed),
            behaviour=np.where(mask, -4.0 - 0.2 * draw.random(len(mask)), 0.0),
            turn=np.array(turn),
            rewards=(0.0, float(number % 2)),
        )
        advantage = mask * (1.0 if number % 2 else -0.7)
        made.append(Example(sample, advantage, mask.astype(np.float64)))
    return made


def updated(
    config: LearnerConfig,
    batch: list[Example],
    reference: Any = None,
    steps: int = 1,
    ranks: Ranks = ALONE,
) -> Any:
    """Return the parameters after updates from the same start."""
    made = model()
    learner = Learner(made, config, steps, reference, ranks=ranks)
    for _ in range(steps):
        learner.update(batch)
    return made.state_dict()


def difference(first: Any, second: Any) -> float:
    """Return the largest difference between two sets of parameters."""
    return max(float((first[name] - second[name]).abs().max()) for name in first)


def rank_config() -> LearnerConfig:
    return LearnerConfig(
        optimiser=OptimiserConfig(learning_rate=1e-2, clip=1.0, eps=1e-3),
        objective=Objective(observation_weight=0.1),
        bounds="bapo",
    )


def take_part(folder: Path, ranks: Ranks) -> Any:
    """Return the parameters after two updates on a rank's share of the examples."""
    return updated(rank_config(), ranks.share(examples(9)), steps=2, ranks=ranks)
