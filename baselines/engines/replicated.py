"""Several engines with the same weights, as one token engine.

A session stays at the replica that answered its first request, whose cache holds its prefix; new
sessions go to the replica with the fewest. Updates go to every replica and are verified at each.
Each replica's own engine handles starts and restarts.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TypeVar

from hexathlon.baselines.engines.errors import (
    ConnectionFailed,
    EngineError,
    EngineMissing,
    VersionDiffers,
)
from hexathlon.baselines.engines.tokens import Sleeper, TokenEngine
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.tokens.requests import TokenReply, TokenRequest

__all__ = ["ReplicatedEngine", "as_one"]

T = TypeVar("T")

_SLACK = 1
"""Sessions that a replica may have more than the least loaded one and still be preferred because
it has read the same opening prompt, as for the members of a group."""

_PROMPTS = 4_096
"""Maximum number of opening prompts remembered."""


def as_one(engines: Mapping[str, TokenEngine]) -> TokenEngine:
    """Return a single engine unchanged, or several as one replicated engine, by their names."""
    return next(iter(engines.values())) if len(engines) == 1 else ReplicatedEngine(engines)


class ReplicatedEngine:
    """Spreads sessions over replicas; created with all of them open.

    A replica that cannot be reached is not used until an update has reached it again, and its
    requests are sent to the others.

    Args:
        replicas: Engines by a name for error messages, such as their address.
        preferred: Maps a session to the names of the replicas that serve it while one of them can
            be reached; empty for any replica.

    Raises:
        ValueError: If there is no replica.
    """

    def __init__(
        self,
        replicas: Mapping[str, TokenEngine],
        preferred: Callable[[str], Collection[str]] = lambda session: (),
    ) -> None:
        if not replicas:
            raise ValueError("expected at least one replica, got none")
        self._replicas = [_Replica(name, engine) for name, engine in replicas.items()]
        self._preferred = preferred
        self._sessions: dict[str, _Replica] = {}
        self._prompts: OrderedDict[tuple[int, ...], _Replica] = OrderedDict()
        self._failure: EngineError | None = None

    @property
    def version(self) -> int:
        """Version of the policy at every replica in use; the oldest, during an update."""
        ready = [replica.engine.version for replica in self._replicas if replica.fault is None]
        return min(ready or [replica.engine.version for replica in self._replicas])

    @property
    def context(self) -> int:
        """Maximum number of tokens of a prompt and its reply."""
        return min(replica.engine.context for replica in self._replicas)

    @property
    def lost(self) -> dict[str, str]:
        """Replicas that cannot be reached, with the error."""
        return {replica.name: str(replica.fault) for replica in self._replicas if replica.fault}

    async def generate(self, request: TokenRequest) -> TokenReply:
        """Continue a prompt at the session's replica, or at another one if that cannot be reached.

        Raises:
            ContextOverflow: If the prompt leaves no room for a reply.
            WeightsDiffer: If the last update failed its verification.
            EngineMissing: If no replica can be reached.
            EngineError: If there is no reply for another reason; the message names the replica.
        """
        while True:
            if self._failure is not None:
                raise type(self._failure)(str(self._failure))
            replica = self._replica_of(request)
            replica.requests += 1
            try:
                return await replica.engine.generate(request)
            except ConnectionFailed as error:
                self._lose(replica, replica.named(error))
            except EngineError as error:
                raise replica.named(error) from error
            finally:
                replica.requests -= 1

    def forget(self, session: str) -> None:
        """Drop the cache of a session at its replica."""
        replica = self._sessions.pop(session, None)
        if replica is not None:
            replica.sessions -= 1
            replica.engine.forget(session)

    async def abort(self, session: str | None = None) -> None:
        """Abort the request of a session, or all; they return the tokens sampled so far."""
        if session is None:
            await self._all(lambda engine: engine.abort())
        elif session in self._sessions:
            replica = self._sessions[session]
            await replica.do(lambda engine: engine.abort(session))

    async def clear(self) -> None:
        """Abort all requests, drop the caches of all replicas, and forget all sessions."""
        for session in list(self._sessions):
            self.forget(session)
        self._prompts.clear()
        await self._all(lambda engine: engine.clear())

    async def sleep(self) -> None:
        """Let all replicas that can release their memory do so until the next update.

        Raises:
            EngineError: If one failed.
        """

        async def asleep(engine: TokenEngine) -> None:
            if isinstance(engine, Sleeper):
                await engine.sleep()

        await self._all(asleep)

    async def update(self, weights: Weights, version: int) -> float:
        """Load weights at every replica at the same time, and verify each.

        Args:
            weights: The learner's weights; all replicas read the same.
            version: The new policy version.

        Returns:
            The largest difference between log-probabilities of a replica and the learner.

        Raises:
            VersionDiffers: If a replica has another version afterwards.
            WeightsDiffer: If a replica's log-probabilities differ from the learner's.
            EngineMissing: If no replica can be reached.
            EngineError: If the weights could not be loaded. After any of these errors, no token is
                sampled until an update succeeds.
        """

        async def updated(replica: _Replica) -> float:
            difference = await replica.engine.update(weights, version)
            if replica.engine.version != version:
                got = replica.engine.version
                raise VersionDiffers(f"reports version {got}, expected {version}")
            return difference

        try:
            work = [updated(replica) for replica in self._replicas]
            results = await asyncio.gather(*work, return_exceptions=True)
            errors = [result for result in results if isinstance(result, EngineError)]
            # The error of a transfer to all replicas is raised at each, and names the server.
            shared = len({id(error) for error in errors}) < len(errors)
            for replica, result in zip(self._replicas, results, strict=True):
                if isinstance(result, EngineError) and not shared:
                    result = replica.named(result)
                if isinstance(result, ConnectionFailed) and not shared:
                    self._lose(replica, result)
                elif isinstance(result, BaseException):
                    raise result
                else:
                    replica.fault = None
        except BaseException as error:
            interrupted = EngineError(f"the update to version {version} was interrupted")
            self._failure = error if isinstance(error, EngineError) else interrupted
            raise
        self._failure = None
        return max(result for result in results if isinstance(result, float))

    async def close(self) -> None:
        """Close all replicas."""
        work = (replica.engine.close() for replica in self._replicas)
        for result in await asyncio.gather(*work, return_exceptions=True):
            if isinstance(result, BaseException):
                raise result

    def _replica_of(self, request: TokenRequest) -> "_Replica":
        """Return the replica of a request's session, chosen with its first request."""
        replica = self._sessions.get(request.session)
        if replica is not None and replica.fault is None:
            return replica
        if replica is not None:
            self.forget(request.session)
        replica = self._chosen(tuple(request.ids), self._preferred(request.session))
        if request.session:
            self._sessions[request.session] = replica
            replica.sessions += 1
        return replica

    def _chosen(self, prompt: tuple[int, ...], names: Collection[str]) -> "_Replica":
        ready = [replica for replica in self._replicas if replica.fault is None]
        ready = [replica for replica in ready if replica.name in names] or ready
        chosen = min(ready, key=lambda replica: replica.load)
        reader = self._prompts.pop(prompt, None)
        if reader in ready and reader.sessions <= chosen.sessions + _SLACK:
            chosen = reader
        self._prompts[prompt] = chosen
        if len(self._prompts) > _PROMPTS:
            self._prompts.popitem(last=False)
        return chosen

    def _lose(self, replica: "_Replica", error: EngineError) -> None:
        """Stop using a replica, until an update reaches it."""
        replica.fault = error
        if all(each.fault for each in self._replicas):
            failures = "; ".join(str(each.fault) for each in self._replicas)
            self._failure = EngineMissing(f"no engine can be reached: {failures}")
            raise self._failure from error

    async def _all(self, work: Callable[[TokenEngine], Awaitable[None]]) -> None:
        async def done(replica: _Replica) -> None:
            try:
                await replica.do(work)
            except ConnectionFailed as error:
                self._lose(replica, error)

        ready = [replica for replica in self._replicas if replica.fault is None]
        await asyncio.gather(*(done(replica) for replica in ready))


class _Replica:
    """An engine with its load."""

    def __init__(self, name: str, engine: TokenEngine) -> None:
        self.name, self.engine = name, engine
        self.sessions = self.requests = 0
        self.fault: EngineError | None = None
        """Why it cannot be reached; None while it can."""

    @property
    def load(self) -> tuple[int, int]:
        """Sessions, then requests in flight."""
        return self.sessions, self.requests

    async def do(self, work: Callable[[TokenEngine], Awaitable[T]]) -> T:
        """Run an operation on the engine; errors name the replica."""
        try:
            return await work(self.engine)
        except EngineError as error:
            raise self.named(error) from error

    def named(self, error: EngineError) -> EngineError:
        """Return an error of the same class that names the replica."""
        return type(error)(f"{self.name}: {error}")
