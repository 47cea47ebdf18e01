"""Stateless work on a cluster: a pure function mapped over many items, one call per core.

No process is reserved: the calls use whatever cores are free, including those of nodes that join
later.

Verification is such work: verdicts are functions of records, and a script's score is a function of
its task. Rollouts, in contrast, keep environments between calls, so the workers of a fleet play
them.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError

from hexathlon.baselines import interrupts
from hexathlon.baselines.cluster.connect import ClusterError, RayCluster
from hexathlon.baselines.cluster.handles import reason_of
from hexathlon.baselines.rollout.processes import ItemWorker, Ordered

__all__ = ["distributed_on", "mapped"]

T = TypeVar("T")
R = TypeVar("R")

_POLL_S = 0.5
"""Interval between checks for an interruption."""

_BATCH = 16
"""Items per call of `distributed_on`, which share a worker's environments."""

_LIVES = 3
"""Processes that an item may lose before the work fails."""


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
        function: Pure and picklable; it runs again if its process is lost.
        items: Consumed lazily; about twice as many as there are cores are in progress.
        cpus: Cores that each call reserves.
        resources: Named resources that each call reserves.
        within: Seconds to wait for one result.

    Raises:
        ClusterError: If there is no result in time, or processes are lost repeatedly.
        Exception: Any exception of the function.
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
        _cancel(list(running))


@contextmanager
def distributed_on(
    cluster: RayCluster, start: Callable[[], ItemWorker[T, R]], count: int = 0
) -> Iterator[Ordered[T, R]]:
    """Distribute items over a cluster for the duration of a block; a `Distribute`.

    Args:
        cluster: The cluster.
        start: Creates a worker; it runs once for every few items.
        count: Has no effect.
    """

    def ordered(items: Iterable[T]) -> Iterator[R]:
        for results in mapped(cluster, partial(_worked, start), _batches(items)):
            yield from results

    yield ordered


def _worked(start: Callable[[], ItemWorker[T, R]], items: list[T]) -> list[R]:
    worker = start()
    try:
        return [worker(item) for item in items]
    finally:
        worker.close()


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    source = iter(items)
    while batch := list(islice(source, _BATCH)):
        yield batch


_END: Any = object()


def _called(function: list[Callable[[T], R]], item: T) -> R:
    return function[0](item)


def _cancel(calls: list[Any]) -> None:
    """End the calls that are still in progress, with their processes.

    Calls that have ended, well or not, are left alone: their process is gone or has other work.
    """
    unfinished = ray.wait(calls, num_returns=len(calls), timeout=0)[1] if calls else []
    for call in unfinished:
        ray.cancel(call, force=True)


def _result(reference: Any, within: float) -> Any:
    until = time.monotonic() + within
    while True:
        interrupts.check()
        try:
            return ray.get(reference, timeout=_POLL_S)
        except GetTimeoutError:
            if time.monotonic() > until:
                raise ClusterError(
                    f"no result within {within:.0f} s: the cluster has no free cores, or a call "
                    "takes too long"
                ) from None
        except RayTaskError as error:
            raise error.cause from None
        except RayError as error:
            raise ClusterError(
                f"{_LIVES} processes in a row were lost during a call; the last failure: "
                f"{reason_of(error)}"
            ) from error
