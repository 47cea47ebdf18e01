"""Probe of a server before a run is planned: which model it serves, and whether it parses tools."""

from hexathlon.baselines.engines.base import ChatRequest, Sampling
from hexathlon.baselines.engines.errors import (
    BadRequest,
    EngineError,
    MalformedReply,
    ServerError,
    UnknownModel,
)
from hexathlon.baselines.engines.http import HttpEngine, HttpSettings
from hexathlon.baselines.engines.limiter import AdaptiveLimit
from hexathlon.baselines.engines.prices import PriceTable

__all__ = ["probe"]

_TOOL = {
    "name": "ping",
    "description": "Do nothing.",
    "parameters": {"type": "object", "properties": {}},
}


async def probe(settings: HttpSettings, ask_tools: bool) -> tuple[str, str]:
    """Return the model's name and its dialect: `openai` if the server accepts tools, else `hermes`.

    Args:
        settings: The server; an empty model name means its only model.
        ask_tools: Whether to test for tool support, with a request of one token; otherwise the
            returned dialect is empty.

    Raises:
        UnknownModel: If no name is given and the server has none or several models.
        EngineError: If the server does not answer.
    """
    limit = AdaptiveLimit(1, 1, 1)
    engine = HttpEngine(settings, limit, PriceTable("", "", {}))
    try:
        if not settings.model:
            settings = HttpSettings(settings.url, await _only_model(engine), settings.key)
            await engine.close()
            engine = HttpEngine(settings, limit, PriceTable("", "", {}))
        return settings.model, await _dialect(engine) if ask_tools else ""
    finally:
        await engine.close()


async def _only_model(engine: HttpEngine) -> str:
    names = await engine.models()
    if len(names) == 1:
        return names[0]
    offered = ", ".join(names[:10]) or "none"
    raise UnknownModel(f"name the model after '#'; the server has {offered}")


async def _dialect(engine: HttpEngine) -> str:
    message = {"role": "user", "content": "ping"}
    request = ChatRequest([message], [_TOOL], Sampling(max_tokens=1), deadline=60.0)
    try:
        await engine.chat(request)
    except (BadRequest, ServerError):
        # If it does not answer without tools either, the error has another cause and is raised.
        await engine.chat(ChatRequest([message], (), Sampling(max_tokens=1), deadline=60.0))
        return "hermes"
    except MalformedReply:
        return "hermes"
    except EngineError as error:
        if error.kind != "refused":
            raise
    return "openai"
