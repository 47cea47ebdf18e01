"""The gateway as an ASGI application: four chat APIs, and the token routes of a checkpoint."""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from itertools import count
from typing import Any, NamedTuple

from hexathlon.baselines.engines.apis.anthropic import AnthropicMessages
from hexathlon.baselines.engines.apis.base import ApiCall, ChatApi, JsonBody, sse
from hexathlon.baselines.engines.apis.chat import ChatCompletions, error_body
from hexathlon.baselines.engines.apis.gemini import Gemini
from hexathlon.baselines.engines.apis.responses import OpenAIResponses
from hexathlon.baselines.engines.errors import BadRequest, EngineError
from hexathlon.baselines.engines.replies import Completion
from hexathlon.baselines.gateway.answers import Answering, ModelAnswer

__all__ = ["APIS", "Gateway", "HttpReply", "Responder", "read_body", "streamed"]

_MAX_BODY = 64 * 2**20
_STATUS = {
    "rate_limited": 429,
    "timeout": 504,
    "connection": 502,
    "malformed_reply": 502,
    "server_error": 502,
    "auth": 401,
    "unknown_model": 404,
    "context_overflow": 400,
    "bad_request": 400,
    "refused": 400,
}
"""HTTP status by the kind of an engine's error; 500 for others."""

_CHAT, _GEMINI = ChatCompletions(), Gemini()
_POSTED: dict[str, ChatApi] = {
    "/v1/chat/completions": _CHAT,
    "/v1/responses": OpenAIResponses(),
    "/v1/messages": AnthropicMessages(),
}


APIS: dict[str, ChatApi] = {api.name: api for api in (*_POSTED.values(), _GEMINI)}
"""The chat APIs by name."""

_GEMINI_PATH = re.compile(r"/v1(?:beta|alpha)?/models/[^/:]+:(?:g|streamG)enerateContent")


class HttpReply(NamedTuple):
    """A reply to send: a JSON body, or the events of a stream."""

    body: JsonBody
    status: int = 200
    events: AsyncIterator[str] | None = None


Responder = Callable[[JsonBody], Awaitable[HttpReply]]
"""Answers requests of one path."""


class Gateway:
    """Serves a model.

    Args:
        model: What answers.
        more: Further paths that are posted to.
        on_call: Called with each answered request's API, body and answer.
    """

    def __init__(
        self,
        model: Answering,
        more: dict[str, Responder] | None = None,
        on_call: Callable[[str, JsonBody, ModelAnswer], None] | None = None,
    ) -> None:
        self._model = model
        self._more = more or {}
        self._on_call = on_call
        self._numbers = count()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        method, path = scope["method"], scope["path"]
        api = self._api(path)
        try:
            if method == "GET":
                reply = self._got(path)
            else:
                reply = await self._posted(path, api, await read_body(receive))
        except EngineError as error:
            reply = HttpReply(*_error(api or _CHAT, error))
        await _send(receive, send, reply)

    def _api(self, path: str) -> ChatApi | None:
        return _GEMINI if _GEMINI_PATH.fullmatch(path) else _POSTED.get(path)

    def _got(self, path: str) -> HttpReply:
        row = {"id": self._model.name, "object": "model", "created": 0, "owned_by": "hexathlon"}
        if self._model.context:
            row["max_model_len"] = self._model.context
        if path == "/health":
            return HttpReply({})
        if path in self._more or path in _POSTED:
            return HttpReply(error_body("method", f"{path} is posted to"), 405)
        if path == "/v1/models":
            return HttpReply({"object": "list", "data": [row]})
        if path.startswith("/v1/models/"):
            return HttpReply(row)
        return _missing(path)

    async def _posted(self, path: str, api: ChatApi | None, body: JsonBody) -> HttpReply:
        if path in self._more:
            return await self._more[path](body)
        if path == "/v1/messages/count_tokens":
            return HttpReply({"input_tokens": _estimate(body)})
        if path.endswith(":countTokens"):
            return HttpReply({"totalTokens": _estimate(body)})
        if api is None:
            return _missing(path)
        call = api.parse(body)
        if api is _GEMINI:
            model, verb = path.rpartition("/")[2].split(":")
            call = call._replace(model=model, stream=verb == "streamGenerateContent")
        name = f"{next(self._numbers):08d}"
        if call.stream:
            return HttpReply({}, events=await self._streamed(api, call, body, name))
        return HttpReply(await self._written(api, call, body, name))

    async def _written(self, api: ChatApi, call: ApiCall, body: JsonBody, name: str) -> JsonBody:
        """Return a reply's body."""
        answer = await self._model.answer(call)
        if self._on_call is not None:
            self._on_call(api.name, body, answer)
        reply = answer.reply
        completion = Completion(reply.message, reply.finish, reply.usage)
        written = api.write(completion, call, name)
        if api is _CHAT:
            _add_tokens(written, body, answer)
        return written

    async def _streamed(
        self, api: ChatApi, call: ApiCall, body: JsonBody, name: str
    ) -> AsyncIterator[str]:
        """Return a reply's events, once there is a first one; an error before it is raised."""
        stream = api.stream(call, name)

        async def answered(tell: Callable[[str], None]) -> JsonBody:
            return await self._written(api, call._replace(on_text=tell), body, name)

        pieces = streamed(answered)
        first = await anext(pieces)

        async def events() -> AsyncIterator[str]:
            async with contextlib.aclosing(pieces):
                piece: str | JsonBody = first
                while isinstance(piece, str):
                    yield "".join(stream.piece(piece))
                    try:
                        piece = await anext(pieces)
                    except EngineError as error:
                        yield sse(_error(api, error)[0])
                        return
                yield "".join(stream.end(piece))

        return events()


