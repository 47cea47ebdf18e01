"""Bounded concurrency for asynchronous work on many items."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

__all__ = ["run_concurrently"]

Item = TypeVar("Item")


async def run_concurrently(
    items: Iterable[Item], work: Callable[[Item], Awaitable[None]], limit: int
) -> None:
    """Process items with at most `limit` of them in progress; items are consumed lazily.

    The first error cancels the other work and is raised unchanged.
    """
    queue = iter(items)

    async def worker() -> None:
        for item in queue:
            await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(limit):
                group.create_task(worker())
    except BaseExceptionGroup as errors:
        raise _first(errors) from None


def _first(errors: BaseException) -> BaseException:
    while isinstance(errors, BaseExceptionGroup):
        errors = errors.exceptions[0]
    return errors
