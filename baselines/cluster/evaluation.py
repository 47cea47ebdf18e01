"""Evaluation on a cluster: workers play the trials of a plan, and the caller writes the records.

The records equal those of a single process, in the order of the plan: a trial depends only on its
key, not on the worker that plays it. With remote models, the order is that of completion, as in a
single process.
"""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from hexathlon.baselines.cluster.connect import RayCluster
from hexathlon.baselines.cluster.executor import RayExecutor
from hexathlon.baselines.cluster.fleet import Fleet
from hexathlon.baselines.harness.config import ClusterChoice
from hexathlon.baselines.harness.environments import find_environment, make_environment
from hexathlon.baselines.harness.player import RemoteSetup
from hexathlon.baselines.harness.remote_agent import agent_of
from hexathlon.baselines.rollout.executor import LOOK_AHEAD, Request
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.envs.base import Environment

__all__ = ["LOG_FILE", "ClusterPlayers", "workers_for"]

LOG_FILE = "cluster.log"
"""File in a run directory with one line for each worker that started or was lost."""


class ClusterPlayers:
    """Plays the trials of one run in a fleet.

    Args:
        fleet: The workers.
        setup: The run.
    """

    def __init__(self, fleet: Fleet, setup: RemoteSetup) -> None:
        self.fleet = fleet
        self._executor = RayExecutor(fleet, agent_of(setup))
        # A budget counts recorded trials, so few unrecorded ones may be in progress.
        self._ahead = fleet.capacity if setup.execution.has_budget else LOOK_AHEAD
        # A server's replies may cost money, so their records are written at once.
        self._ordered = setup.description.get("kind") not in ("endpoint", "provider")

    async def trajectories(self, requests: Iterator[Request]) -> AsyncGenerator[Trajectory, None]:
        """Play trials and yield their trajectories, in the order of the requests.

        With remote models, they are yielded in the order of completion.
        """
        stream = self._executor.stream(requests, self._ahead, ordered=self._ordered)
        async with aclosing(stream) as outcomes:
            async for outcome in outcomes:
                assert isinstance(outcome, Trajectory), "without a pause, a trial runs to its end"
                yield outcome


@contextmanager
def workers_for(setup: RemoteSetup, cluster: RayCluster) -> Iterator[ClusterPlayers]:
    """Start the workers of a run for the duration of a block; an `OpenPlayers` for one cluster.

    Args:
        setup: The run.
        cluster: The cluster.
    """
    table = setup.execution.cluster or ClusterChoice()
    if "slots" not in table.model_fields_set:
        # As many concurrent trials as in a single process. Those of built-in agents compute all the
        # time; two at once would only evict each other's databases and pages from the caches.
        concurrent = setup.execution.concurrency if setup.asynchronous else 1
        table = table.model_copy(update={"slots": -(-concurrent // table.workers)})
    make = _Environments(setup.config.limits)
    with Fleet(
        cluster,
        table,
        make,
        setup.execution.retries,
        salt=setup.salt,
        versions=setup.versions,
        report=partial(_report, setup.run / LOG_FILE),
    ) as fleet:
        yield ClusterPlayers(fleet, setup)


@dataclass(frozen=True, slots=True)
class _Environments:
    """Makes the environments of a run in a worker."""

    limits: TrialLimits

    def __call__(self, env_id: str) -> Environment:
        find_environment(env_id)  # registers those of plugins
        return make_environment(env_id, self.limits)()


def _report(path: Path, line: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {line}\n")
