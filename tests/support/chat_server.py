"""An OpenAI-compatible chat server on a real socket; the model's name selects a fault.

`solver` plays the toy event in the requested dialect. Every other name is one behaviour: see
`_BEHAVIOURS`. Received requests are stored in `requests`.
"""

import asyncio
import contextlib
import json
import re
import socket
from collections import Counter
from types import TracebackType
from typing import Any, Self

from support.serving import served

Body = dict[str, Any]
_USAGE = {
    "prompt_tokens": 11,
    "completion_tokens": 7,
    "prompt_tokens_details": {"cached_tokens": 3},
    "completion_tokens_details": {"reasoning_tokens": 2},
}


class ChatServer:
    """A server in its own thread, until closed."""

    def __init__(self, port: int = 0) -> None:
        self.requests: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.seen: Counter[str] = Counter()
        self.served = ["solver"]
        self.run_concurrently = self.most_at_once = 0
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", port))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        settings = {"interface": "asgi3", "log_level": "critical", "lifespan": "off", "ws": "none"}
        self._stack.enter_context(served(self._app, self._socket, **settings))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["path"].endswith("/models"):
            await _json(send, 200, {"data": [{"id": name} for name in self.served]})
            return
        raw, more = b"", True
        while more:
            part = await receive()
            raw, more = raw + part.get("body", b""), part.get("more_body", False)
        body = json.loads(raw)
        model = body["model"]
        self.requests.append(body)
        self.headers.append({k.decode(): v.decode() for k, v in scope["headers"]})
        self.seen[model] += 1
        self.run_concurrently += 1
        self.most_at_once = max(self.most_at_once, self.run_concurrently)
        try:
            await self._reply(receive, send, body, model)
        finally:
            self.run_concurrently -= 1

    async def _reply(self, receive: Any, send: Any, body: Body, model: str) -> None:
        name, _, times = model.partition("*")
        if times and self.seen[model] > int(times):
            name = "plain"
        message = {"role": "assistant", "content": "hello"}
        if name == "solver":
            await _answer(send, body, solve(body))
        elif name == "plain":
            await _answer(send, body, message)
        elif name == "rate-limited":
            await _json(send, 429, {"error": "slow down"}, ("retry-after", "0.05"))
        elif name == "rate-limited-for-long":
            await _json(send, 429, {"error": "slow down"}, ("retry-after", "9999"))
        elif name == "crowded":
            limit = 4
            if self.run_concurrently > limit:
                await _json(send, 429, {"error": "too many at once"}, ("retry-after", "0.01"))
            else:
                await asyncio.sleep(0.01)
                await _answer(send, body, solve(body))
        elif name == "slow":
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(receive(), 5)  # until the client disconnects
                return
            await _answer(send, body, message)
        elif name == "cut":
            whole = json.dumps({"choices": [{"message": message}]}).encode()
            await _start(send, 200, "application/json", ("content-length", str(len(whole))))
            await send({"type": "http.response.body", "body": whole[:20], "more_body": True})
            raise ConnectionAbortedError("closed on purpose")
        elif name == "cut-stream":
            await _start(send, 200, "text/event-stream")
            chunk = b'data: {"choices": [{"delta": {"content": "hel"}}]}\n\n'
            await send({"type": "http.response.body", "body": chunk, "more_body": False})
        elif name == "error-in-stream":
            await _start(send, 200, "text/event-stream")
            await send(
                {"type": "http.response.body", "body": b'data: {"error": "out of memory"}\n\n'}
            )
        elif name == "no-tools" and not body.get("tools"):
            await _answer(send, body, solve(body))
        else:
            status, reply = _BEHAVIOURS[name]
            await _json(send, status, reply)


def _said(content: Any, finish: str | None = None, usage: Any = None, **more: Any) -> Body:
    """Return a completion with this message content."""
    choice = {"message": {"content": content, **more}}
    if finish is not None:
        choice["finish_reason"] = finish
    return {"choices": [choice], **({} if usage is None else {"usage": usage})}


def _called(name: str, arguments: Any) -> Body:
    """Return a completion that calls one tool."""
    call = {"id": "a", "type": "function", "function": {"name": name, "arguments": arguments}}
    return _said(None, "tool_calls", _USAGE, tool_calls=[call])


