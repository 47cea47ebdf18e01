"""Opens a MODEL: parses the argument, creates the agent, and describes it for the plan."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hexathlon.baselines import interrupts
from hexathlon.baselines.agents.base import Agent, AgentMismatch
from hexathlon.baselines.agents.spec import (
    PROVIDERS,
    ModelSpec,
    SpecError,
    parse_model,
    scripted_agent,
)
from hexathlon.baselines.engines.prices import PriceTable, PriceTableError, load_prices
from hexathlon.baselines.harness.budget import require_price
from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig
from hexathlon.baselines.harness.errors import EnvironmentUnavailable, UsageError
from hexathlon.baselines.harness.progress import Waiting

if TYPE_CHECKING:
    from hexathlon.baselines.engines.base import Engine
    from hexathlon.baselines.engines.limiter import AdaptiveLimit
    from hexathlon.baselines.engines.sending import HttpSettings

__all__ = ["OpenedModel", "open_model"]


_REMEDIES = {"connection": "; check the address and that the server is running"}
"""Remedies by kind of error."""


class OpenedModel(NamedTuple):
    """An agent with its description for the plan."""

    agent: Agent
    description: Mapping[str, Any]
    """The plan's `model`."""

    price_table: str | None
    """Version of the price table; None if calls have no price."""


def open_model(
    config: EvalConfig,
    execution: ExecutionConfig,
    dialect: str | None = None,
    *,
    logs: Path | None = None,
) -> OpenedModel:
    """Open the model that a configuration names.

    Args:
        config: Names the model and its sampling parameters.
        execution: Settings of connections and concurrency.
        dialect: Dialect stored by an earlier run of the same plan; without it, `auto` probes the
            server.
        logs: The run directory, for the output of servers that are started.

    Raises:
        UsageError: If MODEL has none of the accepted forms, does not exist, or does not fit the
            engine settings.
        EnvironmentUnavailable: If its server does not answer, or its engine is not installed.
    """
    try:
        spec = parse_model(config.model)
        _check_engine(spec, config, execution)
        prices = load_prices(execution.prices)
        if spec.kind == "agent":
            return OpenedModel(scripted_agent(spec), dict(spec.as_json()), None)
    except (SpecError, AgentMismatch, PriceTableError) as error:
        raise UsageError(str(error)) from None
    with Waiting(f"opening {config.model}"):
        if spec.kind == "checkpoint":
            return _open_checkpoint(spec, config, execution, dialect, logs or Path())
        return _open_chat(spec, config, execution, dialect, prices)


def _open_checkpoint(
    spec: ModelSpec,
    config: EvalConfig,
    execution: ExecutionConfig,
    dialect: str | None,
    logs: Path,
) -> OpenedModel:
    from hexathlon.baselines.agents.checkpoint import InvalidCheckpoint, Serving, open_checkpoint
    from hexathlon.baselines.engines.errors import EngineMissing

    requested = dialect or config.dialect
    try:
        opened = open_checkpoint(
            Path(spec.place),
            config.sampling,
            requested,
            execution.concurrency,
            config.prompt_suffix,
            Serving(logs, execution.replicas, config.engine_arg)
            if config.engine == "vllm"
            else None,
        )
    except EngineMissing as error:
        raise EnvironmentUnavailable(str(error)) from None
    except InvalidCheckpoint as error:
        raise UsageError(str(error)) from None
    description = {
        "kind": "checkpoint",
        "name": Path(spec.place).resolve().name,
        "place": spec.place,
        "dialect": opened.dialect,
        "sampling": config.sampling.model_dump(mode="json"),
        "revision": opened.revision,
        **({"engine": opened.engine} if opened.engine else {}),
    }
    return OpenedModel(opened.agent, description, None)


def _check_engine(spec: ModelSpec, config: EvalConfig, execution: ExecutionConfig) -> None:
    """Raise if settings of vLLM servers are given to something else."""
    served = config.engine == "vllm"
    if served and spec.kind != "checkpoint":
        raise UsageError(
            f"--engine vllm serves a checkpoint directory, got {config.model}; a running server is "
            "endpoint:URL"
        )
    if not served and (config.engine_arg or execution.replicas > 1):
        name = "--engine-arg" if config.engine_arg else "--replicas"
        raise UsageError(f"{name} is for servers to start: add --engine vllm")


