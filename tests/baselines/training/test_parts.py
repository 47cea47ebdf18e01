"""Optional components of the training loop, on the toy event: a critic and others."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.training.metrics import read_metrics
from hexathlon.baselines.training.recipe import RecipeError, load_recipe
from hexathlon.baselines.training.run import train

RECIPE = """
name = "toy-parts"
steps = 3
save_every = 1
[tasks]
env = "harness/Toy-v0"
source = "toy"
turns = 5
[policy.shape]
vocabulary = 300
width = 32
layers = 1
heads = 2
kv_heads = 1
feed_forward = 64
context = 256
[clone]
demonstrations = 64
[clone.settings]
steps = 20
batch = 16
[rollout]
groups = 2
members = 3
max_tokens = 12
[evaluation]
tasks = 2
"""

CRITIC = """
[credit.estimator]
name = "gae_turns"
[critic]
warmup = 1
epochs = 2
optimiser = { learning_rate = 1e-3 }
"""


LORA = {
    "policy.lora_rank": 2,
    "steps": 3,
    "credit.estimator": {"name": "reinforce", "parameters": {"baseline": 0.5}},
}


class Stopped(Exception):
    """Raised by a test to end a run."""


def written(folder: Path, more: str) -> str:
    path = folder / "recipe.toml"
    path.write_text(RECIPE + more)
    return str(path)


def quiet(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
    """Report nothing."""


def stop(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
    if phase == "train" and step == 2:
        raise Stopped


def weights(run: Path) -> bytes:
    return (run / "policy" / "model.safetensors").read_bytes()


def test_critic_warms_up_and_resumes_bit_for_bit(tmp_path: Path) -> None:
    recipe = load_recipe(written(tmp_path, CRITIC))
    train(recipe, tmp_path / "whole", quiet)
    with pytest.raises(Stopped):
        train(recipe, tmp_path / "broken", stop)
    train(recipe, tmp_path / "broken", quiet)
    assert weights(tmp_path / "whole") == weights(tmp_path / "broken")
    rows = [row for row in read_metrics(tmp_path / "broken" / "metrics.jsonl") if row["step"]]
    assert [("loss/policy" in row, "critic/loss" in row) for row in rows] == [
        (False, True),
        (True, True),
        (True, True),
    ]


@pytest.mark.parametrize("more", ['[credit.estimator]\nname = "gae"\n', "[critic]\nwarmup = 1\n"])
def test_critic_and_its_estimators_require_each_other(tmp_path: Path, more: str) -> None:
    with pytest.raises(RecipeError, match="is required with the estimators gae and gae_turns"):
        load_recipe(written(tmp_path, more))


def test_adapter_training_saves_a_merged_checkpoint(tmp_path: Path) -> None:
    pytest.importorskip("peft", reason="pip install 'hexathlon[lora]'")
    recipe = load_recipe(written(tmp_path, "[learn.optimiser]\nlearning_rate = 1e-2\n"), LORA)
    train(recipe, tmp_path / "whole", quiet)
    with pytest.raises(Stopped):
        train(recipe, tmp_path / "broken", stop)
    train(recipe, tmp_path / "broken", quiet)
    assert weights(tmp_path / "whole") == weights(tmp_path / "broken")
    first = (tmp_path / "whole" / "start" / "model.safetensors").read_bytes()
    assert weights(tmp_path / "whole") != first
    assert len(weights(tmp_path / "whole")) == len(first)
    assert (tmp_path / "whole" / "adapters" / "adapter_config.json").exists()
