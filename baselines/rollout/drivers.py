"""Drivers of trial coroutines: `play` in the calling thread, `play_async` on an event loop.

A trial coroutine is a generator that yields effects (`Ask` the player, `Do` something with the
environment) and receives their results. A single implementation of a trial thus serves synchronous
and asynchronous agents and environments.
"""

from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Any, NamedTuple, TypeVar, cast

from hexathlon.baselines import interrupts
from hexathlon.baselines.agents.base import Player, Turn
from hexathlon.envs.messages import Message

__all__ = ["Ask", "Do", "Offload", "TrialCoroutine", "play", "play_async"]

Result = TypeVar("Result")
Offload = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Runs a blocking function outside the event loop; awaiting the call gives its result."""


class Ask(NamedTuple):
    """Effect: ask the player for its turn."""

    player: Player
    messages: Sequence[Message]
    deadline: float | None
    """Seconds the turn may take, or None; enforced for asynchronous players only."""


class Do(NamedTuple):
    """Effect: call a function of the environment."""

    function: Callable[[], Any]
    coroutine: Callable[[], Awaitable[Any]] | None = None
    """The asynchronous equivalent, if the environment has one."""


TrialCoroutine = Generator[Ask | Do, Any, Result]
"""A trial, or a part of one, that yields effects and returns a result."""


def play(coroutine: TrialCoroutine[Result]) -> Result:
    """Drive a coroutine in the calling thread; for synchronous agents.

    Returns:
        The coroutine's result.
    """
    try:
        effect = next(coroutine)
        while True:
            interrupts.check()
            try:
                if isinstance(effect, Ask):
                    answer: Any = effect.player.act(effect.messages)
                else:
                    answer = effect.function()
            except Exception as error:
                effect = coroutine.throw(error)
            else:
                effect = coroutine.send(answer)
    except StopIteration as stop:
        return cast("Result", stop.value)


async def play_async(coroutine: TrialCoroutine[Result], offload: Offload | None = None) -> Result:
    """Drive a coroutine on the running event loop; for asynchronous agents.

    Args:
        coroutine: The trial.
        offload: Runs blocking functions of a synchronous environment outside the event loop,
            always in the same thread; without it, they block the other trials.

    Returns:
        The coroutine's result.
    """
    import asyncio  # lazy: costs 3 MB, which runs of built-in agents do not need

    try:
        effect = next(coroutine)
        while True:
            interrupts.check()
            try:
                if isinstance(effect, Ask):
                    async with asyncio.timeout(effect.deadline):
                        answer: Any = effect.player.act(effect.messages)
                        if not isinstance(answer, Turn):
                            answer = await answer
                elif offload is not None:
                    answer = await offload(effect.function)
                elif effect.coroutine is not None:
                    answer = await effect.coroutine()
                else:
                    answer = effect.function()
            except Exception as error:
                effect = coroutine.throw(error)
            else:
                effect = coroutine.send(answer)
    except StopIteration as stop:
        return cast("Result", stop.value)
    finally:
        coroutine.close()
