"""OpenAI's responses, without state on the server.

https://platform.openai.com/docs/api-reference/responses
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from hexathlon.baselines.engines.apis.base import (
    ApiCall,
    JsonBody,
    ReplyStream,
    arguments_of,
    image_of,
    parts_of_message,
    sse,
    text_of_message,
)
from hexathlon.baselines.engines.apis.chat import error_body
from hexathlon.baselines.engines.base import ChatRequest, Sampling, Usage
from hexathlon.baselines.engines.errors import BadRequest, MalformedReply, Refused, ServerError
from hexathlon.baselines.engines.replies import Completion

__all__ = ["OpenAIResponses"]

_TEXT_INPUT = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}
"""Parameters of a tool that takes free text."""


class OpenAIResponses:
    """`/v1/responses`. Seeds and stop strings are not supported by the API and not sent."""

    name: ClassVar[str] = "openai-responses"

    def path(self, model: str) -> str:
        """Return the path of requests."""
        return "/responses"

    def headers(self, key: str) -> dict[str, str]:
        """Return the bearer token."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, request: ChatRequest, model: str) -> JsonBody:
        """Return a client's request."""
        sampling = request.sampling
        system = [text_of_message(m["content"]) for m in request.messages if m["role"] == "system"]
        items = [
            item for message in request.messages
            if message["role"] != "system" for item in _items(message)
        ]  # fmt: skip
        body: JsonBody = {"model": model, "input": items, "store": False}
        if system:
            body["instructions"] = "\n\n".join(system)
        if request.tools:
            body["tools"] = [{"type": "function", "strict": False, **t} for t in request.tools]
        settings = (
            ("temperature", sampling.temperature),
            ("top_p", sampling.top_p),
            ("max_output_tokens", sampling.max_tokens),
        )
        body |= {name: value for name, value in settings if value is not None}
        if request.schema is not None:
            form = {"type": "json_schema", "name": "answer", "schema": request.schema}
            body["text"] = {"format": {**form, "strict": True}}
        return body

    def read(self, data: JsonBody) -> Completion:
        """Parse a server's reply."""
        if data.get("status") == "failed":
            raise ServerError(f"the response failed: {data.get('error')}")
        try:
            message = _assistant(data["output"])
            details = data.get("incomplete_details") or {}
            usage = _usage(data.get("usage") or {})
        except (LookupError, TypeError, AttributeError) as error:
            raise MalformedReply(f"not a response ({error!r}): {str(data)[:300]}") from None
        refusal = message.pop("refusal", "")
        if refusal:
            raise Refused(refusal)
        if message.get("tool_calls"):
            return Completion(message, "tool_calls", usage)
        cut = details.get("reason") == "max_output_tokens"
        return Completion(message, "length" if cut else "stop", usage)

    def parse(self, body: JsonBody) -> ApiCall:
        """Parse a request; tools that run on OpenAI's servers are left out."""
        if body.get("previous_response_id"):
            raise BadRequest("responses are not stored here: send the whole conversation")
        try:
            given = body["input"]
            items = [{"role": "user", "content": given}] if isinstance(given, str) else given
            messages = _messages(items)
            if body.get("instructions"):
                messages.insert(0, {"role": "system", "content": body["instructions"]})
            rows, spaces = _flat(body.get("tools") or ())
            tools = [_TOOLS[tool["type"]](tool) for tool in rows]
            custom = tuple(tool["name"] for tool in rows if tool["type"] == "custom")
            form = (body.get("text") or {}).get("format") or {}
            sampling = Sampling(
                body.get("temperature"), body.get("top_p"), body.get("max_output_tokens")
            )
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise BadRequest(f"not a request for a response: {error!r}") from None
        request = ChatRequest(messages, tools, sampling, schema=form.get("schema"))
        model, stream = str(body.get("model") or ""), bool(body.get("stream"))
        return ApiCall(request, model, stream, custom, spaces)

    def write(self, reply: Completion, call: ApiCall, name: str) -> JsonBody:
        """Return a server's reply."""
        output: list[JsonBody] = []
        text = reply.message.get("content")
        if text:
            part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
            output.append(
                {"type": "message", "id": f"msg_{name}", "role": "assistant",
                 "status": "completed", "content": [part]}
            )  # fmt: skip
        for number, row in enumerate(reply.message.get("tool_calls") or ()):
            output.append(_call_item(row, f"{name}_{number}", call))
        cut = reply.finish == "length"
        usage = reply.usage
        return {
            "id": f"resp_{name}",
            "object": "response",
            "created_at": 0,
            "status": "incomplete" if cut else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "error": None,
            "instructions": None,
            "metadata": {},
            "model": call.model,
            "output": output,
            "parallel_tool_calls": True,
            "temperature": call.request.sampling.temperature,
            "tool_choice": "auto",
            "tools": [],
            "top_p": call.request.sampling.top_p,
            "usage": {
                "input_tokens": usage.input,
                "input_tokens_details": {"cached_tokens": usage.cached},
                "output_tokens": usage.output,
                "output_tokens_details": {"reasoning_tokens": usage.reasoning},
                "total_tokens": usage.input + usage.output,
            },
        }

    def stream(self, call: ApiCall, name: str) -> ReplyStream:
        """Return a reply as events: created, each item with its text or arguments, completed."""
        message = {"role": "assistant", "content": " "}
        return _EventStream(self.write(Completion(message, "stop", Usage()), call, name))

    def error(self, status: int, kind: str, message: str) -> JsonBody:
        """Return the body of an error."""
        return error_body(kind, message)


