"""Sharded learners on several ranks, for tests; run as a script, it forks the ranks.

python -m support.sharding WORLD FOLDER
"""

import multiprocessing
import signal
import sys
from dataclasses import replace
from pathlib import Path

import torch

from hexathlon.baselines.learner import scoring
from hexathlon.baselines.learner.learner import Learner
from hexathlon.baselines.learner.ranks import Ranks
from support.learning import VOCABULARY, examples, model, rank_config


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
"""Steps of the sharded test; steps before the first saved state; ranks that continue from it."""


def sharded(rank: int, world: int, store: str, out: str) -> None:
    """Train sharded, save half-way, and continue from there with fewer ranks.

    Rank 0 writes three policies: that of `world` ranks, that of `SMALLER` ranks continuing from the
    state of `world`, and that of the latter after loading a state of their own.
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
    """Return a learner whose ranks have unequal numbers of passes, some of them none."""
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
    sharded_ranks(int(sys.argv[1]), sys.argv[2])
