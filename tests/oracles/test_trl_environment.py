"""An event as an environment of TRL's trainer: its tools are read, called and rewarded."""

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="TRL is not installed here: make test-oracles")

from bridges.contract import EVENT, TASKS, broken, gold, idle
from gymnasium.error import ResetNeeded

from hexathlon.baselines.bridges import trl as bridge
from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.envs.errors import EnvFault

SETTINGS = {"split": "test", "level": "tiny", "tasks": TASKS}


@pytest.fixture(scope="module")
def tools() -> type:
    return bridge.environment_class(EVENT, **SETTINGS)


@pytest.mark.parametrize("played", gold() + idle(), ids=["gold", "gold", "idle", "idle"])
def test_episodes_are_those_of_gymnasium(tools: type, played: Any) -> None:
    environment = tools()
    assert environment.reset(task=played.task, seed=played.seed, prompt=[]).endswith(played.opening)
    for action, answer in zip(played.actions, played.answers, strict=True):
        call = json.loads(action)
        assert getattr(environment, call["name"])(**call["arguments"]) == answer
    assert environment.get_reward() == played.reward
    assert played.done
    with pytest.raises(ResetNeeded, match="the episode has ended"):  # TRL shows the model this
        environment.list_tables()


def test_a_fault_is_an_error(tools: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge, "BridgedEpisode", lambda *_, **__: broken())
    environment = tools()
    environment.reset(task=gold()[0].task, seed=0)
    with pytest.raises(EnvFault, match="the disk is gone"):
        environment.list_tables()
    with pytest.raises(EnvFault, match="the disk is gone"):  # TRL shows the model the first
        environment.get_reward()


def test_transformers_reads_the_schemas(tools: type) -> None:
    from transformers.utils import get_json_schema

    members = inspect.getmembers(tools, inspect.isfunction)
    methods = {name: method for name, method in members if not name.startswith("_")}
    del methods["reset"], methods["get_reward"]
    environment = tools()
    schemas = {name: get_json_schema(getattr(environment, name))["function"] for name in methods}
    assert schemas["run_query"]["parameters"]["required"] == ["sql"]
    assert schemas["sample_rows"]["parameters"]["required"] == ["table"]
    assert all(schema["description"] for schema in schemas.values())


def checkpoint(folder: Path) -> str:
    """A random model of some thousand parameters with a tokenizer of bytes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    from trl.chat_template_utils import qwen3_chat_template

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({each: at for at, each in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|pad|>",
        chat_template=qwen3_chat_template,
    )  # fmt: skip
    fast.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(fast), hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, max_position_embeddings=8192, eos_token_id=fast.eos_token_id,
        pad_token_id=fast.pad_token_id,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    return str(folder)


def test_grpo_takes_steps_on_an_event(tools: type, tmp_path: Path) -> None:
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    trainer = GRPOTrainer(
        checkpoint(tmp_path / "start"),
        args=GRPOConfig(
            output_dir=str(tmp_path / "out"), max_steps=2, per_device_train_batch_size=2,
            num_generations=2, max_completion_length=8, use_cpu=True, report_to="none",
            logging_steps=1, save_strategy="no", bf16=False,
        ),
        train_dataset=Dataset.from_list(bridge.rows(TaskListing(EVENT, level="tiny"), "test", 4)),
        environment_factory=tools,
    )  # fmt: skip
    trainer.train()
    logged = [row for row in trainer.state.log_history if "reward" in row]
    assert len(logged) == 2 and all(row["reward"] == 0.0 for row in logged)
