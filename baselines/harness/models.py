"""Opens a MODEL: from its spelling to an agent that plays, and what the plan says of it."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.baselines.agents.base import Agent, AgentMismatch
from hexathlon.baselines.agents.spec import ModelSpec, SpecError, parse_model, scripted_agent
from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig
from hexathlon.baselines.harness.errors import EnvironmentUnavailable, UsageError

__all__ = ["OpenedModel", "open_model"]


class OpenedModel(NamedTuple):
    """A model that is ready to play."""

    agent: Agent
    description: Mapping[str, Any]
    """The plan's `model`."""

    price_table: str | None
    """Version of the price table; None where nothing is priced."""


def open_model(
    config: EvalConfig, execution: ExecutionConfig, dialect: str | None = None
) -> OpenedModel:
    """Return the agent that MODEL stands for.

    Args:
        config: What is run.
        execution: How it is run.
        dialect: The dialect that an earlier run of the same plan settled on; without it, `auto`
            asks the server.

    Raises:
        UsageError: If MODEL is none of the three spellings, or names what does not exist.
        EnvironmentUnavailable: If its server does not answer, or this version has no engine for it.
    """
    try:
        spec = parse_model(config.model)
        if spec.kind == "agent":
            return OpenedModel(scripted_agent(spec), dict(spec.as_json()), None)
    except (SpecError, AgentMismatch) as error:
        raise UsageError(str(error)) from None
    if spec.kind == "checkpoint":
        return _open_checkpoint(spec, config, execution, dialect)
    return _open_endpoint(spec, config, execution, dialect)


def _open_checkpoint(
    spec: ModelSpec, config: EvalConfig, execution: ExecutionConfig, dialect: str | None
) -> OpenedModel:
    from hexathlon.baselines.agents.checkpoint import NoCheckpoint, open_checkpoint
    from hexathlon.baselines.engines.errors import EngineMissing

    wanted = dialect or config.dialect
    try:
        opened = open_checkpoint(
            Path(spec.place), config.sampling, wanted, execution.concurrency, config.prompt_suffix
        )
    except EngineMissing as error:
        raise EnvironmentUnavailable(str(error)) from None
    except NoCheckpoint as error:
        raise UsageError(str(error)) from None
    description = {
        "kind": "checkpoint",
        "name": Path(spec.place).resolve().name,
        "place": spec.place,
        "dialect": opened.dialect,
        "sampling": config.sampling.model_dump(mode="json"),
        "revision": opened.revision,
    }
    return OpenedModel(opened.agent, description, None)


def _open_endpoint(
    spec: ModelSpec, config: EvalConfig, execution: ExecutionConfig, dialect: str | None
) -> OpenedModel:
    import asyncio

    from hexathlon.baselines.agents.llm import LlmAgent
    from hexathlon.baselines.codecs import get_codec
    from hexathlon.baselines.engines.base import Sampling
    from hexathlon.baselines.engines.errors import EngineError
    from hexathlon.baselines.engines.http import HttpEngine, HttpSettings
    from hexathlon.baselines.engines.limiter import AdaptiveLimit
    from hexathlon.baselines.engines.prices import PriceTableError, load_prices
    from hexathlon.baselines.engines.probe import probe

    try:
        prices = load_prices(execution.prices)
    except PriceTableError as error:
        raise UsageError(str(error)) from None
    settings = HttpSettings(
        url=spec.place,
        model=spec.name,
        key=os.environ.get(execution.api_key_env, ""),
        stream=execution.stream,
        retries=execution.request_retries,
        timeout=execution.request_timeout,
    )
    wanted = dialect or config.dialect
    try:
        model, found = asyncio.run(probe(settings, wanted == "auto"))
    except EngineError as error:
        raised = UsageError if error.kind in ("auth", "unknown_model") else EnvironmentUnavailable
        raise raised(f"{spec.place}: {error.kind}: {error}") from None
    settings = replace(settings, model=model)
    wanted = found if wanted == "auto" else wanted
    ceiling = max(100, execution.concurrency)
    limit = AdaptiveLimit(min(20, execution.concurrency), 1, ceiling)
    sampling = config.sampling
    agent = LlmAgent(
        HttpEngine(settings, limit, prices),
        get_codec(wanted),
        Sampling(sampling.temperature, sampling.top_p, sampling.max_tokens, sampling.sampling_seed),
        config.prompt_suffix,
    )
    description = {
        "kind": "endpoint",
        "name": model,
        "place": spec.place,
        "dialect": wanted,
        "sampling": sampling.model_dump(mode="json"),
        "revision": None,
    }
    return OpenedModel(agent, description, prices.version)
