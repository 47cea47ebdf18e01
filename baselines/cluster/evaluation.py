"""Evaluation on a cluster: workers play the trials of a plan, the caller writes the records.

The records equal those of a single process, in the order of the plan: a trial depends only on its
key, not on the worker that plays it. With remote models, the order is that of completion, as in a
single process.
"""

import os
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from hexathlon.baselines.agents.base import Agent, AgentMismatch
from hexathlon.baselines.agents.spec import parse_model
from hexathlon.baselines.cluster.connect import RayCluster
from hexathlon.baselines.cluster.executor import LOOK_AHEAD, RayExecutor
from hexathlon.baselines.cluster.fleet import Fleet
from hexathlon.baselines.harness.config import ClusterChoice, EvalConfig, ExecutionConfig
from hexathlon.baselines.harness.environments import find_environment, make_environment
from hexathlon.baselines.harness.models import open_model
from hexathlon.baselines.harness.player import RemoteSetup
from hexathlon.baselines.rollout.executor import Request
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
        self._executor = RayExecutor(fleet, _agent_of(setup))
        execution = setup.execution
        # A budget counts recorded trials, so few unrecorded ones may be in progress.
        limited = execution.max_cost or execution.max_tokens or execution.max_hours
        self._ahead = fleet.capacity if limited else LOOK_AHEAD
        # A server's replies may cost money, so their records are written at once.
        self._ordered = setup.description.get("kind") != "endpoint"

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
    if setup.asynchronous and "slots" not in table.model_fields_set:
        # As many concurrent trials as in a single process.
        slots = -(-setup.execution.concurrency // table.workers)
        table = table.model_copy(update={"slots": slots})
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


@dataclass(frozen=True, slots=True)
class _EvaluatedAgent:
    """Opens the model of a run in a worker."""

    config: EvalConfig
    execution: ExecutionConfig
    description: Mapping[str, Any]
    needs_key: bool

    def __call__(self, number: int) -> Agent:
        variable = self.execution.api_key_env
        if self.needs_key and not os.environ.get(variable):
            raise AgentMismatch(
                f"{variable} is set in this process but not in the workers: set it in the "
                "environment of every node before `ray start`; keys are not sent over the cluster"
            )
        model = open_model(self.config, self.execution, self.description.get("dialect"))
        for name in ("name", "revision"):
            planned, opened = self.description.get(name), model.description.get(name)
            if planned != opened:
                raise AgentMismatch(
                    f"a worker did not open the planned model: its {name} is {opened!r}, "
                    f"expected {planned!r}; give every node the same files"
                )
        return model.agent


def _agent_of(setup: RemoteSetup) -> Callable[[int], Agent]:
    """Return a function that opens the model in a worker, with absolute paths."""
    config, execution = setup.config, setup.execution
    spec = parse_model(config.model)
    if spec.kind == "checkpoint":
        config = config.model_copy(update={"model": str(Path(spec.place).resolve())})
    elif spec.kind == "agent" and spec.place:
        place = Path(spec.place).resolve()
        config = config.model_copy(update={"model": f"agent:{spec.name}:{place}"})
    if execution.prices is not None:
        execution = execution.model_copy(update={"prices": execution.prices.resolve()})
    description = {name: setup.description.get(name) for name in ("name", "revision", "dialect")}
    needs_key = spec.kind == "endpoint" and bool(os.environ.get(execution.api_key_env))
    return _EvaluatedAgent(config, execution, description, needs_key)


def _report(path: Path, line: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {line}\n")
