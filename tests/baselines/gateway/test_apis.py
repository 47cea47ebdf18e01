"""The four chat APIs: what a client writes, a server reads, and the other way round."""

import asyncio
import base64
from typing import Any

import pytest

from hexathlon.baselines.engines.apis.anthropic import AnthropicMessages
from hexathlon.baselines.engines.apis.base import ApiCall, ChatApi
from hexathlon.baselines.engines.apis.chat import ChatCompletions
from hexathlon.baselines.engines.apis.gemini import Gemini
from hexathlon.baselines.engines.apis.responses import OpenAIResponses
from hexathlon.baselines.engines.base import ChatReply, ChatRequest, Sampling, Usage
from hexathlon.baselines.engines.errors import (
    AuthRejected,
    BadRequest,
    ContextOverflow,
    EngineError,
    MalformedReply,
    RateLimited,
    Refused,
    UnknownModel,
)
from hexathlon.baselines.engines.limiter import AdaptiveLimit
from hexathlon.baselines.engines.prices import PriceTable
from hexathlon.baselines.engines.provider import PROVIDER_APIS, ProviderEngine
from hexathlon.baselines.engines.replies import Completion
from hexathlon.baselines.engines.sending import HttpSettings
from hexathlon.baselines.gateway.app import Gateway
from support.gateways import USAGE, Scripted, served

APIS: list[ChatApi] = [ChatCompletions(), OpenAIResponses(), AnthropicMessages(), Gemini()]
PICTURE = f"data:image/png;base64,{base64.b64encode(b'not really').decode()}"
TOOL = {
    "name": "add",
    "description": "Add.",
    "parameters": {"type": "object", "properties": {"amount": {"type": "integer"}}},
}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "You count."},
    {"role": "user", "content": "Bring the counter to 12."},
    {
        "role": "assistant",
        "content": "First nine.",
        "tool_calls": [
            {"id": "a", "type": "function",
             "function": {"name": "add", "arguments": '{"amount": 9}'}},
            {"id": "b", "type": "function",
             "function": {"name": "add", "arguments": '{"amount": 1}'}},
        ],
    },
    {"role": "tool", "tool_call_id": "a", "content": "nine"},
    {"role": "tool", "tool_call_id": "b", "content": "ten"},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "The screen:"},
            {"type": "image_url", "image_url": {"url": PICTURE}},
        ],
    },
]  # fmt: skip
SAMPLING = Sampling(temperature=0.5, top_p=0.9, max_tokens=64)
REQUEST = ChatRequest(MESSAGES, [TOOL], SAMPLING)
names = [api.name for api in APIS]


@pytest.mark.parametrize("api", APIS, ids=names)
def test_a_server_reads_what_a_client_wrote(api: ChatApi) -> None:
    call = api.parse(api.body(REQUEST, "m"))
    assert list(call.request.messages) == MESSAGES
    assert list(call.request.tools) == [TOOL]
    assert call.request.sampling == SAMPLING
    assert call.model == ("" if api.name == "gemini" else "m")


REPLIES = {
    "text": {"role": "assistant", "content": "hello"},
    "call": {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "x", "type": "function",
             "function": {"name": "add", "arguments": '{"amount": 2}'}}
        ],
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", REPLIES)
@pytest.mark.parametrize("api", APIS, ids=names)
def test_a_client_reads_what_a_server_wrote(api: ChatApi, kind: str) -> None:
    call = ApiCall(REQUEST, "m", False)
    finish = "tool_calls" if kind == "call" else "stop"
    reply = api.read(api.write(Completion(REPLIES[kind], finish, USAGE), call, "7"))
    message = dict(reply.message)
    calls = message.pop("tool_calls", [])
    assert message == {"role": "assistant", "content": REPLIES[kind]["content"]}
    assert [row["function"] for row in calls] == [
        row["function"] for row in REPLIES[kind].get("tool_calls", [])
    ]
    assert reply.finish == finish
    reasoning = 0 if api.name == "anthropic" else USAGE.reasoning  # the API does not count it
    assert reply.usage == USAGE._replace(reasoning=reasoning)


@pytest.mark.parametrize("api", APIS, ids=names)
def test_a_reply_at_its_limit_says_so(api: ChatApi) -> None:
    written = api.write(
        Completion(REPLIES["text"], "length", USAGE), ApiCall(REQUEST, "m", False), "7"
    )
    assert api.read(written).finish == "length"


