"""vLLM's routes for token ids, and text completions, over a checkpoint in this process.

`hexathlon.baselines.engines.served.routes` is the client of these routes.
"""

import contextlib
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from itertools import count
from typing import Any, Protocol

from hexathlon.baselines.engines.apis.base import JsonBody, sse
from hexathlon.baselines.engines.errors import BadRequest
from hexathlon.baselines.engines.tokens import StreamingEngine
from hexathlon.baselines.gateway.app import HttpReply, Responder, streamed
from hexathlon.baselines.gateway.pieces import TextPieces
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
        name = f"cmpl-{next(self._numbers):08d}"
        if not body.get("stream"):
            return HttpReply(await self._completed(body, name, None))
        steps = streamed(lambda tell: self._completed(body, name, tell))
        return HttpReply({}, events=_completion_events(await anext(steps), steps, name))

    async def _completed(
        self, body: JsonBody, name: str, tell: Callable[[str], None] | None
    ) -> JsonBody:
        renderer = self._policy.renderer
        prompt = body.get("prompt")
        ids = renderer.encode(prompt) if isinstance(prompt, str) else _ids(prompt)
        if body.get("echo") or int(body.get("n") or 1) != 1 or body.get("suffix"):
            raise BadRequest("echo, suffix and several choices are not supported")
        stops = body.get("stop") or ()
        stops = (stops,) if isinstance(stops, str) else stops
        pieces = None if tell is None else TextPieces(renderer, stops, False, tell)
        reply = await self._continued(ids, body, name, None if pieces is None else pieces.take)
        reply, text = cut_reply(renderer, reply, stops)
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
        return {
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

    async def _tokenize(self, body: JsonBody) -> HttpReply:
        if not isinstance(body.get("prompt"), str):
            raise BadRequest("expected a text as prompt")
        ids = self._policy.renderer.encode(body["prompt"])
        length = self._policy.context
        return HttpReply({"tokens": ids, "count": len(ids), "max_model_len": length})

    async def _detokenize(self, body: JsonBody) -> HttpReply:
        ids = _ids(body.get("tokens"))
        return HttpReply({"prompt": self._policy.renderer.tokenizer.decode(ids)})

    async def _continued(
        self,
        ids: list[int],
        asked: Mapping[str, Any],
        name: str,
        on_token: Callable[[int], None] | None = None,
    ) -> TokenReply:
        stops = list(asked.get("stop_token_ids") or ())
        if not asked.get("ignore_eos"):
            stops += self._policy.renderer.stop_ids
        request = TokenRequest(ids, _sampling(asked, stops), name)
        engine = self._policy.engine
        if on_token is not None and isinstance(engine, StreamingEngine):
            return await engine.stream(request, on_token)
        return await engine.generate(request)

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


async def _completion_events(
    first: str | JsonBody, steps: AsyncGenerator[str | JsonBody, None], name: str
) -> AsyncGenerator[str, None]:
    """Yield the events of a text completion: its pieces, then the rest with everything else."""
    sent = 0
    async with contextlib.aclosing(steps):
        step = first
        while isinstance(step, str):
            sent += len(step)
            choice = {"index": 0, "text": step, "finish_reason": None, "logprobs": None}
            yield sse({"id": name, "object": "text_completion", "created": 0, "choices": [choice]})
            step = await anext(steps)
        choice = {**step["choices"][0], "text": step["choices"][0]["text"][sent:]}
        yield sse({**step, "choices": [choice]}) + sse("[DONE]")


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
