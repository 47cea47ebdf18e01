"""OpenAI's chat completions, the API of most servers.

https://platform.openai.com/docs/api-reference/chat
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from hexathlon.baselines.engines.apis.base import ApiCall, JsonBody, ReplyStream, sse
from hexathlon.baselines.engines.base import ChatRequest, Sampling, Usage
from hexathlon.baselines.engines.errors import BadRequest
from hexathlon.baselines.engines.replies import Completion, completion_of

__all__ = ["ChatCompletions", "error_body"]

_SAMPLING = ("temperature", "top_p", "max_tokens", "seed")


class ChatCompletions:
    """`/v1/chat/completions`."""

    name: ClassVar[str] = "openai-chat"

    def path(self, model: str) -> str:
        """Return the path of requests."""
        return "/chat/completions"

    def headers(self, key: str) -> dict[str, str]:
        """Return the bearer token."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, request: ChatRequest, model: str) -> JsonBody:
        """Return a client's request."""
        body: JsonBody = {"model": model, "messages": list(request.messages)}
        if request.tools:
            body["tools"] = [{"type": "function", "function": dict(t)} for t in request.tools]
        for name in _SAMPLING:
            value = getattr(request.sampling, name)
            if value is not None:
                body[name] = value
        if request.schema is not None:
            form = {"name": "answer", "schema": request.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        if request.sampling.stop:
            body["stop"] = list(request.sampling.stop)
        return body

    def read(self, data: JsonBody) -> Completion:
        """Parse a server's reply."""
        return completion_of(data)

    def parse(self, body: JsonBody) -> ApiCall:
        """Parse a request; parameters that only shape the reply's form are left to the server."""
        try:
            messages = [_as_plain(message) for message in body["messages"]]
            tools = [tool["function"] for tool in body.get("tools") or ()]
            if not messages or int(body.get("n") or 1) != 1:
                raise ValueError("expected at least one message and n = 1")
            schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
            request = ChatRequest(messages, tools, _sampling(body), schema=schema)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise BadRequest(f"not a request for a chat completion: {error!r}") from None
        return ApiCall(request, str(body.get("model") or ""), bool(body.get("stream")))

    def write(self, reply: Completion, call: ApiCall, name: str) -> JsonBody:
        """Return a server's reply."""
        calls = reply.message.get("tool_calls")
        message = dict(reply.message)
        if calls:
            message["content"] = message.get("content") or None
            rows = [{**row, "id": f"call_{name}_{n}"} for n, row in enumerate(calls)]
            message["tool_calls"] = rows
        finish = "tool_calls" if calls else reply.finish
        return {
            "id": f"chatcmpl-{name}",
            "object": "chat.completion",
            "created": 0,
            "model": call.model,
            "choices": [
                {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
            ],
            "usage": usage_body(reply.usage),
        }

    def stream(self, call: ApiCall, name: str) -> ReplyStream:
        """Return a reply as chunks: role, text, calls, finish reason, usage."""
        return _ChunkStream({"id": f"chatcmpl-{name}", "created": 0, "model": call.model})

    def error(self, status: int, kind: str, message: str) -> JsonBody:
        """Return the body of an error."""
        return error_body(kind, message)


class _ChunkStream:
    def __init__(self, head: JsonBody) -> None:
        self._head = {**head, "object": "chat.completion.chunk"}
        self._begun = False
        self._sent = 0

    def piece(self, text: str) -> Iterator[str]:
        yield from self._begin()
        self._sent += len(text)
        yield self._chunk({"content": text})

    def end(self, body: JsonBody) -> Iterator[str]:
        yield from self._begin()
        choice = body["choices"][0]
        message = choice["message"]
        extra = {name: choice[name] for name in ("logprobs", "token_ids") if choice.get(name)}
        rest = (message.get("content") or "")[self._sent :]
        if rest or extra:
            yield self._chunk({"content": rest}, **extra)
        for index, call in enumerate(message.get("tool_calls") or ()):
            yield self._chunk({"tool_calls": [{"index": index, **call}]})
        yield self._chunk({}, choice["finish_reason"])
        yield sse({**self._head, "choices": [], "usage": body["usage"]})
        yield sse("[DONE]")

    def _begin(self) -> Iterator[str]:
        if not self._begun:
            self._begun = True
            yield self._chunk({"role": "assistant", "content": ""})

    def _chunk(self, delta: JsonBody, finish: str | None = None, **more: Any) -> str:
        row = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None, **more}
        return sse({**self._head, "choices": [row]})


def error_body(kind: str, message: str) -> JsonBody:
    """Return an error as OpenAI's servers write it."""
    code = "context_length_exceeded" if kind == "context_overflow" else kind
    return {
        "error": {"message": message, "type": "invalid_request_error", "code": code, "param": None}
    }


def usage_body(usage: Usage) -> JsonBody:
    """Return token counts in the form of chat completions."""
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def _as_plain(message: Mapping[str, Any]) -> JsonBody:
    """Return a message with roles and texts in one form."""
    message = dict(message)
    if message["role"] == "developer":
        message["role"] = "system"
    content = message.get("content")
    if isinstance(content, list) and all(part.get("type") == "text" for part in content):
        message["content"] = "\n".join(part["text"] for part in content)
    return message


def _sampling(body: JsonBody) -> Sampling:
    stop = body.get("stop") or ()
    longest = body.get("max_completion_tokens") or body.get("max_tokens")
    return Sampling(
        body.get("temperature"),
        body.get("top_p"),
        longest,
        body.get("seed"),
        (stop,) if isinstance(stop, str) else tuple(stop),
    )
