"""A course: a generator that yields whatever may wait, driven in a thread or on an event loop.

It yields effects (`Ask` a player, `Do` something with the environment) and is sent their outcome,
so that one code serves agents that compute and agents that wait.
"""

from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Any, NamedTuple, TypeVar, cast

from hexathlon.baselines import interrupts
from hexathlon.baselines.agents.base import Player, Turn
from hexathlon.envs.messages import Message

__all__ = ["Ask", "Beside", "Course", "Do", "play", "play_async"]

Result = TypeVar("Result")
Beside = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Calls a function elsewhere and is awaited for what it returns."""


class Ask(NamedTuple):
    """Effect: have the player take its turn."""

    player: Player
    messages: Sequence[Message]
    deadline: float | None
    """Seconds that it may take; only a player that waits can be held to it."""


class Do(NamedTuple):
    """Effect: call something that belongs to the environment."""

    function: Callable[[], Any]
    coroutine: Callable[[], Awaitable[Any]] | None = None
    """The same for a caller on an event loop, where the environment offers it."""


Course = Generator[Ask | Do, Any, Result]


def play(course: Course[Result]) -> Result:
    """Drive a course in this thread, for agents that do not wait."""
    try:
        effect = next(course)
        while True:
            interrupts.check()
            try:
                if isinstance(effect, Ask):
                    answer: Any = effect.player.act(effect.messages)
                else:
                    answer = effect.function()
            except Exception as error:
                effect = course.throw(error)
            else:
                effect = course.send(answer)
    except StopIteration as stop:
        return cast("Result", stop.value)


async def play_async(course: Course[Result], beside: Beside | None = None) -> Result:
    """Drive a course on the running event loop, for agents that wait.

    Args:
        course: What is driven.
        beside: Calls a function of an environment whose steps are no coroutines somewhere else
            than on the loop, and always in the same thread; without it, other trials wait
            meanwhile.
    """
    import asyncio  # 3 MB that a run of built-in agents does without

    try:
        effect = next(course)
        while True:
            interrupts.check()
            try:
                if isinstance(effect, Ask):
                    async with asyncio.timeout(effect.deadline):
                        answer: Any = effect.player.act(effect.messages)
                        if not isinstance(answer, Turn):
                            answer = await answer
                elif beside is not None:
                    answer = await beside(effect.function)
                elif effect.coroutine is not None:
                    answer = await effect.coroutine()
                else:
                    answer = effect.function()
            except Exception as error:
                effect = course.throw(error)
            else:
                effect = course.send(answer)
    except StopIteration as stop:
        return cast("Result", stop.value)
    finally:
        course.close()
