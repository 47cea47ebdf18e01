"""A fake vLLM server over HTTP, on a real socket, with faults planted by tests.

It samples nothing: a reply contains the tokens 0, 1, 2, … with the log-probabilities -0.5, -1.5, …
"""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from support.chat_server import ChatServer

CONTEXT = 64
MODEL = "tiny"


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

    faults: list[tuple[int, Any]] = field(default_factory=list)
    """Status and body of the next replies to requests for tokens, instead of samples."""

    broken_path: str = ""
    """This control route fails."""

    takes_version: bool = True
    """Whether it stores the version it receives."""

    shift: float = 0.0
    """Added to every log-probability."""

    label: str = "default"
    models: tuple[str, ...] = (MODEL,)


class TokenServer(ChatServer):
    """A server in its own thread, until closed."""

    def __init__(self) -> None:
        super().__init__()
        self.root = self.url.removesuffix("/v1")
        self.behaviour = Behaviour()
        self.paths: Counter[str] = Counter()

    def reset(self) -> Behaviour:
        """Reset all planted faults and counters."""
        self.behaviour = Behaviour()
        self.paths.clear()
        self.requests.clear()
        return self.behaviour

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        raw, more = b"", True
        while more:
            part = await receive()
            raw, more = raw + part.get("body", b""), part.get("more_body", False)
        self.paths[scope["path"]] += 1
        body = json.loads(raw) if raw else {}
        status, reply = self._answer(scope["path"], body)
        said = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        start = {"type": "http.response.start", "status": status, "headers": []}
        await send(start | {"headers": [(b"content-length", str(len(said)).encode())]})
        await send({"type": "http.response.body", "body": said})

    def _answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        now = self.behaviour
        if path == "/v1/models":
            rows = [{"id": name, "max_model_len": CONTEXT} for name in now.models]
            return 200, {"data": rows}
        if path in ("/inference/v1/generate", "/v1/completions"):
            self.requests.append(body)
            return self._continued(path, body)
        if path == now.broken_path:
            return 500, {"error": "broken on purpose"}
        if not now.control and path != "/inference/v1/abort_requests":
            return 404, {"detail": "Not Found"}
        if path == "/update_weight_version" and now.takes_version:
            now.label = body["new_version"]
        return 200, {"weight_version": now.label}

    def _continued(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        now = self.behaviour
        status = now.tokens_route if path.startswith("/inference") else now.completions
        if status != 200:
            return status, {"error": "not here"}
        sampling = body.get("sampling_params", body)
        opening = sampling["top_k"] == 1
        if now.faults and not opening:
            return now.faults.pop(0)
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
