"""The cookbook's own training loop, against our service, on one of our events."""

import asyncio
import json
from pathlib import Path

import pytest

pytest.importorskip("tinker_cookbook", reason="scripts/bridges tinker")

from bridges.contract import EVENT
from bridges.learned import HalfLearned
from tinker_cookbook.renderers import get_renderer
from tinker_cookbook.rl import train
from tinker_cookbook.tokenizer_utils import register_tokenizer

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


def test_a_recipe_learns_from_the_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("peft", reason="pip install 'hexathlon[lora]'")
    known = HalfLearned(TaskListing(EVENT, level="tiny").row("train", 0)["task"])
    register_tokenizer("half", lambda: known.tokenizer)
    prompt = get_renderer(RENDERER, known.tokenizer).build_generation_prompt(known.messages)
    encode = known.tokenizer.encode
    answers = [encode(f" {text}{END}", add_special_tokens=False) for text in known.answers]
    model = known.model(prompt.to_ints(), answers)
    base = tmp_path / "half"
    save_policy(base, model, known.tokenizer)
    (base / SETTINGS).write_text(json.dumps({"dialect": "json"}))
    service = TinkerService(
        open_policy(base, "auto", 16), load_checkpoint(base).model, "half", base, tmp_path / "out"
    )
    monkeypatch.setenv("TINKER_TELEMETRY", "0")
    monkeypatch.setenv("TINKER_API_KEY", "tml-any")
    with served(TinkerApp(service)) as url:
        builder = EventDatasetBuilder(
            event=EVENT, model_name="half", renderer_name=RENDERER, level="tiny",
            batch_size=1, group_size=16, batches=1,
        )  # fmt: skip
        config = train.Config(
            model_name="half", recipe_name="hexathlon", dataset_builder=builder, base_url=url,
            learning_rate=2e-3, max_tokens=64, log_path=str(tmp_path / "log"), lora_rank=8,
            num_epochs=2, eval_every=0, save_every=0,
        )  # fmt: skip
        asyncio.run(train.main(config))
    rows = [json.loads(line) for line in (tmp_path / "log" / "metrics.jsonl").open()]
    rewards = [row["env/all/reward/total"] for row in rows if "env/all/reward/total" in row]
    assert len(rewards) == 2 and 0.0 < rewards[0] < 1.0, "the first rewards are tied"
    # The sampler's log-probabilities are those of the model under training.
    assert all(abs(row["optim/kl_sample_train_v2"]) < 1e-6 for row in rows[:2])
    (weights,) = (tmp_path / "out").rglob("sampler_weights/final")
    trained = load_checkpoint(weights).model
    before, after = (known.chances(each, prompt.to_ints(), answers) for each in (model, trained))
    assert after[0] > before[0] + 0.05 and after[1] < before[1]
