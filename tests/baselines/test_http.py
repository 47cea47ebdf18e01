"""The chat client against a real server: plain and streamed replies, and every kind of failure."""

import asyncio
import json
import socket
from collections.abc import Mapping
from typing import Any

import pytest

from hexathlon.baselines.engines.base import ChatReply, ChatRequest, Sampling
from hexathlon.baselines.engines.errors import (
    AuthRejected,
    BadRequest,
    ConnectionFailed,
    ContextOverflow,
    EngineError,
    MalformedReply,
    RateLimited,
    Refused,
    ReplyTimeout,
    ServerError,
    UnknownModel,
)
from hexathlon.baselines.engines.http import HttpEngine, HttpSettings
from hexathlon.baselines.engines.limiter import AdaptiveLimit
from hexathlon.baselines.engines.prices import PriceTable
from hexathlon.baselines.engines.probe import probe
from support.chat_server import ChatServer

PRICES = PriceTable("test-1", "USD", {"plain": {"input": 1.0, "output": 2.0}})
TOOL = {"name": "add", "description": "Add.", "parameters": {"type": "object"}}
TASK: list[Mapping[str, Any]] = [
    {"role": "system", "content": "You count."},
    {"role": "user", "content": "Bring the counter to 12, then submit."},
]


def ask(
    server: ChatServer, model: str, request: ChatRequest | None = None, **settings: Any
) -> ChatReply:
    """Send one request with a new client."""
    return asyncio.run(_ask(server.url, model, request or ChatRequest(TASK), settings))


async def _ask(
    url: str, model: str, request: ChatRequest, settings: Mapping[str, Any]
) -> ChatReply:
    settings = {"retries": 2, "backoff": 0.001, "timeout": 10.0, **settings}
    engine = HttpEngine(HttpSettings(url, model, **settings), AdaptiveLimit(), PRICES)
    try:
        return await engine.chat(request)
    finally:
        await engine.close()


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_comes_with_its_usage_and_cost(chat_server: ChatServer, stream: bool) -> None:
    reply = ask(chat_server, "plain", stream=stream)
    assert reply.message == {"role": "assistant", "content": "hello"}
    assert reply.finish == "stop"
    assert reply.usage[:5] == (11, 7, 1, 3, 2)
    assert reply.usage.cost == pytest.approx((11 * 1.0 + 7 * 2.0) / 1e6)
    assert reply.latency > 0 and reply.waited >= 0


@pytest.mark.parametrize("stream", [False, True])
def test_tool_calls_are_complete(chat_server: ChatServer, stream: bool) -> None:
    reply = ask(chat_server, "solver", ChatRequest(TASK, [TOOL]), stream=stream)
    (call,) = reply.message["tool_calls"]
    assert call["function"]["name"] == "add"
    assert json.loads(call["function"]["arguments"]) == {"amount": 9}
    assert reply.finish == "tool_calls"
    assert reply.usage.cost is None  # the table does not list this model


def test_sampling_seed_and_key_are_passed_on(chat_server: ChatServer) -> None:
    sampling = Sampling(temperature=0.5, top_p=0.9, max_tokens=77, seed=5, stop=("END",))
    ask(chat_server, "plain", ChatRequest(TASK, [TOOL], sampling), key="secret")
    body, headers = chat_server.requests[-1], chat_server.headers[-1]
    assert body["temperature"] == 0.5 and body["top_p"] == 0.9 and body["max_tokens"] == 77
    assert body["seed"] == 5 and body["stop"] == ["END"]
    assert body["tools"] == [{"type": "function", "function": TOOL}]
    assert headers["authorization"] == "Bearer secret"


def test_unset_parameters_are_not_sent(chat_server: ChatServer) -> None:
    ask(chat_server, "plain")
    assert set(chat_server.requests[-1]) == {"model", "messages"}
    assert "authorization" not in chat_server.headers[-1]


def test_lone_surrogates_can_be_sent(chat_server: ChatServer) -> None:
    ask(chat_server, "plain", ChatRequest([{"role": "user", "content": "\ud800 é"}]))
    assert chat_server.requests[-1]["messages"][0]["content"] == "\ud800 é"


@pytest.mark.parametrize("model", ["rate-limited*2", "broken*2", "overloaded*1", "cut*1"])
def test_transient_errors_are_retried(chat_server: ChatServer, model: str) -> None:
    chat_server.seen[model] = 0
    assert ask(chat_server, model).message["content"] == "hello"
    assert chat_server.seen[model] == int(model[-1]) + 1


