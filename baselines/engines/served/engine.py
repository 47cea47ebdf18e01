"""A vLLM server as a token engine: token ids over HTTP, without decoding.

Log-probabilities must be those of the sampling distribution, after temperature and truncation,
which requires a server started with `--logprobs-mode processed_logprobs`; `ServedEngine.open`
checks it. Weights are loaded from a directory that the server can read. After each update the
server's version is read back and its log-probabilities are compared with the learner's. No reply is
returned before that comparison, nor after a failed one.
"""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from hexathlon.baselines.engines.comparison import LogProbabilityProbe
from hexathlon.baselines.engines.errors import (
    ContextOverflow,
    EngineError,
    EngineMissing,
    MalformedReply,
    ReplyTimeout,
    UnknownModel,
    VersionDiffers,
)
from hexathlon.baselines.engines.limiter import AdaptiveLimit
from hexathlon.baselines.engines.sending import HttpSettings, Sender, bounded
from hexathlon.baselines.engines.served.opening import served_model, usable_route
from hexathlon.baselines.engines.served.routes import (
    Route,
    ServedReply,
)
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.tokens.requests import Span, TokenReply, TokenRequest, TokenSampling

__all__ = ["ServedEngine"]

WeightLoading = Callable[["ServedEngine"], Awaitable[None]]
"""Replaces the weights of a paused server and sets their version."""

_ABORT_DEADLINE = 10.0
"""Seconds that aborted requests may take to end."""

_ABORT_INTERVAL = 0.05

_NO_CONTROL = (
    "weight updates and sleep need a vLLM server started with --enable-scale-out and "
    "VLLM_SERVER_DEV_MODE=1"
)

_TIED = ". Tied embeddings are not replaced on a CPU server: untie them, or restart the server"

_INITIAL_LABEL = "default"
"""Version label of a server before its first update."""


