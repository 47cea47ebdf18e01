"""`hexathlon eval CHECKPOINT --engine vllm`: servers started, named, used and stopped.

A stand-in takes vLLM's place and answers every request with the same tokens.
"""

import asyncio
import json
import os
import pickle
import tempfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.agents.checkpoint import revision_of
from hexathlon.baselines.harness.config import load_config
from hexathlon.baselines.harness.errors import EnvironmentUnavailable, PlanDiffers, UsageError
from hexathlon.baselines.harness.player import RemoteSetup
from hexathlon.baselines.harness.remote_agent import agent_of
from hexathlon.baselines.harness.run import evaluate, resume, stored_plan
from hexathlon.baselines.tokens.requests import TokenRequest, TokenSampling
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


def test_each_worker_of_a_cluster_has_its_own_server_and_log(
    policy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opened here as a worker opens it, on a node that sees the run directory and on one that
    does not."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    config, execution = configured(policy)
    described = {"name": policy.name, "revision": revision_of(policy), "dialect": "hermes"}
    setup = RemoteSetup(config, execution, described, True, None, {}, tmp_path / "run", 1)

    async def replied(run: Path, number: int) -> list[int]:
        opened: Any = pickle.loads(pickle.dumps(agent_of(setup._replace(run=run))))(number)
        try:
            return (
                await opened.engine.generate(TokenRequest([1], TokenSampling(max_tokens=2)))
            ).ids
        finally:
            await opened.engine.close()

    (tmp_path / "run").mkdir()
    for run, number in ((tmp_path / "run", 0), (tmp_path / "run", 3), (tmp_path / "unseen", 1)):
        assert asyncio.run(replied(run, number)) == [0, 1]
    logs = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("vllm.log"))
    assert logs[1:] == ["run/workers/0/vllm.log", "run/workers/3/vllm.log"]
    assert logs[0].startswith("hexathlon-worker-1-")
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
