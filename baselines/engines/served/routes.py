"""The two endpoints of a vLLM server for continuing token ids: requests and replies.

`TokenRoute` is token-in, token-out, and its replies state the policy version of each token.
`CompletionRoute` is the ordinary completions endpoint with token ids, which every server has.
"""

import json
import math
from typing import Any, NamedTuple, Protocol

from hexathlon.baselines.engines.errors import EngineError, MalformedReply, ServerError
from hexathlon.baselines.tokens.requests import Finish, TokenRequest, TokenSampling
from hexathlon.tasks.seeding import derive_seed

__all__ = ["CompletionRoute", "Route", "ServedReply", "TokenRoute"]

_NOT_A_NUMBER = -9999.0
"""Written by the server in place of a log-probability that is not finite."""

_FINISHES: dict[str, Finish] = {"stop": "stop", "length": "length", "abort": "abort"}


class ServedReply(NamedTuple):
    """The parsed reply of a server."""

    ids: list[int]
    log_probabilities: list[float]
    finish: Finish
    spans: list[tuple[str, int, int]]
    """(version label, start, end) of each policy version; empty if the endpoint does not say."""

    prompt: list[float]
    """Log-probabilities of all prompt tokens except the first, if requested."""


class Route(Protocol):
    """An endpoint for continuations."""

    path: str
    versions: bool
    """Whether replies state policy versions, and requests can be aborted by name."""

    def body(self, request: TokenRequest, name: str, model: str, *, prompt: bool) -> bytes:
        """Return the request as JSON.

        Args:
            request: Prompt and sampling parameters.
            name: Identifier for aborting the request.
            model: The model's name on the server.
            prompt: Whether to return log-probabilities of the prompt.
        """
        ...

    def read(self, body: bytes) -> ServedReply:
        """Parse a reply.

        Raises:
            MalformedReply: If the body is not a reply of this endpoint.
            EngineError: If the model's logits are not finite.
        """
        ...


class TokenRoute:
    """`/inference/v1/generate`, available with `--enable-scale-out`."""

    path = "/inference/v1/generate"
    versions = True

    def body(self, request: TokenRequest, name: str, model: str, *, prompt: bool) -> bytes:
        """Return the request as JSON."""
        sampling = _sampling(request.sampling) | {"logprobs": 0, "detokenize": False}
        if prompt:
            sampling["prompt_logprobs"] = 0
        body = {
            "model": model,  # may be an adapter
            "request_id": name,
            "token_ids": request.ids,
            "sampling_params": sampling,
        }
        return json.dumps(body).encode()

    def read(self, body: bytes) -> ServedReply:
        """Parse a reply."""
        try:
            data = json.loads(body)
            choice = data["choices"][0]
            ids = [int(token) for token in choice["token_ids"] or ()]
            content = (choice["logprobs"] or {}).get("content") or []
            if [row["token_id"] for row in content] != ids:
                raise ValueError("log-probabilities are of other tokens")
            values = [float(row["logprob"]) for row in content]
            spans = [
                (str(span["version"]), int(span["start"]), int(span["end"]))
                for span in choice.get("weight_versions") or ()
            ]
            finish, prompt = choice["finish_reason"], _of_prompt(data.get("prompt_logprobs"))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise _malformed(body, error) from None
        return ServedReply(ids, _numbers(values), _finish(finish), spans, prompt)


class CompletionRoute:
    """`/v1/completions` with token ids as prompt."""

    path = "/v1/completions"
    versions = False

    def body(self, request: TokenRequest, name: str, model: str, *, prompt: bool) -> bytes:
        """Return the request as JSON; `name` is not used."""
        body = _sampling(request.sampling) | {
            "model": model,
            "prompt": request.ids,
            "logprobs": 0,
            "return_token_ids": True,
            "return_tokens_as_token_ids": True,
            "skip_special_tokens": False,
        }
        if prompt:
            body["prompt_logprobs"] = 0
        return json.dumps(body).encode()

    def read(self, body: bytes) -> ServedReply:
        """Parse a reply."""
        try:
            choice = json.loads(body)["choices"][0]
            ids = [int(token) for token in choice["token_ids"]]
            logged = choice["logprobs"] or {}
            if (logged.get("tokens") or []) != [f"token_id:{token}" for token in ids]:
                raise ValueError("log-probabilities are of other tokens")
            values = [float(value) for value in logged.get("token_logprobs") or ()]
            finish, prompt = choice["finish_reason"], _of_prompt(choice.get("prompt_logprobs"))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise _malformed(body, error) from None
        return ServedReply(ids, _numbers(values), _finish(finish), [], prompt)


def _sampling(sampling: TokenSampling) -> dict[str, Any]:
    """Return all sampling parameters explicitly, since a server may have other defaults."""
    return {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "max_tokens": sampling.max_tokens,
        "seed": _seed(sampling),
        "stop_token_ids": list(sampling.stop_ids),
        "ignore_eos": True,  # only `stop_token_ids` end a reply
    }


def _seed(sampling: TokenSampling) -> int:
    """Return the seed of a request; the continuation of an aborted reply has a different one.

    A server cannot skip draws: with the same seed, the continuation would use the random numbers
    that sampled the beginning.
    """
    seed = sampling.seed
    if sampling.skip:
        seed = derive_seed("resumed reply", seed, sampling.skip)
    return seed % 2**63


def _of_prompt(rows: Any) -> list[float]:
    """Parse the log-probabilities of a prompt: one entry per token, none for the first."""
    return [float(next(iter(row.values()))["logprob"]) for row in (rows or [None])[1:]]


def _numbers(values: list[float]) -> list[float]:
    if any(not math.isfinite(value) or value <= _NOT_A_NUMBER for value in values):
        raise EngineError(
            "the served model's logits are not finite: its weights are damaged, or the learning "
            "rate was too high"
        )
    return values


def _finish(reason: Any) -> Finish:
    if reason not in _FINISHES:
        raise ServerError(f"the server ended the reply with {reason!r}")
    return _FINISHES[reason]


def _malformed(body: bytes, error: Exception) -> MalformedReply:
    excerpt = body[:300].decode("utf-8", "replace")
    return MalformedReply(f"not a reply with token ids ({error!r}): {excerpt}")
