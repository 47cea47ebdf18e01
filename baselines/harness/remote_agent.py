"""The agent of a run, opened in another process."""

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hexathlon.baselines.agents.base import Agent, AgentMismatch
from hexathlon.baselines.agents.spec import parse_model
from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig
from hexathlon.baselines.harness.models import open_model
from hexathlon.baselines.harness.player import RemoteSetup

__all__ = ["agent_of"]


@dataclass(frozen=True, slots=True)
class _EvaluatedAgent:
    """Opens the model of a run in a worker."""

    config: EvalConfig
    execution: ExecutionConfig
    description: Mapping[str, Any]
    needs_key: bool
    run: Path

    def __call__(self, number: int) -> Agent:
        variable = parse_model(self.config.model).key_variable(self.execution.api_key_env)
        if self.needs_key and not os.environ.get(variable):
            raise AgentMismatch(
                f"{variable} is set in this process but not in the workers: set it in the "
                "environment of every node before `ray start`; keys are not sent over the cluster"
            )
        logs = self._logs(number) if self.config.engine == "vllm" else None
        model = open_model(self.config, self.execution, self.description.get("dialect"), logs=logs)
        for name in ("name", "revision"):
            planned, opened = self.description.get(name), model.description.get(name)
            if planned != opened:
                raise AgentMismatch(
                    f"a worker did not open the planned model: its {name} is {opened!r}, "
                    f"expected {planned!r}; give every node the same files"
                )
        return model.agent

    def _logs(self, number: int) -> Path:
        """Return a worker's own directory for the output of its servers.

        It is in the run directory, or a temporary one on nodes that do not see that.
        """
        if not self.run.is_dir():
            return Path(tempfile.mkdtemp(prefix=f"hexathlon-worker-{number}-"))
        logs = self.run / "workers" / str(number)
        logs.mkdir(parents=True, exist_ok=True)
        return logs


def agent_of(setup: RemoteSetup) -> Callable[[int], Agent]:
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
    variable = spec.key_variable(execution.api_key_env)
    needs_key = spec.remote and bool(os.environ.get(variable))
    run = setup.run.resolve()
    return _EvaluatedAgent(config, execution, description, needs_key, run)