def _add_tokens(written: JsonBody, body: JsonBody, answer: ModelAnswer) -> None:
    """Add log-probabilities and token ids to a chat completion, if they were asked for."""
    sampled = answer.sampled
    if body.get("logprobs"):
        if sampled is None:
            raise BadRequest("this model's log-probabilities are unknown here")
        pairs = zip(sampled.pieces, sampled.reply.log_probabilities, strict=True)
        rows = [
            {"token": text, "logprob": value, "bytes": [*text.encode()], "top_logprobs": []}
            for text, value in pairs
        ]
        written["choices"][0]["logprobs"] = {"content": rows, "refusal": None}
    if body.get("return_token_ids") and sampled is not None:
        written["choices"][0]["token_ids"] = list(sampled.reply.ids)
        written["prompt_token_ids"] = list(sampled.prompt)


async def streamed(
    answer: Callable[[Callable[[str], None]], Awaitable[JsonBody]],
) -> AsyncGenerator[str | JsonBody, None]:
    """Yield the pieces that an answer tells, then the answer; it is cancelled with the iterator."""
    pieces: asyncio.Queue[str | None] = asyncio.Queue()
    task = asyncio.ensure_future(answer(pieces.put_nowait))
    task.add_done_callback(lambda _: pieces.put_nowait(None))
    try:
        while (piece := await pieces.get()) is not None:
            yield piece
        yield task.result()
    finally:
        task.cancel()


def _error(api: ChatApi, error: EngineError) -> tuple[JsonBody, int]:
    status = _STATUS.get(error.kind, 500)
    return api.error(status, error.kind, str(error)), status


def _missing(path: str) -> HttpReply:
    return HttpReply(error_body("not_found", f"there is nothing at {path}"), 404)


def _estimate(body: JsonBody) -> int:
    """Return an estimate of a prompt's tokens, for clients that plan with it."""
    return len(json.dumps(body)) // 4


async def read_body(receive: Any) -> JsonBody:
    """Return the JSON object that a client posted.

    Raises:
        BadRequest: If it is not one.
    """
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        more = message.get("more_body", False)
        if size > _MAX_BODY:
            raise BadRequest(f"the request exceeds {_MAX_BODY} bytes")
    try:
        body = json.loads(b"".join(parts) or b"{}")
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the request is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise BadRequest(f"expected a JSON object, got a {type(body).__name__}")
    return body


async def _send(receive: Any, send: Any, reply: HttpReply) -> None:
    if reply.events is not None:
        await _send_events(receive, send, reply.status, reply.events)
        return
    raw = json.dumps(reply.body, ensure_ascii=False).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(raw))]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": raw})


async def _send_events(receive: Any, send: Any, status: int, events: AsyncIterator[str]) -> None:
    """Send the events as they come, until the client has gone."""
    headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    gone = asyncio.ensure_future(receive())
    try:
        async for text in events:
            if gone.done():
                break
            await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        gone.cancel()
        await events.aclose()  # type: ignore[attr-defined]
