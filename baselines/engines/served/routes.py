"""The two routes by which a vLLM server continues token ids: what is sent, how the reply reads.

`TokenRoute` is token-in, token-out; its replies say which policy version drew which token.
`CompletionRoute` is the plain completion with token ids, which every server offers.
"""

import json
import math
from typing import Any, NamedTuple, Protocol

from hexathlon.baselines.engines.errors import EngineError, MalformedReply, ServerError
from hexathlon.baselines.tokens.requests import Finish, TokenRequest, TokenSampling
from hexathlon.tasks.seeding import derive_seed

__all__ = ["CompletionRoute", "Route", "ServedReply", "TokenRoute"]

_NOT_A_NUMBER = -9999.0
"""What the server writes in place of a log-probability that is no number."""

_FINISHES: dict[str, Finish] = {"stop": "stop", "length": "length", "abort": "abort"}


class ServedReply(NamedTuple):
    """What a server drew."""

    ids: list[int]
    log_probabilities: list[float]
    finish: Finish
    spans: list[tuple[str, int, int]]
    """Label of a policy version with the tokens it drew; empty where the route does not say."""

    prompt: list[float]
    """Log-probability of every token of the prompt but the first, if asked for."""


class Route(Protocol):
    """A way to ask for a continuation."""

    path: str
    versions: bool
    """Whether replies name policy versions, and requests can be aborted by name."""

    def body(self, request: TokenRequest, name: str, model: str, *, prompt: bool) -> bytes:
        """Return the request as JSON.

        Args:
            request: The prompt and how tokens are drawn.
            name: By which the request may be aborted.
            model: The model's name on the server.
            prompt: Whether log-probabilities of the prompt are wanted too.
        """
        ...

    def read(self, body: bytes) -> ServedReply:
        """Read a reply.

        Raises:
            MalformedReply: If it is not one.
            EngineError: If the model's logits are not numbers.
        """
        ...


class TokenRoute:
    """`/inference/v1/generate`, which a server offers under `--enable-scale-out`."""

    path = "/inference/v1/generate"
    versions = True

    def body(self, request: TokenRequest, name: str, model: str, *, prompt: bool) -> bytes:
        """Return the request as JSON."""
        sampling = _sampling(request.sampling) | {"logprobs": 0, "detokenize": False}
        if prompt:
            sampling["prompt_logprobs"] = 0
        body = {"request_id": name, "token_ids": request.ids, "sampling_params": sampling}
        return json.dumps(body).encode()

    def read(self, body: bytes) -> ServedReply:
        """Read a reply."""
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
    """`/v1/completions` with token ids for a prompt."""

    path = "/v1/completions"
    versions = False

    def body(self, request: TokenRequest, name: str, model: str, *, prompt: bool) -> bytes:
        """Return the request as JSON; it cannot be named."""
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
        """Read a reply."""
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
    """Return all that shapes the distribution; what is left out a server may fill in itself."""
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
        "ignore_eos": True,  # only the tokens named above end a reply
    }


def _seed(sampling: TokenSampling) -> int:
    """Return the seed of a request; a reply that goes on after an abort gets one of its own.

    A server cannot skip draws. With the seed of its beginning, the rest would be drawn by the very
    numbers that drew the beginning.
    """
    seed = sampling.seed
    if sampling.skip:
        seed = derive_seed("resumed reply", seed, sampling.skip)
    return seed % 2**63


def _of_prompt(rows: Any) -> list[float]:
    """Read log-probabilities of a prompt: one entry a token, nothing for the first."""
    return [float(next(iter(row.values()))["logprob"]) for row in (rows or [None])[1:]]


def _numbers(values: list[float]) -> list[float]:
    if any(not math.isfinite(value) or value <= _NOT_A_NUMBER for value in values):
        raise EngineError(
            "the served model's logits are not numbers; its weights are damaged, or the learning "
            "rate was too high"
        )
    return values


def _finish(said: Any) -> Finish:
    if said not in _FINISHES:
        raise ServerError(f"the server ended the reply with {said!r}")
    return _FINISHES[said]


def _malformed(body: bytes, error: Exception) -> MalformedReply:
    shown = body[:300].decode("utf-8", "replace")
    return MalformedReply(f"not a continuation of tokens ({error!r}): {shown}")
