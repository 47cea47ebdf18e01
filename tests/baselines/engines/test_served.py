"""The served engine against a fake server; a real vLLM server is used in `test_vllm.py`."""

import asyncio
import json

import pytest

from hexathlon.baselines.engines.comparison import LogProbabilityProbe
from hexathlon.baselines.engines.errors import (
    BadRequest,
    ConnectionFailed,
    ContextOverflow,
    EngineError,
    EngineMissing,
    MalformedReply,
    ReplyTimeout,
    ServerError,
    UnknownModel,
    VersionDiffers,
    WeightsDiffer,
)
from hexathlon.baselines.engines.sending import HttpSettings
from hexathlon.baselines.engines.served.engine import ServedEngine
from hexathlon.baselines.engines.served.server import INTERPRETER, VllmServer, vllm_python
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.tokens.requests import TokenReply, TokenRequest, TokenSampling
from support.token_server import CONTEXT, CUT, MODEL, TokenServer

PROBE = LogProbabilityProbe(
    [4, 5, 6], lambda ids: [-1.0, -1.0, *(-0.5 - n for n in range(len(ids) - 3))]
)


@pytest.fixture(scope="module")
def running():
    with TokenServer() as started:
        yield started


@pytest.fixture
def server(running):
    running.reset()
    return running


@pytest.fixture
def weights(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"")
    return Weights(PROBE, folder=tmp_path)


def with_engine(server, scenario, deadline=None, **more):
    settings = HttpSettings(server.root, backoff=0.001, **more)

    async def run():
        engine = await ServedEngine.open(settings, deadline=deadline)
        try:
            return await scenario(engine)
        finally:
            await engine.close()

    return asyncio.run(run())


def request(ids=(1, 2, 3), **sampling):
    return TokenRequest(list(ids), TokenSampling(**{"max_tokens": 3, **sampling}), "s")


def generate(server, one=None, **more):
    return with_engine(server, lambda engine: engine.generate(one or request()), **more)


REPLY = TokenReply([0, 1, 2], [-0.5, -1.5, -2.5], "length", [(0, 0, 3)])


def test_every_setting_is_sent(server):
    sampling = {"temperature": 0.5, "top_p": 0.9, "top_k": 7, "seed": 2**63 + 5, "stop_ids": (9,)}
    assert generate(server, request(**sampling)) == REPLY
    sent = server.requests[-1]
    assert sent["token_ids"] == [1, 2, 3]
    expected = {"temperature": 0.5, "top_p": 0.9, "top_k": 7, "seed": 5, "stop_token_ids": [9]}
    assert expected.items() <= sent["sampling_params"].items()
    assert sent["sampling_params"]["ignore_eos"] is True
    assert sent["sampling_params"]["logprobs"] == 0


@pytest.mark.parametrize("status", [403, 404])
def test_completions_are_used_without_the_token_route(server, status):
    server.behaviour.tokens_route = status
    assert generate(server) == REPLY
    assert server.requests[-1]["prompt"] == [1, 2, 3]
    assert server.requests[-1]["model"] == MODEL


def test_server_without_usable_route_is_rejected(server):
    server.behaviour.tokens_route = server.behaviour.completions = 404
    with pytest.raises(UnknownModel):
        generate(server)


@pytest.mark.parametrize("route", [200, 404])
def test_raw_log_probabilities_are_rejected(server, route):
    server.behaviour.tokens_route = route
    server.behaviour.raw = True
    with pytest.raises(EngineMissing, match="--logprobs-mode processed_logprobs"):
        generate(server)


def test_requested_model_must_be_served(server):
    with pytest.raises(UnknownModel, match="no model 'other'; it has tiny"):
        generate(server, model="other")
    server.behaviour.models = (MODEL, "second")
    with pytest.raises(UnknownModel, match="tiny, second"):
        generate(server)
    assert generate(server, model="second") == REPLY


