"""Servers of our own: started when needed, restarted when they die, stopped with their engine.

A stand-in takes vLLM's place; `test_vllm.py` and the tests of training use a real one.
"""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from hexathlon.baselines.engines.comparison import LogProbabilityProbe
from hexathlon.baselines.engines.errors import EngineError, EngineMissing, WeightsDiffer
from hexathlon.baselines.engines.replicated import as_one
from hexathlon.baselines.engines.served.launched import LaunchedEngine, replicas_of
from hexathlon.baselines.engines.served.server import INTERPRETER, vllm_version
from hexathlon.baselines.engines.served.settings import VllmSettings
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.tokens.requests import TokenRequest, TokenSampling
from support.fake_vllm import VERSION, fake_vllm
from support.served import group_members, guards_of
from support.token_server import CONTEXT

PROBE = LogProbabilityProbe(
    [4, 5, 6], lambda ids: [-1.0, -1.0, *(-0.5 - n for n in range(len(ids) - 3))]
)


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = fake_vllm(tmp_path)
    monkeypatch.setenv(INTERPRETER, str(path))
    (tmp_path / "model.safetensors").write_bytes(b"")
    return path


def with_engine(folder: Path, scenario: Any, restarts: int = 3, **settings: Any) -> Any:
    async def run() -> Any:
        chosen = VllmSettings(**{"context": 32, "ready_within": 120.0, **settings})
        engine = LaunchedEngine(folder, folder / "vllm.log", chosen, 300.0, restarts, 0.01)
        try:
            return await scenario(engine)
        finally:
            await engine.close()

    result = asyncio.run(run())
    assert guards_of(os.getpid()) == []
    return result


def request() -> TokenRequest:
    return TokenRequest([1, 2, 3], TokenSampling(max_tokens=3), "s")


def kill(engine: LaunchedEngine) -> int:
    """End the server and its guard at once; return their group."""
    assert engine.server is not None
    group = engine.server.pid
    os.killpg(group, signal.SIGKILL)
    return group


def test_the_server_starts_with_the_first_request_and_stops_with_the_engine(tmp_path: Path) -> None:
    async def scenario(engine: Any) -> Any:
        before = engine.server, engine.context
        reply = await engine.generate(request())
        return before, reply, engine.context, engine.server.pid

    before, reply, context, pid = with_engine(tmp_path, scenario)
    assert before == (None, 32)
    assert reply.ids == [0, 1, 2]
    assert context == CONTEXT  # the server's own
    assert group_members(pid) == []


def test_an_engine_without_requests_starts_nothing(tmp_path: Path) -> None:
    async def scenario(engine: Any) -> None:
        engine.forget("s")
        await engine.abort()
        await engine.clear()
        await engine.sleep()

    with_engine(tmp_path, scenario)
    assert not (tmp_path / "vllm.log").exists()


def test_concurrent_first_requests_start_one_server(tmp_path: Path) -> None:
    async def scenario(engine: Any) -> None:
        await asyncio.gather(*(engine.generate(request()) for _ in range(8)))

    with_engine(tmp_path, scenario)
    assert len(list(tmp_path.glob("started-*.json"))) == 1


def test_a_killed_server_restarts_with_the_weights_of_the_last_update(tmp_path: Path) -> None:
    asked: list[list[int]] = []

    def expect(ids: list[int]) -> list[float]:
        asked.append(ids)
        return PROBE.expect(ids)

    async def scenario(engine: Any) -> Any:
        weights = Weights(PROBE._replace(expect=expect), folder=tmp_path)
        await engine.update(weights, 5)
        kill(engine)
        replies = await asyncio.gather(*(engine.generate(request()) for _ in range(4)))
        kill(engine)
        difference = await engine.update(Weights(PROBE, folder=tmp_path), 6)
        return replies, difference, engine.version, engine.restarts

    replies, difference, version, restarts = with_engine(tmp_path, scenario)
    assert [reply.spans for reply in replies] == [[(5, 0, 3)]] * 4
    assert len(asked) == 1  # the learner may have moved on: its scores at that time are compared
    assert (difference, version, restarts) == (pytest.approx(0.0), 6, 2)
    logs = sorted(path.name for path in tmp_path.glob("vllm*.log"))
    assert logs == ["vllm-1.log", "vllm-2.log", "vllm.log"]


def test_a_restarted_server_must_give_the_verified_log_probabilities(tmp_path: Path) -> None:
    async def scenario(engine: Any) -> None:
        wrong = iter([0.0, 0.1])

        def expect(ids: list[int]) -> list[float]:
            shift = next(wrong)
            return [value + shift for value in PROBE.expect(ids)]

        await engine.update(Weights(PROBE._replace(expect=expect), folder=tmp_path), 1)
        published = engine._published
        published._expected = [value + 0.1 for value in published._expected]
        kill(engine)
        with pytest.raises(WeightsDiffer, match="after a restart of the vLLM server .* differ by"):
            await engine.generate(request())

    with_engine(tmp_path, scenario)


