"""`hexathlon eval CHECKPOINT --engine vllm`: servers started, named, used and stopped.

A stand-in takes vLLM's place and answers every request with the same tokens.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.harness.config import load_config
from hexathlon.baselines.harness.errors import EnvironmentUnavailable, PlanDiffers, UsageError
from hexathlon.baselines.harness.run import evaluate, resume, stored_plan
from hexathlon.evaluators.records import read_records
from support.events import TOY
from support.fake_vllm import VERSION, fake_vllm
from support.policies import untrained_policy
from support.served import guards_of


@pytest.fixture
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEXATHLON_VLLM_PYTHON", str(fake_vllm(tmp_path)))
    return untrained_policy(tmp_path / "policy", context=2048)


def configured(model: Any, **flags: Any) -> Any:
    chosen = {"tasks": 4, "max_reply_tokens": 4, "limit_turns": 2, "engine": "vllm", **flags}
    return load_config({"model": str(model), "envs": (TOY,), **chosen})


def test_replicas_play_a_run_and_stop(policy: Path, tmp_path: Path) -> None:
    config, execution = configured(policy, replicas=2, engine_arg=("--seed=3",))
    outcome = evaluate(config, execution, tmp_path / "run")
    assert (outcome.planned, outcome.recorded) == (4, 4)
    records = list(read_records(tmp_path / "run"))
    assert {record["status"] for record in records} == {"scored"}
    plan = stored_plan(tmp_path / "run")
    assert plan is not None
    assert plan["model"]["engine"] == f"vllm {VERSION}"
    assert (plan["config"]["engine"], plan["config"]["engine_arg"]) == ("vllm", ["--seed=3"])
    assert plan["execution"]["replicas"] == 2
    started = list((tmp_path / "run").glob("started-*.json"))
    assert len(started) == 2
    for file in started:
        arguments, _ = json.loads(file.read_text())
        assert "--seed=3" in arguments
        assert arguments[arguments.index("--max-model-len") + 1] == "2048"
    assert guards_of(os.getpid()) == []


def test_a_complete_run_starts_no_server_on_resuming(policy: Path, tmp_path: Path) -> None:
    config, execution = configured(policy, tasks=1)
    evaluate(config, execution, tmp_path / "run")
    before = sorted(path.name for path in (tmp_path / "run").iterdir())
    assert resume(tmp_path / "run", execution).played == 0
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == before


def test_runs_of_two_engines_have_different_plans(policy: Path, tmp_path: Path) -> None:
    config, execution = configured(policy, tasks=1)
    evaluate(config, execution, tmp_path / "run")
    config, execution = configured(policy, tasks=1, engine="torch")
    with pytest.raises(PlanDiffers, match="config.engine"):
        evaluate(config, execution, tmp_path / "run")


def test_plans_of_torch_do_not_mention_the_engine(policy: Path, tmp_path: Path) -> None:
    """Their hashes equal those of plans from before engines could be chosen."""
    config, execution = configured(policy, tasks=1, engine="torch")
    evaluate(config, execution, tmp_path / "run")
    plan = stored_plan(tmp_path / "run")
    assert plan is not None
    assert not {"engine", "engine_arg"} & {*plan["config"], *plan["model"]}


def test_a_server_that_does_not_start_ends_the_run_with_its_reason(
    policy: Path, tmp_path: Path
) -> None:
    config, execution = configured(policy, engine_arg=("--reject",))
    with pytest.raises(EnvironmentUnavailable, match="unrecognized arguments: --reject"):
        evaluate(config, execution, tmp_path / "run")
    assert list(read_records(tmp_path / "run")) == []
    assert guards_of(os.getpid()) == []


@pytest.mark.parametrize(
    ("model", "flags", "words"),
    [
        ("agent:noop", {}, "--engine vllm serves a checkpoint directory, got agent:noop"),
        ("agent:noop", {"engine": "torch", "replicas": 2}, "--replicas is for servers to start"),
        (".", {"engine": "torch", "engine_arg": ("--x",)}, "--engine-arg is for servers to start"),
    ],
)
def test_settings_without_servers_are_rejected(
    tmp_path: Path, model: str, flags: dict[str, Any], words: str
) -> None:
    config, execution = configured(model, **flags)
    with pytest.raises(UsageError, match=words):
        evaluate(config, execution, tmp_path / "run")


def test_a_missing_environment_is_named(
    policy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HEXATHLON_VLLM_PYTHON")
    config, execution = configured(policy)
    with pytest.raises(EnvironmentUnavailable, match="HEXATHLON_VLLM_PYTHON is not set"):
        evaluate(config, execution, tmp_path / "run")
