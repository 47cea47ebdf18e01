"""Policies learn, and controls do not.

The short form trains on the toy event. The long one (`-m slow`) runs every recipe unchanged, with
three seeds and its controls: more than an hour each on two cores.
"""

import shutil
from contextlib import suppress
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.training.metrics import read_metrics
from hexathlon.baselines.training.recipe import load_recipe, recipe_names, recipe_of
from hexathlon.baselines.training.run import train
from hexathlon.baselines.training.step import NothingToLearn
from hexathlon.evaluators.statistics import ScoreInterval
from hexathlon.tasks.source import parse_address

Runs = tuple[str, list[tuple[Path, dict[str, ScoreInterval]]]]
"""A recipe's name, and the runs of three seeds with their results."""

TOY: dict[str, Any] = {
    "name": "toy",
    "steps": 14,
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
        "demonstrations": 400,
        "noise": {"mistakes": 0.75},
        "settings": {"steps": 150, "batch": 16},
    },
    "rollout": {"groups": 16, "members": 8, "max_tokens": 12, "tries": 1},
    "credit": {"filters": [{"name": "varied"}]},
    "learn": {"optimiser": {"learning_rate": 1e-3}},
    "evaluation": {"tasks": 8},
}

UNPROVEN = {"mixture-tiny", "judge-tiny", "preference-tiny"}
"""Recipes whose learning is not measured, or less than these tests ask for; their files say so."""


def quiet(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
    """Report nothing."""


def beside(start: Path, out: Path) -> Path:
    """A run directory whose initial policy is that of another run."""
    shutil.copytree(start / "start", out / "start")
    return out


def gain(found: dict[str, ScoreInterval]) -> float:
    return found["after"].mean - found["before"].mean


def rise(run: Path) -> float:
    """Increase in the success rate of training episodes, from the first three steps to the last
    five.

    That is 384 and 640 episodes: a standard error of 0.03 at most.
    """
    success = [row["success"] for row in read_metrics(run / "metrics.jsonl")[1:]]
    return mean(success[-5:]) - mean(success[:3])


def test_a_policy_learns_and_its_controls_do_not(tmp_path: Path) -> None:
    train(recipe_of(TOY), tmp_path / "learns", quiet)
    assert rise(tmp_path / "learns") >= 0.12
    still = beside(tmp_path / "learns", tmp_path / "still")
    frozen = train(recipe_of({**TOY, "steps": 2, "control": "no_update"}), still, quiet)
    assert gain(frozen) == 0.0
    dealt = beside(tmp_path / "learns", tmp_path / "dealt")
    with suppress(NothingToLearn):  # random steps may reach a point without any success
        train(recipe_of({**TOY, "control": "shuffled_rewards"}), dealt, quiet)
    assert rise(dealt) < 0.08


@pytest.mark.parametrize("name", recipe_names())
def test_recipes_are_evaluated_on_many_unseen_tasks(name: str) -> None:
    recipe = load_recipe(name)
    total = 0
    for table in recipe.tasks:
        asked = table.addresses("dev", recipe.evaluation.tasks)
        assert len(set(asked)) == recipe.evaluation.tasks
        assert {parse_address(one).template for one in asked} == set(table.templates)
        total += len(asked)
    assert total >= 280


@pytest.fixture(scope="session", params=sorted({*recipe_names()} - UNPROVEN))
def runs(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    name = request.param
    folders = [tmp_path_factory.mktemp(name) / f"seed-{seed}" for seed in range(3)]
    return name, [
        (out, train(load_recipe(name, {"seed": seed}), out, quiet))
        for seed, out in enumerate(folders)
    ]


@pytest.mark.slow
def test_recipes_learn_in_every_seed(runs: Runs) -> None:
    for _, result in runs[1]:
        assert gain(result) >= 0.3
        assert result["after"].low > result["before"].high


@pytest.mark.slow
def test_zero_learning_rate_learns_nothing(runs: Runs, tmp_path: Path) -> None:
    name, ((first, _), *_) = runs
    out = beside(first, tmp_path)
    assert gain(train(load_recipe(name, {"control": "no_update"}), out, quiet)) == 0.0


@pytest.mark.slow
def test_random_rewards_teach_nothing(runs: Runs, tmp_path: Path) -> None:
    """A random step shifts the results of all tasks together by several points, so they are pooled
    by seed.
    """
    name, seeds = runs
    gains = []
    for seed, (start, _) in enumerate(seeds):
        recipe = load_recipe(name, {"seed": seed, "control": "shuffled_rewards"})
        gains.append(gain(train(recipe, beside(start, tmp_path / str(seed)), quiet)))
    assert mean(gains) < 0.06


@pytest.mark.slow
def test_rescored_rewards_train_the_same_policy(runs: Runs, tmp_path: Path) -> None:
    name, ((start, _), *_) = runs
    out = beside(start, tmp_path / "rescored")
    train(load_recipe(name, {"rollout.rewards": "rescored"}), out, quiet)
    one, other = (read_metrics(run / "metrics.jsonl") for run in (start, out))
    assert [row.get("reward") for row in one] == [row.get("reward") for row in other]
    weights = "policy/model.safetensors"
    assert (start / weights).read_bytes() == (out / weights).read_bytes()