def _open_chat(
    spec: ModelSpec,
    config: EvalConfig,
    execution: ExecutionConfig,
    dialect: str | None,
    prices: PriceTable,
) -> OpenedModel:
    """Open a provider's model, or one on a server, which is asked for its name and dialect."""
    from hexathlon.baselines.engines.base import Usage
    from hexathlon.baselines.engines.http import HttpEngine
    from hexathlon.baselines.engines.provider import PROVIDER_APIS, ProviderEngine

    settings, requested = _settings(spec, execution), dialect or config.dialect
    if spec.kind == "provider":
        _require_key(spec, config, execution, settings)
        model, usual = spec.name, "openai"
    else:
        model, usual = _probed(spec, settings, requested)
    require_price(execution, prices.cost(model, Usage()))
    settings, limit = replace(settings, model=model), _limit(execution)
    engine: Engine
    if spec.kind == "provider":
        engine = ProviderEngine(PROVIDER_APIS[spec.provider], settings, limit, prices)
    else:
        engine = HttpEngine(settings, limit, prices)
    spoken = usual if requested == "auto" else requested
    described = {**spec.as_json(), "name": model, "dialect": spoken}
    return _chat_model(engine, spoken, described, config, prices)


def _require_key(
    spec: ModelSpec, config: EvalConfig, execution: ExecutionConfig, settings: "HttpSettings"
) -> None:
    if not settings.key and spec.place == PROVIDERS[spec.provider].url:
        variable = spec.key_variable(execution.api_key_env)
        raise UsageError(f"{config.model} needs an API key: set {variable}")


def _probed(spec: ModelSpec, settings: "HttpSettings", requested: str) -> tuple[str, str]:
    """Return the model's name on a server and, if `auto` is requested, its dialect."""
    from hexathlon.baselines.engines.errors import EngineError
    from hexathlon.baselines.engines.probe import probe

    try:
        return interrupts.run(probe(settings, requested == "auto"))
    except EngineError as error:
        usage = error.kind in ("auth", "unknown_model")
        error_class = UsageError if usage else EnvironmentUnavailable
        remedy = _REMEDIES.get(error.kind, "")
        raise error_class(f"{spec.place}: {error.kind}: {error}{remedy}") from None


def _settings(spec: ModelSpec, execution: ExecutionConfig) -> "HttpSettings":
    from hexathlon.baselines.engines.sending import HttpSettings

    return HttpSettings(
        url=spec.place,
        model=spec.name,
        key=os.environ.get(spec.key_variable(execution.api_key_env), ""),
        stream=execution.stream,
        retries=execution.request_retries,
        timeout=execution.request_timeout,
    )


def _limit(execution: ExecutionConfig) -> "AdaptiveLimit":
    from hexathlon.baselines.engines.limiter import AdaptiveLimit

    ceiling = max(100, execution.concurrency)
    return AdaptiveLimit(min(20, execution.concurrency), 1, ceiling)


def _chat_model(
    engine: "Engine",
    dialect: str,
    described: Mapping[str, Any],
    config: EvalConfig,
    prices: PriceTable,
) -> OpenedModel:
    """Return the agent that plays with a chat engine, with its description for the plan."""
    from hexathlon.baselines.agents.llm import LlmAgent
    from hexathlon.baselines.codecs import get_codec
    from hexathlon.baselines.engines.base import Sampling

    sampling = config.sampling
    agent = LlmAgent(
        engine,
        get_codec(dialect),
        Sampling(sampling.temperature, sampling.top_p, sampling.max_tokens, sampling.sampling_seed),
        config.prompt_suffix,
    )
    drawn = {"sampling": sampling.model_dump(mode="json"), "revision": None}
    return OpenedModel(agent, {**described, **drawn}, prices.version)
