"""A served checkpoint: the tokens of the engine in process, over every route."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.agents.checkpoint import OpenedPolicy, open_policy
from hexathlon.baselines.engines.apis.base import ApiCall
from hexathlon.baselines.engines.base import ChatRequest, Sampling
from hexathlon.baselines.engines.errors import BadRequest, ContextOverflow
from hexathlon.baselines.engines.sending import HttpSettings
from hexathlon.baselines.engines.served.engine import ServedEngine
from hexathlon.baselines.gateway.app import Gateway
from hexathlon.baselines.gateway.policy import PolicyAnswers, SampledTurn
from hexathlon.baselines.gateway.token_routes import TokenRoutes
from hexathlon.baselines.tokens.requests import TokenReply, TokenRequest, TokenSampling
from support.gateways import served
from support.policies import untrained_policy

TOOLS = [{"name": "add", "description": "Add.", "parameters": {"type": "object"}}]
OPENING: list[dict[str, Any]] = [
    {"role": "system", "content": "You count."},
    {"role": "user", "content": "Count to 7."},
]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return untrained_policy(tmp_path_factory.mktemp("served") / "policy", 512)


class Recorder:
    def __init__(self) -> None:
        self.turns: list[SampledTurn] = []

    def record(self, turn: SampledTurn) -> int:
        self.turns.append(turn)
        return len(self.turns) - 1


def opened(checkpoint: Path, dialect: str = "auto") -> OpenedPolicy:
    return open_policy(checkpoint, dialect, 4)


def answers_of(policy: OpenedPolicy, recorder: Recorder | None = None) -> PolicyAnswers:
    sampling = TokenSampling(max_tokens=12, seed=3)
    return PolicyAnswers(*policy, "tiny", sampling, recorder)


def call(messages: Any, tools: Any = (), **sampling: Any) -> ApiCall:
    return ApiCall(ChatRequest(messages, tools, Sampling(**sampling)), "tiny", False)


def test_token_routes_return_the_tokens_of_the_engine(checkpoint: Path) -> None:
    requests = [
        TokenRequest([*range(5, 5 + length)], TokenSampling(temperature, 0.9, 5, 16, seed=length))
        for length, temperature in ((3, 1.0), (9, 0.7), (40, 0.0))
    ]

    async def inside() -> list[TokenReply]:
        engine = opened(checkpoint).engine
        return await asyncio.gather(*(engine.generate(request) for request in requests))

    async def outside(url: str) -> tuple[str, list[TokenReply]]:
        engine = await ServedEngine.open(HttpSettings(url))
        try:
            replies = await asyncio.gather(*(engine.generate(request) for request in requests))
            return engine.route.path, list(replies)
        finally:
            await engine.close()

    wanted = asyncio.run(inside())
    policy = opened(checkpoint)
    answers = answers_of(policy)
    with served(Gateway(answers, TokenRoutes(answers, policy.engine).paths())) as url:
        assert asyncio.run(outside(url)) == ("/inference/v1/generate", wanted)
        paths = TokenRoutes(answers, policy.engine).paths()
    del paths["/inference/v1/generate"]
    with served(Gateway(answers, paths)) as url:
        path, replies = asyncio.run(outside(url))
    assert path == "/v1/completions"
    assert [(r.ids, r.log_probabilities) for r in replies] == [
        (r.ids, r.log_probabilities) for r in wanted
    ]


def test_chat_completions_carry_tokens_and_log_probabilities(checkpoint: Path) -> None:
    body = {"model": "tiny", "messages": OPENING, "logprobs": True, "return_token_ids": True,
            "seed": 5, "max_tokens": 8, "temperature": 1.0}  # fmt: skip
    policy = opened(checkpoint)
    with served(Gateway(answers_of(policy))) as url:
        plain = httpx.post(f"{url}/v1/chat/completions", json=body).json()
        streamed = httpx.post(f"{url}/v1/chat/completions", json={**body, "stream": True}).text
        models = httpx.get(f"{url}/v1/models").json()["data"]
    assert [(row["id"], row["max_model_len"]) for row in models] == [("tiny", 512)]
    choice = plain["choices"][0]
    request = TokenRequest(
        plain["prompt_token_ids"],
        TokenSampling(max_tokens=8, seed=5, stop_ids=policy.renderer.stop_ids),
    )
    reply = asyncio.run(opened(checkpoint).engine.generate(request))
    assert choice["token_ids"] == reply.ids
    assert [row["logprob"] for row in choice["logprobs"]["content"]] == reply.log_probabilities
    assert plain["usage"]["completion_tokens"] == len(reply.ids)
    chunks = [json.loads(line[6:]) for line in streamed.splitlines() if line[6:].startswith("{")]
    texts = [c["choices"][0]["delta"].get("content") or "" for c in chunks if c["choices"]]
    assert "".join(texts) == choice["message"]["content"] == policy.renderer.decode(reply.ids)
    assert streamed.rstrip().endswith("data: [DONE]")


async def converse(answers: PolicyAnswers, turns: int, tools: Any = ()) -> list[dict[str, Any]]:
    messages = list(OPENING)
    for turn in range(turns):
        answer = await answers.answer(call(messages, tools))
        messages += [answer.reply.message, {"role": "user", "content": f"Go on, {turn}."}]
    return messages


def test_a_conversation_continues_with_the_tokens_that_were_sampled(checkpoint: Path) -> None:
    recorder = Recorder()
    answers = answers_of(opened(checkpoint), recorder)
    seen: list[tuple[list[int], TokenReply]] = []

    async def run() -> None:
        messages = list(OPENING)
        for turn in range(3):
            answer = await answers.answer(call(messages))
            assert answer.sampled is not None
            seen.append((list(answer.sampled.prompt), answer.sampled.reply))
            text = f"  {answer.reply.message['content']} "  # clients trim or pad texts
            messages += [{"role": "assistant", "content": text},
                         {"role": "user", "content": f"Go on, {turn}."}]  # fmt: skip

    asyncio.run(run())
    for (prompt, reply), (following, _) in zip(seen, seen[1:], strict=False):
        before = [*prompt, *reply.ids]
        assert following[: len(before)] == before
    assert [turn.reason for turn in recorder.turns] == ["new conversation", "", ""]
    assert [turn.parent for turn in recorder.turns] == [-1, 0, 1]


def test_rewritten_histories_start_branches_with_a_reason(checkpoint: Path) -> None:
    recorder = Recorder()
    answers = answers_of(opened(checkpoint), recorder)

    async def run() -> None:
        messages = await converse(answers, 2)
        rewritten = [*messages[:2], {"role": "assistant", "content": "(summary)"}, *messages[-1:]]
        await answers.answer(call(rewritten))
        await answers.answer(call(messages[:4]))  # an earlier turn, asked again
        await answers.answer(call(messages, TOOLS))

    asyncio.run(run())
    assert [(turn.parent, turn.reason) for turn in recorder.turns[2:]] == [
        (-1, "history rewritten at message 2"),
        (0, ""),
        (-1, "history rewritten at message 0"),
    ]


class Writing:
    """A token engine that writes given texts."""

    version, context = 0, 512

    def __init__(self, renderer: Any, texts: list[str]) -> None:
        self._renderer = renderer
        self._texts = texts
        self.prompts: list[str] = []

    async def generate(self, request: TokenRequest) -> TokenReply:
        self.prompts.append(self._renderer.tokenizer.decode(request.ids))
        text = self._texts.pop(0)
        ids = [*self._renderer.encode(text), self._renderer.end_of_turn]
        return TokenReply(ids, [-1.0] * len(ids), "stop", [])


def test_tools_are_called_in_the_dialect_of_the_policy(checkpoint: Path) -> None:
    policy = opened(checkpoint, "hermes")
    said = 'Now.\n<tool_call>\n{"name": "add", "arguments": {"amount": 1}}\n</tool_call>'
    engine: Any = Writing(policy.renderer, [said, "done", said])
    answers = PolicyAnswers(engine, policy.renderer, policy.codec, "tiny")

    async def run() -> None:
        first = (await answers.answer(call(OPENING, TOOLS))).reply
        assert first.finish == "tool_calls" and first.message["content"] == "Now."
        function = first.message["tool_calls"][0]["function"]
        assert function == {"name": "add", "arguments": '{"amount": 1}'}
        result = {"role": "tool", "tool_call_id": "renamed", "content": "stands at 1"}
        second = await answers.answer(call([*OPENING, first.message, result], TOOLS))
        assert second.reply.message == {"role": "assistant", "content": "done"}
        without = await answers.answer(call(OPENING))
        assert "tool_calls" not in without.reply.message  # nobody asked for calls

    asyncio.run(run())
    assert "# Tools" in engine.prompts[0] and said in engine.prompts[1]
    assert "<tool_response>\nstands at 1\n</tool_response>" in engine.prompts[1]


def test_stop_strings_end_text_and_tokens(checkpoint: Path) -> None:
    policy = opened(checkpoint)
    engine: Any = Writing(policy.renderer, ["Count to 7. submit add"])
    answers = PolicyAnswers(engine, policy.renderer, policy.codec, "tiny")
    answer = asyncio.run(answers.answer(call(OPENING, stop=("submit",))))
    assert answer.reply.message["content"] == "Count to 7. "
    assert answer.sampled is not None
    assert policy.renderer.decode(answer.sampled.reply.ids).endswith("submit")


def test_what_a_checkpoint_cannot_read_is_refused(checkpoint: Path) -> None:
    answers = answers_of(opened(checkpoint))
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    with pytest.raises(BadRequest, match="text only"):
        asyncio.run(answers.answer(call([{"role": "user", "content": [image]}])))
    with pytest.raises(ContextOverflow):
        asyncio.run(answers.answer(call([{"role": "user", "content": "Count to 7. " * 300}])))
    with pytest.raises(BadRequest, match="assistant's own"):
        messages = asyncio.run(converse(answers, 1))
        asyncio.run(answers.answer(call(messages[:-1])))
