"""A model as the other speaker of a role-play scene: `RolePlayEnv(partner=...)`.

The model receives the scripted line, the speaker's manner and the conversation so far. The
environment uses the model's wording only if it keeps the facts the line depends on. Requests run on
an event loop in a thread of the partner, so that environments may be stepped from any thread.
"""

import asyncio
import threading
from typing import Any

from hexathlon.baselines.engines.base import ChatRequest, Engine, Sampling
from hexathlon.baselines.engines.errors import EngineError
from hexathlon.envs.errors import EnvFault
from hexathlon.envs.roleplay.voices import Cue

__all__ = ["ModelPartner"]

_TASK = (
    "You speak for a visitor in a conversation. You are given the line that the visitor says "
    "next. Say the same in your own words, in the same language: keep every name, number and "
    "quotation exactly, add no facts, leave nothing out. The visitor {manner}. "
    "Answer with the visitor's words alone."
)
_MAX_LINES = 12
_GRACE = 30.0


class ModelPartner:
    """Rewords the other speaker's lines with a model; close it after use.

    Args:
        engine: A chat engine.
        sampling: Sampling parameters.
        deadline: Seconds per line, including retries.
    """

    def __init__(
        self, engine: Engine, sampling: Sampling | None = None, deadline: float = 60.0
    ) -> None:
        self._engine = engine
        self._sampling = sampling or Sampling(temperature=0.7, max_tokens=200)
        self._deadline = deadline
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def __call__(self, cue: Cue) -> str:
        """Return the reworded line.

        Raises:
            EnvFault: If the model gave no reply; the trial is then retried, never scored.
        """
        request = ChatRequest(messages_for(cue), (), self._sampling, self._deadline)
        future = asyncio.run_coroutine_threadsafe(self._engine.chat(request), self._loop)
        try:
            reply = future.result(self._deadline + _GRACE)
        except (EngineError, TimeoutError) as error:
            future.cancel()
            raise EnvFault(
                f"the partner's model gave no reply: {error}", cause="partner"
            ) from error
        return str(reply.message.get("content") or "")

    def close(self) -> None:
        """Close the engine, if it can be closed, and stop the thread; idempotent."""
        if self._loop.is_closed():
            return
        closing = getattr(self._engine, "close", None)
        if closing is not None:
            asyncio.run_coroutine_threadsafe(closing(), self._loop).result(_GRACE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_GRACE)
        self._loop.close()


def messages_for(cue: Cue) -> list[dict[str, Any]]:
    """Return the prompt for a line; it contains nothing but the cue."""
    lines = "\n".join(f"- {text}" for text in cue.said[-_MAX_LINES:]) or "- (nothing yet)"
    prompt = f"Said so far, visitor first:\n{lines}\n\nThe visitor's next line:\n{cue.line}"
    task = _TASK.replace("{manner}", cue.manner or "speaks plainly")
    return [{"role": "system", "content": task}, {"role": "user", "content": prompt}]
