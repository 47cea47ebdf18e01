"""Judges as stateless tasks of a cluster: each question is one task, on any node with room.

Prompts, caches, retries after invalid replies, and the judged file remain with the process that
judges; only the model runs elsewhere. A worker process opens a model once and keeps it for later
questions, so there are as many copies as questions in flight.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from hexathlon.baselines.cluster.connect import RayCluster
from hexathlon.baselines.cluster.handles import reason_of
from hexathlon.baselines.engines.base import ChatReply, ChatRequest, Engine
from hexathlon.baselines.engines.errors import ConnectionFailed, EngineError, ReplyTimeout

__all__ = ["TaskEngine", "judging_on"]

_LIVES = 3
"""Processes that a question may lose before it has no reply."""


class TaskEngine:
    """A chat engine whose requests are tasks of a cluster.

    Args:
        open_engine: Opens the engine in a worker process; picklable.
        cpus: Cores that each request reserves.
        resources: Named resources and `GPU` that each request reserves.
        within: Seconds to wait for a reply, including the wait for a free core.
    """

    def __init__(
        self,
        open_engine: Callable[[], Engine],
        *,
        cpus: float = 1.0,
        resources: Mapping[str, float] | None = None,
        within: float = 1800.0,
    ) -> None:
        named = dict(resources or {})
        self._within = within
        self._opening = ray.put([open_engine])
        self._task: Any = ray.remote(_answered).options(
            num_cpus=cpus,
            num_gpus=named.pop("GPU", 0.0),
            resources=named,
            max_retries=_LIVES - 1,
        )

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Return the reply to a request; see `Engine.chat`."""
        work = self._task.remote(self._opening, self._opening.hex(), request)
        try:
            async with asyncio.timeout(self._within):
                reply: ChatReply = await work
                return reply
        except TimeoutError:
            raise ReplyTimeout(
                f"no reply within {self._within:g} s: the cluster has no free cores, or the model "
                "is too slow"
            ) from None
        except asyncio.CancelledError:
            ray.cancel(work, force=True)
            raise
        except RayTaskError as error:
            cause = error.cause
            if isinstance(cause, EngineError):
                raise cause from error
            raise EngineError(f"a judge's task failed: {reason_of(error)}") from error
        except RayError as error:
            raise ConnectionFailed(
                f"{_LIVES} processes in a row were lost during a question; the last failure: "
                f"{reason_of(error)}"
            ) from error

    async def close(self) -> None:
        """Do nothing: idle worker processes end by themselves."""


def judging_on(
    cluster: RayCluster, cpus: float = 1.0, resources: Mapping[str, float] | None = None
) -> Callable[[Callable[[], Engine]], Engine]:
    """Return a function that moves an engine to a cluster.

    Args:
        cluster: The cluster, to which this process is connected.
        cpus: Cores that each question reserves.
        resources: Named resources and `GPU` that each question reserves.
    """
    return partial(TaskEngine, cpus=cpus, resources=resources)


_OPENED: dict[str, tuple[Engine, "asyncio.Runner"]] = {}
"""The engines of this worker process, by the object that opens them."""


def _answered(opening: list[Callable[[], Engine]], name: str, request: ChatRequest) -> ChatReply:
    if name not in _OPENED:
        runner = asyncio.Runner()
        _OPENED[name] = runner.run(_opened(opening[0])), runner
    engine, runner = _OPENED[name]
    return runner.run(engine.chat(request))


async def _opened(open_engine: Callable[[], Engine]) -> Engine:
    return open_engine()
