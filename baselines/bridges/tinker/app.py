"""The Tinker API over HTTP, as an ASGI application."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import Any

from hexathlon.baselines.bridges.tinker.losses import UnknownLoss
from hexathlon.baselines.bridges.tinker.service import TinkerService
from hexathlon.baselines.bridges.tinker.wire import read_training
from hexathlon.baselines.engines.apis.base import JsonBody
from hexathlon.baselines.engines.errors import BadRequest, EngineError

__all__ = ["TinkerApp"]

_PREFIX = "/api/v1/"
_WAIT = 20.0
"""Seconds that one poll of a pending result waits."""

_SETTINGS = {
    "pjwt_auth_enabled": False,
    "parallel_fwdbwd_chunks": False,
    "proto_compress_fwdbwd": False,
    "use_pyqwest_transport": False,
}


class TinkerApp:
    """Serves a `TinkerService`.

    Args:
        service: Trains and samples.
    """

    def __init__(self, service: TinkerService) -> None:
        self._service = service
        self._numbers = count()
        self._pending: dict[str, asyncio.Task[JsonBody | bytes]] = {}
        self._direct: dict[str, Callable[[JsonBody], JsonBody]] = {
            "client/config": lambda body: dict(_SETTINGS),
            "client/dynamic_config": lambda body: {},
            "create_session": lambda body: {
                "type": "create_session", "session_id": f"session-{next(self._numbers)}",
            },
            "session_heartbeat": lambda body: {"type": "session_heartbeat"},
            "telemetry": lambda body: {"status": "accepted"},
            "get_info": service.info,
            "weights_info": service.weights_info,
            "create_sampling_session": service.open_sampler,
        }  # fmt: skip
        self._queued: dict[str, Callable[[JsonBody], Awaitable[JsonBody | bytes]]] = {
            "create_model": self._created,
            "optim_step": service.step,
            "save_weights": service.save,
            "save_weights_for_sampler": service.save_for_sampler,
            "load_weights": service.load,
            "asample": service.sample,
        }

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        name = scope["path"].removeprefix(_PREFIX)
        status = 200
        reply: JsonBody | bytes | None
        try:
            reply = await self._answer(name, await _read(receive))
        except (EngineError, UnknownLoss) as error:
            status, reply = 422, {"error": str(error), "category": "user"}
        if reply is None:
            status, reply = 404, {"detail": f"there is nothing at {scope['path']}"}
        binary = isinstance(reply, bytes)
        kind = b"application/x-protobuf" if binary else b"application/json"
        raw = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        headers = [(b"content-type", kind), (b"content-length", str(len(raw)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": raw})

    async def _answer(self, name: str, raw: bytes) -> JsonBody | bytes | None:
        if name == "forward_backward":
            request = read_training(raw)
            return self._later(self._service.train(request), request.model)
        if name == "get_server_capabilities":
            model = {"model_name": self._service.name, "trainable": True, "sampleable": True,
                     "max_context_length": self._service.context}  # fmt: skip
            return {"supported_models": [model]}
        if name == "healthz" or name.endswith("/finish"):
            return {"status": "ok"}
        if name.startswith("samplers/"):
            return self._service.sampler(name.removeprefix("samplers/"))
        body = _object(raw)
        if name == "retrieve_future":
            return await self._retrieved(str(body.get("request_id")))
        if name in self._direct:
            return self._direct[name](body)
        if name in self._queued:
            reply = self._later(self._queued[name](body), body.get("model_id"))
            samples = int(body.get("num_samples") or 1)
            names = [f"{reply['request_id']}-{number}" for number in range(samples)]
            return reply | ({"sample_sequence_ids": names} if name == "asample" else {})
        return None

    async def _created(self, body: JsonBody) -> JsonBody:
        return self._service.create_model(body)

    def _later(self, work: Awaitable[JsonBody | bytes], model: Any) -> JsonBody:
        """Start the work of a request, and return the name of its result."""
        name = f"request-{next(self._numbers)}"

        async def run() -> JsonBody | bytes:
            try:
                return await work
            except (EngineError, UnknownLoss, LookupError, ValueError) as error:
                return {"error": str(error) or repr(error), "category": "user"}

        self._pending[name] = asyncio.create_task(run())
        return {"request_id": name, **({} if model is None else {"model_id": model})}

    async def _retrieved(self, name: str) -> JsonBody | bytes:
        task = self._pending.get(name)
        if task is None:
            return {"error": f"there is no request {name}", "category": "user"}
        done, _ = await asyncio.wait({task}, timeout=_WAIT)
        if not done:
            return {"type": "try_again", "request_id": name, "queue_state": "active"}
        del self._pending[name]
        return task.result()


def _object(raw: bytes) -> JsonBody:
    try:
        body = json.loads(raw or b"{}")
    except ValueError:
        body = None
    if not isinstance(body, Mapping):
        raise BadRequest("the request is not a JSON object")
    return dict(body)


async def _read(receive: Any) -> bytes:
    parts, more = [], True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)
