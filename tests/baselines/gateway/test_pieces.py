"""Replies that are sent while they are sampled."""

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.agents.checkpoint import OpenedPolicy, open_policy
from hexathlon.baselines.engines.apis.base import ApiCall
from hexathlon.baselines.engines.base import ChatRequest, Sampling
from hexathlon.baselines.gateway.app import Gateway
from hexathlon.baselines.gateway.pieces import TextPieces
from hexathlon.baselines.gateway.policy import PolicyAnswers
from hexathlon.baselines.gateway.token_routes import TokenRoutes
from hexathlon.baselines.tokens.requests import TokenSampling
from support.policies import untrained_policy

ASKED = [{"role": "user", "content": "Count to 7."}]
TOOLS = [{"name": "add", "description": "Add.", "parameters": {"type": "object"}}]


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> OpenedPolicy:
    path: Path = untrained_policy(tmp_path_factory.mktemp("pieces") / "policy", 512)
    return open_policy(path, "hermes", 4)


def told(policy: OpenedPolicy, text: str, ends: tuple[str, ...] = (), calls: bool = False) -> Any:
    pieces: list[str] = []
    heard = TextPieces(policy.renderer, ends, calls, pieces.append)
    for token in policy.renderer.encode(text):
        heard.take(token)
    return pieces


@pytest.mark.parametrize("text", ["Count to 7, then stop.", "naïve 数 🜁 end", "a\n\n  b"])
def test_pieces_are_the_text(policy: OpenedPolicy, text: str) -> None:
    pieces = told(policy, text)
    assert "".join(pieces) == text and len(pieces) > 2
    assert not any("\N{REPLACEMENT CHARACTER}" in piece for piece in pieces)


def test_what_may_be_cut_waits(policy: OpenedPolicy) -> None:
    assert "".join(told(policy, "one STOP two", ("STOP",))) == "one "
    assert "".join(told(policy, "one STO", ("STOP",))) == "one "
    call = 'Adding.\n<tool_call>\n{"name": "add"}</tool_call>'
    assert "".join(told(policy, call, ("<tool_call>",), calls=True)) == "Adding."
    assert told(policy, '{"name": "add", "arguments": {}}', ("<tool_call>",), calls=True) == []


def post(app: Gateway, path: str, body: Any, leave_after: int | None = None) -> list[str]:
    """Post to the application, and return the parts of the reply's body; leave after so many."""
    parts: list[str] = []
    left = asyncio.Event()
    given = iter([{"type": "http.request", "body": json.dumps(body).encode()}])

    async def receive() -> Any:
        for message in given:
            return message
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message.get("body"):
            parts.append(message["body"].decode())
        if len(parts) == leave_after:
            left.set()
            await asyncio.sleep(0)

    asyncio.run(app({"type": "http", "method": "POST", "path": path}, receive, send))
    return parts


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions"])
def test_the_pieces_and_the_end_are_the_reply(policy: OpenedPolicy, path: str) -> None:
    answers = PolicyAnswers(*policy, "tiny", TokenSampling(max_tokens=24))
    app = Gateway(answers, TokenRoutes(answers, policy.engine).paths())
    body: dict[str, Any] = {"messages": ASKED, "prompt": "Count", "seed": 5, "max_tokens": 24}
    whole = json.loads(post(app, path, body)[0])["choices"][0]
    parts = post(app, path, {**body, "stream": True})
    assert len(parts) > 8
    rows = [json.loads(line[6:]) for line in "".join(parts).split("\n\n") if line[6:7] == "{"]
    choices = list(itertools.chain.from_iterable(row["choices"] for row in rows))
    if "text" in whole:
        assert "".join(choice["text"] for choice in choices) == whole["text"]
    else:
        said = "".join(choice["delta"].get("content") or "" for choice in choices)
        assert said == whole["message"]["content"]
    assert choices[-1]["finish_reason"] == whole["finish_reason"]


def test_a_client_that_leaves_ends_its_reply(policy: OpenedPolicy) -> None:
    app = Gateway(PolicyAnswers(*policy, "tiny", TokenSampling(max_tokens=400, temperature=0)))
    before = policy.engine.counts["drawn"]
    body = {"messages": ASKED, "stream": True, "ignore_eos": True}
    parts = post(app, "/v1/chat/completions", body, leave_after=3)
    assert len(parts) == 3 and policy.engine.counts["drawn"] - before < 100


def test_the_whole_reply_is_one_piece_where_all_of_it_may_be_a_call(policy: OpenedPolicy) -> None:
    engine, renderer, _ = policy
    from hexathlon.baselines.codecs import get_codec

    pieces: list[str] = []
    request = ChatRequest(ASKED, TOOLS, Sampling(seed=5))
    call = ApiCall(request, "tiny", True, on_text=pieces.append)
    asyncio.run(PolicyAnswers(engine, renderer, get_codec("json"), "tiny").answer(call))
    assert pieces == []
