"""An event as an environment of the Tinker cookbook: messages in, observations and a reward out.

The renderer of the cookbook turns messages into tokens. Tool calls that it parses are taken as they
are; where it parses none, the text is read in the event's dialect. `tinker_data` makes batches.

Interface: `tinker_cookbook.rl` 0.6, imported with this module.
"""

from typing import Any

from tinker_cookbook.renderers import get_text_content
from tinker_cookbook.rl.message_env import MessageEnv, MessageStepResult

from hexathlon.baselines.bridges.asynchronous import episode_of
from hexathlon.baselines.bridges.rendering import Observed, openai_message

__all__ = ["EventMessageEnv"]


class EventMessageEnv(MessageEnv):  # type: ignore[misc]
    """One episode as a conversation; `settings` are arguments of `BridgedEpisode`."""

    def __init__(self, event: str, task: str | None, seed: int, **settings: Any) -> None:
        self._episode = episode_of(event, **settings)
        self._task, self._seed = task, seed
        self._messages: list[Any] = []

    async def initial_observation(self) -> list[Any]:
        """Open the episode and return its first messages."""
        opening = await self._episode.open(self._task, self._seed)
        system, _ = await self._episode.messages(opening)
        self._messages = [system, _user(opening)]
        return self._messages

    async def step(self, message: Any) -> Any:
        """Take the assistant's turn; a failure of the infrastructure is raised."""
        calls = [(call.id or "call", call.function.name, call.function.arguments)
                 for call in message.get("tool_calls") or ()]  # fmt: skip
        reply = await self._episode.take(openai_message(get_text_content(message), calls))
        self._messages = [*self._messages, message, _user(reply)]
        metrics = {f"verdict/{name}": value for name, value in reply.info["reward_terms"].items()}
        if reply.done:
            await self._episode.close()
        return MessageStepResult(reply.reward, reply.done, self._messages, metrics)

    async def close(self) -> None:
        """Close the environment."""
        await self._episode.close()


def _user(seen: Observed) -> dict[str, Any]:
    parts = seen.blocks(lambda text: {"type": "text", "text": text},
                        lambda image: {"type": "image", "image": image.data_url()})  # fmt: skip
    return {"role": "user", "content": parts if seen.image else seen.text}
