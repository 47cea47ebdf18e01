"""A fake vLLM server over HTTP, on a real socket, with faults planted by tests.

It samples nothing: a reply contains the tokens 0, 1, 2, … with the log-probabilities -0.5, -1.5, …
"""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from support.chat_server import ChatServer

CONTEXT = 64
MODEL = "tiny"
CUT = 0
"""In place of a status: the connection is cut in the middle of the reply."""

_TOKENS = ("/inference/v1/generate", "/v1/completions")


class Receiver:
    """The workers of a server that receives weights over gloo."""

    def __init__(self) -> None:
        self.tensors: list[dict[str, Any]] = []
        """Received tensors by name, for each worker."""
        self.joined: list[int] = []
        """Ranks of the workers, in the order of joining."""
        self._groups: list[Any] = []
        self._stores: list[Any] = []

    def join(self, info: dict[str, Any], workers: int) -> None:
        """Join the sender's group with all workers at the same time."""
        from torch.distributed import ProcessGroupGloo, TCPStore  # type: ignore[attr-defined]

        span = timedelta(seconds=info["deadline"])
        ranks = [info["rank_offset"] + number for number in range(workers)]

        def join(rank: int) -> Any:
            address = info["master_address"], info["master_port"]
            store = TCPStore(*address, is_master=False, timeout=span)
            return store, ProcessGroupGloo(store, rank, info["world_size"], span)

        with ThreadPoolExecutor(workers) as threads:
            members = list(threads.map(join, ranks))
        self._stores, self._groups = [list(part) for part in zip(*members, strict=True)]
        self.joined += ranks

    def receive(self, info: dict[str, Any]) -> None:
        """Receive all tensors with all workers."""
        import torch

        def receive(group: Any) -> dict[str, Any]:
            tensors = {}
            described = zip(info["names"], info["dtype_names"], info["shapes"], strict=True)
            for name, dtype, shape in described:
                tensors[name] = torch.empty(shape, dtype=getattr(torch, dtype))
                group.broadcast(tensors[name], 0).wait()
            return tensors

        with ThreadPoolExecutor(len(self._groups)) as threads:
            self.tensors = list(threads.map(receive, self._groups))


@dataclass
class Behaviour:
    """Behaviour of the server; changed by tests."""

    tokens_route: int = 200
    """Status of `/inference/v1/generate`."""

    completions: int = 200
    control: bool = True
    """Whether it was started with the control routes."""

    raw: bool = False
    """Whether log-probabilities are of the raw logits."""

    faults: list[tuple[int, Any] | None] = field(default_factory=list)
    """Status and body of the next replies to requests for tokens, instead of samples; None for a
    reply without a fault."""

    broken_path: str = ""
    """This control route fails."""

    takes_version: bool = True
    """Whether it stores the version it receives."""

    shift: float = 0.0
    """Added to every log-probability."""

    label: str = "default"
    world: int = 1
    """Number of workers; each joins the group of a transfer."""

    models: tuple[str, ...] = (MODEL,)
    context: int = CONTEXT


class TokenServer(ChatServer):
    """A server in its own thread, until closed."""

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.root = self.url.removesuffix("/v1")
        self.behaviour = Behaviour()
        self.paths: Counter[str] = Counter()
        self.posted: list[tuple[str, Any]] = []
        """Control routes in the order of their calls, with what was posted."""
        self.receiver = Receiver()

    def reset(self) -> Behaviour:
        """Reset all planted faults and counters."""
        self.behaviour = Behaviour()
        self.paths.clear()
        self.posted.clear()
        self.requests.clear()
        self.receiver = Receiver()
        return self.behaviour

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        raw, more = b"", True
        while more:
            part = await receive()
            raw, more = raw + part.get("body", b""), part.get("more_body", False)
        self.paths[scope["path"]] += 1
        body = json.loads(raw) if raw else {}
        status, reply = self._answer(scope["path"], body)
        if scope["method"] == "POST" and scope["path"] not in _TOKENS:
            query = scope["query_string"].decode()
            self.posted.append((f"{scope['path']}?{query}" if query else scope["path"], body))
        if status == CUT:
            await self._cut(send)
            return
        said = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        start = {"type": "http.response.start", "status": status, "headers": []}
        await send(start | {"headers": [(b"content-length", str(len(said)).encode())]})
        await send({"type": "http.response.body", "body": said})

    async def _cut(self, send: Any) -> None:
        """Begin a reply and end the connection before its end."""
        headers = [(b"content-length", b"1000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"choices": [', "more_body": True})
        raise ConnectionAbortedError("cut on purpose")

    def _answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        now = self.behaviour
        if path == "/v1/models":
            rows = [{"id": name, "max_model_len": now.context} for name in now.models]
            return 200, {"data": rows}
        if path == "/health":
            return 200, {}
        if path in _TOKENS:
            self.requests.append(body)
            return self._continued(path, body)
        if path == now.broken_path:
            return 500, {"error": "broken on purpose"}
        if not now.control and path != "/inference/v1/abort_requests":
            return 404, {"detail": "Not Found"}
        if path == "/get_world_size":
            return 200, {"world_size": now.world}
        if path == "/init_weight_transfer_engine":
            self.receiver.join(body["init_info"], now.world)
        if path == "/update_weights":
            self.receiver.receive(body["update_info"])
        named = {"/update_weight_version": "new_version", "/finish_weight_update": "weight_version"}
        if path in named and now.takes_version:
            now.label = body[named[path]]
        return 200, {"weight_version": now.label}

    def _continued(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        now = self.behaviour
        status = now.tokens_route if path.startswith("/inference") else now.completions
        if status != 200:
            return status, {"error": "not here"}
        sampling = body.get("sampling_params", body)
        opening = sampling["top_k"] == 1
        fault = now.faults.pop(0) if now.faults and not opening else None
        if fault is not None:
            return fault
        count = sampling["max_tokens"]
        first = 0.0 if opening and not now.raw else -0.5
        values = [first - n + now.shift for n in range(count)]
        ids = list(range(count))
        choice: dict[str, Any] = {"token_ids": ids, "finish_reason": "length"}
        if path == "/v1/completions":
            names = [f"token_id:{token}" for token in ids]
            choice["logprobs"] = {"tokens": names, "token_logprobs": values}
            return 200, {"choices": [choice]}
        rows = [{"token_id": t, "logprob": v} for t, v in zip(ids, values, strict=True)]
        choice["logprobs"] = {"content": rows}
        choice["weight_versions"] = [{"version": now.label, "start": 0, "end": count}]
        prompt = [None, *({str(t): {"logprob": -1.0}} for t in body["token_ids"][1:])]
        return 200, {"choices": [choice], "prompt_logprobs": prompt}
