"""Weights sent to servers over vLLM's transfer API, without a shared directory.

One transfer reaches every replica. Once all of them have paused, the sender runs the phases on all
(init once, start, update, finish with the version) while it broadcasts the tensors. The libraries
that move the tensors are in `senders`.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Protocol

from hexathlon.baselines.engines.errors import EngineError, EngineMissing, ReplyTimeout
from hexathlon.baselines.engines.served.engine import ServedEngine

__all__ = [
    "Broadcast",
    "TransferClient",
    "TransferReceiver",
    "TransferSender",
    "loading_adapter",
]

_ADAPTER = "policy"
"""Name of the adapter on the servers."""


class TransferReceiver(Protocol):
    """A paused server that receives weights, such as a `ServedEngine`."""

    @property
    def url(self) -> str:
        """Address or name, for errors."""
        ...

    async def control(self, path: str, body: dict[str, Any] | None = None) -> None:
        """Call a control route, by POST.

        Raises:
            EngineError: If the server failed.
        """
        ...

    async def world(self) -> int:
        """Return the number of its workers."""
        ...


class TransferSender(Protocol):
    """Sends a model's tensors; its methods block, and call the servers through a client."""

    def send_weights(self) -> None:
        """Start the update, broadcast all tensors while the servers receive them, and finish."""
        ...

    def shutdown(self) -> None:
        """Leave the group of the servers' workers."""
        ...


def loading_adapter(
    folder: Path, version: int
) -> Callable[[ServedEngine], Coroutine[Any, Any, None]]:
    """Return a function that makes a paused server replace its low-rank adapters.

    Args:
        folder: Adapters in the format of peft, in a directory that no other update has used: the
            server would keep cached keys and values of the same path.
        version: The version that the server has afterwards.
    """
    body = {"lora_name": _ADAPTER, "lora_path": str(folder.resolve()), "load_inplace": True}

    async def load(engine: ServedEngine) -> None:
        await engine.control("/v1/load_lora_adapter", body)
        await engine.control("/update_weight_version", {"new_version": str(version)})
        engine.model = _ADAPTER

    return load


class TransferClient:
    """Runs the phases of a transfer on every server; its methods block, so call them in a thread.

    It has the methods of vLLM's `VLLMWeightSyncClient`.

    Args:
        engines: The servers.
        worlds: Number of workers of each.
        loop: The event loop of the servers' connections.
        deadline: Timeout of one phase, in seconds.

    Attributes:
        engines: The servers; may be replaced by others that stand for the same processes.
        version: The version that the next update ends with.
    """

    def __init__(
        self,
        engines: Sequence[TransferReceiver],
        worlds: Sequence[int],
        loop: asyncio.AbstractEventLoop,
        deadline: float,
    ) -> None:
        self.version = 0
        self.engines, self._worlds = engines, worlds
        self._loop, self._deadline = loop, deadline

    @property
    def world(self) -> int:
        """Members of the group: all workers, and the sender."""
        return 1 + sum(self._worlds)

    def init_weight_transfer_engine(self, init_info: dict[str, Any]) -> None:
        """Let all workers join the sender's group; each server's have their own ranks."""
        offsets = [1 + sum(self._worlds[:number]) for number in range(len(self._worlds))]
        bodies = [{"init_info": {**init_info, "rank_offset": offset}} for offset in offsets]
        self._at_all("/init_weight_transfer_engine", bodies)

    def start_weight_update(self) -> None:
        """Prepare all servers to receive."""
        self._at_all("/start_weight_update")

    def update_weights(self, update_info: Any) -> None:
        """Let all servers receive what the sender broadcasts; returns when they have it."""
        self._at_all("/update_weights", [{"update_info": update_info}] * len(self.engines))

    def finish_weight_update(self, weight_version: str | None = None) -> None:
        """Activate the received weights, with the version that the sender was given."""
        body = {"weight_version": weight_version or str(self.version)}
        self._at_all("/finish_weight_update", [body] * len(self.engines))

    def _at_all(self, path: str, bodies: Sequence[dict[str, Any]] | None = None) -> None:
        """Call a route of all servers at the same time, and wait for all.

        Raises:
            EngineError: If one failed; the message names it.
        """
        bodies = bodies or [{}] * len(self.engines)

        async def call(engine: TransferReceiver, body: dict[str, Any]) -> None:
            try:
                await engine.control(path, body)
            except EngineError as error:
                raise type(error)(f"{engine.url}{path}: {error}") from error

        async def calls() -> None:
            async with asyncio.timeout(self._deadline):
                await asyncio.gather(*map(call, self.engines, bodies))

        try:
            asyncio.run_coroutine_threadsafe(calls(), self._loop).result()
        except TimeoutError:
            urls = ", ".join(engine.url for engine in self.engines)
            raise ReplyTimeout(f"{path} took more than {self._deadline:g} s at {urls}") from None


