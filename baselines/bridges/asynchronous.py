"""An episode for coroutines: every call runs in one thread that belongs to the episode."""

import asyncio
import queue
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Self, TypeVar

from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.bridges.rendering import Opening, TurnReply
from hexathlon.envs.errors import DeadlineExceeded, EnvFault

__all__ = ["DEADLINE", "AsyncEpisode", "episode_of"]

DEADLINE = 600.0
"""Seconds that servers give a reset or a step by default."""

Result = TypeVar("Result")


class AsyncEpisode:
    """`BridgedEpisode` with awaitable methods and a deadline.

    Environments stay in the thread that made them; an event loop with many episodes is not held up
    by any of them. A call that exceeds the deadline is a fault of this episode: its environment is
    given up, closed once the call returns, and the next `open` makes another.

    Args:
        make: Creates the episode, in its thread.
        deadline: Maximum seconds of a call; None for no limit.
    """

    def __init__(self, make: Callable[[], BridgedEpisode], deadline: float | None = None) -> None:
        self._make = make
        self._deadline = deadline
        self._thread = _EpisodeThread(make)
        self._late: EnvFault | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def reward(self) -> float:
        """Reward so far: the verdict's score after the end of the episode, else 0.

        Raises:
            EnvFault: If the infrastructure failed, or the episode could not be scored.
        """
        if self._late is not None:
            raise self._late
        return 0.0 if self._episode is None else self._episode.reward

    @property
    def over(self) -> bool:
        """Whether no episode is open."""
        return self._episode is None or self._episode.over

    async def open(
        self, task: str | None = None, seed: int | None = None, **options: Any
    ) -> Opening:
        """Start an episode; see `BridgedEpisode.open`."""
        self._late = None
        return await self._run(lambda played: played.open(task, seed, **options))

    async def messages(self, opening: Opening) -> list[dict[str, Any]]:
        """Return the first messages of a conversation; see `BridgedEpisode.messages`."""
        return await self._run(lambda played: played.messages(opening))

    async def prompt(self, opening: Opening) -> str:
        """Return the system prompt with the tools; see `BridgedEpisode.prompt`."""
        return await self._run(lambda played: played.prompt(opening))

    async def say(self, text: str) -> TurnReply:
        """Take one turn from an assistant's text; see `BridgedEpisode.say`."""
        return await self._run(lambda played: played.say(text))

    async def take(self, message: Mapping[str, Any]) -> TurnReply:
        """Take one turn from an assistant message; see `BridgedEpisode.take`."""
        return await self._run(lambda played: played.take(message))

    async def call(self, name: str, arguments: Mapping[str, Any]) -> TurnReply:
        """Take one turn that calls one tool."""
        return await self._run(lambda played: played.call(name, arguments))

    async def close(self) -> None:
        """Close the environment and end the thread; idempotent."""
        if self._episode is not None:
            await self._run(lambda played: played.close())
        self.give_up()

    def give_up(self) -> None:
        """Close the environment and end the thread, without waiting for either."""
        thread, self._thread = self._thread, _EpisodeThread(self._make)
        thread.end()

    @property
    def _episode(self) -> BridgedEpisode | None:
        return self._thread.episode

    async def _run(self, function: Callable[[BridgedEpisode], Result]) -> Result:
        if self._late is not None:
            raise self._late
        future = self._thread.submit(function)
        try:
            async with asyncio.timeout(self._deadline) as limit:
                return await asyncio.wrap_future(future)
        except TimeoutError:
            if not limit.expired():
                raise
            said = f"the environment did not answer within its deadline of {self._deadline:g} s"
            self._late = DeadlineExceeded(said)
            self.give_up()
            raise self._late from None


def episode_of(event: str, **settings: Any) -> AsyncEpisode:
    """Return an episode without a deadline; `settings` are arguments of `BridgedEpisode`."""
    return AsyncEpisode(lambda: BridgedEpisode(event, **settings))


class _EpisodeThread:
    """An episode and its thread, which runs calls in order.

    The thread is a daemon: a call that hangs does not keep the process from ending.
    """

    def __init__(self, make: Callable[[], BridgedEpisode]) -> None:
        self.episode: BridgedEpisode | None = None
        self._make = make
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def submit(self, function: Callable[[BridgedEpisode], Result]) -> Future[Result]:
        """Run a function after those before it."""
        future: Future[Result] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                if self.episode is None:
                    self.episode = self._make()
                result = function(self.episode)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)

        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="episode", daemon=True)
            self._thread.start()
        self._calls.put(run)
        return future

    def end(self) -> None:
        """After the calls that wait, close the episode and end."""
        self._calls.put(None)

    def _serve(self) -> None:
        while (run := self._calls.get()) is not None:
            run()
        if self.episode is not None:
            self.episode.close()
