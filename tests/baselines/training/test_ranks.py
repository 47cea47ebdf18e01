"""Training with several processes gives the same results as with one."""

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.training.metrics import read_metrics
from hexathlon.baselines.training.recipe import Recipe, load_recipe
from hexathlon.baselines.training.run import train
from hexathlon.evaluators.records import check_chain, read_records, record_key
from hexathlon.evaluators.records.plan import read_plan
from support.served import sharp_policy

CHANGES = {
    "steps": 2,
    "save_every": 1,
    "tasks.templates": ["filter_rows", "count_rows"],
    "clone.demonstrations": 64,
    "clone.settings": {
        "steps": 6,
        "batch": 5,
        "optimiser": {"kind": "adamw", "learning_rate": 1e-3, "eps": 1e-4},
    },
    "learn.optimiser": {"learning_rate": 1e-3, "eps": 1e-4},
    "policy.shape": {
        "vocabulary": 400,
        "width": 32,
        "layers": 1,
        "heads": 2,
        "kv_heads": 1,
        "head_width": 16,
        "feed_forward": 32,
        "context": 1024,
    },
    "rollout.groups": 3,
    "rollout.members": 2,
    "rollout.max_tokens": 12,
    "credit.filters": [],
    "credit.estimator": {"name": "reinforce", "parameters": {"baseline": 0.5}},
    "evaluation.tasks": 4,
    "evaluation.every": 1,
}


def recipe(ranks: int) -> Recipe:
    return load_recipe("sql-tiny", {**CHANGES, "ranks": ranks})


def quiet(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
    """Report nothing."""


def weights(run: Path, name: str) -> "torch.Tensor":
    from safetensors.torch import load_file

    values = load_file(run / name / "model.safetensors")
    return torch.cat([values[key].flatten().double() for key in sorted(values)])


def played(run: Path) -> list[Any]:
    """Return the episodes, in the order of tasks."""
    return sorted(
        [*record_key(record), record["steps"], record["reward"]] for record in read_records(run)
    )


class Stopped(Exception):
    """Ends a run after its first step."""


def stop(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
    if phase == "train" and step == 1:
        raise Stopped


def test_two_ranks_train_the_same_policy_as_one(tmp_path: Path) -> None:
    for ranks in (1, 2):
        train(recipe(ranks), tmp_path / str(ranks), quiet)
    one, two = tmp_path / "1", tmp_path / "2"
    first, other = (run / "start" / "tokenizer.json" for run in (one, two))
    assert first.read_bytes() == other.read_bytes()
    assert float((weights(one, "start") - weights(two, "start")).abs().max()) <= 1e-5
    assert float((weights(one, "policy") - weights(two, "policy")).abs().max()) <= 1e-5
    assert float((weights(one, "policy") - weights(one, "start")).abs().max()) > 1e-5
    for name in ("success", "tokens/drawn", "groups/kept", "dev/success"):
        assert [row.get(name) for row in read_metrics(one / "metrics.jsonl")] == [
            row.get(name) for row in read_metrics(two / "metrics.jsonl")
        ]
    assert len(list((two / "rollouts").iterdir())) == 2 * len(list((one / "rollouts").iterdir()))
    for run in ("before", "after"):
        assert sorted(map(str, two.glob(f"{run}*"))) == [str(two / run)], "a rank's part is left"
        assert played(two / run) == played(one / run)
        assert len(played(two / run)) == 4
        assert check_chain(two / run, read_plan(two / run)["plan_hash"]) == []


@pytest.mark.slow
def test_two_rank_run_resumes_bit_for_bit(tmp_path: Path) -> None:
    train(recipe(2), tmp_path / "whole", quiet)
    with pytest.raises(Stopped):
        train(recipe(2), tmp_path / "broken", stop)
    train(recipe(2), tmp_path / "broken", quiet)
    assert torch.equal(
        weights(tmp_path / "broken", "policy"), weights(tmp_path / "whole", "policy")
    )


SHARDED = {"learner.kind": "sharded", "evaluation.every": 0, "evaluation.tasks": 2}


def test_a_sharded_run_of_one_process_resumes_bit_for_bit(tmp_path: Path) -> None:
    checkpoint = sharp_policy(tmp_path / "policy")
    smaller = {"policy.checkpoint": str(checkpoint), "evaluation.tasks": 1, "rollout.groups": 2}
    changes = {**CHANGES, **SHARDED, **smaller, "ranks": 1, "learner.packing": True}
    split = load_recipe("sql-tiny", changes)
    train(split, tmp_path / "whole", quiet)
    with pytest.raises(Stopped):
        train(split, tmp_path / "broken", stop)
    train(split, tmp_path / "broken", quiet)
    whole = weights(tmp_path / "whole", "policy")
    assert float((weights(tmp_path, "policy") - whole).abs().max()) > 1e-5
    assert torch.equal(weights(tmp_path / "broken", "policy"), whole)


@pytest.mark.slow
def test_two_sharded_ranks_train_the_same_policy_as_one_and_resume(tmp_path: Path) -> None:
    def sharded(ranks: int) -> Recipe:
        return load_recipe("sql-tiny", {**CHANGES, **SHARDED, "ranks": ranks})

    plain = {**CHANGES, **SHARDED, "ranks": 1, "learner.kind": "replicated"}
    train(load_recipe("sql-tiny", plain), tmp_path / "one", quiet)
    train(sharded(2), tmp_path / "two", quiet)
    one, two = (weights(tmp_path / name, "policy") for name in ("one", "two"))
    assert float((one - two).abs().max()) <= 1e-5
    assert float((one - weights(tmp_path / "one", "start")).abs().max()) > 1e-5
    for name, ranks in (("same", 2), ("fewer", 1)):
        with pytest.raises(Stopped):
            train(sharded(2), tmp_path / name, stop)
        train(sharded(ranks), tmp_path / name, quiet)
    assert torch.equal(weights(tmp_path / "same", "policy"), two)
    assert float((weights(tmp_path / "fewer", "policy") - two).abs().max()) <= 1e-5
