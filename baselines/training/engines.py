"""Opens the engine that a recipe names, with the transport that brings it the learner's weights."""

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
    """An engine that is ready to draw."""

    engine: TokenEngine
    transport: WeightTransport
    server: VllmServer | None = None
    """The server behind the engine, where this run started one."""

    async def close(self) -> None:
        """Release the engine and stop the server that was started for it."""
        try:
            await self.engine.close()
        finally:
            if self.server is not None:
                self.server.stop()


async def open_engine(recipe: Recipe, model: Any, checkpoint: Path, folder: Path) -> OpenedEngine:
    """Open the engine of a recipe; it belongs to the event loop that this runs on.

    Args:
        recipe: Names the engine.
        model: The learner's causal language model.
        checkpoint: The directory that training starts from; a server is started on it.
        folder: The run's folder; takes the server's log, and weights on their way to it.

    Raises:
        EngineMissing: There is no such engine here, or it cannot take updates of this model.
        EngineError: The server does not start, or does not answer.
    """
    table, most = recipe.engine, recipe.rollout.concurrency
    if table.kind == "local":
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
