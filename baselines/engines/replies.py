"""Parsers of chat-server responses: plain completions, event streams, and error bodies.

They take bytes or JSON and return a message with its usage, or raise a typed error. Nothing here
accesses the network.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from hexathlon.baselines.engines.base import Usage
from hexathlon.baselines.engines.errors import (
    AuthRejected,
    BadRequest,
    ConnectionFailed,
    ContextOverflow,
    EngineError,
    MalformedReply,
    RateLimited,
    Refused,
    ServerError,
    UnknownModel,
)

__all__ = ["Completion", "StreamReader", "completion_of", "error_of", "read_completion"]

_OVERFLOW = re.compile(
    r"context[ _](length|window)|maximum (context|model length)|too many tokens|"
    r"prompt is too long|"
    r"exceeds? the (model|max|context)|input is too long",
    re.IGNORECASE,
)
_MAX_EXCERPT = 300


class Completion(NamedTuple):
    """One choice of a chat completion."""

    message: dict[str, Any]
    finish: str
    usage: Usage


def read_completion(body: bytes) -> Completion:
    """Parse a plain (not streamed) chat completion.

    Raises:
        MalformedReply: If the body is not a chat completion.
        Refused: If the model or a content filter refused.
    """
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise MalformedReply(f"not a chat completion ({error!r}): {_excerpt(body)}") from None
    return completion_of(data)


def completion_of(data: Any) -> Completion:
    """Return the first choice of a chat completion that has been parsed as JSON.

    Raises:
        MalformedReply: If it is not a chat completion.
        Refused: If the model or a content filter refused.
    """
    try:
        choice = data["choices"][0]
        message = choice["message"]
        text, calls = message.get("content"), message.get("tool_calls") or []
        usage, finish = _usage(data.get("usage")), str(choice.get("finish_reason") or "stop")
    except (LookupError, TypeError, AttributeError) as error:
        excerpt = _excerpt(json.dumps(data, ensure_ascii=False).encode())
        raise MalformedReply(f"not a chat completion ({error!r}): {excerpt}") from None
    return _complete(text, calls, finish, usage, message.get("refusal"))


class StreamReader:
    """Assembles a completion from the lines of an event stream.

    Pass lines to `feed` until `done` is True, then call `complete`.
    """

    def __init__(self) -> None:
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._calls: dict[int, dict[str, Any]] = {}
        self._finish = ""
        self._usage: Any = None
        self.done = False

    def feed(self, line: str) -> None:
        """Process one line of the stream.

        Raises:
            MalformedReply: If a chunk is malformed.
            ServerError: If the server reports an error inside the stream.
        """
        if not line.startswith("data:"):
            return
        data = line[5:].strip()
        if data == "[DONE]":
            self.done = True
            return
        try:
            chunk = json.loads(data)
            if "error" in chunk:
                raise ServerError(f"error inside the stream: {_excerpt(data.encode())}")
            self._usage = chunk.get("usage") or self._usage
            for choice in chunk.get("choices") or ():
                self._take(choice)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise MalformedReply(
                f"a chunk of the stream is malformed ({error!r}): {_excerpt(data.encode())}"
            ) from None

    def complete(self) -> Completion:
        """Return the completion after the last line.

        Raises:
            ConnectionFailed: If the stream ended before the reply was complete.
        """
        if not self.done and not self._finish:
            raise ConnectionFailed("the stream ended before the reply was complete")
        calls = [self._calls[index] for index in sorted(self._calls)]
        text = "".join(self._text)
        refusal = "".join(self._refusal) or None
        return _complete(text, calls, self._finish or "stop", _usage(self._usage), refusal)

    def _take(self, choice: Mapping[str, Any]) -> None:
        delta = choice.get("delta") or {}
        self._text.append(delta.get("content") or "")
        self._refusal.append(delta.get("refusal") or "")
        for part in delta.get("tool_calls") or ():
            self._take_call(part)
        self._finish = choice.get("finish_reason") or self._finish

    def _take_call(self, part: Mapping[str, Any]) -> None:
        index = int(part.get("index", len(self._calls)))
        call = self._calls.setdefault(
            index, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
        )
        call["id"] = part.get("id") or call["id"]
        function = part.get("function") or {}
        call["function"]["name"] += function.get("name") or ""
        call["function"]["arguments"] += function.get("arguments") or ""


def error_of(status: int, body: bytes, retry_after: str | None) -> EngineError:
    """Return the typed error for an HTTP status and its body."""
    message = f"HTTP {status}: {_excerpt(body)}"
    if status == 429:
        return RateLimited(message, _seconds(retry_after))
    if status in (401, 403):
        return AuthRejected(message)
    if status == 404:
        return UnknownModel(message)
    if status in (408, 409) or status >= 500:
        return ServerError(message)
    if status == 413 or _OVERFLOW.search(message):
        return ContextOverflow(message)
    return BadRequest(message)


def _complete(text: Any, calls: Any, finish: str, usage: Usage, refusal: Any) -> Completion:
    if refusal or (finish == "content_filter" and not text and not calls):
        raise Refused(str(refusal or "the server's content filter withheld the reply"))
    if text is not None and not isinstance(text, str):
        text = _joined(text)
    message: dict[str, Any] = {"role": "assistant", "content": text or ""}
    if calls:
        message["tool_calls"] = [_tool_call(call, index) for index, call in enumerate(calls)]
    return Completion(message, finish, usage)


def _joined(parts: Any) -> str:
    """Join content that is a list of typed parts."""
    try:
        return "".join(part.get("text", "") for part in parts)
    except (TypeError, AttributeError):
        raise MalformedReply(f"expected content as text or parts, got {parts!r:.300}") from None


def _tool_call(call: Any, index: int) -> dict[str, Any]:
    try:
        name, arguments = call["function"]["name"], call["function"].get("arguments")
        call_id = call.get("id")
    except (LookupError, TypeError, AttributeError):
        raise MalformedReply(f"a tool call has no function: {call!r:.300}") from None
    if not isinstance(name, str):
        raise MalformedReply(f"the name of a tool call is not a string: {call!r:.300}")
    if not isinstance(arguments, str):  # some servers send the object itself
        arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
    return {
        "id": str(call_id or f"call_{index}"),
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def _usage(data: Any) -> Usage:
    if not isinstance(data, Mapping):
        return Usage(calls=1)
    prompt = data.get("prompt_tokens_details") or {}
    completion = data.get("completion_tokens_details") or {}
    return Usage(
        input=_count(data.get("prompt_tokens")),
        output=_count(data.get("completion_tokens")),
        calls=1,
        cached=_count(prompt.get("cached_tokens")),
        reasoning=_count(completion.get("reasoning_tokens")),
    )


def _count(value: Any) -> int:
    return value if type(value) is int and value > 0 else 0


def _seconds(retry_after: str | None) -> float | None:
    """Parse Retry-After in seconds; None for the rare date format, which uses the backoff."""
    try:
        return max(0.0, float(retry_after)) if retry_after else None
    except ValueError:
        return None


def _excerpt(body: bytes) -> str:
    text = body[: 4 * _MAX_EXCERPT].decode("utf-8", "replace")
    return text if len(text) <= _MAX_EXCERPT else text[:_MAX_EXCERPT] + "…"