_BEHAVIOURS: dict[str, tuple[int, Any]] = {
    "broken": (500, {"error": "broken"}),
    "overloaded": (503, {"error": "overloaded"}),
    "locked": (401, {"error": "wrong key"}),
    "unknown": (404, {"error": "no such model"}),
    "overflow": (400, {"error": "This model's maximum context length is 4096 tokens"}),
    "no-tools": (400, {"error": "tool choice requires --enable-auto-tool-choice"}),
    "picky": (422, {"error": "messages[0].role must be user"}),
    "garbage": (200, b"<html>hello</html>"),
    "half-json": (200, b'{"choices": [{"mess'),
    "list": (200, []),
    "no-choices": (200, {"choices": [], "usage": _USAGE}),
    "null-choices": (200, {"choices": None}),
    "no-usage": (200, _said("hi", "stop")),
    "odd-usage": (200, _said("hi", usage={"prompt_tokens": "many", "completion_tokens": -3})),
    "null-content": (200, _said(None, usage=_USAGE)),
    "parts": (200, _said([{"type": "text", "text": "a"}, {"text": "b"}])),
    "number": (200, _said(5)),
    "filtered": (200, _said("", "content_filter")),
    "refusal": (200, _said(None, refusal="I will not.")),
    "cut-off": (200, _said("a long", "length", _USAGE)),
    "wrong-tool": (200, _called("fly", "{}")),
    "bad-arguments": (200, _called("add", '{"amount": ')),
    "object-arguments": (200, _called("add", {"amount": 1})),
    "no-function": (200, _said(None, tool_calls=[{"id": "a"}])),
}


async def _start(send: Any, status: int, kind: str, *headers: tuple[str, str]) -> None:
    rows = [("content-type", kind), *headers]
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(name.encode(), value.encode()) for name, value in rows],
        }
    )


async def _json(send: Any, status: int, body: Any, *headers: tuple[str, str]) -> None:
    await _start(send, status, "application/json", *headers)
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    await send({"type": "http.response.body", "body": raw})


async def _answer(send: Any, body: Body, message: Body) -> None:
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": finish}
        await _json(send, 200, {"choices": [choice], "usage": _USAGE})
        return
    await _start(send, 200, "text/event-stream")
    for chunk in [*_deltas(message), {"choices": [{"delta": {}, "finish_reason": finish}]}]:
        await _event(send, json.dumps(chunk))
    await _event(send, json.dumps({"choices": [], "usage": _USAGE}))
    await _event(send, "[DONE]")
    await send({"type": "http.response.body", "body": b""})


def _deltas(message: Body) -> list[Body]:
    """Split a message into chunks of three characters, as in a stream."""
    deltas: list[Body] = [{"role": "assistant"}]
    text = message.get("content") or ""
    deltas += [{"content": text[at : at + 3]} for at in range(0, len(text), 3)]
    for index, call in enumerate(message.get("tool_calls") or ()):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        first = {"index": index, "id": call["id"], "function": {"name": name, "arguments": ""}}
        deltas.append({"tool_calls": [first]})
        for at in range(0, len(arguments), 3):
            part = {"index": index, "function": {"arguments": arguments[at : at + 3]}}
            deltas.append({"tool_calls": [part]})
    return [{"choices": [{"delta": delta}]} for delta in deltas]


async def _event(send: Any, data: str) -> None:
    await send(
        {"type": "http.response.body", "body": f"data: {data}\n\n".encode(), "more_body": True}
    )


def solve(body: Body) -> Body:
    """Play the toy event's next move, in the requested dialect."""
    text = "\n".join(str(message.get("content") or "") for message in body["messages"])
    if "counter" not in text:
        return {"role": "assistant", "content": "hello"}
    target = int(re.findall(r"Bring the counter to (\d+)", text)[0])
    stands = [int(n) for n in re.findall(r"The counter stands at (\d+)", text)]
    left = target - (stands[-1] if stands else 0)
    name, arguments = ("add", {"amount": min(left, 9)}) if left else ("submit", {})
    system = body["messages"][0]["content"]
    if body.get("tools"):
        function = {"name": name, "arguments": json.dumps(arguments)}
        calls = [{"id": f"call-{len(stands)}", "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    call = json.dumps({"name": name, "arguments": arguments})
    if "<tool_call>" in system:
        content = f"I think.\n<tool_call>\n{call}\n</tool_call>"
    elif "Action Input:" in system:
        content = f"Thought: on.\nAction: {name}\nAction Input: {json.dumps(arguments)}"
    else:
        content = f"```json\n{call}\n```"
    return {"role": "assistant", "content": content}
