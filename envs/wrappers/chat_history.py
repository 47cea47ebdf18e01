"""Full conversation as the observation, for agents that keep no history themselves."""

import copy
from typing import Any, Literal

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from hexathlon.envs.messages import (
    Message,
    assistant_message,
    cut_middle,
    make_message,
    parse_message,
    parse_text,
    rendered,
    with_image,
)
from hexathlon.envs.spaces import MAX_TEXT, Unicode, messages_space
from hexathlon.envs.wrappers.base import EpisodeWrapper, ResetResult, StepResult
from hexathlon.evaluators.content import Image

__all__ = ["ChatHistory"]


class ChatHistory(EpisodeWrapper):
    """Replaces observations by the conversation so far: system prompt, opening, turns, answers.

    Args:
        env: An environment with text or message observations.
        form: `messages`: a tuple of messages. `text`: one string with a heading for each message.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], form: Literal["messages", "text"] = "messages"
    ) -> None:
        if form not in ("messages", "text"):
            raise ValueError(f"form must be 'messages' or 'text', got {form!r}")
        RecordConstructorArgs.__init__(self, form=form)
        gymnasium.Wrapper.__init__(self, env)
        self.form = form
        self.observation_space = messages_space() if form == "messages" else Unicode()
        self._history: list[Message] = []

    @property
    def history(self) -> tuple[Message, ...]:
        """The conversation so far."""
        return tuple(self._history)

    def after_reset(self, result: ResetResult) -> ResetResult:
        """Start the conversation with the system prompt, if any."""
        observation, info = result
        prompt = info.get("system_prompt", "")
        self._history = [make_message("system", prompt)] if prompt else []
        self._history += _as_messages(observation)
        return self._observation(), info

    def after_step(self, action: Any, result: StepResult) -> StepResult:
        """Append the turn and its answer."""
        turn = parse_text(action) if isinstance(action, str) else parse_message(action)
        self._history.append(assistant_message(turn))
        self._history += _as_messages(result[0])
        return (self._observation(), *result[1:])

    def _observation(self) -> Any:
        if self.form == "messages":
            return tuple(copy.copy(message) for message in self._history)
        return cut_middle("\n\n".join(map(rendered, self._history)), MAX_TEXT)[0]


def _as_messages(observation: Any) -> list[Message]:
    if isinstance(observation, dict):
        image = Image.from_array(observation["image"])
        return [make_message("user", with_image(observation["text"], image))]
    if isinstance(observation, str):
        return [make_message("user", observation)]
    return [copy.copy(message) for message in observation]
