"""Timing on a shared machine: a limit is exceeded only if every attempt exceeds it."""

from collections.abc import Callable
from time import perf_counter

__all__ = ["least_seconds"]


def least_seconds(
    work: Callable[[], object], enough: float, clock: Callable[[], float] = perf_counter
) -> float:
    """Return the shortest duration of up to five runs, in seconds; stops at one below `enough`."""
    least = float("inf")
    for _ in range(5):
        start = clock()
        work()
        least = min(least, clock() - start)
        if least < enough:
            break
    return least
