"""An episode for coroutines: every call runs in one thread that belongs to the episode."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self, TypeVar

from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.bridges.rendering import Opening, TurnReply

__all__ = ["AsyncEpisode"]

Result = TypeVar("Result")


class AsyncEpisode:
    """`BridgedEpisode` with awaitable methods.

    Environments stay in the thread that made them; an event loop with many episodes is not held up
    by any of them.

    Args:
        event: Id, or short name such as `SQL`.
        **settings: Further keyword arguments of `BridgedEpisode`.
    """

    def __init__(self, event: str, **settings: Any) -> None:
        self._event = event
        self._settings = settings
        self._thread = ThreadPoolExecutor(1, f"episode of {event}")
        self._episode: BridgedEpisode | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def reward(self) -> float:
        """Reward so far: the verdict's score after the end of the episode, else 0."""
        return 0.0 if self._episode is None else self._episode.reward

    @property
    def over(self) -> bool:
        """Whether no episode is open."""
        return self._episode is None or self._episode.over

    async def open(
        self, task: str | None = None, seed: int | None = None, **options: Any
    ) -> Opening:
        """Start an episode; see `BridgedEpisode.open`."""
        return await self._run(lambda: self._made().open(task, seed, **options))

    async def messages(self, opening: Opening) -> list[dict[str, Any]]:
        """Return the first messages of a conversation; see `BridgedEpisode.messages`."""
        return await self._run(lambda: self._made().messages(opening))

    async def take(self, message: Mapping[str, Any]) -> TurnReply:
        """Take one turn from an assistant message; see `BridgedEpisode.take`."""
        return await self._run(lambda: self._made().take(message))

    async def call(self, name: str, arguments: Mapping[str, Any]) -> TurnReply:
        """Take one turn that calls one tool."""
        return await self._run(lambda: self._made().call(name, arguments))

    async def close(self) -> None:
        """Close the environment and end the thread."""
        episode, self._episode = self._episode, None
        if episode is not None:
            await self._run(episode.close)
        self._thread.shutdown(wait=False)

    def _made(self) -> BridgedEpisode:
        if self._episode is None:
            self._episode = BridgedEpisode(self._event, **self._settings)
        return self._episode

    async def _run(self, function: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)
