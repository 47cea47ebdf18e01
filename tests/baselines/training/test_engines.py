"""The engine named by a recipe: rejected settings, and the result of training with a server."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.engines.errors import EngineMissing, WeightsDiffer
from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.training.engines import open_engine
from hexathlon.baselines.training.metrics import read_metrics
from hexathlon.baselines.training.recipe import RecipeError, load_recipe
from hexathlon.baselines.training.run import train
from support.fake_vllm import fake_vllm
from support.served import drawn, guards_of, interpreter, learner, sharp_policy, url_of

SMALL: dict[str, Any] = {
    "steps": 5,
    "save_every": 5,
    "ranks": 1,
    "tasks.templates": ["filter_rows", "count_rows"],
    "clone.demonstrations": 64,
    "clone.settings": {"steps": 40, "batch": 16},
    # Heads of 32, the smallest that vLLM supports on a CPU.
    "policy.shape": {
        "vocabulary": 400,
        "width": 64,
        "layers": 2,
        "heads": 2,
        "kv_heads": 1,
        "head_width": 32,
        "feed_forward": 128,
        "context": 1024,
    },
    "rollout.groups": 3,
    "rollout.members": 4,
    "rollout.max_tokens": 24,
    "credit.filters": [],
    "credit.estimator": {"name": "reinforce", "parameters": {"baseline": 0.5}},
    "evaluation.tasks": 4,
    "evaluation.every": 0,
}
TOLERANCE = 1e-4


def quiet(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
    """Report nothing."""


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"engine.kind": "ray"}, "no engine.kind 'ray'. Known: local, vllm"),
        ({"engine.urls": ["http://localhost:8000"]}, 'urls needs a server: set kind = "vllm"'),
        ({"engine.replicas": 2}, 'replicas needs a server: set kind = "vllm"'),
        ({"engine.kind": "vllm", "engine.urls": ["here:8000"]}, "must begin with http:// or https"),
        (
            {"engine.kind": "vllm", "engine.urls": ["http://here", "http://here"]},
            "names a server twice: http://here, http://here",
        ),
        (
            {"engine.kind": "vllm", "engine.urls": ["http://here"], "engine.replicas": 2},
            "replicas and more configure servers to start",
        ),
        ({"engine.kind": "vllm", "engine.model": "tiny"}, "urls, which is empty: set urls"),
        ({"engine.transfer": "gloo"}, 'transfer needs a server: set kind = "vllm"'),
        ({"engine.kind": "vllm", "engine.transfer": "adapter"}, "set policy.lora_rank"),
        (
            {"engine.kind": "vllm", "engine.transfer": "nccl", "policy.lora_rank": 4},
            'sends whole models: set transfer = "adapter"',
        ),
        (
            {"engine.kind": "vllm", "engine.sleep": True, "asynchrony.staleness": 1},
            "engine.sleep needs a synchronous run",
        ),
        ({"engine.tolerance": -1}, "engine.tolerance"),
    ],
)
def test_invalid_engine_settings_give_one_line_errors(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(RecipeError, match=words) as raised:
        load_recipe("sql-tiny", changes)
    assert "\n" not in str(raised.value)


async def opened(folder: Path, tied: bool = False, **changes: Any) -> Any:
    path = sharp_policy(folder / "policy", tied=tied)
    table = {f"engine.{name}": value for name, value in changes.items()}
    recipe = load_recipe("sql-tiny", {**SMALL, **table})
    return await open_engine(recipe, learner(path), path, folder)


@pytest.mark.anyio
async def test_default_engine_is_local(tmp_path: Path) -> None:
    result = await opened(tmp_path, context=100)
    assert isinstance(result.engine, LocalEngine)
    assert result.engine.context == 100
    await result.close()


@pytest.mark.anyio
async def test_tied_embeddings_are_rejected_with_a_fix(tmp_path: Path) -> None:
    with pytest.raises(EngineMissing, match="untie them"):
        await opened(tmp_path, tied=True, kind="vllm")


@pytest.mark.anyio
@pytest.mark.parametrize("transfer", ["folder", "gloo"])
async def test_wrong_weights_on_servers_are_fatal_and_name_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, transfer: str
) -> None:
    """The servers are stand-ins, whose log-probabilities are not those of any model."""
    monkeypatch.setenv("HEXATHLON_VLLM_PYTHON", str(fake_vllm(tmp_path)))
    result = await opened(tmp_path, kind="vllm", replicas=2, transfer=transfer)
    try:
        model = learner(tmp_path / "policy")
        with pytest.raises(WeightsDiffer, match="^vllm-replica-0: log-probabilities") as raised:
            await result.transport.publish(model, 0)
        assert raised.value.fatal
    finally:
        await result.close()
    assert guards_of(os.getpid()) == []
    assert not (tmp_path / "weights").exists()


@pytest.mark.anyio
async def test_a_server_that_does_not_start_stops_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEXATHLON_VLLM_PYTHON", str(fake_vllm(tmp_path)))
    with pytest.raises(EngineMissing, match="does not start: .* unrecognized arguments: --reject"):
        await opened(tmp_path, kind="vllm", replicas=2, more=["--reject"])
    assert guards_of(os.getpid()) == []


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.vllm
@pytest.mark.timeout(900)
def test_a_recipe_trains_at_two_servers_of_which_one_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """20 steps of two ranks, each with an update that is verified at both servers."""
    monkeypatch.setenv("HEXATHLON_VLLM_PYTHON", str(interpreter()))
    changes = {
        **SMALL,
        "steps": 20,
        "save_every": 20,
        "ranks": 2,
        "rollout.groups": 2,
        "rollout.members": 2,
        "engine.kind": "vllm",
        "engine.replicas": 2,
        "engine.tolerance": TOLERANCE,
        "engine.ready_within": 600,
    }
    served: dict[int, list[float]] = {}

    def kill(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
        if phase != "train":
            return
        guards = guards_of(os.getpid())
        served[step] = [drawn(url) for url in map(url_of, guards)]
        if step == 10:
            os.killpg(guards[1], signal.SIGKILL)

    train(load_recipe("sql-tiny", changes), tmp_path, kill)
    rows = [row for row in read_metrics(tmp_path / "metrics.jsonl") if row["step"]]
    assert [row["step"] for row in rows] == list(range(1, 21))
    assert [row["version/oldest"] for row in rows] == list(range(20))
    assert [row["version/newest"] for row in rows] == list(range(20))
    assert all(0 < row["engine/difference"] <= TOLERANCE for row in rows)
    assert all(row["sampler_gap"] <= TOLERANCE for row in rows)
    assert all(row["tokens/drawn"] > 0 and row["trials/faults"] == 0 for row in rows)
    # Both servers sample in every step, at least for the probe of its update, also after the
    # restart.
    for step in {*range(1, 20)} - {10}:
        assert all(new > old for new, old in zip(served[step + 1], served[step], strict=True))
    before, after = (learner(tmp_path / name).state_dict() for name in ("start", "policy"))
    assert max(float((before[name] - after[name]).abs().max()) for name in before) > 1e-4
    assert not (tmp_path / "weights").exists()
    assert sorted(path.name for path in tmp_path.glob("vllm*.log")) == [
        "vllm-replica-0.log",
        "vllm-replica-1-1.log",
        "vllm-replica-1.log",
    ]
    assert guards_of(os.getpid()) == []
