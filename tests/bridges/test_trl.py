from typing import Any

import pytest

pytest.importorskip("trl", reason="scripts/bridges trl")

from bridges.contract import EVENT
from bridges.learned import HalfLearned
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.baselines.bridges.trl_rollout import episode_reward, rollout_function, rollout_rows
from hexathlon.baselines.tokens.conversation import TokenConversation
from hexathlon.baselines.tokens.render import ChatRenderer


def test_grpo_learns_from_the_verdicts(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TRL's own trainer plays a policy that succeeds at times, and makes it succeed more often."""
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    rows = rollout_rows(TaskListing(EVENT, level="tiny"), "train", 1)
    known = HalfLearned(rows[0]["prompt"][0]["content"])
    renderer = ChatRenderer(known.tokenizer)
    prompt = TokenConversation(renderer).open(known.messages)
    answers = [[*renderer.encode(text), renderer.end_of_turn] for text in known.answers]
    model = known.model(prompt, answers)
    before = known.chances(model, prompt, answers)
    seen: list[list[float]] = []

    def verdict(**columns: Any) -> list[float]:
        seen.append(episode_reward(**columns))
        return seen[-1]

    trainer = GRPOTrainer(
        model,
        reward_funcs=verdict,
        args=GRPOConfig(
            output_dir=str(tmp_path), max_steps=3, per_device_train_batch_size=16,
            num_generations=16, max_completion_length=64, report_to=[], use_cpu=True,
            learning_rate=3e-3, lr_scheduler_type="constant", save_strategy="no", logging_steps=1,
            seed=1,
        ),
        processing_class=known.tokenizer,
        train_dataset=Dataset.from_list(rows),
        rollout_func=rollout_function(EVENT),
    )  # fmt: skip
    trainer.train()
    assert trainer.state.global_step == 3 and len(seen) == 3
    assert {0.0, 1.0} == set(seen[0]), "the rewards of the first group are tied"
    log = [row for row in trainer.state.log_history if "grad_norm" in row]
    assert log[0]["frac_reward_zero_std"] == 0.0 and log[0]["grad_norm"] > 0
    after = known.chances(model, prompt, answers)
    assert after[0] > before[0] + 0.1
