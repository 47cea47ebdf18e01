"""TRL's trainer with `environment_factory`: a policy that calls the event's tools learns."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="scripts/bridges trl")

from bridges import learned
from bridges.contract import EVENT
from bridges.learned import HalfLearned
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_chat_template

from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.baselines.bridges.trl import environment_class, rows

END, PAD = "<|im_end|>", "<|endoftext|>"


def qwen_tokenizer(texts: list[str]) -> Any:
    """Return a tokenizer of these texts with the template of Qwen 3, whose calls TRL reads."""
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    raw.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=2000, special_tokens=[PAD, "<|im_start|>", END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))  # fmt: skip
    raw.add_tokens(["<tool_call>", "</tool_call>", "<think>", "</think>"])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token=END, pad_token=PAD)
    tokenizer.chat_template = qwen3_chat_template
    return tokenizer


def test_grpo_learns_from_tool_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    monkeypatch.setattr(learned, "STEPS", 150)
    (row,) = rows(TaskListing(EVENT, level="tiny"), "train", 1)
    known = HalfLearned(row["task"])
    factory = environment_class(EVENT, level="tiny", tasks=[row["task"]])
    env = factory()
    opening = [{"role": "user", "content": env.reset(task=row["task"], seed=0)}]
    tools = [getattr(env, tool.name) for tool in env._episode.env.task.tools]
    calls = [f"<tool_call>\n{answer}\n</tool_call>{END}" for answer in known.answers]
    asked = {"tools": tools, "add_generation_prompt": True, "tokenize": False}
    text = qwen_tokenizer(["."]).apply_chat_template(opening, **asked)
    known.tokenizer = tokenizer = qwen_tokenizer([text, *calls] * 20)
    prompt, *answers = (tokenizer(each)["input_ids"] for each in (text, *calls))
    model = known.model(prompt, answers)
    before = known.chances(model, prompt, answers)
    assert min(before) > 0.2
    trainer = GRPOTrainer(
        model,
        args=GRPOConfig(
            output_dir=str(tmp_path), max_steps=3, per_device_train_batch_size=16,
            num_generations=16, max_completion_length=72, report_to=[], use_cpu=True,
            learning_rate=1e-3, lr_scheduler_type="constant", save_strategy="no", logging_steps=1,
            max_tool_calling_iterations=1, seed=1,
        ),
        processing_class=tokenizer,
        train_dataset=Dataset.from_list([{**row, "seed": 0}]),
        environment_factory=factory,
    )  # fmt: skip
    trainer.train()
    log = [entry for entry in trainer.state.log_history if "grad_norm" in entry]
    assert trainer.state.global_step == len(log) == 3
    assert log[0]["frac_reward_zero_std"] == 0.0, "the rewards of the first group are tied"
    assert 0 < log[0]["reward"] < 1 and log[0]["grad_norm"] > 0
    assert log[0]["tools/call_frequency"] > 0.5
    after = known.chances(model, prompt, answers)
    assert after[0] > before[0] + 0.1
