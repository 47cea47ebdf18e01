"""Stateless work on a cluster: a pure function of many items, as many at a time as there are cores.

Verification is of this kind: verdicts are functions of records, and a script's score of its task.
Rollouts, which hold environments between calls, are played by the workers of a fleet.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError

from hexathlon.baselines import interrupts
from hexathlon.baselines.cluster.connect import ClusterError, RayCluster
from hexathlon.baselines.cluster.handles import reason_of

__all__ = ["mapped"]

T = TypeVar("T")
R = TypeVar("R")

_GLANCE_S = 0.5
"""Time between two looks at an interruption."""

_LIVES = 3
"""Processes that an item may lose."""


def mapped(
    cluster: RayCluster,
    function: Callable[[T], R],
    items: Iterable[T],
    *,
    cpus: float = 1.0,
    resources: Mapping[str, float] | None = None,
    within: float = 1800.0,
) -> Iterator[R]:
    """Yield the results of a function, in the order of the items.

    Args:
        cluster: The cluster.
        function: Pure, and can be pickled; it runs again where its process is lost.
        items: Taken as results are asked for, about twice as many ahead as there are cores.
        cpus: Cores that each call takes.
        resources: Named resources that each call takes.
        within: Seconds to wait for one result.

    Raises:
        ClusterError: If there is no result in time, or its processes are lost again and again.
        Exception: What the function raised.
    """
    task: Any = ray.remote(_called).options(
        num_cpus=cpus, resources=dict(resources or {}), max_retries=_LIVES - 1
    )
    stored = ray.put([function])
    ahead = max(2, 2 * int(cluster.resources().get("CPU", 1.0) / max(cpus, 0.01)))
    source, running = iter(items), deque[Any]()
    try:
        while True:
            while len(running) < ahead and (item := next(source, _END)) is not _END:
                running.append(task.remote(stored, item))
            if not running:
                return
            yield _result(running[0], within)
            running.popleft()
    finally:
        for reference in running:
            ray.cancel(reference, force=True)


_END: Any = object()


def _called(function: list[Callable[[T], R]], item: T) -> R:
    return function[0](item)


def _result(reference: Any, within: float) -> Any:
    until = time.monotonic() + within
    while True:
        interrupts.check()
        try:
            return ray.get(reference, timeout=_GLANCE_S)
        except GetTimeoutError:
            if time.monotonic() > until:
                raise ClusterError(
                    f"no result within {within:.0f} s: the cluster has no free cores, or the work "
                    "is too long"
                ) from None
        except RayTaskError as error:
            raise error.cause from None
        except RayError as error:
            raise ClusterError(
                f"work was lost with {_LIVES} processes in a row, the last one since "
                f"{reason_of(error)}"
            ) from error