def test_a_server_that_dies_too_often_stops_the_run_and_names_its_log(tmp_path: Path) -> None:
    async def scenario(engine: Any) -> None:
        await engine.start()
        kill(engine)
        await engine.generate(request())
        kill(engine)
        with pytest.raises(EngineMissing, match="died 2 times .exit status 137: .*vllm-1.log"):
            await engine.generate(request())

    with_engine(tmp_path, scenario, restarts=1)


def test_a_server_that_does_not_start_is_fatal_and_says_why(tmp_path: Path) -> None:
    async def scenario(engine: Any) -> None:
        with pytest.raises(EngineMissing, match="does not start: .*unrecognized .* --reject") as it:
            await engine.generate(request())
        assert it.value.fatal

    with_engine(tmp_path, scenario, more=("--reject",))


def test_cancelling_the_start_stops_the_server(tmp_path: Path) -> None:
    async def scenario(engine: Any) -> None:
        starting = asyncio.ensure_future(engine.start())
        while not guards_of(os.getpid()):
            await asyncio.sleep(0)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        assert guards_of(os.getpid()) == []

    with_engine(tmp_path, scenario)


def test_a_closed_engine_starts_nothing(tmp_path: Path) -> None:
    async def scenario(engine: Any) -> None:
        await engine.close()
        with pytest.raises(EngineError, match="closed"):
            await engine.generate(request())

    with_engine(tmp_path, scenario)


def test_replicas_have_their_own_logs_and_stop_together(tmp_path: Path) -> None:
    async def run() -> Any:
        parts = replicas_of(tmp_path, tmp_path, VllmSettings(context=32), 2)
        engine = as_one({part.name: part for part in parts})
        for part in parts:
            part._backoff = 0.01
        try:
            asked = [TokenRequest([n], TokenSampling(max_tokens=2), f"s{n}") for n in range(4)]
            await asyncio.gather(*(engine.generate(one) for one in asked))
            kill(parts[1])
            again = await asyncio.gather(*(engine.generate(one) for one in asked))
            await engine.update(Weights(PROBE, folder=tmp_path), 1)
            return again, [part.version for part in parts], [part.restarts for part in parts]
        finally:
            await engine.close()

    again, versions, restarts = asyncio.run(run())
    assert [reply.ids for reply in again] == [[0, 1]] * 4
    assert (versions, restarts) == ([1, 1], [0, 1])
    logs = sorted(path.name for path in tmp_path.glob("vllm*.log"))
    assert logs == ["vllm-replica-0.log", "vllm-replica-1-1.log", "vllm-replica-1.log"]
    assert guards_of(os.getpid()) == []


def started(folder: Path) -> tuple[list[str], dict[str, str]]:
    (file,) = folder.glob("started-*.json")
    arguments, variables = json.loads(file.read_text())
    return arguments, variables


async def start(engine: LaunchedEngine) -> None:
    await engine.start()


def test_arguments_of_a_cpu_server(tmp_path: Path) -> None:
    with_engine(tmp_path, start)
    arguments, variables = started(tmp_path)
    assert arguments[:2] == ["-m", "vllm.entrypoints.openai.api_server"]
    assert {"--enforce-eager", "--no-enable-chunked-prefill", "--enable-scale-out"} < {*arguments}
    assert arguments[arguments.index("--host") + 1] == "127.0.0.1"
    assert variables["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0"
    assert variables["VLLM_SERVER_DEV_MODE"] == "1"
    assert variables["PYTHONPATH"] == ""


def test_arguments_of_a_gpu_server_that_sleeps_and_receives_over_nccl(tmp_path: Path) -> None:
    gpu = {"eager": False, "whole_prompts": False, "sleeps": True, "receives": "nccl"}
    with_engine(tmp_path, start, **gpu, more=("--tensor-parallel-size=2",))
    arguments, variables = started(tmp_path)
    assert not {"--enforce-eager", "--no-enable-chunked-prefill"} & {*arguments}
    assert {"--enable-sleep-mode", "--tensor-parallel-size=2"} < {*arguments}
    assert '--weight-transfer-config={"backend":"nccl"}' in arguments
    assert "VLLM_ENABLE_V1_MULTIPROCESSING" not in variables


def test_arguments_of_a_server_that_loads_adapters_and_receives_over_gloo(tmp_path: Path) -> None:
    with_engine(tmp_path, start, lora_rank=12, receives="gloo")
    arguments, variables = started(tmp_path)
    assert {"--enable-lora", "--max-lora-rank=16"} < {*arguments}
    assert '--weight-transfer-config={"backend":"hexathlon_gloo"}' in arguments
    assert variables["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] == "1"
    assert (Path(variables["PYTHONPATH"]) / "hexathlon_gloo.py").is_file()


def test_the_version_is_that_of_the_named_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert vllm_version() == VERSION
    (tmp_path / "broken").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "broken").chmod(0o755)
    monkeypatch.setenv(INTERPRETER, str(tmp_path / "broken"))
    with pytest.raises(EngineMissing, match="broken', whose environment has no vLLM"):
        vllm_version()