@pytest.mark.parametrize("api", APIS, ids=names)
@pytest.mark.parametrize(
    "body", [{}, {"messages": [3], "input": 3, "contents": [3], "max_tokens": 1}]
)
def test_a_server_rejects_what_is_not_a_request(api: ChatApi, body: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        api.parse(body)


@pytest.mark.parametrize("api", APIS, ids=names)
def test_a_client_rejects_what_is_not_a_reply(api: ChatApi) -> None:
    for data in ({}, {"content": 3, "candidates": 3, "output": 3, "choices": 3}):
        with pytest.raises(MalformedReply):
            api.read(data)


@pytest.mark.parametrize(
    ("api", "data"),
    [
        (AnthropicMessages(), {"content": [], "stop_reason": "refusal",
                               "usage": {"input_tokens": 1, "output_tokens": 1}}),
        (Gemini(), {"promptFeedback": {"blockReason": "SAFETY"}}),
        (Gemini(), {"candidates": [{"finishReason": "SAFETY"}]}),
        (OpenAIResponses(), {"output": [{"type": "message", "content": [
            {"type": "refusal", "refusal": "no"}]}]}),
    ],
)  # fmt: skip
def test_a_refusal_is_not_a_reply(api: ChatApi, data: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        api.read(data)


def test_signatures_and_thoughts_are_sent_back() -> None:
    part = {"functionCall": {"name": "add", "args": {}, "id": "1"}, "thoughtSignature": "s=="}
    candidate = {"content": {"parts": [part]}, "finishReason": "STOP"}
    message = Gemini().read({"candidates": [candidate]}).message
    sent = Gemini().body(ChatRequest([MESSAGES[1], message]), "m")
    assert sent["contents"][1]["parts"] == [part]
    thought = {"type": "thinking", "thinking": "hm", "signature": "s=="}
    content = [thought, {"type": "text", "text": "hello"}]
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = AnthropicMessages().read({"content": content, "usage": usage}).message
    sent = AnthropicMessages().body(ChatRequest([MESSAGES[1], message]), "m")
    assert sent["messages"][1]["content"] == content


def test_tools_of_free_text_take_one_string() -> None:
    api = OpenAIResponses()
    body = {"input": "edit", "tools": [{"type": "custom", "name": "patch"}, {"type": "web_search"}]}
    call = api.parse(body)
    assert [tool["name"] for tool in call.request.tools] == ["patch"]
    function = {"name": "patch", "arguments": '{"input": "+ line"}'}
    message = {"role": "assistant", "tool_calls": [{"id": "", "function": function}]}
    item = api.write(Completion(message, "stop", Usage()), call, "7")["output"][0]
    assert (item["type"], item["input"]) == ("custom_tool_call", "+ line")
    again = api.parse({"input": [item, {"type": "custom_tool_call_output",
                                        "call_id": item["call_id"], "output": "ok"}]})  # fmt: skip
    assert again.request.messages[0]["tool_calls"][0]["function"] == function


def test_tools_in_namespaces_are_flat_for_the_model() -> None:
    api = OpenAIResponses()
    inner = {"type": "function", "name": "search", "parameters": {"type": "object"}}
    space = {"type": "namespace", "name": "mcp__shop", "tools": [inner]}
    call = api.parse({"input": "find", "tools": [space]})
    assert [tool["name"] for tool in call.request.tools] == ["mcp__shop__search"]
    function = {"name": "mcp__shop__search", "arguments": "{}"}
    message = {"role": "assistant", "tool_calls": [{"id": "", "function": function}]}
    item = api.write(Completion(message, "stop", Usage()), call, "7")["output"][0]
    assert (item["namespace"], item["name"]) == ("mcp__shop", "search")
    again = api.parse({"input": [item]}).request.messages[0]
    assert again["tool_calls"][0]["function"] == function


def ask(url: str, api: ChatApi, request: ChatRequest = REQUEST, key: str = "k") -> ChatReply:
    async def asked() -> ChatReply:
        settings = HttpSettings(url, "m", key, retries=0, backoff=0.001, timeout=20)
        engine = ProviderEngine(api, settings, AdaptiveLimit(), PriceTable("t", "USD", {}))
        try:
            return await engine.chat(request)
        finally:
            await engine.close()

    return asyncio.run(asked())


@pytest.mark.parametrize("name", PROVIDER_APIS)
def test_engines_of_providers_ask_a_server_of_their_api(name: str) -> None:
    model = Scripted(lambda call: REPLIES["call"])
    prefix = "/v1" if name == "openai-responses" else ""
    with served(Gateway(model)) as url:
        reply = ask(url + prefix, PROVIDER_APIS[name])
    assert (
        reply.message["tool_calls"][0]["function"] == REPLIES["call"]["tool_calls"][0]["function"]
    )
    assert reply.finish == "tool_calls" and reply.usage.input == USAGE.input
    assert list(model.calls[0].request.messages) == MESSAGES
    assert model.calls[0].model == "m"


ERRORS = [RateLimited("slow"), AuthRejected("who"), UnknownModel("what"),
          ContextOverflow("prompt is too long: 9 > 8 tokens"), BadRequest("odd")]  # fmt: skip


@pytest.mark.parametrize("name", PROVIDER_APIS)
@pytest.mark.parametrize("error", ERRORS, ids=[error.kind for error in ERRORS])
def test_errors_keep_their_kind_in_every_api(name: str, error: EngineError) -> None:
    def fail(call: ApiCall) -> dict[str, Any]:
        raise error

    prefix = "/v1" if name == "openai-responses" else ""
    with served(Gateway(Scripted(fail))) as url, pytest.raises(type(error)):
        ask(url + prefix, PROVIDER_APIS[name])


def test_keys_are_headers_and_not_shown() -> None:
    settings = HttpSettings("http://127.0.0.1:9", "m", "s3cret")
    for api in PROVIDER_APIS.values():
        engine = ProviderEngine(api, settings, AdaptiveLimit(), PriceTable("t", "USD", {}))
        assert any("s3cret" in value for value in engine.settings.headers.values())
        assert "s3cret" not in repr(engine.settings)
