"""Clients through which the processes of a cluster sample from engine replicas.

If a replica dies, Ray restarts it and resends its requests, so a client only waits; its errors name
the replica that did not answer. Needs no PyTorch, so that environment workers start fast.
"""

import asyncio
import itertools
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ray.exceptions import RayActorError, RayError, RayTaskError

from hexathlon.baselines.agents.base import Agent
from hexathlon.baselines.agents.policy import PolicyAgent, env_of_session
from hexathlon.baselines.cluster.broadcasts import RemoteServer
from hexathlon.baselines.cluster.stored import StoredWeights
from hexathlon.baselines.codecs import Codec
from hexathlon.baselines.engines.comparison import LogProbabilityProbe
from hexathlon.baselines.engines.errors import ConnectionFailed, EngineError, EngineMissing
from hexathlon.baselines.engines.replicated import ReplicatedEngine
from hexathlon.baselines.engines.tokens import TokenEngine
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.rollout.pools import family_of
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.tokens.requests import TokenReply, TokenRequest, TokenSampling

__all__ = ["ActorEngine", "Replica", "SampledReply", "WorkerAgent", "client"]

_SESSIONS = 1 << 40
"""Size of the range of session numbers reserved for each worker."""


_RESUMING = 60.0
"""Seconds that a replica may take to resume its server after a transfer that failed."""


class SampledReply(NamedTuple):
    """A reply and the version of the policy at the replica."""

    reply: TokenReply
    version: int


class Replica(NamedTuple):
    """An engine replica that any process of the cluster can use."""

    name: str
    handle: Any
    context: int
    version: int
    families: tuple[str, ...] = ()
    """Environment families that it serves; empty for all that no other replica names."""


@dataclass(frozen=True, slots=True)
class WorkerAgent:
    """Creates the policy's agent in a worker; picklable."""

    replicas: Sequence[Replica]
    deadline: float
    renderer: ChatRenderer
    codec: Codec
    sampling: TokenSampling

    def __call__(self, number: int) -> Agent:
        """Return the agent, whose sessions differ from those of all other workers.

        Args:
            number: Number of the worker.
        """
        engine = client(self.replicas, self.deadline)
        agent = PolicyAgent(engine, self.renderer, self.codec, self.sampling)
        agent.episodes = itertools.count(number * _SESSIONS)
        return agent


def client(replicas: Sequence[Replica], deadline: float) -> TokenEngine:
    """Return an engine that spreads requests over the replicas for their family."""
    by_family: dict[str, list[str]] = {}
    for replica in replicas:
        for family in replica.families or ("",):
            by_family.setdefault(family, []).append(replica.name)

    def preferred(session: str) -> Sequence[str]:
        family = family_of(env_of_session(session))
        return by_family.get(family, by_family.get("", []))

    return ReplicatedEngine(
        {
            replica.name: ActorEngine(
                replica.name, replica.handle, replica.context, replica.version, deadline
            )
            for replica in replicas
        },
        preferred,
    )


