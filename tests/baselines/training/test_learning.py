"""Policies learn, and what must not learn does not.

The short form trains on the toy event. The long one (`-m slow`) is the recipe `sql-tiny` as it
comes, with three seeds and its controls: about an hour on two cores.
"""

import shutil
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.training.metrics import read_metrics
from hexathlon.baselines.training.recipe import load_recipe, recipe_of
from hexathlon.baselines.training.run import train
from hexathlon.evaluators.statistics import ScoreInterval

TOY: dict[str, Any] = {
    "name": "toy",
    "steps": 20,
    "tasks": {"env": "harness/Toy-v0", "source": "toy", "level": "tiny", "turns": 6},
    "policy": {
        "shape": {
            "vocabulary": 320,
            "width": 64,
            "layers": 2,
            "heads": 2,
            "kv_heads": 1,
            "feed_forward": 128,
            "context": 256,
        }
    },
    "clone": {
        "demonstrations": 800,
        "noise": {"mistakes": 0.75},
        "settings": {"steps": 400, "batch": 16},
    },
    "rollout": {"groups": 16, "members": 8, "max_tokens": 12, "tries": 1},
    "credit": {"filters": [{"name": "varied"}]},
    "learn": {"optimiser": {"learning_rate": 1e-3}},
    "evaluation": {"tasks": 40},
}


def quiet(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
    """Report to nobody."""


def beside(start: Path, out: Path) -> Path:
    """A folder whose run begins with the policy of another."""
    shutil.copytree(start / "start", out / "start")
    return out


def gain(found: dict[str, ScoreInterval]) -> float:
    return found["after"].mean - found["before"].mean


def rise(run: Path) -> float:
    """How much the success of training episodes rose, from the first three steps to the last five.

    That is 384 and 640 episodes: a standard error of 0.03 at most.
    """
    success = [row["success"] for row in read_metrics(run / "metrics.jsonl")[1:]]
    return sum(success[-5:]) / 5 - sum(success[:3]) / 3


def test_a_policy_learns_and_its_controls_do_not(tmp_path: Path) -> None:
    train(recipe_of(TOY), tmp_path / "learns", quiet)
    assert rise(tmp_path / "learns") >= 0.12
    still = beside(tmp_path / "learns", tmp_path / "still")
    frozen = train(recipe_of({**TOY, "steps": 2, "control": "no_update"}), still, quiet)
    assert gain(frozen) == 0.0
    dealt = beside(tmp_path / "learns", tmp_path / "dealt")
    train(recipe_of({**TOY, "control": "shuffled_rewards"}), dealt, quiet)
    assert rise(dealt) < 0.08


@pytest.fixture(scope="session")
def first_seed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, ScoreInterval]]:
    out = tmp_path_factory.mktemp("sql-tiny") / "seed-0"
    return out, train(load_recipe("sql-tiny"), out, quiet)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_sql_tiny_learns(seed: int, first_seed: Any, tmp_path: Path) -> None:
    found = first_seed[1] if seed == 0 else {}
    found = found or train(load_recipe("sql-tiny", {"seed": seed}), tmp_path, quiet)
    assert gain(found) >= 0.3
    assert found["after"].low > found["before"].high


@pytest.mark.slow
@pytest.mark.parametrize("control", ["no_update", "shuffled_rewards"])
def test_controls_of_sql_tiny_do_not_learn(control: str, first_seed: Any, tmp_path: Path) -> None:
    out = beside(first_seed[0], tmp_path / control)
    assert gain(train(load_recipe("sql-tiny", {"control": control}), out, quiet)) < 0.06


@pytest.mark.slow
def test_rewards_judged_again_train_the_same_policy(first_seed: Any, tmp_path: Path) -> None:
    out = beside(first_seed[0], tmp_path / "rescored")
    train(load_recipe("sql-tiny", {"rollout.rewards": "rescored"}), out, quiet)
    one, other = (read_metrics(run / "metrics.jsonl") for run in (first_seed[0], out))
    assert [row.get("reward") for row in one] == [row.get("reward") for row in other]
    name = "policy/model.safetensors"
    assert (first_seed[0] / name).read_bytes() == (out / name).read_bytes()
