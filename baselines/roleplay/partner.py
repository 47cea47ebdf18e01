"""A model in the place of the other speaker of a role-play: `RolePlayEnv(partner=...)`.

The model is given the line that the script wants said, how the speaker talks and what was said
before; the environment uses its wording only if it keeps what the line turns on. Questions run on
an event loop in a thread of the partner's own, so that environments may be stepped anywhere.
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
_MOST_SAID = 12
_FORGOTTEN = 30.0


class ModelPartner:
    """Words the other speaker's lines with a model; close it when done.

    Args:
        engine: Any engine that agents can use.
        sampling: How it draws tokens.
        deadline: Seconds that one line may take, retries included.
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
        """Say a line.

        Raises:
            EnvFault: If the model gave no reply; the trial is then retried, never scored.
        """
        request = ChatRequest(messages_for(cue), (), self._sampling, self._deadline)
        asked = asyncio.run_coroutine_threadsafe(self._engine.chat(request), self._loop)
        try:
            reply = asked.result(self._deadline + _FORGOTTEN)
        except (EngineError, TimeoutError) as error:
            asked.cancel()
            raise EnvFault(
                f"the partner's model gave no reply: {error}", cause="partner"
            ) from error
        return str(reply.message.get("content") or "")

    def close(self) -> None:
        """Close the engine, where it can be closed, and end the thread; safe to call twice."""
        if self._loop.is_closed():
            return
        closing = getattr(self._engine, "close", None)
        if closing is not None:
            asyncio.run_coroutine_threadsafe(closing(), self._loop).result(_FORGOTTEN)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_FORGOTTEN)
        self._loop.close()


def messages_for(cue: Cue) -> list[dict[str, Any]]:
    """Return the question to the model; it holds nothing but the cue."""
    said = "\n".join(f"- {text}" for text in cue.said[-_MOST_SAID:]) or "- (nothing yet)"
    asked = f"Said so far, visitor first:\n{said}\n\nThe visitor's next line:\n{cue.line}"
    task = _TASK.replace("{manner}", cue.manner or "speaks plainly")
    return [{"role": "system", "content": task}, {"role": "user", "content": asked}]
