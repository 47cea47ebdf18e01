"""Timing on a machine that others use: what takes too long must do so every time."""

from collections.abc import Callable
from time import perf_counter

__all__ = ["least_seconds"]


def least_seconds(
    work: Callable[[], object], enough: float, clock: Callable[[], float] = perf_counter
) -> float:
    """The least seconds that the work took in up to five tries; one below `enough` ends it."""
    least = float("inf")
    for _ in range(5):
        start = clock()
        work()
        least = min(least, clock() - start)
        if least < enough:
            break
    return least