class ServedEngine:
    """Continues token sequences on a vLLM server; created by `open`.

    Args:
        sender: Connections to the server, whose base address has no `/v1`.
        route: Endpoint for continuations.
        model: The model's name on the server.
        context: Maximum number of tokens of a prompt and its reply.
        version: Policy version of the server.
        deadline: Seconds that one request may take, including retries and waiting.
    """

    def __init__(
        self,
        sender: Sender,
        route: Route,
        model: str,
        context: int,
        version: int,
        deadline: float | None = None,
    ) -> None:
        self.route = route
        self.model = model
        self.context = context
        self._sender = sender
        self._version = version
        self._deadline = deadline
        self._prefix = f"hexathlon-{secrets.token_hex(4)}"
        self._requests = 0
        self._sessions: dict[str, str] = {}
        self._settled = asyncio.Event()
        self._settled.set()
        self._failure: EngineError | None = None
        self._controlled = False
        self._closed = self._asleep = False
        self._idle = asyncio.Event()
        self._idle.set()

    @classmethod
    async def open(
        cls,
        settings: HttpSettings,
        limit: AdaptiveLimit | None = None,
        *,
        deadline: float | None = None,
        client: httpx.AsyncClient | None = None,
    ) -> "ServedEngine":
        """Connect to a server and check its model, its endpoints and its log-probabilities.

        Args:
            settings: The server; an empty model name means its only model.
            limit: Shared limit of concurrent requests; the default leaves queueing to the server.
            deadline: Seconds that one request may take, including retries and waiting.
            client: An HTTP client with its own connections (for tests).

        Raises:
            EngineMissing: If log-probabilities are not those of the sampling distribution.
            EngineError: If the server does not answer, or is not a vLLM server.
        """
        limit = limit or AdaptiveLimit(256, ceiling=1024)
        sender = Sender(settings, limit, client)
        try:
            model, context = await served_model(sender)
            route = await usable_route(sender, model)
            engine = cls(sender, route, model, context, 0, deadline)
            if route.versions:
                await engine._detect_control()
        except BaseException:
            await sender.close()
            raise
        return engine

    @property
    def version(self) -> int:
        """Version of the current policy."""
        return self._version

    async def generate(self, request: TokenRequest) -> TokenReply:
        """Continue a prompt.

        Raises:
            ContextOverflow: If the prompt leaves no room for a reply.
            WeightsDiffer: If the last update failed its verification.
            EngineError: If there is no reply; transient errors have been retried.
        """
        if self._closed:
            raise EngineError("the engine is closed")
        self._check_length(request.ids)
        await self._verified()
        before = self._version
        with self._named(request.session) as name:
            reply = await self._sample(request, name)
        await self._verified()
        # Routes without version spans do not support updates, so the version has not changed.
        spans = [Span(_version_of(label), start, end) for label, start, end in reply.spans]
        if not spans and reply.ids:
            spans = [Span(before, 0, len(reply.ids))]
        return TokenReply(reply.ids, reply.log_probabilities, reply.finish, spans)

    async def abort(self, session: str | None = None) -> None:
        """Abort the request of a session, or all of this engine; they return their tokens so far.

        Raises:
            EngineMissing: If the endpoint does not support it; cancel the caller instead.
            ReplyTimeout: If the requests did not end in time.
        """
        if not self.route.versions:
            raise EngineMissing(
                f"{self.route.path} cannot abort requests; cancel the caller instead"
            )
        names = [n for n, owner in self._sessions.items() if session in (None, owner)]
        try:
            async with asyncio.timeout(_ABORT_DEADLINE):
                # Repeated, because the server may not have received a new request yet.
                while names := [name for name in names if name in self._sessions]:
                    request_ids = [f"generate-tokens-{name}" for name in names]
                    body = {"request_ids": request_ids}
                    await self.control("/inference/v1/abort_requests", body)
                    await asyncio.sleep(_ABORT_INTERVAL)
        except TimeoutError:
            raise ReplyTimeout(
                f"{len(names)} aborted requests did not end within {_ABORT_DEADLINE:g} s"
            ) from None

    async def clear(self) -> None:
        """Abort all requests of this engine and reset the server's prefix cache.

        Raises:
            EngineError: If the server failed to do so.
        """
        if self._sessions:
            await self.abort()
        if self._controlled:
            await self.control("/reset_prefix_cache")

    def forget(self, session: str) -> None:
        """Do nothing: the server has no sessions and manages its cache itself."""

    async def update(self, weights: Weights, version: int) -> float:
        """Load weights on the server and verify them; see `TokenEngine.update`.

        Args:
            weights: A directory that the server can read under the same path, or a transfer.
            version: The new policy version.

        Returns:
            The maximum difference between log-probabilities of engine and learner.

        Raises:
            VersionDiffers: If the server reports a different version afterwards.
            WeightsDiffer: If its log-probabilities differ from the learner's.
            EngineError: If the server failed. After any of these errors, no token is sampled until
                an update succeeds.
        """
        if not self._controlled:
            raise EngineMissing(_NO_CONTROL)
        if not self._settled.is_set():
            raise EngineError("another update is in progress: wait until it has finished")
        load = weights.transfer or self._reading(weights.folder, version)
        self._settled.clear()
        try:
            await self._replace(load, version)
            difference = await self.compare(weights.probe)
        except BaseException as error:
            self._failure = error if isinstance(error, EngineError) else _interrupted(version)
            raise
        else:
            self._version, self._failure = version, None
        finally:
            self._settled.set()
        return difference

    async def compare(self, probe: LogProbabilityProbe) -> float:
        """Return the maximum difference between log-probabilities of server and learner.

        Raises:
            WeightsDiffer: If the difference exceeds the probe's tolerance.
        """
        sampling = TokenSampling(temperature=0.0, max_tokens=probe.drawn)
        reply = await self._sample(TokenRequest(probe.ids, sampling), self._prefix, prompt=True)
        values = [*reply.prompt, *reply.log_probabilities]
        return probe.difference([*probe.ids, *reply.ids], values, _TIED)

    async def control(self, path: str, body: dict[str, Any] | None = None) -> None:
        """Call a control route of the server, by POST.

        Raises:
            EngineError: If the server failed.
        """
        await self._sender.ask(self._url(path), json.dumps(body or {}).encode())

    async def sleep(self) -> None:
        """Release the memory of weights and cache until the next update brings new weights.

        Raises:
            EngineMissing: If the server was not started with `--enable-sleep-mode` and the control
                routes.
            EngineError: If the server failed.
        """
        if not self._controlled:
            raise EngineMissing(_NO_CONTROL)
        await self.control("/sleep?level=2&mode=abort")
        self._asleep = True

    async def world(self) -> int:
        """Return the number of the server's workers: tensor, pipeline and data parallel."""
        body = await self._sender.ask(self._url("/get_world_size"))
        try:
            return int(json.loads(body)["world_size"])
        except (ValueError, LookupError, TypeError) as error:
            raise MalformedReply(f"/get_world_size has no size: {error!r}") from None

    @property
    def url(self) -> str:
        """Base address of the server."""
        return self._sender.settings.url

    async def close(self) -> None:
        """Abort requests in flight and close the connections."""
        self._closed = True
        if self.route.versions:
            with suppress(EngineError):  # the server may be gone, with all its requests
                await self.abort()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), _ABORT_DEADLINE)
        await self._sender.close()

    def _reading(self, folder: Path | None, version: int) -> WeightLoading:
        """Return a function that makes a server read weights from a directory."""
        if folder is None:
            raise EngineError("a server loads weights from a directory: write the model to one")
        if not any(folder.glob("*.safetensors")):
            # Checked here, because a failed load would crash the server.
            raise EngineError(f"{folder} has no safetensors: expected the weights of a checkpoint")
        arguments = {"weights_path": str(folder.resolve())}

        async def read(engine: "ServedEngine") -> None:
            reload = {"method": "reload_weights", "kwargs": arguments}
            await engine.control("/collective_rpc", reload)
            await engine.control("/update_weight_version", {"new_version": str(version)})

        return read

    async def _replace(self, load: WeightLoading, version: int) -> None:
        """Replace the weights between two steps of the server and read the version back."""
        try:
            await self.control("/pause?mode=keep")
            if self._asleep:
                await self.control("/wake_up?tags=weights")
            await load(self)
            if self._asleep:
                await self.control("/wake_up?tags=kv_cache")
                self._asleep = False
        except BaseException:
            with suppress(EngineError):  # report the first failure
                await self.control("/resume")
            raise
        await self.control("/resume")
        reported = await self._server_version()
        if reported != version:
            raise VersionDiffers(f"the server reports version {reported}, expected {version}")

    async def _detect_control(self) -> None:
        try:
            self._version = await self._server_version()
        except UnknownModel:
            return  # without control routes, a server keeps its weights
        self._controlled = True

    async def _server_version(self) -> int:
        try:
            label = json.loads(await self._sender.ask(self._url("/weight_info")))["weight_version"]
        except (ValueError, LookupError, TypeError) as error:
            raise MalformedReply(f"/weight_info has no version: {error!r}") from None
        return _version_of(str(label))

    async def _sample(
        self, request: TokenRequest, name: str, *, prompt: bool = False
    ) -> ServedReply:
        async def read(response: httpx.Response) -> ServedReply:
            return self.route.read(await bounded(response))

        body = self.route.body(request, name, self.model, prompt=prompt)
        sent = await self._sender.post(self._url(self.route.path), body, read, self._deadline)
        return sent.value

    async def _verified(self) -> None:
        """Wait for an update in progress, and raise if the last one failed."""
        await self._settled.wait()
        if self._failure is not None:
            raise type(self._failure)(str(self._failure))

    def _check_length(self, ids: list[int]) -> None:
        if not ids:
            raise EngineError("the prompt is empty: expected at least one token")
        if len(ids) >= self.context:
            raise ContextOverflow(
                f"a prompt of {len(ids)} tokens leaves no room for a reply in the model's context "
                f"of {self.context}"
            )

    @contextmanager
    def _named(self, session: str) -> Iterator[str]:
        self._requests += 1
        name = f"{self._prefix}-{self._requests}"
        self._sessions[name] = session
        self._idle.clear()
        try:
            yield name
        finally:
            del self._sessions[name]
            if not self._sessions:
                self._idle.set()

    def _url(self, path: str) -> str:
        return f"{self._sender.settings.url}{path}"


def _version_of(label: str) -> int:
    if label == _INITIAL_LABEL:
        return 0
    try:
        return int(label)
    except ValueError:
        raise MalformedReply(f"expected a number as weight version, got {label!r}") from None


def _interrupted(version: int) -> EngineError:
    return EngineError(f"the update to version {version} was interrupted: update again")
