"""A checkpoint that answers chat requests, with tools, and keeps the tokens of its turns."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from hexathlon.baselines.codecs.base import Codec, arguments_text, parse_calls, with_thought
from hexathlon.baselines.engines.apis.base import ApiCall, text_of_message
from hexathlon.baselines.engines.base import ChatReply, Sampling, Usage
from hexathlon.baselines.engines.errors import BadRequest
from hexathlon.baselines.engines.tokens import StreamingEngine, TokenEngine
from hexathlon.baselines.gateway.answers import ModelAnswer, SampledAnswer
from hexathlon.baselines.gateway.histories import Histories, KnownHistory
from hexathlon.baselines.gateway.pieces import TextPieces
from hexathlon.baselines.tokens.render import ChatRenderer, Segment, TemplateError
from hexathlon.baselines.tokens.requests import TokenReply, TokenRequest, TokenSampling
from hexathlon.tasks.seeding import derive_seed

__all__ = ["PolicyAnswers", "SampledTurn", "TurnRecorder", "cut_reply"]

_MAX_TOKENS = 1024
_TAGGED, _TAG = "hermes", "<tool_call>"
"""The dialect in which text may stand before a call, and what opens the call."""


class SampledTurn(NamedTuple):
    """One turn, as it is recorded."""

    parent: int
    """Index of the turn before it; -1 for a new branch."""

    segments: Sequence[Segment]
    """The tokens between that turn and this one, or the whole prompt."""

    reply: TokenReply
    reason: str
    """Why the turn starts a new branch; empty if it continues one."""

    messages: Sequence[Mapping[str, Any]]
    """The new messages."""


class TurnRecorder(Protocol):
    """Keeps the turns."""

    def record(self, turn: SampledTurn) -> int:
        """Keep a turn and return its index."""
        ...


class PolicyAnswers:
    """Answers chat requests with a token engine.

    Args:
        engine: Continues token sequences.
        renderer: The checkpoint's chat template.
        codec: The policy's tool-call format.
        name: The model's name.
        sampling: Defaults for requests without these parameters; the seed of a request without
            one is derived from this seed and the request's number.
        recorder: Keeps the turns, if given.
        clock: Clock for the latency of replies, in seconds.
    """

    def __init__(
        self,
        engine: TokenEngine,
        renderer: ChatRenderer,
        codec: Codec,
        name: str,
        sampling: TokenSampling | None = None,
        recorder: TurnRecorder | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.engine = engine
        self.renderer = renderer
        self.name = name
        self._codec = codec
        self._sampling = sampling or TokenSampling(max_tokens=_MAX_TOKENS)
        self._recorder = recorder
        self._clock = clock
        self._histories = Histories()
        self._requests = 0

    @property
    def context(self) -> int:
        """Maximum number of tokens of a prompt and its reply."""
        return self.engine.context

    async def answer(self, call: ApiCall) -> ModelAnswer:
        """Sample a turn.

        Raises:
            BadRequest: If the conversation has images, or the template cannot render it.
            ContextOverflow: If the prompt leaves no room for a reply.
        """
        started = self._clock()
        number, self._requests = self._requests, self._requests + 1
        messages, tools = call.request.messages, call.request.tools
        matched = self._histories.match(messages, tools)
        known = matched.known
        try:
            if known is None:
                segments = self._opened(messages, tools)
            else:
                segments = self._extended(known, messages[matched.rest :], tools)
        except TemplateError as error:
            raise BadRequest(str(error)) from None
        ids = [*(() if known is None else known.ids), *(i for s in segments for i in s.ids)]
        sampling = self._sampled_with(call.request.sampling, len(ids), number)
        session = f"gateway {id(self)} {number}" if known is None else known.session
        reply = await self._sampled(TokenRequest(ids, sampling, session), call)
        reply, text = cut_reply(self.renderer, reply, call.request.sampling.stop)
        message = self._message(text, bool(tools))
        leaf = -1
        if self._recorder is not None:
            parent = -1 if known is None else known.leaf
            turn = SampledTurn(parent, segments, reply, matched.reason, messages[matched.rest :])
            leaf = self._recorder.record(turn)
        history = KnownHistory((*ids, *reply.ids), tuple(reply.ids), text, session, leaf)
        self._histories.add(messages, tools, message, history)
        finish = "tool_calls" if "tool_calls" in message else reply.finish
        usage = Usage(len(ids), len(reply.ids), 1, 0 if known is None else len(known.ids))
        pieces = [self.renderer.tokenizer.decode([token]) for token in reply.ids]
        chat = ChatReply(message, usage, finish, self._clock() - started, 0.0)
        return ModelAnswer(chat, SampledAnswer(ids, reply, pieces))

    async def _sampled(self, request: TokenRequest, call: ApiCall) -> TokenReply:
        """Sample a reply; the text is told on the way unless all of it may be a tool call."""
        tools, stops = bool(call.request.tools), call.request.sampling.stop
        if (
            call.on_text is None
            or not isinstance(self.engine, StreamingEngine)
            or (tools and self._codec.name != _TAGGED)
        ):
            return await self.engine.generate(request)
        ends = (*stops, _TAG) if tools else stops
        pieces = TextPieces(self.renderer, ends, tools, call.on_text)
        return await self.engine.stream(request, pieces.take)

    def _opened(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]
    ) -> list[Segment]:
        """Render a conversation as a whole."""
        system = "\n\n".join(_text(m) for m in messages if m["role"] == "system")
        prompt = self._codec.system_prompt(system, tools)
        wire = [{"role": "system", "content": prompt}] if prompt else []
        rest = [message for message in messages if message["role"] != "system"]
        return self.renderer.open([*wire, *self._wired(None, rest)], self._native(tools))

    def _extended(
        self,
        known: KnownHistory,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
    ) -> list[Segment]:
        """Render the messages after a turn that was sampled here."""
        if not messages:
            raise BadRequest("the last message is the assistant's own")
        last = {"role": "assistant", "content": known.text}
        return self.renderer.extend(known.said, self._wired(last, messages), self._native(tools))

    def _wired(
        self, last: dict[str, Any] | None, messages: Sequence[Mapping[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return messages in the policy's dialect; results of tools answer the turn before."""
        wired: list[dict[str, Any]] = []
        results: list[str] = []

        def flush() -> None:
            if results:
                asked = last or {"role": "assistant", "content": ""}
                wired.extend(self._codec.answer(asked, results))
                results.clear()

        for message in messages:
            if message["role"] == "tool":
                results.append(_text(message))
                continue
            flush()
            if message["role"] == "assistant":
                last = self._encoded(message)
                wired.append(last)
            else:
                wired.append({"role": message["role"], "content": _text(message)})
        flush()
        return wired

    def _encoded(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Return an assistant's message in the policy's dialect."""
        calls = message.get("tool_calls") or ()
        text = _text(message)
        if not calls:
            return {"role": "assistant", "content": text}
        from hexathlon.baselines.codecs import get_codec

        action = get_codec("openai").decode({"tool_calls": calls})
        return with_thought(text, self._codec.encode(action))

    def _native(self, tools: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        return tools if self._codec.native else ()

    def _sampled_with(self, asked: Sampling, length: int, number: int) -> TokenSampling:
        default = self._sampling
        room = max(self.engine.context - length, 1)
        seed = derive_seed(default.seed, "gateway", number) if asked.seed is None else asked.seed
        try:
            return replace(
                default,
                temperature=default.temperature if asked.temperature is None else asked.temperature,
                top_p=default.top_p if asked.top_p is None else asked.top_p,
                max_tokens=min(asked.max_tokens or default.max_tokens, room),
                seed=seed,
                stop_ids=self.renderer.stop_ids,
            )
        except (ValueError, TypeError) as error:
            raise BadRequest(str(error)) from None

    def _message(self, text: str, called: bool) -> dict[str, Any]:
        """Return a turn as an assistant's message, its calls parsed if there are tools."""
        message: dict[str, Any] = {"role": "assistant", "content": text}
        action = self._codec.decode(message) if called else ""
        calls = parse_calls(action) if called else None
        if not calls or not all(call.name for call in calls):
            return message
        message["content"] = text.partition(_TAG)[0].strip() if _TAG in text else ""
        message["tool_calls"] = [
            {
                "id": f"call_{position}",
                "type": "function",
                "function": {"name": call.name, "arguments": arguments_text(call)},
            }
            for position, call in enumerate(calls)
        ]
        return message


def cut_reply(
    renderer: ChatRenderer, reply: TokenReply, stops: Sequence[str]
) -> tuple[TokenReply, str]:
    """Return a reply up to the first stop string, with its text before it."""
    text = renderer.decode(reply.ids)
    places = [text.find(stop) for stop in stops if stop in text]
    if not places:
        return reply, text
    for count in range(1, len(reply.ids) + 1):
        if any(stop in renderer.decode(reply.ids[:count]) for stop in stops):
            break
    spans = [span._replace(end=min(span.end, count)) for span in reply.spans]
    kept = [span for span in spans if span.start < span.end]
    values = reply.log_probabilities[:count]
    return TokenReply(reply.ids[:count], values, "stop", kept), text[: min(places)]


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if content and not isinstance(content, str):
        for part in content:
            if part.get("type") != "text":
                raise BadRequest(f"a checkpoint reads text only, got a part of type {part['type']}")
    return text_of_message(content)
