"""Opening the engine of a recipe, with its weight transport."""

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from hexathlon.baselines.distributed.transports import (
    FolderTransport,
    InProcessTransport,
    WeightTransport,
)
from hexathlon.baselines.engines.errors import EngineMissing
from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.engines.sending import HttpSettings
from hexathlon.baselines.engines.served.engine import ServedEngine
from hexathlon.baselines.engines.served.server import VllmServer, VllmSettings
from hexathlon.baselines.engines.tokens import TokenEngine
from hexathlon.baselines.training.recipe import Recipe

__all__ = ["OpenedEngine", "open_engine"]


@dataclass(frozen=True, slots=True)
class OpenedEngine:
    """An engine that is ready to sample, with its weight transport."""

    engine: TokenEngine
    transport: WeightTransport
    server: VllmServer | None = None
    """The server of the engine, if this run started one."""

    async def close(self) -> None:
        """Close the engine and stop the server started for it."""
        try:
            await self.engine.close()
        finally:
            if self.server is not None:
                self.server.stop()


async def open_engine(recipe: Recipe, model: Any, checkpoint: Path, folder: Path) -> OpenedEngine:
    """Open the engine of a recipe on the running event loop.

    Args:
        recipe: The recipe.
        model: The learner's causal language model.
        checkpoint: Directory of the initial policy; a server is started on it.
        folder: The run's folder; takes the server's log and weights in transit.

    Raises:
        EngineMissing: If the engine is not installed, or cannot be updated with this model.
        EngineError: If the server does not start or does not answer.
    """
    table, most = recipe.engine, recipe.rollout.concurrency
    if table.kind == "local":
        if recipe.asynchrony.active:
            # It samples while the learner changes its own copy.
            model = copy.deepcopy(model).requires_grad_(False)
        engine = LocalEngine(model, context=table.context, batch=most, rows=most)
        return OpenedEngine(engine, InProcessTransport(engine, table.tolerance))
    if table.url:
        return await _connected(recipe, table.url, folder)
    _require_untied(model, checkpoint)
    server = VllmServer(checkpoint, folder / "vllm.log", _settings(recipe, model))
    server.start()
    try:
        return await _connected(recipe, server.url, folder, server)
    except BaseException:
        server.stop()
        raise


async def _connected(
    recipe: Recipe, url: str, folder: Path, server: VllmServer | None = None
) -> OpenedEngine:
    table = recipe.engine
    settings = HttpSettings(url.rstrip("/").removesuffix("/v1"), table.model)
    engine = await ServedEngine.open(settings, deadline=table.deadline)
    return OpenedEngine(engine, FolderTransport(engine, folder, table.tolerance), server)


def _settings(recipe: Recipe, model: Any) -> VllmSettings:
    table = recipe.engine
    return VllmSettings(
        context=table.context,
        sequences=recipe.rollout.concurrency,
        dtype=str(model.get_input_embeddings().weight.dtype).removeprefix("torch."),
        cache_gib=table.cache_gib,
        ready_within=table.ready_within,
    )


def _require_untied(model: Any, checkpoint: Path) -> None:
    if model.config.tie_word_embeddings and not torch.cuda.is_available():
        raise EngineMissing(
            f"a vLLM server on a CPU does not take updates of tied embeddings, which {checkpoint} "
            "has: untie them (tie_word_embeddings = false, with a copy of the embeddings as "
            'lm_head), or train with [engine] kind = "local"'
        )
