"""The official clients of four APIs, and an agent framework, talk to the gateway."""

import base64
import json
from typing import Any

import pytest

openai = pytest.importorskip("openai", reason="scripts/bridges clients")
anthropic = pytest.importorskip("anthropic", reason="scripts/bridges clients")
genai = pytest.importorskip("google.genai", reason="scripts/bridges clients")

from hexathlon.baselines.engines.apis.base import ApiCall
from hexathlon.baselines.gateway.app import Gateway
from support.gateways import USAGE, Scripted, served

PIXEL = base64.b64encode(b"not really a picture").decode()
IMAGE = f"data:image/png;base64,{PIXEL}"
PARAMETERS = {
    "type": "object",
    "properties": {"amount": {"type": "integer"}},
    "required": ["amount"],
    "additionalProperties": False,
}


def script(call: ApiCall) -> dict[str, Any]:
    """Call the tool once, then say what it answered."""
    last = call.request.messages[-1]
    if last["role"] == "tool":
        return {"content": f"It stands at {last['content']}."}
    function = {"name": "add", "arguments": '{"amount": 2}'}
    return {"content": "Adding.", "tool_calls": [{"id": "c", "function": function}]}


def seen_image(model: Scripted) -> None:
    content = model.calls[0].request.messages[-1]["content"]
    assert {"type": "image_url", "image_url": {"url": IMAGE}} in content
    assert [tool["parameters"] for tool in model.calls[0].request.tools] == [PARAMETERS]
    assert model.calls[0].request.messages[0] == {"role": "system", "content": "You count."}


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
def test_openai_chat(stream: bool) -> None:
    model = Scripted(script)
    with served(Gateway(model)) as url:
        client = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
        tools = [{"type": "function", "function": {"name": "add", "parameters": PARAMETERS}}]
        parts = [{"type": "text", "text": "Add."},
                 {"type": "image_url", "image_url": {"url": IMAGE}}]  # fmt: skip
        messages: list[Any] = [{"role": "system", "content": "You count."},
                               {"role": "user", "content": parts}]  # fmt: skip
        asked: dict[str, Any] = {"model": "m", "tools": tools}
        if stream:
            with client.chat.completions.stream(messages=messages, **asked) as events:
                first = events.get_final_completion()
        else:
            first = client.chat.completions.create(messages=messages, **asked)
        message = first.choices[0].message
        assert message.content == "Adding." and first.choices[0].finish_reason == "tool_calls"
        (call,) = message.tool_calls
        assert json.loads(call.function.arguments) == {"amount": 2}
        answer = {"role": "tool", "tool_call_id": call.id, "content": "2"}
        messages += [message.model_dump(exclude_none=True), answer]
        second = client.chat.completions.create(messages=messages, **asked)
        assert second.choices[0].message.content == "It stands at 2."
        assert second.usage.prompt_tokens == USAGE.input
        assert [row.id for row in client.models.list()] == ["scripted"]
    seen_image(model)


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
def test_openai_responses(stream: bool) -> None:
    model = Scripted(script)
    with served(Gateway(model)) as url:
        client = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
        tools = [{"type": "function", "name": "add", "parameters": PARAMETERS, "strict": False}]
        parts = [{"type": "input_text", "text": "Add."},
                 {"type": "input_image", "image_url": IMAGE, "detail": "auto"}]  # fmt: skip
        items: list[Any] = [{"role": "user", "content": parts}]
        asked: dict[str, Any] = {"model": "m", "instructions": "You count.", "tools": tools}
        if stream:
            with client.responses.stream(input=items, **asked) as events:
                kinds = [event.type for event in events]
                first = events.get_final_response()
            assert kinds[0] == "response.created" and kinds[-1] == "response.completed"
        else:
            first = client.responses.create(input=items, **asked)
        assert first.output_text == "Adding."
        call = first.output[1]
        assert json.loads(call.arguments) == {"amount": 2}
        output = {"type": "function_call_output", "call_id": call.call_id, "output": "2"}
        items += [*(item.model_dump(exclude_none=True) for item in first.output), output]
        second = client.responses.create(input=items, **asked)
        assert second.output_text == "It stands at 2."
        assert second.usage.output_tokens_details.reasoning_tokens == USAGE.reasoning
    seen_image(model)


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
def test_anthropic(stream: bool) -> None:
    model = Scripted(script)
    with served(Gateway(model)) as url:
        client = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
        tools = [{"name": "add", "description": "", "input_schema": PARAMETERS}]
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        parts = [{"type": "text", "text": "Add."}, {"type": "image", "source": source}]
        messages: list[Any] = [{"role": "user", "content": parts}]
        asked: dict[str, Any] = {
            "model": "m", "max_tokens": 64, "system": "You count.", "tools": tools
        }  # fmt: skip
        if stream:
            with client.messages.stream(messages=messages, **asked) as events:
                first = events.get_final_message()
        else:
            first = client.messages.create(messages=messages, **asked)
        text, call = first.content
        assert (text.text, first.stop_reason) == ("Adding.", "tool_use")
        assert call.input == {"amount": 2}
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "2"}
        messages += [{"role": "assistant", "content": first.content},
                     {"role": "user", "content": [result]}]  # fmt: skip
        second = client.messages.create(messages=messages, **asked)
        assert second.content[0].text == "It stands at 2."
        assert second.usage.input_tokens + second.usage.cache_read_input_tokens == USAGE.input
        assert client.messages.count_tokens(messages=messages, model="m").input_tokens > 0
    seen_image(model)


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
def test_gemini(stream: bool) -> None:
    from google.genai import types

    model = Scripted(script)
    with served(Gateway(model)) as url:
        client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=url))
        declared = types.FunctionDeclaration(
            name="add", description="", parameters_json_schema=PARAMETERS
        )
        settings = types.GenerateContentConfig(
            system_instruction="You count.",
            tools=[types.Tool(function_declarations=[declared])],
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )
        image = types.Part.from_bytes(data=base64.b64decode(PIXEL), mime_type="image/png")
        contents: list[Any] = [
            types.Content(role="user", parts=[types.Part.from_text(text="Add."), image])
        ]
        asked: dict[str, Any] = {"model": "m", "config": settings}
        if stream:
            (first,) = client.models.generate_content_stream(contents=contents, **asked)
        else:
            first = client.models.generate_content(contents=contents, **asked)
        (call,) = first.function_calls
        assert call.args == {"amount": 2}
        result = types.Part.from_function_response(name="add", response={"output": "2"})
        contents += [
            first.candidates[0].content, types.Content(role="user", parts=[result])
        ]  # fmt: skip
        second = client.models.generate_content(contents=contents, **asked)
        assert second.text == "It stands at 2."
        assert second.usage_metadata.thoughts_token_count == USAGE.reasoning
    seen_image(model)


def test_errors_have_the_classes_of_the_clients() -> None:
    from hexathlon.baselines.engines.errors import ContextOverflow, RateLimited

    errors = [ContextOverflow("too long"), RateLimited("slow")]

    def fail(call: ApiCall) -> dict[str, Any]:
        raise errors[len(model.calls) % 2 - 1]

    model = Scripted(fail)
    message = [{"role": "user", "content": "?"}]
    with served(Gateway(model)) as url:
        chat = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
        with pytest.raises(openai.BadRequestError, match="too long"):
            chat.chat.completions.create(model="m", messages=message)
        with pytest.raises(openai.RateLimitError):
            chat.responses.create(model="m", input="?")
        claude = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
        with pytest.raises(anthropic.BadRequestError, match="too long"):
            claude.messages.create(model="m", max_tokens=8, messages=message)
        with pytest.raises(anthropic.RateLimitError):
            claude.messages.create(model="m", max_tokens=8, messages=message)