def _items(message: Mapping[str, Any]) -> list[JsonBody]:
    """Return a message as input items."""
    if message["role"] == "tool":
        call_id = message["tool_call_id"]
        output = text_of_message(message.get("content"))
        return [{"type": "function_call_output", "call_id": call_id, "output": output}]
    said = message["role"] == "assistant"
    parts = [_part(part, said=said) for part in parts_of_message(message.get("content"))]
    items: list[JsonBody] = []
    if parts:
        items.append({"type": "message", "role": message["role"], "content": parts})
    for call in message.get("tool_calls") or ():
        function = call["function"]
        items.append(
            {"type": "function_call", "call_id": call["id"], "name": function["name"],
             "arguments": function.get("arguments") or "{}"}
        )  # fmt: skip
    return items


def _part(part: Mapping[str, Any], *, said: bool) -> JsonBody:
    if part["type"] == "text":
        return {"type": "output_text" if said else "input_text", "text": part["text"]}
    media_type, data = image_of(part)
    return {"type": "input_image", "image_url": f"data:{media_type};base64,{data}"}


def _messages(items: Sequence[Mapping[str, Any]]) -> list[JsonBody]:
    """Return input items as messages; calls join the assistant's message before them."""
    messages: list[JsonBody] = []
    for item in items:
        kind = item.get("type") or "message"
        if kind == "message":
            role = "system" if item["role"] == "developer" else item["role"]
            messages.append({"role": role, "content": _content(item["content"])})
        elif kind in ("function_call", "custom_tool_call"):
            if not messages or messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": ""})
            messages[-1].setdefault("tool_calls", []).append(_call_of(item))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            output = _content(item["output"])
            messages.append({"role": "tool", "tool_call_id": item["call_id"], "content": output})
        elif kind not in ("reasoning", "item_reference"):
            raise ValueError(f"items of type {kind!r} are not supported")
    return messages


def _content(content: Any) -> Any:
    if isinstance(content, str):
        return content
    parts: list[JsonBody] = []
    for part in content:
        if part["type"] == "input_image":
            parts.append({"type": "image_url", "image_url": {"url": part["image_url"]}})
        elif "text" in part:
            parts.append({"type": "text", "text": part["text"]})
        else:
            raise ValueError(f"content of type {part['type']!r} is not supported")
    if any(part["type"] == "image_url" for part in parts):
        return parts
    return "\n".join(part["text"] for part in parts)


def _assistant(output: Sequence[Mapping[str, Any]]) -> JsonBody:
    message: JsonBody = {"role": "assistant", "content": ""}
    for item in output:
        if item["type"] == "message":
            for part in item["content"]:
                message["content"] += part.get("text") or ""
                if part["type"] == "refusal":
                    message["refusal"] = part["refusal"]
        elif item["type"] in ("function_call", "custom_tool_call"):
            message.setdefault("tool_calls", []).append(_call_of(item))
    return message


def _call_of(item: Mapping[str, Any]) -> JsonBody:
    text = item["arguments"] if "arguments" in item else json.dumps({"input": item["input"]})
    space = item.get("namespace")
    return {
        "id": item["call_id"],
        "type": "function",
        "function": {"name": _joined(space, item["name"]), "arguments": text},
    }


def _call_item(row: Mapping[str, Any], name: str, call: ApiCall) -> JsonBody:
    function = row["function"]
    item: JsonBody = {"id": f"fc_{name}", "call_id": f"call_{name}", "name": function["name"]}
    item["status"] = "completed"
    space = call.spaces.get(function["name"])
    if space is not None:
        item |= {"namespace": space, "name": function["name"].removeprefix(_joined(space, ""))}
    if function["name"] in call.custom:
        text = arguments_of(row).get("input", function.get("arguments") or "")
        return {"type": "custom_tool_call", **item, "input": str(text)}
    return {"type": "function_call", **item, "arguments": function.get("arguments") or "{}"}


