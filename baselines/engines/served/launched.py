"""A vLLM server started for a checkpoint, as a token engine that restarts it when it dies.

The server starts with the first request, or by `start`, and stops with `close`. After a restart it
reloads the weights of the last update, and must reproduce the log-probabilities that were verified
then; the requests that were in flight are resent.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from hexathlon.baselines.engines.comparison import LogProbabilityProbe
from hexathlon.baselines.engines.errors import (
    ConnectionFailed,
    EngineError,
    EngineMissing,
    ServerError,
    WeightsDiffer,
)
from hexathlon.baselines.engines.sending import HttpSettings
from hexathlon.baselines.engines.served.engine import ServedEngine
from hexathlon.baselines.engines.served.server import VllmServer, vllm_python
from hexathlon.baselines.engines.served.settings import VllmSettings
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.tokens.requests import TokenReply, TokenRequest

__all__ = ["LaunchedEngine", "replicas_of"]

T = TypeVar("T")

_DYING = 5.0
"""Seconds to wait for the exit of a server that no longer answers."""


def replicas_of(
    checkpoint: Path,
    folder: Path,
    settings: VllmSettings,
    count: int = 1,
    deadline: float | None = None,
    restarts: int = 3,
) -> list["LaunchedEngine"]:
    """Return engines of a checkpoint whose servers start with their first request.

    Args:
        checkpoint: The checkpoint directory that they serve.
        folder: Takes the servers' output, in `vllm.log` or `vllm-replica-N.log`.
        settings: Settings for starting them; `context` is required.
        count: Number of servers.
        deadline: Seconds that one request may take, including retries and waiting.
        restarts: Maximum number of restarts of a server that died.

    Raises:
        EngineMissing: If there is no interpreter with vLLM.
    """
    several = [f"vllm-replica-{number}.log" for number in range(count)]
    names = ["vllm.log"] if count == 1 else several
    return [
        LaunchedEngine(checkpoint, folder / name, settings, deadline, restarts) for name in names
    ]


class LaunchedEngine:
    """A vLLM server that hexathlon starts when it is needed.

    Args:
        checkpoint: The checkpoint directory that it serves.
        log: File for the server's output; restarts have files beside it.
        settings: Settings for starting it; `context` is required.
        deadline: Seconds that one request may take, including retries and waiting.
        restarts: Maximum number of restarts of a server that died.
        backoff: Seconds before the first retry of a request.

    Raises:
        EngineMissing: If there is no interpreter with vLLM.
    """

    def __init__(
        self,
        checkpoint: Path,
        log: Path,
        settings: VllmSettings,
        deadline: float | None = None,
        restarts: int = 3,
        backoff: float = 0.5,
    ) -> None:
        self.checkpoint, self.log, self.settings = checkpoint, log, settings
        self.restarts = 0
        """Number of restarts so far."""
        self._most_restarts = restarts
        self._python = vllm_python()
        self._deadline, self._backoff = deadline, backoff
        self._server: VllmServer | None = None
        self._engine: ServedEngine | None = None
        self._starting = asyncio.Lock()
        self._published: _Published | None = None
        self._closed = False

    @property
    def version(self) -> int:
        """Version of the current policy."""
        return 0 if self._engine is None else self._engine.version

    @property
    def context(self) -> int:
        """Maximum number of tokens of a prompt and its reply."""
        return self.settings.context if self._engine is None else self._engine.context

    @property
    def name(self) -> str:
        """Name in error messages: that of the log."""
        return self.log.stem

    @property
    def server(self) -> VllmServer | None:
        """The running server; None before the first request."""
        return self._server

    async def start(self) -> None:
        """Start the server now, and wait until it answers.

        Raises:
            EngineMissing: If it does not start; the message contains the tail of its log.
        """
        await self._ready()

    async def generate(self, request: TokenRequest) -> TokenReply:
        """Continue a prompt; see `ServedEngine.generate`.

        Raises:
            EngineMissing: If the server does not start, or died too often.
        """
        return await self._with_restarts(lambda engine: engine.generate(request))

    def forget(self, session: str) -> None:
        """Do nothing: the server has no sessions and manages its cache itself."""

    async def abort(self, session: str | None = None) -> None:
        """Abort the request of a session, or all; they return the tokens sampled so far."""
        if self._engine is not None:
            await self._engine.abort(session)

    async def clear(self) -> None:
        """Abort all requests and reset the server's prefix cache."""
        if self._engine is not None:
            await self._with_restarts(lambda engine: engine.clear())

    async def sleep(self) -> None:
        """Release the server's memory until the next update; see `ServedEngine.sleep`."""
        if self._engine is not None:
            await self._with_restarts(lambda engine: engine.sleep())

    async def update(self, weights: Weights, version: int) -> float:
        """Load weights on the server and verify them; see `ServedEngine.update`.

        Args:
            weights: A directory that the server can read; a restarted server reads it again, so it
                must exist until the next update.
            version: The new policy version.
        """
        published = _Published(weights, version)

        async def updated(engine: ServedEngine) -> float:
            return await engine.update(published.first(), version)

        difference = await self._with_restarts(updated)
        self._published = published
        return difference

    async def close(self) -> None:
        """Abort requests in flight and stop the server."""
        self._closed = True
        engine, server = self._engine, self._server
        try:
            if engine is not None:
                await engine.close()
        finally:
            if server is not None:
                await server.stop_async()

    async def _with_restarts(self, work: Callable[[ServedEngine], Awaitable[T]]) -> T:
        """Run an operation; if the server dies, restart it and repeat the operation."""
        while True:
            engine = await self._ready()
            try:
                return await work(engine)
            except (ConnectionFailed, ServerError):
                if self._closed:
                    raise
                if engine is not self._engine:
                    continue  # another request has restarted the server
                assert self._server is not None
                if not await self._server.exits_within(_DYING):
                    raise

    async def _ready(self) -> ServedEngine:
        """Return the engine of a running server, which is started if there is none."""
        if self._closed:
            raise EngineError("the engine is closed")
        async with self._starting:
            if self._server is None:
                await self._start(self.log)
            elif self._server.exited is not None:
                await self._restart(self._server)
            assert self._engine is not None
            return self._engine

    async def _start(self, log: Path) -> None:
        server = VllmServer(self.checkpoint, log, self.settings, self._python)
        try:
            await server.start_async()
        except ConnectionFailed as error:
            # Every other request would fail in the same way, so this is not an infrastructure fault
            # of one trial.
            raise EngineMissing(f"the vLLM server does not start: {error}") from error
        try:
            requests = HttpSettings(server.url, backoff=self._backoff)
            self._engine = await ServedEngine.open(requests, deadline=self._deadline)
            if self._closed:
                raise EngineError("the engine is closed")
        except BaseException:
            await server.stop_async()
            raise
        self._server = server

    async def _restart(self, dead: VllmServer) -> None:
        engine = self._engine
        assert engine is not None
        status = f"exit status {dead.exited}: {dead.log_tail()}"
        if self.restarts >= self._most_restarts:
            raise EngineMissing(f"the vLLM server died {self.restarts + 1} times ({status})")
        await dead.stop_async()  # what is left of its processes
        self.restarts += 1
        await self._start(self.log.with_name(f"{self.log.stem}-{self.restarts}{self.log.suffix}"))
        await engine.close()
        if self._published is not None:
            assert self._engine is not None
            try:
                await self._engine.update(self._published.again(), self._published.version)
            except EngineError as error:
                raise type(error)(
                    f"after a restart of the vLLM server ({status}): {error}"
                ) from None


class _Published:
    """Weights of the last update, with the log-probabilities that verified them."""

    def __init__(self, weights: Weights, version: int) -> None:
        self.version = version
        self._weights = weights
        self._ids: list[int] = []
        self._expected: list[float] = []

    def first(self) -> Weights:
        """Return the weights, verified by the learner, whose scores are remembered."""

        def expect(ids: list[int]) -> list[float]:
            self._ids, self._expected = ids, self._weights.probe.expect(ids)
            return self._expected

        return replace(self._weights, probe=self._weights.probe._replace(expect=expect))

    def again(self) -> Weights:
        """Return the weights, verified by the remembered scores; the learner has moved on."""

        def expect(ids: list[int]) -> list[float]:
            if ids != self._ids:
                raise WeightsDiffer(
                    "the engine continues the probe with different tokens than before"
                )
            return self._expected

        probe: LogProbabilityProbe = self._weights.probe._replace(expect=expect)
        return replace(self._weights, probe=probe)
