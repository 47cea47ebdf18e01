"""A checkpoint that is asked in messages: what a judge needs of it."""

import time
from collections.abc import Callable
from typing import Any

from hexathlon.baselines.engines.base import ChatReply, ChatRequest, Usage
from hexathlon.baselines.engines.errors import BadRequest
from hexathlon.baselines.engines.tokens import TokenEngine
from hexathlon.baselines.tokens.render import ChatRenderer, TemplateError
from hexathlon.baselines.tokens.requests import TokenRequest, TokenSampling

__all__ = ["LocalChat"]

_MAX_TOKENS = 1024


class LocalChat:
    """Answers chat requests from a token engine; every request stands alone.

    Args:
        engine: Continues token sequences.
        renderer: The checkpoint's chat template.
        clock: Seconds, for the latency of replies.
    """

    def __init__(
        self,
        engine: TokenEngine,
        renderer: ChatRenderer,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._engine = engine
        self._renderer = renderer
        self._clock = clock

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Answer one request; a schema is not enforced, only asked for by the messages.

        Raises:
            BadRequest: If the template refuses the messages, they hold images, or tools or stop
                strings are asked for.
            EngineError: If the prompt is longer than the context.
        """
        sampling = request.sampling
        if request.tools or sampling.stop:
            raise BadRequest("a checkpoint asked in messages takes neither tools nor stop strings")
        if not all(isinstance(one.get("content") or "", str) for one in request.messages):
            raise BadRequest(
                "a checkpoint in this process reads text only: ask a model that takes images over "
                "HTTP, as endpoint:URL#NAME"
            )
        try:
            segments = self._renderer.open(request.messages)
        except TemplateError as error:
            raise BadRequest(str(error)) from None
        ids = [token for segment in segments for token in segment.ids]
        room = max(self._engine.context - len(ids), 1)
        drawn = TokenSampling(
            temperature=1.0 if sampling.temperature is None else sampling.temperature,
            top_p=sampling.top_p or 1.0,
            max_tokens=min(sampling.max_tokens or _MAX_TOKENS, room),
            seed=sampling.seed or 0,
            stop_ids=self._renderer.stop_ids,
        )
        begun = self._clock()
        reply = await self._engine.generate(TokenRequest(ids, drawn))
        message: dict[str, Any] = {
            "role": "assistant",
            "content": self._renderer.decode(reply.ids),
        }
        usage = Usage(len(ids), len(reply.ids), 1)
        return ChatReply(message, usage, reply.finish, self._clock() - begun, 0.0)

    async def close(self) -> None:
        """Release the engine's memory."""
        await self._engine.close()
