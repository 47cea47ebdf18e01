"""Backends, which supply a run's engine and the executor of its environments.

They hide processes and machines from the trainer. `InProcess` uses the process of each rank; a
cluster's backend uses other processes. Starting ranks is left to `run`.
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
from hexathlon.baselines.training.interrupting import interrupting
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.envs.base import Environment

__all__ = ["IdleBackend", "TrainingBackend", "InProcess"]


class TrainingBackend(Protocol):
    """Opens engines and creates executors."""

    def central(self, recipe: Recipe) -> bool:
        """Return whether rank 0 plays all rollouts; otherwise each rank plays its share.

        On a central backend, the other ranks use `IdleBackend`.
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
    """Samples and plays in the process of each rank; with vLLM servers, in that of rank 0."""

    def central(self, recipe: Recipe) -> bool:
        """Return whether all ranks share one engine."""
        return recipe.engine.kind == "vllm"

    async def open_engine(
        self, recipe: Recipe, model: Any, checkpoint: Path, folder: Path
    ) -> OpenedEngine:
        """Open the engine in this process, or connect to its server; see `engines`."""
        opened = await open_engine(recipe, model, checkpoint, folder)
        return interrupting(opened) if recipe.asynchrony.update == "abort" else opened

    def executor(
        self, recipe: Recipe, agent: PolicyAgent, make: Callable[[str], Environment]
    ) -> Executor:
        """Create an executor on the event loop of this process."""
        kind = StreamingExecutor if recipe.asynchrony.active else LocalExecutor
        return kind(agent, make, recipe.rollout.concurrency)


class IdleBackend:
    """The backend of the other ranks if rank 0 plays all rollouts: neither samples nor plays."""

    def central(self, recipe: Recipe) -> bool:
        """Return True."""
        return True

    async def open_engine(
        self, recipe: Recipe, model: Any, checkpoint: Path, folder: Path
    ) -> OpenedEngine:
        """Return an engine that samples nothing, and a transport that sends nothing."""
        engine = _IdleEngine()
        return OpenedEngine(engine, engine)

    def executor(
        self, recipe: Recipe, agent: PolicyAgent, make: Callable[[str], Environment]
    ) -> Executor:
        """Return an executor that plays nothing."""
        return _IdleExecutor()


class _IdleEngine:
    """The engine of a rank that never samples; rank 0 verifies updates."""

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
        """Do nothing, since rank 0 publishes; return a difference of 0."""
        return 0.0

    async def close(self) -> None:
        """Do nothing."""


class _IdleExecutor:
    async def run(self, requests: Sequence[Request]) -> list[Outcome]:
        raise EngineError("this rank has no environments: rank 0 plays the rollouts")

    async def abort(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
