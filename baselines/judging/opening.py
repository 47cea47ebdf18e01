"""Opens a judge: parses its MODEL argument, probes its server, and creates a client."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from hexathlon.baselines import interrupts
from hexathlon.baselines.agents.checkpoint import InvalidCheckpoint, open_chat, revision_of
from hexathlon.baselines.agents.spec import SpecError, parse_model
from hexathlon.baselines.engines.base import ChatRequest, Engine, Sampling
from hexathlon.baselines.engines.errors import BadRequest, EngineError, EngineMissing, Refused
from hexathlon.baselines.engines.http import HttpEngine, HttpSettings
from hexathlon.baselines.engines.limiter import AdaptiveLimit
from hexathlon.baselines.engines.prices import PriceTable, PriceTableError, load_prices
from hexathlon.baselines.engines.probe import probe
from hexathlon.baselines.harness.errors import EnvironmentUnavailable, UsageError
from hexathlon.baselines.judging.cache import VerdictCache
from hexathlon.baselines.judging.client import JudgeClient, JudgeIdentity
from hexathlon.evaluators.judges.families import family_of

__all__ = ["JudgeSettings", "identify_judge", "open_client"]


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """Settings of a judge and of requests to it."""

    model: str
    """`endpoint:URL#NAME` or a checkpoint directory."""

    family: str = ""
    """The model's family; by default inferred from its name."""

    revision: str = ""
    temperature: float | None = 0.0
    max_tokens: int | None = 2048
    seed: int = 0
    retries: int = 2
    structured: bool | None = None
    """Whether requests ask for a JSON schema; None probes the server for support."""

    images: bool = False
    """Whether to send images; the server must accept image parts."""

    concurrency: int = 64
    timeout: float = 300.0
    request_retries: int = 4
    api_key_env: str = "OPENAI_API_KEY"
    prices: Path | None = None
    cache: Path | None = None


def identify_judge(settings: JudgeSettings) -> JudgeIdentity:
    """Return the identity of a judge, probing its server for the model's name and capabilities.

    Raises:
        UsageError: If the MODEL argument is invalid, or the server does not know the model.
        EnvironmentUnavailable: If the server does not answer, or its engine is not installed.
    """
    try:
        spec = parse_model(settings.model)
    except SpecError as error:
        raise UsageError(str(error)) from None
    if spec.kind == "provider":
        raise UsageError(
            f"judges are endpoint:URL#NAME or a checkpoint, got {settings.model!r}: name the "
            "provider's OpenAI-compatible address"
        )
    if spec.kind == "agent":
        raise UsageError(
            f"expected endpoint:URL#NAME or a checkpoint directory as judge, got {settings.model}"
        )
    if spec.kind == "checkpoint" and settings.images:
        raise UsageError(
            "a checkpoint judge reads text only: use a vision model at endpoint:URL#NAME for images"
        )
    # The revision identifies a checkpoint, so the path of its directory is not part of its name.
    name = Path(spec.place).resolve().name if spec.kind == "checkpoint" else spec.name
    identity = JudgeIdentity(
        name,
        spec.kind,
        spec.place,
        settings.revision,
        (settings.family,) if settings.family else family_of(name),
        settings.temperature,
        None,
        settings.max_tokens,
        settings.seed,
        bool(settings.structured),
        settings.retries,
        settings.images,
    )
    try:
        if spec.kind == "checkpoint":
            open_chat(Path(spec.place), settings.concurrency)
            revision = settings.revision or revision_of(Path(spec.place))
            return replace(identity, revision=revision)
        return interrupts.run(_probed(settings, identity))
    except InvalidCheckpoint as error:
        raise UsageError(str(error)) from None
    except EngineMissing as error:
        raise EnvironmentUnavailable(str(error)) from None
    except EngineError as error:
        usage = error.kind in ("auth", "unknown_model")
        error_class = UsageError if usage else EnvironmentUnavailable
        raise error_class(f"{spec.place}: {error.kind}: {error}") from None


def open_client(
    settings: JudgeSettings,
    identity: JudgeIdentity,
    place: Callable[[Callable[[], Engine]], Engine] | None = None,
) -> JudgeClient:
    """Return a client for the judge of `identify_judge`.

    Args:
        settings: The judge's settings.
        identity: The judge.
        place: Opens the engine in another place, such as a cluster, given how to open it.

    Raises:
        UsageError: If the price table is invalid.
    """
    try:
        prices = load_prices(settings.prices)
    except PriceTableError as error:
        raise UsageError(str(error)) from None
    cache = VerdictCache(settings.cache)
    opening = partial(_engine, settings, identity, prices)
    engine = opening() if place is None else place(opening)
    return JudgeClient(engine, identity, cache, settings.concurrency)


async def _probed(settings: JudgeSettings, identity: JudgeIdentity) -> JudgeIdentity:
    name, _ = await probe(_http(settings, identity), ask_tools=False)
    families = identity.families or family_of(name)
    identity = replace(identity, model=name, families=families)
    engine = _engine(settings, identity, PriceTable("", "", {}))
    try:
        structured = settings.structured
        if structured is None:
            structured = await _supports_schema(engine)
        return replace(identity, structured=structured)
    finally:
        await engine.close()


async def _supports_schema(engine: Engine) -> bool:
    """Return whether the server accepts a JSON schema; sends one or two short requests."""
    message = {"role": "user", "content": 'Answer {"ok": true}.'}
    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": False,
    }
    try:
        await engine.chat(ChatRequest([message], (), Sampling(max_tokens=16), 60.0, schema))
    except BadRequest:
        await engine.chat(ChatRequest([message], (), Sampling(max_tokens=16), 60.0))
        return False
    except Refused:
        return True
    return True


def _engine(settings: JudgeSettings, identity: JudgeIdentity, prices: PriceTable) -> Engine:
    if identity.kind == "checkpoint":
        return open_chat(Path(identity.place), settings.concurrency)
    limit = AdaptiveLimit(min(20, settings.concurrency), 1, max(100, settings.concurrency))
    return HttpEngine(_http(settings, identity), limit, prices)


def _http(settings: JudgeSettings, identity: JudgeIdentity) -> HttpSettings:
    return HttpSettings(
        url=identity.place,
        model=identity.model,
        key=os.environ.get(settings.api_key_env, ""),
        retries=settings.request_retries,
        timeout=settings.timeout,
    )