@pytest.mark.parametrize("fault", [(500, {}), (503, {}), (429, {}), (200, b"<html>"), (CUT, {})])
def test_infrastructure_failures_are_retried(server, fault):
    server.behaviour.faults = [fault, fault]
    assert generate(server) == REPLY
    asked = [one["request_id"] for one in server.requests[1:]]
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ((400, {"error": "seed must be a number"}), BadRequest),
        ((400, {"error": "prompt is longer than the maximum model length of 64"}), ContextOverflow),
    ],
)
def test_invalid_requests_are_not_retried(server, fault, error):
    server.behaviour.faults = [fault] * 5
    with pytest.raises(error):
        generate(server)
    assert len(server.behaviour.faults) == 4


def test_retries_are_bounded(server):
    server.behaviour.faults = [(500, {})] * 5
    with pytest.raises(ServerError):
        generate(server, retries=2)
    assert len(server.behaviour.faults) == 2


def test_deadline_covers_all_attempts(server):
    server.behaviour.faults = [(500, {})] * 10_000
    with pytest.raises(ReplyTimeout, match="no reply within the 0.2 s"):
        generate(server, deadline=0.2, retries=10_000)


@pytest.mark.parametrize("fault", [(503, {"error": "paused"}), (CUT, {})])
def test_a_storm_of_failures_delays_replies_and_loses_none(server, fault):
    """Every second request fails, with 32 at a time."""
    asked = [request([1 + n], seed=n) for n in range(64)]
    server.behaviour.faults = [part for _ in asked for part in (fault, None)]

    async def scenario(engine):
        return await asyncio.gather(*(engine.generate(one) for one in asked))

    replies = with_engine(server, scenario, retries=60, longest=0.1)
    assert replies == [REPLY] * 64
    assert server.behaviour.faults == []


def test_missing_server_is_a_connection_failure():
    async def run():
        await ServedEngine.open(HttpSettings("http://127.0.0.1:9", retries=0))

    with pytest.raises(ConnectionFailed, match="127.0.0.1:9"):
        asyncio.run(run())


def reply(**choice):
    row = {"token_id": 0, "logprob": -1.0}
    whole = {"token_ids": [0], "finish_reason": "stop", "logprobs": {"content": [row]}, **choice}
    return json.dumps({"choices": [whole]}).encode()


@pytest.mark.parametrize(
    ("body", "error", "words"),
    [
        (b"[]", MalformedReply, "not a reply with token ids"),
        (reply(logprobs=None), MalformedReply, "of other tokens"),
        (reply(token_ids=[7]), MalformedReply, "of other tokens"),
        (reply(token_ids="x"), MalformedReply, "not a reply with token ids"),
        (reply(finish_reason="error"), ServerError, "'error'"),
        (
            reply(logprobs={"content": [{"token_id": 0, "logprob": -9999.0}]}),
            EngineError,
            "not finite",
        ),
        (
            reply(weight_versions=[{"version": "main", "start": 0, "end": 1}]),
            MalformedReply,
            "got 'main'",
        ),
    ],
)
def test_reply_unusable_for_training_is_rejected(server, body, error, words):
    server.behaviour.faults = [(200, body)]
    with pytest.raises(error, match=words):
        generate(server, retries=0)


def test_prompt_beyond_context_is_not_sent(server):
    with pytest.raises(ContextOverflow, match=f"prompt of 64 tokens .* context of {CONTEXT}"):
        generate(server, request([1] * CONTEXT))
    with pytest.raises(EngineError, match="the prompt is empty"):
        generate(server, request([]))
    assert len(server.requests) == 2  # only the first requests of a session


def test_update_pauses_the_server_and_compares(server, weights):
    async def scenario(engine):
        difference = await engine.update(weights, 5)
        return difference, engine.version, await engine.generate(request())

    difference, version, after = with_engine(server, scenario)
    assert difference == pytest.approx(0.0)
    assert version == 5
    assert after.spans == [(5, 0, 3)]
    assert server.paths["/pause"] == server.paths["/resume"] == server.paths["/collective_rpc"] == 1


