"""Backends: where a run's engine samples and where its environments are played.

The trainer asks a backend for both and knows neither processes nor machines. `InProcess` uses the
process of each rank; a cluster's backend uses other processes. Starting ranks is left to `run`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from hexathlon.baselines.agents.policy import PolicyAgent
from hexathlon.baselines.engines.errors import EngineError
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.rollout.executor import Executor, LocalExecutor, Outcome, Request
from hexathlon.baselines.rollout.streaming import StreamingExecutor
from hexathlon.baselines.tokens.requests import TokenReply, TokenRequest
from hexathlon.baselines.training.engines import OpenedEngine, open_engine
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.envs.base import Environment

__all__ = ["Absent", "TrainingBackend", "InProcess"]


class TrainingBackend(Protocol):
    """Opens engines and creates executors."""

    def central(self, recipe: Recipe) -> bool:
        """Return whether rank 0 plays the rollouts of all ranks; otherwise each plays its share.

        On a central backend, the other ranks use `Absent`.
        """
        ...

    async def open_engine(
        self, recipe: Recipe, model: Any, checkpoint: Path, folder: Path
    ) -> OpenedEngine:
        """Open the recipe's engine on the running event loop.

        Args:
            recipe: The recipe.
            model: The learner's causal language model.
            checkpoint: Directory of the initial policy.
            folder: The run's folder.

        Raises:
            EngineMissing: If the engine is not installed, or cannot be updated with this model.
            EngineError: If the engine does not start.
        """
        ...

    def executor(
        self, recipe: Recipe, agent: PolicyAgent, make: Callable[[str], Environment]
    ) -> Executor:
        """Create an executor that plays rollouts of an agent.

        Args:
            recipe: The recipe.
            agent: Samples from the engine that this backend opened.
            make: Creates an environment from its id.
        """
        ...


class InProcess:
    """Samples and plays in the process of each rank; at vLLM servers, in that of rank 0."""

    def central(self, recipe: Recipe) -> bool:
        """Return whether the engine is shared: otherwise every rank plays its share."""
        return recipe.engine.kind == "vllm"

    async def open_engine(
        self, recipe: Recipe, model: Any, checkpoint: Path, folder: Path
    ) -> OpenedEngine:
        """Open the engine in this process, or connect to its server; see `engines`."""
        return await open_engine(recipe, model, checkpoint, folder)

    def executor(
        self, recipe: Recipe, agent: PolicyAgent, make: Callable[[str], Environment]
    ) -> Executor:
        """Create an executor on the event loop of this process."""
        kind = StreamingExecutor if recipe.asynchrony.active else LocalExecutor
        return kind(agent, make, recipe.rollout.concurrency)


class Absent:
    """The backend of a rank whose rollouts rank 0 plays: neither samples nor plays."""

    def central(self, recipe: Recipe) -> bool:
        """Return True."""
        return True

    async def open_engine(
        self, recipe: Recipe, model: Any, checkpoint: Path, folder: Path
    ) -> OpenedEngine:
        """Return an engine that samples nothing, and a transport that sends nothing."""
        engine = _AbsentEngine()
        return OpenedEngine(engine, engine)

    def executor(
        self, recipe: Recipe, agent: PolicyAgent, make: Callable[[str], Environment]
    ) -> Executor:
        """Return an executor that plays nothing."""
        return _AbsentExecutor()


class _AbsentEngine:
    """The engine of a rank that never samples; updates are verified by rank 0."""

    version = 0
    context = 0

    async def generate(self, request: TokenRequest) -> TokenReply:
        raise EngineError("this rank has no engine: rank 0 plays the rollouts")

    def forget(self, session: str) -> None:
        """Do nothing."""

    async def abort(self, session: str | None = None) -> None:
        """Do nothing."""

    async def clear(self) -> None:
        """Do nothing."""

    async def update(self, weights: Weights, version: int) -> float:
        raise EngineError("this rank has no engine: rank 0 publishes the weights")

    async def publish(self, model: Any, version: int) -> float:
        """Do nothing, as rank 0 publishes; return no difference."""
        return 0.0

    async def close(self) -> None:
        """Do nothing."""


class _AbsentExecutor:
    async def run(self, requests: Sequence[Request]) -> list[Outcome]:
        raise EngineError("this rank has no environments: rank 0 plays the rollouts")

    async def abort(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
