"""Recipes of the cookbook against our service, on one of our events."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("tinker_cookbook", reason="scripts/bridges tinker")

from bridges.contract import EVENT
from bridges.learned import HalfLearned
from tinker_cookbook.recipes import rl_basic, sl_basic
from tinker_cookbook.renderers import get_renderer
from tinker_cookbook.supervised.data import FromConversationFileBuilder
from tinker_cookbook.supervised.types import ChatDatasetBuilderCommonConfig

from hexathlon.baselines.agents.checkpoint import SETTINGS, open_policy
from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.baselines.bridges.tinker.app import TinkerApp
from hexathlon.baselines.bridges.tinker.service import TinkerService
from hexathlon.baselines.bridges.tinker_data import EventDatasetBuilder
from hexathlon.baselines.engines.local.loading import load_checkpoint
from hexathlon.baselines.warmstart.initial import save_policy
from support.gateways import served

RENDERER = "role_colon"
END = "\n\nUser:"


class ServedHalf(NamedTuple):
    """A service whose base model has learned one task by half."""

    known: HalfLearned
    model: Any
    prompt: list[int]
    answers: list[list[int]]
    url: str
    name: str
    """The checkpoint's directory, where the cookbook finds the tokenizer."""

    out: Path

    def chances(self, model: Any) -> list[float]:
        """Return a model's probability of the right and of the wrong answer."""
        return self.known.chances(model, self.prompt, self.answers)

    def weights(self) -> Any:
        """Return the model that a recipe has saved at its end."""
        (place,) = self.out.rglob("sampler_weights/final")
        return load_checkpoint(place).model


@pytest.fixture
def half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedHalf]:
    pytest.importorskip("peft", reason="pip install 'hexathlon[lora]'")
    known = HalfLearned(TaskListing(EVENT, level="tiny").row("train", 0)["task"])
    prompt = get_renderer(RENDERER, known.tokenizer).build_generation_prompt(known.messages)
    encode = known.tokenizer.encode
    answers = [encode(f" {text}{END}", add_special_tokens=False) for text in known.answers]
    model = known.model(prompt.to_ints(), answers)
    base, out = tmp_path / "half", tmp_path / "out"
    save_policy(base, model, known.tokenizer)
    (base / SETTINGS).write_text(json.dumps({"dialect": "json"}))
    service = TinkerService(
        open_policy(base, "auto", 16), load_checkpoint(base).model, str(base), base, out
    )
    monkeypatch.setenv("TINKER_TELEMETRY", "0")
    monkeypatch.setenv("TINKER_API_KEY", "tml-any")
    with served(TinkerApp(service)) as url:
        yield ServedHalf(known, model, prompt.to_ints(), answers, url, str(base), out)


def metrics(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (log / "metrics.jsonl").open()]


def test_rl_basic_learns_from_the_verdicts(half: ServedHalf, tmp_path: Path) -> None:
    builder = EventDatasetBuilder(
        event=EVENT, model_name=half.name, renderer_name=RENDERER, level="tiny",
        batch_size=1, group_size=16, batches=1,
    )  # fmt: skip
    recipe = rl_basic.build_config_blueprint().apply({
        "model_name": half.name, "renderer_name": RENDERER, "dataset_builder": builder,
        "base_url": half.url, "learning_rate": 2e-3, "max_tokens": 64, "lora_rank": 8,
        "log_path": str(tmp_path / "log"), "num_epochs": 2, "save_every": 0,
    })  # fmt: skip
    rl_basic.main(recipe.make())
    rows = metrics(tmp_path / "log")
    rewards = [row["env/all/reward/total"] for row in rows if "env/all/reward/total" in row]
    assert len(rewards) == 2 and 0.0 < rewards[0] < 1.0, "the first rewards are tied"
    # The sampler's log-probabilities are those of the model under training.
    assert all(abs(row["optim/kl_sample_train_v2"]) < 1e-6 for row in rows[:2])
    before, after = half.chances(half.model), half.chances(half.weights())
    assert after[0] > before[0] + 0.05 and after[1] < before[1]


def test_sl_basic_learns_a_demonstration(half: ServedHalf, tmp_path: Path) -> None:
    said = {"role": "assistant", "content": half.known.answers[0]}
    shown = tmp_path / "shown.jsonl"
    shown.write_text(json.dumps({"messages": [*half.known.messages, said]}) + "\n")
    common = ChatDatasetBuilderCommonConfig(
        model_name_for_tokenizer=half.name, renderer_name=RENDERER, max_length=4096, batch_size=1
    )
    recipe = sl_basic.build_config_blueprint().apply({
        "model_name": half.name, "renderer_name": RENDERER, "base_url": half.url,
        "dataset_builder": FromConversationFileBuilder(common_config=common, file_path=str(shown)),
        "learning_rate": 1e-2, "lora_rank": 8, "log_path": str(tmp_path / "log"),
        "num_epochs": 8, "eval_every": 0, "save_every": 0,
    })  # fmt: skip
    sl_basic.main(recipe.make())
    losses = [row["train_mean_nll"] for row in metrics(tmp_path / "log") if "train_mean_nll" in row]
    assert len(losses) == 8 and losses[-1] < losses[0]
    # The renderer ends a turn that is trained on otherwise than one that is sampled.
    tokens = half.known.tokenizer.encode(f" {half.known.answers[0]}", add_special_tokens=False)
    (before,), (after,) = (
        half.known.chances(model, half.prompt, [tokens]) for model in (half.model, half.weights())
    )
    assert after > before + 0.05
