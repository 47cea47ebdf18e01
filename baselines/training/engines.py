"""Opening the engine of a recipe, with its weight transport."""

import asyncio
import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from hexathlon.baselines.distributed.transports import (
    AdapterTransport,
    BroadcastTransport,
    FolderTransport,
    InProcessTransport,
    WeightTransport,
)
from hexathlon.baselines.engines.errors import EngineMissing
from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.engines.replicated import as_one
from hexathlon.baselines.engines.sending import HttpSettings
from hexathlon.baselines.engines.served.engine import ServedEngine
from hexathlon.baselines.engines.served.launched import replicas_of
from hexathlon.baselines.engines.served.settings import VllmSettings
from hexathlon.baselines.engines.tokens import TokenEngine
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.baselines.training.tables import EngineTable

__all__ = ["OpenedEngine", "open_engine"]


@dataclass(frozen=True, slots=True)
class OpenedEngine:
    """An engine that is ready to sample, with its weight transport."""

    engine: TokenEngine
    transport: WeightTransport

    async def close(self) -> None:
        """Close the engine, which stops the servers started for it, and then the transport."""
        try:
            await self.engine.close()
        finally:
            await self.transport.close()


async def open_engine(recipe: Recipe, model: Any, checkpoint: Path, folder: Path) -> OpenedEngine:
    """Open the engine of a recipe on the running event loop.

    Args:
        recipe: The recipe.
        model: The learner's causal language model.
        checkpoint: Directory of the initial policy; servers are started on it.
        folder: The run's folder; takes the servers' logs and weights in transit.

    Raises:
        EngineMissing: If the engine is not installed, does not start, or cannot be updated with
            this model.
        EngineError: If a given server does not answer.
    """
    table, most = recipe.engine, recipe.rollout.concurrency
    if table.kind == "local":
        if recipe.asynchrony.active:
            # The engine samples from a copy, since the learner changes its model meanwhile.
            model = copy.deepcopy(model).requires_grad_(False)
        local = LocalEngine(
            model, context=table.context, batch=most, rows=most, invariant=table.invariant,
            speculate=table.speculate,
        )  # fmt: skip
        return OpenedEngine(local, InProcessTransport(local, table.tolerance))
    if table.urls:
        engine = await connect(table)
    else:
        _require_untied(model, checkpoint)
        engine = await launch(table, checkpoint, folder, settings_for(recipe, model))
    return OpenedEngine(engine, _transport(table, engine, checkpoint, folder))


def _transport(
    table: EngineTable, engine: TokenEngine, checkpoint: Path, folder: Path
) -> WeightTransport:
    """Return the weight transport to servers."""
    if table.transfer == "folder":
        return FolderTransport(engine, folder, table.tolerance)
    if table.transfer == "adapter":
        return AdapterTransport(engine, folder, checkpoint, table.tolerance)
    count = len(table.urls) or table.replicas
    return BroadcastTransport(engine, table.transfer, count, table.tolerance, table.host)


async def connect(table: EngineTable) -> TokenEngine:
    """Return the engine of the servers that a recipe names."""
    opened: dict[str, TokenEngine] = {}
    try:
        for url in table.urls:
            settings = HttpSettings(url.rstrip("/").removesuffix("/v1"), table.model)
            opened[url] = await ServedEngine.open(settings, deadline=table.deadline)
    except BaseException:
        for engine in opened.values():
            await engine.close()
        raise
    return as_one(opened)


async def launch(
    table: EngineTable, checkpoint: Path, folder: Path, settings: VllmSettings
) -> TokenEngine:
    """Return the engine of servers started for a run; they start at the same time."""
    launched = replicas_of(
        checkpoint, folder, settings, table.replicas, table.deadline, table.restarts
    )
    engine = as_one({each.name: each for each in launched})
    try:
        async with asyncio.TaskGroup() as group:
            for each in launched:
                group.create_task(each.start())
    except BaseException as error:
        await engine.close()
        raise _first(error) from None
    return engine


def settings_for(recipe: Recipe, model: Any) -> VllmSettings:
    """Return the settings for starting a recipe's servers."""
    table, gpu = recipe.engine, torch.cuda.is_available()
    return VllmSettings(
        context=table.context,
        sequences=recipe.rollout.concurrency,
        dtype=str(model.get_input_embeddings().weight.dtype).removeprefix("torch."),
        cache_gib=table.cache_gib,
        ready_within=table.ready_within,
        receives=table.transfer if table.transfer in ("gloo", "nccl") else "",
        lora_rank=recipe.policy.lora_rank if table.transfer == "adapter" else 0,
        sleeps=table.sleep,
        whole_prompts=not gpu,
        eager=not gpu,
        more=table.more,
    )


def _first(error: BaseException) -> BaseException:
    """Return the error of the first task that failed."""
    return error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error


def _require_untied(model: Any, checkpoint: Path) -> None:
    if model.config.tie_word_embeddings and not torch.cuda.is_available():
        raise EngineMissing(
            f"a vLLM server on a CPU does not take updates of tied embeddings, which {checkpoint} "
            "has: untie them (tie_word_embeddings = false, with a copy of the embeddings as "
            'lm_head), or train with [engine] kind = "local"'
        )
