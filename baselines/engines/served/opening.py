"""First requests to a server: which model it has, and which endpoint with which log-probabilities.

Continuing tokens is left to `engine`.
"""

import json

from hexathlon.baselines.engines.errors import (
    AuthRejected,
    EngineError,
    EngineMissing,
    MalformedReply,
    UnknownModel,
)
from hexathlon.baselines.engines.sending import Sender
from hexathlon.baselines.engines.served.routes import CompletionRoute, Route, TokenRoute
from hexathlon.baselines.tokens.requests import TokenRequest, TokenSampling

__all__ = ["served_model", "usable_route"]


async def served_model(sender: Sender) -> tuple[str, int]:
    """Return name and context length of the requested model."""
    url, requested = f"{sender.settings.url}/v1/models", sender.settings.model
    try:
        rows = {str(row["id"]): row for row in json.loads(await sender.ask(url))["data"]}
        contexts = {name: int(row["max_model_len"]) for name, row in rows.items()}
    except (ValueError, LookupError, TypeError) as error:
        raise MalformedReply(f"{url} is not vLLM's list of models: {error!r}") from None
    if not requested and len(contexts) == 1:
        return next(iter(contexts.items()))
    if requested not in contexts:
        offered = ", ".join(contexts) or "none"
        raise UnknownModel(f"the server has no model {requested!r}; it has {offered}")
    return requested, contexts[requested]


async def usable_route(sender: Sender, model: str) -> Route:
    """Return the preferred endpoint that the server has, after checking its log-probabilities."""
    # With top-k 1, the sampled token has log-probability 0 under the sampling distribution.
    request = TokenRequest([0], TokenSampling(top_k=1, max_tokens=1))
    routes: tuple[Route, Route] = (TokenRoute(), CompletionRoute())
    rejection: EngineError | None = None
    for route in routes:
        body = route.body(request, "hexathlon-opens", model, prompt=False)
        try:
            reply = route.read(await sender.ask(f"{sender.settings.url}{route.path}", body))
        except (AuthRejected, UnknownModel) as error:
            rejection = error
            continue
        if not reply.log_probabilities or abs(reply.log_probabilities[0]) > 1e-6:
            raise EngineMissing(
                "the server's log-probabilities are those of the raw logits, not of the sampling "
                "distribution: start it with --logprobs-mode processed_logprobs"
            )
        return route
    assert rejection is not None
    raise rejection