@pytest.mark.parametrize("model", ["cut-stream*1", "error-in-stream*1"])
def test_broken_streams_are_retried(chat_server: ChatServer, model: str) -> None:
    chat_server.seen[model] = 0
    assert ask(chat_server, model, stream=True).message["content"] == "hello"


FAILURES = [
    ("rate-limited", RateLimited, 3),
    ("rate-limited-for-long", RateLimited, 1),
    ("broken", ServerError, 3),
    ("overloaded", ServerError, 3),
    ("cut", ConnectionFailed, 3),
    ("garbage", MalformedReply, 3),
    ("half-json", MalformedReply, 3),
    ("list", MalformedReply, 3),
    ("no-choices", MalformedReply, 3),
    ("null-choices", MalformedReply, 3),
    ("number", MalformedReply, 3),
    ("no-function", MalformedReply, 3),
    ("locked", AuthRejected, 1),
    ("unknown", UnknownModel, 1),
    ("overflow", ContextOverflow, 1),
    ("picky", BadRequest, 1),
    ("filtered", Refused, 1),
    ("refusal", Refused, 1),
]


@pytest.mark.parametrize(("model", "error", "tries"), FAILURES)
def test_failures_have_a_type_and_a_number_of_attempts(
    chat_server: ChatServer, model: str, error: type[EngineError], tries: int
) -> None:
    chat_server.seen[model] = 0
    with pytest.raises(error):
        ask(chat_server, model)
    assert chat_server.seen[model] == tries


def test_retry_after_is_honoured(chat_server: ChatServer) -> None:
    chat_server.seen["rate-limited*1"] = 0
    assert ask(chat_server, "rate-limited*1").waited >= 0.049


def test_attempt_times_out(chat_server: ChatServer) -> None:
    with pytest.raises(ReplyTimeout, match=r"within 0\.1 s"):
        ask(chat_server, "slow", timeout=0.1, retries=0)


def test_deadline_covers_all_retries(chat_server: ChatServer) -> None:
    with pytest.raises(ReplyTimeout, match="that the trial had left"):
        ask(chat_server, "slow", ChatRequest(TASK, deadline=0.1))


def test_closed_port_is_a_connection_failure() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        with pytest.raises(ConnectionFailed):
            asyncio.run(_ask(url, "plain", ChatRequest(TASK), {"retries": 0}))


@pytest.mark.parametrize(
    ("model", "content"),
    [("no-usage", "hi"), ("odd-usage", "hi"), ("null-content", ""), ("parts", "ab")],
)
def test_minimal_replies_are_accepted(chat_server: ChatServer, model: str, content: str) -> None:
    reply = ask(chat_server, model)
    assert reply.message["content"] == content
    assert reply.usage.calls == 1


def test_arguments_sent_as_an_object_become_text(chat_server: ChatServer) -> None:
    (call,) = ask(chat_server, "object-arguments").message["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"amount": 1}


def test_concurrency_adapts_to_a_server_with_four_slots(chat_server: ChatServer) -> None:
    async def scenario() -> AdaptiveLimit:
        limit = AdaptiveLimit(20, ceiling=20, cooldown=0.05)
        settings = HttpSettings(chat_server.url, "crowded", retries=50, backoff=0.001)
        engine = HttpEngine(settings, limit, PRICES)
        replies = await asyncio.gather(*[engine.chat(ChatRequest(TASK)) for _ in range(120)])
        await engine.close()
        assert len(replies) == 120
        return limit

    limit = asyncio.run(scenario())
    assert limit.episodes >= 1
    assert limit.size < 20


@pytest.mark.parametrize(
    ("model", "dialect"),
    [("plain", "openai"), ("refusal", "openai"), ("no-tools", "hermes"), ("garbage", "hermes")],
)
def test_probe_detects_tool_support(chat_server: ChatServer, model: str, dialect: str) -> None:
    settings = HttpSettings(chat_server.url, model, retries=0)
    assert asyncio.run(probe(settings, True)) == (model, dialect)


def test_probe_distinguishes_broken_server_from_missing_tools(
    chat_server: ChatServer,
) -> None:
    with pytest.raises(ServerError):
        asyncio.run(probe(HttpSettings(chat_server.url, "broken", retries=0), True))


def test_name_of_the_only_model_may_be_omitted(chat_server: ChatServer) -> None:
    assert asyncio.run(probe(HttpSettings(chat_server.url), False)) == ("solver", "")


def test_name_is_required_for_several_models(chat_server: ChatServer) -> None:
    chat_server.served.append("another")
    try:
        with pytest.raises(UnknownModel, match="has solver, another"):
            asyncio.run(probe(HttpSettings(chat_server.url), False))
    finally:
        chat_server.served.remove("another")