@pytest.mark.parametrize(
    ("plant", "error", "words"),
    [
        ({"shift": 0.01}, WeightsDiffer, "of engine and learner differ by 0.01, more than 0.001"),
        ({"shift": float("-inf")}, EngineError, "not finite"),
        ({"takes_version": False}, VersionDiffers, "reports version 0, expected 5"),
        ({"broken_path": "/pause"}, ServerError, "broken on purpose"),
        ({"broken_path": "/collective_rpc"}, ServerError, "broken on purpose"),
        ({"broken_path": "/update_weight_version"}, ServerError, "broken on purpose"),
        ({"broken_path": "/resume"}, ServerError, "broken on purpose"),
        ({"broken_path": "/weight_info"}, ServerError, "broken on purpose"),
    ],
)
def test_failed_update_blocks_sampling_until_one_succeeds(server, weights, plant, error, words):
    async def scenario(engine):
        for name, value in plant.items():
            setattr(server.behaviour, name, value)
        with pytest.raises(error, match=words):
            await engine.update(weights, 5)
        assert engine.version == 0
        assert server.paths["/resume"] == 1
        with pytest.raises(error):
            await engine.generate(request())
        server.reset()
        await engine.update(weights, 6)
        return await engine.generate(request())

    assert with_engine(server, scenario, retries=0).spans == [(6, 0, 3)]


def test_interrupted_update_counts_as_failed(server, weights):
    async def scenario(engine):
        updating = asyncio.ensure_future(engine.update(weights, 5))
        while not server.paths["/pause"]:
            await asyncio.sleep(0)
        updating.cancel()
        with pytest.raises(asyncio.CancelledError):
            await updating
        with pytest.raises(EngineError, match="version 5 was interrupted"):
            await engine.generate(request())

    with_engine(server, scenario)
    assert server.paths["/resume"] == 1


def test_update_without_control_routes_names_the_missing_options(server, weights):
    server.behaviour.control = False

    async def scenario(engine):
        with pytest.raises(EngineMissing, match="VLLM_SERVER_DEV_MODE=1"):
            await engine.update(weights, 1)
        return await engine.generate(request())

    assert with_engine(server, scenario) == REPLY


def test_weights_are_a_model_a_directory_or_a_transfer(tmp_path):
    for given in ({}, {"model": object(), "folder": tmp_path}, {"folder": tmp_path, "transfer": 1}):
        with pytest.raises(ValueError, match="exactly one of model, folder and transfer"):
            Weights(PROBE, **given)


def test_clear_resets_the_prefix_cache(server):
    with_engine(server, lambda engine: engine.clear())
    assert server.paths["/reset_prefix_cache"] == 1


def test_directory_without_weights_is_not_sent(server, tmp_path):
    async def scenario(engine):
        with pytest.raises(EngineError, match="has no safetensors"):
            await engine.update(Weights(PROBE, folder=tmp_path), 1)
        with pytest.raises(EngineError, match="write the model to one"):
            await engine.update(Weights(PROBE, model=object()), 1)

    with_engine(server, scenario)
    assert not server.paths["/pause"]


def test_closed_engine_raises(server):
    async def scenario(engine):
        await engine.close()
        with pytest.raises(EngineError, match="closed"):
            await engine.generate(request())

    with_engine(server, scenario)


def test_missing_interpreter_names_the_setup_script(tmp_path, monkeypatch):
    monkeypatch.delenv(INTERPRETER, raising=False)
    with pytest.raises(
        EngineMissing, match="HEXATHLON_VLLM_PYTHON is not set: .* scripts/vllm creates"
    ):
        VllmServer(tmp_path, tmp_path / "log")
    monkeypatch.setenv(INTERPRETER, str(tmp_path / "none"))
    with pytest.raises(EngineMissing, match="which is not a file"):
        vllm_python()
