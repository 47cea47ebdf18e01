"""Works on many items at once, a bounded number at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

__all__ = ["at_once"]

Item = TypeVar("Item")


async def at_once(
    items: Iterable[Item], work: Callable[[Item], Awaitable[None]], most: int
) -> None:
    """Work on items, at most `most` at once; items are taken as places become free.

    The first error ends everything and is raised as it is.
    """
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(most):
                group.create_task(worker())
    except BaseExceptionGroup as errors:
        raise _first(errors) from None


def _first(errors: BaseException) -> BaseException:
    while isinstance(errors, BaseExceptionGroup):
        errors = errors.exceptions[0]
    return errors
