"""Broadcasts of the learner's weights to the servers of replicas, through vLLM's transfer API.

Servers take the API's HTTP calls from their own node only. The learner therefore makes these calls
through the replicas' actors, while the tensors travel over NCCL or gloo:

    learner   BroadcastTransport → ActorEngine.update → RemoteServer.control ...
    replica   EngineReplica.receive: pause, TransferRound.load, resume, compare
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hexathlon.baselines.engines.errors import EngineError, EngineMissing

if TYPE_CHECKING:  # environment workers need no HTTP client
    from hexathlon.baselines.engines.served.transfer import TransferReceiver

__all__ = ["RemoteServer", "TransferRound"]


class TransferRound:
    """One broadcast at a replica, from the pause of its server to the end of the transfer.

    Args:
        key: Unique among broadcasts.
    """

    def __init__(self, key: str) -> None:
        loop = asyncio.get_running_loop()
        self.key = key
        self._server: asyncio.Future[TransferReceiver] = loop.create_future()
        self._sent: asyncio.Future[None] = loop.create_future()

    async def load(self, server: "TransferReceiver") -> None:
        """Wait until the learner has sent the weights; the weight loading of a paused server.

        Raises:
            EngineMissing: If the server has restarted since.
            EngineError: If the transfer failed.
        """
        if self._server.done():
            raise EngineMissing(
                "the weights were broadcast before, and cannot be sent to a restarted server: run "
                "the recipe again to resume"
            )
        self._server.set_result(server)
        await self._sent

    async def paused(self) -> "TransferReceiver":
        """Return the server once it is paused.

        Raises:
            EngineError: If it could not be paused.
        """
        return await asyncio.shield(self._server)

    def fail(self, error: Exception) -> None:
        """End the wait for a server that could not be paused."""
        if not self._server.done():
            self._server.set_exception(error)
            self._server.exception()  # retrieved, also if nobody waits any more

    def end(self, reason: str = "") -> None:
        """End the transfer; a reason means that it failed."""
        if self._sent.done():
            return
        if reason:
            self._sent.set_exception(EngineError(f"the transfer of weights failed: {reason}"))
            self._sent.exception()
        else:
            self._sent.set_result(None)


@dataclass(frozen=True)
class RemoteServer:
    """A paused server of a replica, as the learner's side of a transfer sees it.

    Two are equal if they are the same process of the same replica.
    """

    url: str
    """Name of the server, for errors."""

    identity: str
    """Changes if the server or the replica restarts."""

    _key: str = field(compare=False)
    _replica: Any = field(compare=False)
    """Handle of the `EngineReplica`."""

    _answer: Callable[[str, Any], Awaitable[Any]] = field(compare=False)
    """Awaits a call to the replica, with its deadline."""

    async def control(self, path: str, body: dict[str, Any] | None = None) -> None:
        """Call a control route of the server, by POST.

        Raises:
            EngineError: If the server failed.
        """
        call = self._replica.control.remote(self._key, path, body)
        await self._answer(f"the result of {path}", call)

    async def world(self) -> int:
        """Return the number of the server's workers."""
        call = self._replica.world.remote(self._key)
        return int(await self._answer("the number of its workers", call))
