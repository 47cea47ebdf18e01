"""The interface of chat APIs, and what their modules share.

The common form of messages is that of OpenAI chat completions. Two keys of an assistant's message
hold what other APIs require back in later requests: `thinking_blocks` (Anthropic) and, in a tool
call, `extra_content.google.thought_signature` (Gemini).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

from hexathlon.baselines.engines.base import ChatRequest
from hexathlon.baselines.engines.errors import BadRequest, MalformedReply
from hexathlon.baselines.engines.replies import Completion

__all__ = [
    "ApiCall",
    "ChatApi",
    "JsonBody",
    "ReplyStream",
    "arguments_of",
    "data_url",
    "image_of",
    "parts_of_message",
    "read_object",
    "sse",
    "text_of_message",
]

JsonBody = dict[str, Any]
"""A JSON object sent or received over HTTP."""


class ApiCall(NamedTuple):
    """A request that a server received."""

    request: ChatRequest
    model: str
    stream: bool
    custom: tuple[str, ...] = ()
    """Tools that take free text instead of JSON arguments; in the request, one `input` string."""

    spaces: Mapping[str, str] = {}
    """Namespace by tool, for tools that the API groups; in the request, `NAMESPACE__NAME`."""

    on_text: Callable[[str], None] | None = None
    """Called with each piece of the reply's text by models that know it before the whole."""


class ReplyStream(Protocol):
    """A reply as server-sent events."""

    def piece(self, text: str) -> Iterator[str]:
        """Return the events of a further piece of the reply's text."""
        ...

    def end(self, body: JsonBody) -> Iterator[str]:
        """Return the events of what the pieces lack of a whole reply, and of its end."""
        ...


class ChatApi(Protocol):
    """One API, as its clients and its servers need it."""

    name: ClassVar[str]

    def path(self, model: str) -> str:
        """Return the path of requests, after the base address."""
        ...

    def headers(self, key: str) -> dict[str, str]:
        """Return the headers that authenticate a client."""
        ...

    def body(self, request: ChatRequest, model: str) -> JsonBody:
        """Return a client's request."""
        ...

    def read(self, data: JsonBody) -> Completion:
        """Parse a server's reply.

        Raises:
            MalformedReply: If it is not a reply of this API.
            Refused: If the model or a filter refused.
        """
        ...

    def parse(self, body: JsonBody) -> ApiCall:
        """Parse a request that a server received.

        Raises:
            BadRequest: If it is not a request of this API, or asks for something unsupported.
        """
        ...

    def write(self, reply: Completion, call: ApiCall, name: str) -> JsonBody:
        """Return a server's reply; `name` makes its identifiers unique."""
        ...

    def stream(self, call: ApiCall, name: str) -> ReplyStream:
        """Return a reply as server-sent events; `name` is that of `write`."""
        ...

    def error(self, status: int, kind: str, message: str) -> JsonBody:
        """Return the body of an error."""
        ...


def read_object(raw: bytes, what: str) -> JsonBody:
    """Parse a JSON object.

    Raises:
        MalformedReply: If it is not one.
    """
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise MalformedReply(f"not {what}: {raw[:300].decode('utf-8', 'replace')}")
    return data


def sse(data: Any, event: str = "") -> str:
    """Return one server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"event: {event}\ndata: {text}\n\n" if event else f"data: {text}\n\n"


def text_of_message(content: Any) -> str:
    """Return the text of a message's content, without its images."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part["text"] for part in content if part.get("type") == "text")


def parts_of_message(content: Any) -> Sequence[Mapping[str, Any]]:
    """Return content as `text` and `image_url` parts, without empty texts."""
    if content is None or isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [part for part in content if part.get("type") != "text" or part.get("text")]


def image_of(part: Mapping[str, Any]) -> tuple[str, str]:
    """Return media type and base64 text of an `image_url` part.

    Raises:
        BadRequest: If its address is not a `data:` URL; nothing is fetched.
    """
    url = part["image_url"]
    url = url["url"] if isinstance(url, Mapping) else str(url)
    head, comma, data = url.partition(",")
    if not (comma and head.startswith("data:") and head.endswith(";base64")):
        raise BadRequest(f"expected an image as a base64 data: URL, got {url[:60]!r}")
    return head[5:-7], data


def data_url(media_type: str, data: str) -> dict[str, Any]:
    """Return an `image_url` part."""
    return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{data}"}}


def arguments_of(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool call's arguments as an object; text that is not one becomes its `input`."""
    text = call["function"].get("arguments") or "{}"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"input": text}