class ActorEngine:
    """A token engine backed by a replica; each sampling process creates its own.

    Args:
        name: The replica's name, for errors.
        replica: Handle of the `EngineReplica`.
        context: Maximum number of tokens of a prompt and its reply.
        version: Version of the replica's policy.
        deadline: Timeout of one request in seconds, including restarts of the replica.
    """

    def __init__(
        self, name: str, replica: Any, context: int, version: int, deadline: float
    ) -> None:
        self.name = name
        self.context = context
        self._replica = replica
        self._version = version
        self._deadline = deadline
        self._sessions: Counter[str] = Counter()

    @property
    def version(self) -> int:
        """Version of the policy that the replica reported last."""
        return self._version

    async def generate(self, request: TokenRequest) -> TokenReply:
        """Continue a prompt; see `TokenEngine.generate`.

        Raises:
            ConnectionFailed: If the replica does not answer within the deadline.
            EngineMissing: If it died and has used up its restarts.
        """
        session = request.session
        self._sessions[session] += 1
        try:
            result = await self._answer("a reply", self._replica.generate.remote(request))
        except asyncio.CancelledError:
            self._replica.abort.remote([session])
            raise
        finally:
            self._sessions[session] -= 1
            if not self._sessions[session]:
                del self._sessions[session]
        reply: TokenReply = result.reply
        self._version = result.version
        return reply

    def forget(self, session: str) -> None:
        """Drop the cache of a session at the replica, without waiting for it."""
        self._replica.forget.remote(session)

    async def abort(self, session: str | None = None) -> None:
        """Abort the request of a session, or all requests of this client, but not of others."""
        sessions = list(self._sessions) if session is None else [session]
        if sessions:
            await self._answer("an abort", self._replica.abort.remote(sessions))

    async def clear(self) -> None:
        """Abort the requests of all clients and drop all caches."""
        await self._answer("the release of caches", self._replica.clear.remote())

    async def sleep(self) -> None:
        """Release the memory of the replica's server, if it has one; see `Sleeper.sleep`."""
        await self._answer("the release of its memory", self._replica.sleep.remote())

    async def update(self, weights: Weights, version: int) -> float:
        """Load weights from the object store and verify them; see `TokenEngine.update`.

        Args:
            weights: Their `model` is a `StoredWeights`, or they are a transfer.
            version: The new policy version.

        Raises:
            EngineError: If the weights are neither in the object store nor broadcast.
        """
        if weights.transfer is not None:
            return await self._receive(weights.probe, weights.transfer, version)
        if not isinstance(weights.model, StoredWeights):
            raise EngineError(
                "a replica on a cluster loads weights from the object store: publish them with "
                f"ObjectStoreTransport, got {type(weights.model or weights.folder).__name__}"
            )
        work = self._replica.update.remote(weights.model, version)
        difference, self._version = await self._answer("an update", work)
        return float(difference)

    async def _receive(
        self, probe: LogProbabilityProbe, transfer: Callable[[Any], Awaitable[None]], version: int
    ) -> float:
        """Pause the replica's server, transfer weights to it, and verify them."""
        key = secrets.token_hex(8)
        work = self._replica.receive.remote(key, probe, version)
        update = asyncio.ensure_future(self._answer("an update", work))
        try:
            pause = self._replica.paused.remote(key)
            identity = await self._answer("a paused server", pause)
            await transfer(RemoteServer(self.name, identity, key, self._replica, self._answer))
        except BaseException as error:
            self._replica.transferred.remote(key, str(error) or type(error).__name__)
            # Until the server has resumed; its own error follows from this one.
            await asyncio.wait([update], timeout=min(self._deadline, _RESUMING))
            update.cancel()
            await asyncio.gather(update, return_exceptions=True)
            raise
        await self._answer("the end of a transfer", self._replica.transferred.remote(key))
        difference, self._version = await update
        return float(difference)

    async def close(self) -> None:
        """Abort this client's requests; the process that created the replica stops it."""
        if self._sessions:
            await self.abort()

    async def _answer(self, what: str, work: Any) -> Any:
        """Await a call to the replica, and translate Ray's errors."""
        try:
            async with asyncio.timeout(self._deadline):
                return await work
        except TimeoutError:
            raise ConnectionFailed(
                f"{self.name} did not return {what} within {self._deadline:g} s"
            ) from None
        except RayTaskError as error:
            raise _cause(self.name, error) from error
        except RayActorError as error:
            raise EngineMissing(
                f"{self.name} died and has no restarts left: {_first_line(error)}"
            ) from error
        except RayError as error:
            raise EngineError(f"{self.name} did not return {what}: {_first_line(error)}") from error


def _cause(name: str, error: RayTaskError) -> EngineError:
    """Return the error that a replica raised, as an `EngineError`."""
    cause = error.cause
    if isinstance(cause, EngineError):
        return cause
    return EngineError(f"{name} failed: {type(cause).__name__}: {_first_line(cause)}")


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0]