class _EventStream:
    """A reply's events; `begun` is the body of a reply with one message."""

    def __init__(self, begun: JsonBody) -> None:
        self._begun = begun
        self._number = 0
        self._sent = 0

    def piece(self, text: str) -> Iterator[str]:
        if not self._sent:
            yield from self._begin()
            yield from self._open_message(self._begun["output"][0])
        self._sent += len(text)
        yield self._text_delta(self._begun["output"][0], text)

    def end(self, body: JsonBody) -> Iterator[str]:
        if not self._sent:
            yield from self._begin()
        for index, item in enumerate(body["output"]):
            if item["type"] == "message":
                yield from self._end_message(item)
            else:
                yield from self._called(index, item)
            yield self._event("response.output_item.done", output_index=index, item=item)
        yield self._event(f"response.{body['status']}", response=body)

    def _event(self, kind: str, **data: Any) -> str:
        self._number += 1
        return sse({"type": kind, "sequence_number": self._number - 1, **data}, kind)

    def _begin(self) -> Iterator[str]:
        begun = {**self._begun, "status": "in_progress", "output": [], "usage": None}
        yield self._event("response.created", response=begun)
        yield self._event("response.in_progress", response=begun)

    def _open_message(self, item: JsonBody) -> Iterator[str]:
        yield self._event("response.output_item.added", output_index=0, item=_empty(item))
        part = {**item["content"][0], "text": ""}
        yield self._event("response.content_part.added", **_in_message(item), part=part)

    def _text_delta(self, item: JsonBody, text: str) -> str:
        kind = "response.output_text.delta"
        return self._event(kind, **_in_message(item), delta=text, logprobs=[])

    def _end_message(self, item: JsonBody) -> Iterator[str]:
        part, at = item["content"][0], _in_message(item)
        if not self._sent:
            yield from self._open_message(item)
        if part["text"][self._sent :]:
            yield self._text_delta(item, part["text"][self._sent :])
        yield self._event("response.output_text.done", **at, text=part["text"], logprobs=[])
        yield self._event("response.content_part.done", **at, part=part)

    def _called(self, index: int, item: JsonBody) -> Iterator[str]:
        yield self._event("response.output_item.added", output_index=index, item=_empty(item))
        field = "input" if item["type"] == "custom_tool_call" else "arguments"
        kind = "custom_tool_call_input" if field == "input" else "function_call_arguments"
        done = {"name": item["name"]} if field == "arguments" else {}
        where = {"output_index": index, "item_id": item["id"]}
        yield self._event(f"response.{kind}.delta", **where, delta=item[field])
        yield self._event(f"response.{kind}.done", **where, **{field: item[field]}, **done)


def _in_message(item: JsonBody) -> JsonBody:
    """Return the place of a message's text; a message is the first item."""
    return {"output_index": 0, "item_id": item["id"], "content_index": 0}


def _empty(item: JsonBody) -> JsonBody:
    """Return an item at its start, before its content."""
    empty: JsonBody = {"arguments": ""}
    if item["type"] == "message":
        empty = {"content": []}
    elif item["type"] == "custom_tool_call":
        empty = {"input": ""}
    return {**item, "status": "in_progress", **empty}


def _joined(space: str | None, name: str) -> str:
    return f"{space}__{name}" if space else name


def _flat(tools: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], dict[str, str]]:
    """Return the tools that the program runs, those of namespaces too, and their namespaces."""
    rows: list[Mapping[str, Any]] = []
    spaces: dict[str, str] = {}
    for tool in tools:
        if tool["type"] == "namespace":
            for inner in tool["tools"]:
                name = _joined(tool["name"], inner["name"])
                rows.append({**inner, "name": name})
                spaces[name] = tool["name"]
        elif tool["type"] in _TOOLS:
            rows.append(tool)
    return rows, spaces


def _function_tool(tool: Mapping[str, Any]) -> JsonBody:
    return {
        "name": tool["name"],
        "description": tool.get("description") or "",
        "parameters": tool.get("parameters") or {"type": "object"},
    }


def _custom_tool(tool: Mapping[str, Any]) -> JsonBody:
    return {
        "name": tool["name"],
        "description": tool.get("description") or "",
        "parameters": _TEXT_INPUT,
    }


_TOOLS = {"function": _function_tool, "custom": _custom_tool}


def _usage(data: Mapping[str, Any]) -> Usage:
    return Usage(
        int(data.get("input_tokens") or 0),
        int(data.get("output_tokens") or 0),
        1,
        int((data.get("input_tokens_details") or {}).get("cached_tokens") or 0),
        int((data.get("output_tokens_details") or {}).get("reasoning_tokens") or 0),
    )
