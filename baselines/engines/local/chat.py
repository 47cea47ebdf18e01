"""A chat engine on top of a token engine, for judges and role-play partners."""

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
    """Answers chat requests with a token engine, without a session between requests.

    Args:
        engine: Continues token sequences.
        renderer: The checkpoint's chat template.
        clock: Clock for the latency of replies, in seconds.
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
        """Return the reply to a request; a schema is not enforced.

        Raises:
            BadRequest: If the template cannot render the messages, or the request has images,
                tools or stop strings.
            ContextOverflow: If the prompt leaves no room for a reply.
        """
        sampling = request.sampling
        if request.tools or sampling.stop:
            raise BadRequest("a local checkpoint supports neither tools nor stop strings")
        if not all(isinstance(message.get("content") or "", str) for message in request.messages):
            raise BadRequest(
                "a local checkpoint reads text only: use a vision model on a server, "
                "endpoint:URL#NAME"
            )
        try:
            segments = self._renderer.open(request.messages)
        except TemplateError as error:
            raise BadRequest(str(error)) from None
        ids = [token for segment in segments for token in segment.ids]
        room = max(self._engine.context - len(ids), 1)
        token_sampling = TokenSampling(
            temperature=1.0 if sampling.temperature is None else sampling.temperature,
            top_p=sampling.top_p or 1.0,
            max_tokens=min(sampling.max_tokens or _MAX_TOKENS, room),
            seed=sampling.seed or 0,
            stop_ids=self._renderer.stop_ids,
        )
        started = self._clock()
        reply = await self._engine.generate(TokenRequest(ids, token_sampling))
        message: dict[str, Any] = {
            "role": "assistant",
            "content": self._renderer.decode(reply.ids),
        }
        usage = Usage(len(ids), len(reply.ids), 1)
        return ChatReply(message, usage, reply.finish, self._clock() - started, 0.0)

    async def close(self) -> None:
        """Release the engine's memory."""
        await self._engine.close()
