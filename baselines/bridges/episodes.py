"""An episode as other tools play it: text or a tool call in; text, images and a reward out.

Infrastructure failures and unscored episodes raise exceptions here, so that no caller can mistake
them for a reward of 0.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import gymnasium
from gymnasium.error import ResetNeeded

from hexathlon.baselines.codecs.base import Codec
from hexathlon.baselines.codecs.registry import get_codec
from hexathlon.baselines.harness.environments import find_environment
from hexathlon.envs.base import Environment
from hexathlon.envs.errors import EnvFault
from hexathlon.evaluators.content import Image

__all__ = ["BridgedEpisode", "Opening", "TurnReply", "openai_parts", "openai_tools"]

_UNSCORED = ("error_env", "error_judge", "aborted")


class Opening(NamedTuple):
    """Everything that an agent receives at the start of an episode."""

    system_prompt: str
    """The environment's own, without a description of the tools."""

    tools: tuple[dict[str, Any], ...]
    """Schemas with `name`, `description` and `parameters`."""

    text: str
    """The first observation."""

    image: Image | None
    """The screen, for events that have one."""

    task_id: str
    """Opaque: it tells the agent nothing about the task."""

    @property
    def content(self) -> str | list[dict[str, Any]]:
        """The first observation as an OpenAI message's content: text, or text and image parts."""
        return openai_parts(self.text, self.image)


class TurnReply(NamedTuple):
    """The environment's answer to one turn."""

    text: str
    image: Image | None
    reward: float
    """The verdict's score at the end of the episode, else 0."""

    done: bool
    info: dict[str, Any]
    """As returned by `step`: `status`, `reward_terms`, `turn`, `tool_errors`, `cut_chars`."""

    @property
    def content(self) -> str | list[dict[str, Any]]:
        """The observation as an OpenAI message's content: text, or text and image parts."""
        return openai_parts(self.text, self.image)


def openai_parts(text: str, image: Image | None) -> str | list[dict[str, Any]]:
    """Return text as it is; with an image, content parts of OpenAI chat completions."""
    if image is None:
        return text
    picture = {"type": "image_url", "image_url": {"url": image.data_url()}}
    return [{"type": "text", "text": text}, picture]


def openai_tools(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return tool schemas in the form of OpenAI chat completions."""
    return [{"type": "function", "function": dict(tool)} for tool in tools]


class BridgedEpisode:
    """An environment that is played one episode after the other.

    Args:
        event: Id, or short name such as `SQL`.
        dialect: How assistant texts express tool calls; see `hexathlon.baselines.codecs`.
        taskset: Name of the task source; the event's own by default.
        split: Split to draw from when `open` names no task.
        level: Level to draw from; None for all.
        **settings: Further keyword arguments of the environment, such as `sandbox`.

    Raises:
        UsageError: If there is no such event.
        EnvironmentUnavailable: If the event needs an extra that is not installed.
    """

    def __init__(self, event: str, *, dialect: str = "json", **settings: Any) -> None:
        made = gymnasium.make(find_environment(event).id, **settings).unwrapped
        if not isinstance(made, Environment):
            raise TypeError(f"{event} creates a {type(made).__name__}, not a hexathlon Environment")
        self.env = made
        self.codec: Codec = get_codec(dialect)
        self._open = False
        self._reward = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def reward(self) -> float:
        """Reward so far: the verdict's score after the end of the episode, else 0."""
        return self._reward

    @property
    def over(self) -> bool:
        """Whether no episode is open."""
        return not self._open

    def open(self, task: str | None = None, seed: int | None = None, **options: Any) -> Opening:
        """Start an episode; one that is open is given up.

        Args:
            task: Task id; drawn by the seed if None.
            seed: Fixes, together with the task, every byte that the agent sees.
            **options: Further options of `reset`: `taskset`, `split`, `level`, `index`, `salt`.
        """
        self._open, self._reward = False, 0.0
        chosen = {name: value for name, value in options.items() if value is not None}
        if task is not None:
            chosen["task"] = task
        observation, info = self.env.reset(seed=seed, options=chosen)
        self._open = True
        text, image = _parts(observation)
        return Opening(info["system_prompt"], tuple(info["tools"]), text, image, info["task_id"])

    def prompt(self, opening: Opening) -> str:
        """Return the system prompt with the tools as the dialect describes them."""
        return self.codec.system_prompt(opening.system_prompt, opening.tools)

    def messages(self, opening: Opening) -> list[dict[str, Any]]:
        """Return the first messages of a conversation in the episode's dialect."""
        system = {"role": "system", "content": self.prompt(opening)}
        return [system, {"role": "user", "content": opening.content}]

    def say(self, text: str) -> TurnReply:
        """Take one turn from the text of an assistant, in the episode's dialect."""
        return self.take({"role": "assistant", "content": text})

    def take(self, message: Mapping[str, Any]) -> TurnReply:
        """Take one turn from an assistant message, with OpenAI `tool_calls` or text."""
        codec = get_codec("openai") if message.get("tool_calls") else self.codec
        return self.act(codec.decode(dict(message)))

    def call(self, name: str, arguments: Mapping[str, Any]) -> TurnReply:
        """Take one turn that calls one tool."""
        return self.act(json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False))

    def act(self, action: str) -> TurnReply:
        """Take one turn with a canonical action.

        Raises:
            ResetNeeded: If no episode is open, or it has ended.
            EnvFault: If the infrastructure failed, or the episode could not be scored.
        """
        if not self._open:
            raise ResetNeeded("no episode is open: start one first")
        self._open = False  # stays so if the step raises: the world's state is unknown then
        observation, reward, terminated, truncated, info = self.env.step(action)
        if info["status"] in _UNSCORED:
            raise EnvFault(f"the episode ended unscored: {info['status']}", cause=info["status"])
        self._open, self._reward = not (terminated or truncated), reward
        return TurnReply(*_parts(observation), float(reward), not self._open, info)

    def close(self) -> None:
        """Close the environment."""
        self._open = False
        self.env.close()


def _parts(observation: Any) -> tuple[str, Image | None]:
    if isinstance(observation, str):
        return observation, None
    return observation["text"], Image.from_array(observation["image"])