class Broadcast:
    """Sends one model to a number of servers at the same time, update after update.

    Args:
        receivers: Number of servers.
        make: Opens the sender for a client, with a new group of all workers; called in a thread.
        deadline: Seconds that the servers may take to get ready, and that one phase may take.
    """

    def __init__(
        self,
        receivers: int,
        make: Callable[[TransferClient], TransferSender],
        deadline: float = 120.0,
    ) -> None:
        self._receivers, self._make, self._deadline = receivers, make, deadline
        self._client: TransferClient | None = None
        self._sender: TransferSender | None = None
        self._members: tuple[TransferReceiver, ...] = ()

    def round(self, version: int) -> Callable[[TransferReceiver], Coroutine[Any, Any, None]]:
        """Return the function that one update calls for each server once it is paused.

        Args:
            version: The version that the servers have afterwards.

        Returns:
            A coroutine function that returns when all servers have the weights. It raises
            ReplyTimeout if not all servers call it in time, EngineMissing if a server calls it
            again after a restart, and EngineError if the transfer fails.
        """
        arrived: list[TransferReceiver] = []
        complete = asyncio.Event()
        sending: asyncio.Task[None] | None = None

        async def receive(engine: TransferReceiver) -> None:
            nonlocal sending
            arrived.append(engine)
            if len(arrived) >= self._receivers:
                complete.set()
            try:
                async with asyncio.timeout(self._deadline):
                    await complete.wait()
            except TimeoutError:
                raise ReplyTimeout(
                    f"{len(arrived)} of {self._receivers} servers were ready to receive weights "
                    f"within {self._deadline:g} s"
                ) from None
            if len(arrived) > self._receivers:
                raise EngineMissing(
                    f"the weights of version {version} were broadcast before, and cannot be sent "
                    "to a restarted server: run the recipe again to resume"
                )
            if sending is None:
                sending = asyncio.create_task(self._send(arrived, version))
            await asyncio.shield(sending)

        return receive

    async def close(self) -> None:
        """Leave the group."""
        sender, self._sender = self._sender, None
        if sender is not None:
            await asyncio.to_thread(sender.shutdown)

    async def _send(self, arrived: Sequence[TransferReceiver], version: int) -> None:
        members = tuple(sorted(arrived, key=lambda engine: engine.url))
        try:
            if members != self._members:  # the first update, or a server has restarted
                await self._join(members)
            assert self._sender is not None and self._client is not None
            self._client.engines, self._client.version = members, version
            await asyncio.to_thread(self._sender.send_weights)
        except BaseException as error:
            self._members = ()  # the group may be broken: the next update creates another
            if isinstance(error, RuntimeError):  # of torch's process groups
                raise EngineError(f"the transfer of weights failed: {error}") from error
            raise

    async def _join(self, members: tuple[TransferReceiver, ...]) -> None:
        await self.close()
        worlds = await asyncio.gather(*(engine.world() for engine in members))
        loop = asyncio.get_running_loop()
        self._client = TransferClient(members, worlds, loop, self._deadline)
        self._sender = await asyncio.to_thread(self._make, self._client)
        self._members = members
