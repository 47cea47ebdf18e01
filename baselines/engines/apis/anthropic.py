"""Anthropic's messages.

https://docs.anthropic.com/en/api/messages
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from hexathlon.baselines.engines.apis.base import (
    ApiCall,
    JsonBody,
    ReplyStream,
    arguments_of,
    data_url,
    image_of,
    parts_of_message,
    sse,
    text_of_message,
)
from hexathlon.baselines.engines.base import ChatRequest, Sampling, Usage
from hexathlon.baselines.engines.errors import BadRequest, MalformedReply, Refused
from hexathlon.baselines.engines.replies import Completion

__all__ = ["AnthropicMessages"]

_VERSION = "2023-06-01"
_MAX_TOKENS = 4096
"""The API requires a limit; used if the request has none."""

_TEXT_BLOCK = {"type": "text", "text": ""}

_FINISHES = {"max_tokens": "length", "model_context_window_exceeded": "length"}


class AnthropicMessages:
    """`/v1/messages`. Seeds are not supported by the API and not sent."""

    name: ClassVar[str] = "anthropic"

    def path(self, model: str) -> str:
        """Return the path of requests."""
        return "/v1/messages"

    def headers(self, key: str) -> dict[str, str]:
        """Return the key and the API's version."""
        version = {"anthropic-version": _VERSION}
        return version | {"x-api-key": key} if key else version

    def body(self, request: ChatRequest, model: str) -> JsonBody:
        """Return a client's request."""
        sampling = request.sampling
        system = [text_of_message(m["content"]) for m in request.messages if m["role"] == "system"]
        body: JsonBody = {
            "model": model,
            "max_tokens": sampling.max_tokens or _MAX_TOKENS,
            "messages": _alternating(request.messages),
        }
        if system:
            body["system"] = "\n\n".join(system)
        if request.tools:
            body["tools"] = [
                {
                    "name": tool["name"],
                    "description": tool.get("description", ""),
                    "input_schema": tool["parameters"],
                }
                for tool in request.tools
            ]
        for name, value in (("temperature", sampling.temperature), ("top_p", sampling.top_p)):
            if value is not None:
                body[name] = value
        if sampling.stop:
            body["stop_sequences"] = list(sampling.stop)
        return body

    def read(self, data: JsonBody) -> Completion:
        """Parse a server's reply."""
        try:
            message = _message_of(data["content"], "assistant")[0]
            usage, stop = _usage(data["usage"]), str(data.get("stop_reason"))
        except (LookupError, TypeError, AttributeError, BadRequest) as error:
            raise MalformedReply(f"not a message ({error!r}): {str(data)[:300]}") from None
        if stop == "refusal":
            raise Refused(message["content"] or "the model refused")
        message["content"] = message["content"] or ""
        finish = "tool_calls" if message.get("tool_calls") else _FINISHES.get(stop, "stop")
        return Completion(message, finish, usage)

    def parse(self, body: JsonBody) -> ApiCall:
        """Parse a request; tools that run on Anthropic's servers are left out."""
        try:
            system = body.get("system") or ""
            if not isinstance(system, str):
                system = text_of_message(system)
            messages = [{"role": "system", "content": system}] if system else []
            for message in body["messages"]:
                messages += _message_of(message["content"], message["role"])
            tools = [_tool_of(tool) for tool in body.get("tools") or () if "input_schema" in tool]
            stop = tuple(body.get("stop_sequences") or ())
            limit = int(body["max_tokens"])
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise BadRequest(f"not a request for a message: {error!r}") from None
        sampling = Sampling(body.get("temperature"), body.get("top_p"), limit, None, stop)
        request = ChatRequest(messages, tools, sampling)
        return ApiCall(request, str(body.get("model") or ""), bool(body.get("stream")))

    def write(self, reply: Completion, call: ApiCall, name: str) -> JsonBody:
        """Return a server's reply."""
        content: list[JsonBody] = []
        if reply.message.get("content"):
            content.append({"type": "text", "text": reply.message["content"]})
        for number, row in enumerate(reply.message.get("tool_calls") or ()):
            content.append(_tool_use({**row, "id": f"toolu_{name}_{number}"}))
        called = bool(reply.message.get("tool_calls"))
        stop = "max_tokens" if reply.finish == "length" else "end_turn"
        usage = reply.usage
        return {
            "id": f"msg_{name}",
            "type": "message",
            "role": "assistant",
            "model": call.model,
            "content": content,
            "stop_reason": "tool_use" if called else stop,
            "stop_sequence": None,
            "usage": {
                "input_tokens": usage.input - usage.cached,
                "output_tokens": usage.output,
                "cache_read_input_tokens": usage.cached,
                "cache_creation_input_tokens": 0,
            },
        }

    def stream(self, call: ApiCall, name: str) -> ReplyStream:
        """Return a reply as events: the message's start, its blocks, its end."""
        message = {"role": "assistant", "content": ""}
        return _MessageStream(self.write(Completion(message, "stop", Usage()), call, name))

    def error(self, status: int, kind: str, message: str) -> JsonBody:
        """Return the body of an error."""
        named = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}
        kind = named.get(status, "invalid_request_error" if status < 500 else "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}}


def _alternating(messages: Sequence[Mapping[str, Any]]) -> list[JsonBody]:
    """Return messages with blocks as content, consecutive ones of one role joined.

    The results of tools come first in a user's message, as the API requires.
    """
    rows: list[JsonBody] = []
    for message in messages:
        if message["role"] == "system":
            continue
        role = "assistant" if message["role"] == "assistant" else "user"
        if not rows or rows[-1]["role"] != role:
            rows.append({"role": role, "content": []})
        rows[-1]["content"] += _blocks(message)
    for row in rows:
        row["content"].sort(key=lambda block: block["type"] != "tool_result")
        if not row["content"]:
            row["content"] = [{"type": "text", "text": "(empty)"}]
    return rows


def _blocks(message: Mapping[str, Any]) -> list[JsonBody]:
    blocks = [_block(part) for part in parts_of_message(message.get("content"))]
    if message["role"] == "tool":
        return [{"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": blocks}]
    thoughts = [dict(block) for block in message.get("thinking_blocks") or ()]
    return [*thoughts, *blocks, *(_tool_use(call) for call in message.get("tool_calls") or ())]


def _block(part: Mapping[str, Any]) -> JsonBody:
    if part["type"] == "text":
        return {"type": "text", "text": part["text"]}
    media_type, data = image_of(part)
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def _tool_use(call: Mapping[str, Any]) -> JsonBody:
    name = call["function"]["name"]
    return {"type": "tool_use", "id": call["id"], "name": name, "input": arguments_of(call)}


def _tool_of(tool: Mapping[str, Any]) -> JsonBody:
    description = tool.get("description") or ""
    return {
        "name": tool["name"],
        "description": description,
        "parameters": tool["input_schema"],
    }


def _message_of(content: Any, role: str) -> list[JsonBody]:
    """Return a message's blocks as messages: the results of tools, then everything else."""
    if isinstance(content, str):
        return [{"role": role, "content": content}]
    results: list[JsonBody] = []
    parts: list[JsonBody] = []
    message: JsonBody = {"role": role, "content": None}
    for block in content:
        kind = block["type"]
        if kind == "text":
            parts.append({"type": "text", "text": block["text"]})
        elif kind == "image":
            parts.append(_image(block["source"]))
        elif kind == "tool_use":
            function = {
                "name": block["name"],
                "arguments": json.dumps(block["input"], ensure_ascii=False),
            }
            call = {"id": block["id"], "type": "function", "function": function}
            message.setdefault("tool_calls", []).append(call)
        elif kind == "tool_result":
            results.append(_result(block))
        elif kind in ("thinking", "redacted_thinking"):
            message.setdefault("thinking_blocks", []).append(dict(block))
    if any(part["type"] != "text" for part in parts):
        message["content"] = parts
    else:
        message["content"] = "\n".join(part["text"] for part in parts)
    if results and not parts:
        return results
    return [*results, message]


def _result(block: Mapping[str, Any]) -> JsonBody:
    content = block.get("content") or ""
    if not isinstance(content, str):
        inner = _message_of([part for part in content if part["type"] in ("text", "image")], "tool")
        content = inner[0]["content"]
    return {"role": "tool", "tool_call_id": block["tool_use_id"], "content": content}


def _image(source: Mapping[str, Any]) -> JsonBody:
    if source["type"] == "url":
        return {"type": "image_url", "image_url": {"url": source["url"]}}
    return data_url(source["media_type"], source["data"])


def _usage(data: Mapping[str, Any]) -> Usage:
    read = int(data.get("cache_read_input_tokens") or 0)
    written = int(data.get("cache_creation_input_tokens") or 0)
    return Usage(int(data["input_tokens"]) + read + written, int(data["output_tokens"]), 1, read)


class _MessageStream:
    """A reply's events; `begun` is the body of an empty reply."""

    def __init__(self, begun: JsonBody) -> None:
        self._begun = begun
        self._sent = 0

    def piece(self, text: str) -> Iterator[str]:
        if not self._sent:
            yield self._start(self._begun)
            yield _event("content_block_start", index=0, content_block=_TEXT_BLOCK)
        self._sent += len(text)
        delta = {"type": "text_delta", "text": text}
        yield _event("content_block_delta", index=0, delta=delta)

    def end(self, body: JsonBody) -> Iterator[str]:
        if not self._sent:
            yield self._start(body)
        for index, block in enumerate(body["content"]):
            if block["type"] == "text":
                yield from self._end_text(index, block["text"])
            else:
                text = json.dumps(block["input"], ensure_ascii=False)
                delta = {"type": "input_json_delta", "partial_json": text}
                opened = {**block, "input": {}}
                yield _event("content_block_start", index=index, content_block=opened)
                yield _event("content_block_delta", index=index, delta=delta)
            yield _event("content_block_stop", index=index)
        ended = {"stop_reason": body["stop_reason"], "stop_sequence": None}
        yield _event("message_delta", delta=ended, usage=body["usage"])
        yield _event("message_stop")

    def _start(self, body: JsonBody) -> str:
        usage = {**body["usage"], "output_tokens": 0}
        message = {**body, "content": [], "stop_reason": None, "usage": usage}
        return _event("message_start", message=message)

    def _end_text(self, index: int, text: str) -> Iterator[str]:
        if not self._sent:
            yield _event("content_block_start", index=index, content_block=_TEXT_BLOCK)
        if text[self._sent :]:
            delta = {"type": "text_delta", "text": text[self._sent :]}
            yield _event("content_block_delta", index=index, delta=delta)


def _event(kind: str, **data: Any) -> str:
    return sse({"type": kind, **data}, kind)
