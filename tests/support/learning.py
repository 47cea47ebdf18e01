"""A tiny model and examples for tests of the learner; run as a script, one rank of a group.

python -m support.learning RANK WORLD PORT OUT
python -m support.learning sharded WORLD OUT
"""

import multiprocessing
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from hexathlon.baselines.algorithms.objectives import Objective
from hexathlon.baselines.algorithms.samples import Sample
from hexathlon.baselines.learner import scoring
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


def main(rank: int, world: int, port: int, out: str) -> None:
    import torch.distributed as dist

    from hexathlon.baselines.distributed.collectives import DistributedRanks

    torch.set_num_threads(1)
    address = f"tcp://127.0.0.1:{port}"
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=world)
    ranks = DistributedRanks()
    state = updated(rank_config(), ranks.share(examples(9)), steps=2, ranks=ranks)
    if ranks.first:
        torch.save(state, out)
    ranks.wait()
    dist.destroy_process_group()


def sharded_ranks(world: int, out: str) -> None:
    """Fork the ranks of the sharded test, which share what is imported here."""
    import torch.distributed.checkpoint.state_dict
    import torch.distributed.fsdp  # noqa: F401
    from transformers import Qwen3ForCausalLM  # noqa: F401

    forking = multiprocessing.get_context("fork")
    store = str(Path(out) / "store")
    ranks = [
        forking.Process(target=sharded, args=(rank, world, store, out)) for rank in range(world)
    ]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join()
    sys.exit(any(process.exitcode for process in ranks))


STEPS, HALF, SMALLER = 4, 2, 2
"""Steps of the sharded test; those before the first state; ranks that go on from it."""


def sharded(rank: int, world: int, store: str, out: str) -> None:
    """Train sharded, save half-way, and let fewer ranks go on from there.

    Rank 0 writes the policies that `world` ranks reach, that `SMALLER` ranks reach from the state
    of `world`, and that these reach after loading a state of their own.
    """
    import torch.distributed as dist

    from hexathlon.baselines.distributed.launch import join, leave

    scoring._CHUNK = 20 * VOCABULARY  # several chunks of logits per pass
    signal.alarm(500)  # ends a rank that outlives the test
    torch.set_num_threads(1)
    folder = Path(out)
    ranks = join(Path(store), rank, world)
    learner = sharded_learner(ranks)
    _advance(learner, ranks, HALF)
    _save(learner, ranks, folder / "half")
    _advance(learner, ranks, STEPS - HALF)
    _write(learner, ranks, folder / "whole.pt")
    parts = [parameter.to_local().numel() for parameter in learner.model.parameters()]
    counts = ranks.joined([sum(parts)])
    if ranks.first:
        torch.save(counts, folder / "counts.pt")
    ranks.wait()
    leave()
    if rank >= SMALLER:
        return
    fewer = join(Path(f"{store}-fewer"), rank, SMALLER)
    resumed = sharded_learner(fewer)
    resumed.parallelism.load(folder / "half", resumed.model, resumed.optimisers)
    _advance(resumed, fewer, 1)
    _save(resumed, fewer, folder / "later")
    _advance(resumed, fewer, 1)
    _write(resumed, fewer, folder / "fewer.pt")
    again = sharded_learner(fewer)
    again.parallelism.load(folder / "later", again.model, again.optimisers)
    _advance(again, fewer, 1)
    _write(again, fewer, folder / "again.pt")
    assert dist.get_world_size() == SMALLER
    leave()


def sharded_learner(ranks: Ranks) -> Learner:
    """Return a learner of unequal numbers of passes on the ranks, some with none of their own."""
    from hexathlon.baselines.distributed.sharding import Sharded

    made = model()
    config = replace(rank_config(), token_budget=60, checkpointing=True)
    return Learner(made, config, STEPS, ranks=ranks, parallelism=Sharded(ranks))


def _advance(learner: Learner, ranks: Ranks, steps: int) -> None:
    for _ in range(steps):
        learner.model.train()
        learner.update(ranks.share(examples(9)))


def _save(learner: Learner, ranks: Ranks, folder: Path) -> None:
    if ranks.first:
        folder.mkdir()
    ranks.wait()
    learner.parallelism.save(folder, learner.model, learner.optimisers)


def _write(learner: Learner, ranks: Ranks, file: Path) -> None:
    learner.gather()
    if ranks.first:
        torch.save(learner.policy.state_dict(), file)


if __name__ == "__main__":
    if sys.argv[1] == "sharded":
        sharded_ranks(int(sys.argv[2]), sys.argv[3])
    else:
        main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
