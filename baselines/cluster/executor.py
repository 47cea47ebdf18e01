"""The executor that plays rollouts on a cluster."""

import asyncio
import itertools
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence

from hexathlon.baselines.agents.base import Agent
from hexathlon.baselines.cluster.errands import Errand
from hexathlon.baselines.cluster.fleet import Fleet
from hexathlon.baselines.rollout.executor import Outcome, Request

__all__ = ["RayExecutor"]

_AHEAD = 1024
"""Rollouts that may be under way or finished before the outcome of an earlier one is there."""


class RayExecutor:
    """Plays rollouts in the workers of a fleet; an `Executor`.

    Several executors can share a fleet, such as one that explores and one that evaluates. Calls of
    `run` may overlap; rollouts begin in the order in which they were asked for. Cancelling a call
    abandons its rollouts.

    Args:
        fleet: The workers.
        agent: Makes the default agent in a worker, given the worker's number; can be pickled.
    """

    def __init__(self, fleet: Fleet, agent: Callable[[int], Agent]) -> None:
        self.fleet = fleet
        self._agent = fleet.agent(agent)
        self._epoch = 0

    @property
    def concurrency(self) -> int:
        """Number of rollouts that play at a time."""
        return self.fleet.capacity

    async def run(self, requests: Sequence[Request]) -> list[Outcome]:
        """Play requests and return their outcomes in the same order.

        Raises:
            FatalError: If an error would affect every rollout.
            ClusterError: If the cluster has no place for the workers, or they cannot be started.
        """
        errands = [self._submitted(request) for request in requests]
        try:
            return list(await asyncio.gather(*(errand.outcome for errand in errands)))
        finally:
            self._withdraw(errands)

    async def stream(
        self, requests: Iterable[Request], ahead: int = _AHEAD, *, ordered: bool = True
    ) -> AsyncGenerator[Outcome, None]:
        """Play requests and yield their outcomes.

        Args:
            requests: Taken one after another, as soon as workers can play them.
            ahead: Most requests taken before the outcome of the first of them was yielded.
            ordered: Whether outcomes come in the order of the requests, else as they arrive.

        Raises:
            FatalError: If an error would affect every rollout.
            ClusterError: If the cluster has no place for the workers, or they cannot be started.
        """
        source = iter(requests)
        waiting: deque[Errand] = deque()
        exhausted = False
        news = asyncio.Event()
        try:
            while True:
                news.clear()
                while (errand := _next(waiting, ordered)) is not None:
                    waiting.remove(errand)
                    yield errand.outcome.result()
                while not exhausted and len(waiting) < ahead and self.fleet.hungry:
                    request = next(source, None)
                    exhausted = request is None
                    if request is not None:
                        errand = self._submitted(request)
                        errand.outcome.add_done_callback(lambda _: news.set())
                        waiting.append(errand)
                if exhausted and not waiting:
                    return
                if _next(waiting, ordered) is None:
                    await news.wait()
        finally:
            self._withdraw(waiting)

    async def abort(self) -> None:
        """Pause every rollout; calls of `run` in progress return prefixes."""
        epoch, self._epoch = self._epoch, self._epoch + 1
        await self.fleet.abort(self._agent, epoch)

    def close(self) -> None:
        """Do nothing: the environments are the fleet's, which outlives its executors."""

    def _submitted(self, request: Request) -> Errand:
        return self.fleet.submit(request, self._agent, self._epoch)

    def _withdraw(self, errands: Iterable[Errand]) -> None:
        self.fleet.withdraw({errand for errand in errands if not errand.settled})
        for errand in errands:
            if errand.settled:
                errand.outcome.exception()  # marks it as seen; the first one was raised


def _next(waiting: Sequence[Errand], ordered: bool) -> Errand | None:
    """Return the rollout whose outcome comes next, or None if it is not there yet."""
    candidates = itertools.islice(waiting, 1) if ordered else waiting
    return next((errand for errand in candidates if errand.outcome.done()), None)
