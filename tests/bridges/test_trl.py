import pytest

pytest.importorskip("trl", reason="scripts/bridges trl")

import torch
from bridges.contract import EVENT
from bridges.tokenizers import tiny_tokenizer
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.baselines.bridges.trl_rollout import episode_reward, rollout_function, rollout_rows
from hexathlon.baselines.warmstart.initial import ModelShape, make_model


def test_grpo_takes_a_step(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TRL's own trainer plays, scores and updates a tiny policy."""
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    tokenizer = tiny_tokenizer()
    shape = ModelShape(width=16, layers=1, heads=1, kv_heads=1, feed_forward=32, context=4096)
    model = make_model(shape, len(tokenizer), 0)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    seen: list[float] = []

    def verdict_and_place(**columns: object) -> list[float]:
        rewards = episode_reward(**columns)
        seen.extend(rewards)
        return [reward + place for place, reward in enumerate(rewards)]  # an untrained policy's tie

    trainer = GRPOTrainer(
        model,
        reward_funcs=verdict_and_place,
        args=GRPOConfig(
            output_dir=str(tmp_path), max_steps=1, per_device_train_batch_size=2,
            num_generations=2, max_completion_length=16, report_to=[], use_cpu=True,
            learning_rate=1e-2, save_strategy="no",
        ),
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(rollout_rows(TaskListing(EVENT, level="tiny"), "train", 2)),
        rollout_func=rollout_function(EVENT),
    )  # fmt: skip
    trainer.train()
    assert trainer.state.global_step == 1 and seen == [0.0, 0.0]
    after = list(model.parameters())
    assert any(not torch.equal(a, b.cpu()) for a, b in zip(before, after, strict=True))
