"""vLLM's routes for token ids, and text completions, over a checkpoint in this process.

`hexathlon.baselines.engines.served.routes` is the client of these routes.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Protocol

from hexathlon.baselines.engines.apis.base import JsonBody, sse
from hexathlon.baselines.engines.errors import BadRequest
from hexathlon.baselines.gateway.app import HttpReply, Responder
from hexathlon.baselines.gateway.policy import PolicyAnswers, cut_reply
from hexathlon.baselines.tokens.requests import Span, TokenReply, TokenRequest, TokenSampling

__all__ = ["TokenRoutes"]

_UNVERSIONED = "default"


class _Scoring(Protocol):
    def score(self, ids: list[list[int]]) -> list[list[float]]: ...


class TokenRoutes:
    """Continues token ids, or a text, without a conversation.

    Args:
        policy: The checkpoint.
        scoring: Returns log-probabilities of prompts.
    """

    def __init__(self, policy: PolicyAnswers, scoring: _Scoring) -> None:
        self._policy = policy
        self._scoring = scoring
        self._numbers = count()

    def paths(self) -> dict[str, Responder]:
        """Return the responders by path."""
        return {
            "/inference/v1/generate": self._generate,
            "/inference/v1/abort_requests": self._abort,
            "/v1/completions": self._complete,
            "/tokenize": self._tokenize,
            "/detokenize": self._detokenize,
        }

    async def _generate(self, body: JsonBody) -> HttpReply:
        ids = _ids(body.get("token_ids"))
        asked = body.get("sampling_params") or {}
        name = str(body.get("request_id") or f"request-{next(self._numbers)}")
        reply = await self._continued(ids, asked, f"generate-tokens-{name}")
        values = zip(reply.ids, reply.log_probabilities, strict=True)
        choice = {
            "index": 0,
            "token_ids": reply.ids,
            "finish_reason": reply.finish,
            "logprobs": {"content": [{"token_id": t, "logprob": v} for t, v in values]},
            "weight_versions": [_span(span) for span in reply.spans],
        }
        prompt = self._prompt_values(ids, asked)
        return HttpReply({"request_id": name, "choices": [choice], "prompt_logprobs": prompt})

    async def _abort(self, body: JsonBody) -> HttpReply:
        for name in body.get("request_ids") or ():
            await self._policy.engine.abort(str(name))
        return HttpReply({})

    async def _complete(self, body: JsonBody) -> HttpReply:
        renderer = self._policy.renderer
        prompt = body.get("prompt")
        ids = renderer.encode(prompt) if isinstance(prompt, str) else _ids(prompt)
        if body.get("echo") or int(body.get("n") or 1) != 1 or body.get("suffix"):
            raise BadRequest("echo, suffix and several choices are not supported")
        name = f"cmpl-{next(self._numbers):08d}"
        stops = body.get("stop") or ()
        reply = await self._continued(ids, body, name)
        reply, text = cut_reply(renderer, reply, (stops,) if isinstance(stops, str) else stops)
        choice: JsonBody = {
            "index": 0,
            "text": text,
            "finish_reason": reply.finish,
            "logprobs": None,
            "prompt_logprobs": self._prompt_values(ids, body),
        }
        if body.get("logprobs") is not None:
            choice["logprobs"] = self._logged(reply, bool(body.get("return_tokens_as_token_ids")))
        if body.get("return_token_ids"):
            choice |= {"token_ids": reply.ids, "prompt_token_ids": ids}
        written = {
            "id": name,
            "object": "text_completion",
            "created": 0,
            "model": self._policy.name,
            "choices": [choice],
            "usage": {
                "prompt_tokens": len(ids),
                "completion_tokens": len(reply.ids),
                "total_tokens": len(ids) + len(reply.ids),
            },
        }
        events = iter((sse(written), sse("[DONE]"))) if body.get("stream") else None
        return HttpReply(written, events=events)

    async def _tokenize(self, body: JsonBody) -> HttpReply:
        if not isinstance(body.get("prompt"), str):
            raise BadRequest("expected a text as prompt")
        ids = self._policy.renderer.encode(body["prompt"])
        length = self._policy.context
        return HttpReply({"tokens": ids, "count": len(ids), "max_model_len": length})

    async def _detokenize(self, body: JsonBody) -> HttpReply:
        ids = _ids(body.get("tokens"))
        return HttpReply({"prompt": self._policy.renderer.tokenizer.decode(ids)})

    async def _continued(self, ids: list[int], asked: Mapping[str, Any], name: str) -> TokenReply:
        stops = list(asked.get("stop_token_ids") or ())
        if not asked.get("ignore_eos"):
            stops += self._policy.renderer.stop_ids
        return await self._policy.engine.generate(TokenRequest(ids, _sampling(asked, stops), name))

    def _prompt_values(self, ids: list[int], asked: Mapping[str, Any]) -> Any:
        if asked.get("prompt_logprobs") is None:
            return None
        values = self._scoring.score([ids])[0]
        rows = zip(ids[1:], values, strict=True)
        return [None, *({str(token): {"logprob": value}} for token, value in rows)]

    def _logged(self, reply: TokenReply, as_ids: bool) -> JsonBody:
        decode = self._policy.renderer.tokenizer.decode
        tokens = [f"token_id:{t}" if as_ids else decode([t]) for t in reply.ids]
        offsets, length = [], 0
        for token in tokens:
            offsets.append(length)
            length += len(token)
        values = zip(tokens, reply.log_probabilities, strict=True)
        return {
            "tokens": tokens,
            "token_logprobs": reply.log_probabilities,
            "top_logprobs": [{token: value} for token, value in values],
            "text_offset": offsets,
        }


def _span(span: Span) -> JsonBody:
    version = str(span.version) if span.version else _UNVERSIONED
    return {"version": version, "start": span.start, "end": span.end}


def _sampling(asked: Mapping[str, Any], stops: Sequence[int]) -> TokenSampling:
    def given(name: str, default: Any) -> Any:
        value = asked.get(name)
        return default if value is None else value

    for name, neutral in (("min_p", 0), ("repetition_penalty", 1), ("presence_penalty", 0)):
        if given(name, neutral) != neutral:
            raise BadRequest(f"{name} is not supported")
    try:
        return TokenSampling(
            float(given("temperature", 1.0)),
            float(given("top_p", 1.0)),
            max(int(given("top_k", 0)), 0),
            int(given("max_tokens", 16)),
            int(given("seed", 0)),
            stop_ids=tuple(dict.fromkeys(int(token) for token in stops)),
        )
    except (TypeError, ValueError) as error:
        raise BadRequest(str(error)) from None


def _ids(value: Any) -> list[int]:
    if not isinstance(value, list) or not value or not all(type(t) is int for t in value):
        raise BadRequest(f"expected token ids as a list, got {json.dumps(value)[:60]}")
    return value
