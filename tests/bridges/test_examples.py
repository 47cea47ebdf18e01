"""The examples of the doors' pages that no other test runs."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from bridges.guide import example


def test_the_tinker_example_makes_groups() -> None:
    pytest.importorskip("tinker_cookbook", reason="scripts/bridges tinker")
    names: dict[str, object] = {"__name__": "tinker_example"}
    exec(example("tinker_example.py"), names)
    dataset, _ = asyncio.run(names["config"].dataset_builder())
    assert len(dataset) == 10 and len(dataset.get_batch(0)) == 8


def test_the_verifiers_example_exports_what_verifiers_loads() -> None:
    pytest.importorskip("verifiers.v1", reason="scripts/bridges verifiers")
    names: dict[str, object] = {"__name__": "my_events"}
    exec(example("my_events.py"), names)
    assert names["__all__"] == ["ChatHarness", "EventTaskset", "PlayedEnv"]


@pytest.mark.parametrize("name", ["trl_example", "trl_rollout_example"])
def test_the_trl_examples_make_trainers(name: str, tmp_path: Path) -> None:
    pytest.importorskip("trl", reason="scripts/bridges trl")
    from bridges.test_tools_of_trl import qwen_tokenizer

    from hexathlon.baselines.warmstart.initial import ModelShape, make_model, save_policy

    tokenizer = qwen_tokenizer(["Which tables are there?"])
    shape = ModelShape(width=16, layers=1, heads=1, kv_heads=1, feed_forward=32)
    save_policy(tmp_path / "policy", make_model(shape, len(tokenizer), 0), tokenizer)
    text = re.sub('"a-checkpoint[^"]*"', f'"{tmp_path / "policy"}"', example(f"{name}.py"))
    text = text.replace('"runs/trl"', f'"{tmp_path}", use_cpu=True')  # the tests have no GPU
    names: dict[str, Any] = {"__name__": name}
    exec(text, names)
    assert len(names["trainer"].train_dataset) == 64
