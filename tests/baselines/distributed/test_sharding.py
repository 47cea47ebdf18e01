"""Sharded learners: the updates of one process, states for any number of ranks, verified copies."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from dataclasses import replace

from hexathlon.baselines.distributed.sharding import CheckpointFailed, Sharded
from hexathlon.baselines.engines.errors import WeightsDiffer
from hexathlon.baselines.learner.learner import Learner, LossNotFinite
from hexathlon.baselines.learner.ranks import ALONE
from support.learning import difference, examples, model, rank_config, updated
from support.sharding import STEPS, sharded_learner

TESTS = Path(__file__).resolve().parents[2]
DEADLINE = 600.0
RANKS = 4


def test_four_ranks_train_as_one_and_two_continue_from_their_state(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "support.sharding", str(RANKS), str(tmp_path)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=TESTS, env=environment, capture_output=True, text=True, timeout=DEADLINE
    )
    assert done.returncode == 0, done.stderr
    whole, fewer, again, counts = (
        torch.load(tmp_path / f"{name}.pt") for name in ("whole", "fewer", "again", "counts")
    )
    alone = updated(rank_config(), examples(9), steps=STEPS)
    assert difference(alone, whole) <= 1e-5
    assert difference(alone, fewer) <= 1e-5
    assert difference(alone, model().state_dict()) > 1e-2
    assert all(torch.equal(fewer[name], again[name]) for name in fewer), "resumed bit for bit"
    total = sum(parameter.numel() for parameter in model().parameters())
    assert sum(counts) == total
    assert max(counts) <= 0.3 * total  # a quarter, and the parts that four does not divide


def trained(steps: int) -> Learner:
    learner = sharded_learner(ALONE)
    for _ in range(steps):
        learner.update(examples(9))
    return learner


def test_one_rank_reads_the_state_of_a_sharded_learner(tmp_path: Path) -> None:
    first = trained(2)
    first.parallelism.save(tmp_path, first.model, first.optimisers)
    first.update(examples(9))
    second = sharded_learner(ALONE)
    second.parallelism.load(tmp_path, second.model, second.optimisers)
    assert second.optimisers.taken == 2
    second.update(examples(9))
    assert difference(first.model.state_dict(), second.model.state_dict()) == 0
    alone = updated(rank_config(), examples(9), steps=3)
    assert difference(alone, first.model.state_dict()) <= 1e-5


def test_a_damaged_state_is_reported(tmp_path: Path) -> None:
    learner = trained(1)
    learner.parallelism.save(tmp_path, learner.model, learner.optimisers)
    (shard,) = (tmp_path / "shards").glob("*.distcp")
    shard.unlink()
    with pytest.raises(CheckpointFailed, match=r"rank 0: FileNotFoundError: .*distcp"):
        learner.parallelism.load(tmp_path, learner.model, learner.optimisers)


def test_gathering_updates_the_policy() -> None:
    learner = trained(1)
    start = model().state_dict()
    assert difference(start, learner.policy.state_dict()) == 0
    learner.gather()
    assert difference(learner.model.state_dict(), learner.policy.state_dict()) == 0
    assert difference(start, learner.policy.state_dict()) > 0


def test_a_policy_that_scores_differently_stops_the_run() -> None:
    made = model()
    made.lm_head.weight.requires_grad_(False)  # not trained, and so not copied
    learner = Learner(made, rank_config(), 1, parallelism=Sharded(ALONE))
    with torch.no_grad():
        made.lm_head.weight[0] += 1.0
    with pytest.raises(WeightsDiffer, match="differ by"):
        learner.gather()


def test_training_weights_of_a_half_precision_policy_are_full_precision() -> None:
    made = model().to(torch.bfloat16)
    config = replace(rank_config(), precision="bfloat16")
    learner = Learner(made, config, 1, parallelism=Sharded(ALONE, precision="bfloat16"))
    assert {p.dtype for p in learner.model.parameters()} == {torch.float32}
    for _ in range(3):
        learner.update(examples(6))
    learner.gather()
    assert {p.dtype for p in made.parameters()} == {torch.bfloat16}
    for name, parameter in learner.model.named_parameters():
        assert torch.equal(parameter.detach().to(torch.bfloat16), made.get_parameter(name)), name


def test_a_half_precision_policy_trains_alike_sharded_and_replicated() -> None:
    """Both step 32-bit weights, and sum gradients in 32 bits."""
    policies = model().to(torch.bfloat16), model().to(torch.bfloat16)
    config = replace(rank_config(), precision="bfloat16")
    sharded = Learner(policies[0], config, 1, parallelism=Sharded(ALONE, precision="bfloat16"))
    replicated = Learner(policies[1], config, 1)
    for _ in range(3):
        sharded.update(examples(6))
        replicated.update(examples(6))
    sharded.gather()
    start = model().to(torch.bfloat16)
    masters = iter(replicated.optimisers.parameters())
    with torch.no_grad():
        for name, exact in sharded.model.named_parameters():
            moved = (exact - start.get_parameter(name)).abs().max()
            assert moved > 0 and (exact - next(masters)).abs().max() < 0.3 * moved, name


def test_a_rank_that_does_not_sample_keeps_no_full_policy() -> None:
    made, reference = model(), model()
    config = replace(rank_config(), objective=replace(rank_config().objective, beta=0.1))
    learner = Learner(made, config, 1, reference, parallelism=Sharded(ALONE, keeps=False))
    learner.update(examples(6))
    learner.gather()
    assert {p.device.type for p in made.parameters()} == {"meta"}
    assert {p.device.type for p in reference.parameters()} == {"meta"}


def test_a_gradient_that_is_not_finite_changes_nothing() -> None:
    learner = trained(0)
    before = {name: value.clone() for name, value in learner.model.state_dict().items()}
    batch = examples(4)
    batch[1].advantage[:] = float("inf")
    with pytest.raises(LossNotFinite):
        learner.update(batch)
    assert difference(before, learner.model.state_dict()) == 0


def test_only_adapters_are_trained_gathered_and_saved(tmp_path: Path) -> None:
    pytest.importorskip("peft", reason="pip install 'hexathlon[lora]'")
    from hexathlon.baselines.learner.adapters import AdapterConfig, add_adapters

    def adapted(parallelism: Sharded | None) -> Learner:
        made = model()
        add_adapters(made, AdapterConfig(rank=4), seed=0)
        return Learner(made, rank_config(), 2, parallelism=parallelism)

    plain, split = adapted(None), adapted(Sharded(ALONE))
    for learner in (plain, split):
        learner.update(examples(6))
    split.gather()
    assert difference(plain.policy.state_dict(), split.policy.state_dict()) <= 1e-5
    start = adapted(None).policy.state_dict()
    moved = {
        name for name, value in split.policy.state_dict().items() if (value != start[name]).any()
    }
    assert moved and all("lora_" in name for name in moved)
    split.parallelism.save(tmp_path, split.model, split.optimisers)
    again = adapted(Sharded(ALONE))
    again.parallelism.load(tmp_path, again.model, again.optimisers)
    for learner in (split, again):
        learner.update(examples(6))
    assert difference(split.model.state_dict(), again.model.state_dict()) == 0
