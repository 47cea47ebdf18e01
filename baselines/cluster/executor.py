"""The cluster executor: plays rollouts on the workers of a cluster."""

import asyncio
import itertools
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence

from hexathlon.baselines.agents.base import Agent
from hexathlon.baselines.cluster.fleet import Fleet
from hexathlon.baselines.cluster.jobs import RolloutJob
from hexathlon.baselines.rollout.executor import LOOK_AHEAD, Outcome, Request

__all__ = ["RayExecutor"]


class RayExecutor:
    """Plays rollouts in the workers of a fleet; an `Executor`.

    Several executors can share a fleet, such as one for training and one for evaluation. Calls of
    `run` may overlap; rollouts start in the order of submission. Cancelling a call abandons its
    rollouts.

    Args:
        fleet: The workers.
        agent: Creates the default agent in a worker, given the worker's number; must be picklable.
    """

    def __init__(self, fleet: Fleet, agent: Callable[[int], Agent]) -> None:
        self.fleet = fleet
        self._agent = fleet.agent(agent)
        self._epoch = 0

    @property
    def concurrency(self) -> int:
        """Maximum number of concurrent rollouts."""
        return self.fleet.capacity

    async def run(self, requests: Sequence[Request]) -> list[Outcome]:
        """Play requests and return their outcomes in the same order.

        Raises:
            FatalError: If an error would affect every rollout.
            ClusterError: If the workers do not fit on the cluster, or cannot be started.
        """
        jobs = [self._submitted(request) for request in requests]
        try:
            return list(await asyncio.gather(*(job.outcome for job in jobs)))
        finally:
            self._withdraw(jobs)

    async def stream(
        self, requests: Iterable[Request], ahead: int = LOOK_AHEAD, *, ordered: bool = True
    ) -> AsyncGenerator[Outcome, None]:
        """Play requests and yield their outcomes.

        Args:
            requests: Consumed one at a time, as soon as workers can play them.
            ahead: Maximum number of requests taken whose outcomes were not yielded yet.
            ordered: Yield outcomes in the order of the requests instead of completion.

        Raises:
            FatalError: If an error would affect every rollout.
            ClusterError: If the workers do not fit on the cluster, or cannot be started.
        """
        source = iter(requests)
        waiting: deque[RolloutJob] = deque()
        exhausted = False
        news = asyncio.Event()

        def submit() -> None:
            nonlocal exhausted
            while not exhausted and len(waiting) < ahead and self.fleet.has_room:
                request = next(source, None)
                exhausted = request is None
                if request is not None:
                    job = self._submitted(request)
                    job.outcome.add_done_callback(lambda _: news.set())
                    waiting.append(job)

        try:
            while True:
                news.clear()
                submit()
                if exhausted and not waiting:
                    return
                job = _next(waiting, ordered)
                if job is None:
                    await news.wait()
                    continue
                waiting.remove(job)
                yield job.outcome.result()
                # The caller may have written a record, which takes milliseconds: a worker that has
                # finished its rollouts gets further ones before the next record.
                await asyncio.sleep(0)
        finally:
            self._withdraw(waiting)

    async def abort(self) -> None:
        """Pause every rollout; calls of `run` in progress return prefixes."""
        epoch, self._epoch = self._epoch, self._epoch + 1
        await self.fleet.abort(self._agent, epoch)

    def close(self) -> None:
        """Do nothing: the environments belong to the fleet, which outlives its executors."""

    def _submitted(self, request: Request) -> RolloutJob:
        return self.fleet.submit(request, self._agent, self._epoch)

    def _withdraw(self, jobs: Iterable[RolloutJob]) -> None:
        self.fleet.withdraw({job for job in jobs if not job.settled})
        for job in jobs:
            if job.settled:
                job.outcome.exception()  # marks it as retrieved; the first one was raised


def _next(waiting: Sequence[RolloutJob], ordered: bool) -> RolloutJob | None:
    """Return the next rollout to yield, or None if its outcome is not available yet."""
    candidates = itertools.islice(waiting, 1) if ordered else waiting
    return next((job for job in candidates if job.outcome.done()), None)
