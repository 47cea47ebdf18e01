"""An episode as other tools play it: text or a tool call in; text, images and a reward out.

Infrastructure failures and unscored episodes raise exceptions here, so that no caller can mistake
them for a reward of 0.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Self

import gymnasium
from gymnasium.error import ResetNeeded

from hexathlon.baselines.bridges.rendering import Observed, Opening, TurnReply
from hexathlon.baselines.codecs.base import Codec
from hexathlon.baselines.codecs.registry import get_codec
from hexathlon.baselines.harness.environments import find_environment
from hexathlon.envs.base import Environment
from hexathlon.envs.errors import EnvFault
from hexathlon.evaluators.content import Image
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import parse_address, play
from hexathlon.tasks.taskset import build_task

__all__ = ["BridgedEpisode", "answered", "oracle_reward"]

_UNSCORED = ("error_env", "error_judge", "aborted")
_OVER = "the episode has ended; no further call is run"


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
        self._open = self._began = False
        self._reward = 0.0
        self._fault: EnvFault | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def reward(self) -> float:
        """Reward so far: the verdict's score after the end of the episode, else 0.

        Raises:
            EnvFault: If the infrastructure failed, or the episode could not be scored.
        """
        if self._fault is not None:
            raise self._fault
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
        self._open, self._reward, self._fault = False, 0.0, None
        chosen = {name: value for name, value in options.items() if value is not None}
        if task is not None:
            chosen["task"] = task
        observation, info = self.env.reset(seed=seed, options=chosen)
        self._open = self._began = True
        seen = _parts(observation)
        return Opening(*seen, info["system_prompt"], tuple(info["tools"]), info["task_id"])

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
            raise ResetNeeded(_OVER if self._began else "no episode is open: start one first")
        self._open = False  # stays so if the step raises: the world's state is unknown then
        try:
            observation, reward, terminated, truncated, info = self.env.step(action)
            if info["status"] in _UNSCORED:
                status = info["status"]
                raise EnvFault(f"the episode ended unscored: {status}", cause=status)
        except EnvFault as fault:
            self._fault = fault
            raise
        self._open, self._reward = not (terminated or truncated), float(reward)
        return TurnReply(*_parts(observation), self._reward, not self._open, info)

    def close(self) -> None:
        """Close the environment."""
        self._open = False
        self.env.close()


def answered(
    episode: BridgedEpisode,
    name: str,
    arguments: Mapping[str, Any],
    on_result: Callable[[TurnReply | EnvFault], None],
) -> tuple[Observed, bool]:
    """Call a tool for a protocol in which everything is an answer.

    Args:
        episode: The episode.
        name: Name of the tool.
        arguments: Its arguments.
        on_result: Receives the reply that ended the episode, or the fault that left it unscored.

    Returns:
        The answer, and whether it is an error: after the end of the episode, or a fault.
    """
    if episode.over:
        return Observed(f"Error: {_OVER}.", None), True
    try:
        reply = episode.call(name, arguments)
    except EnvFault as fault:
        on_result(fault)
        said = f"Error: the environment failed, and the episode is not scored: {fault}"
        return Observed(said, None), True
    if reply.done:
        on_result(reply)
    return reply, False


def oracle_reward(event: str, task: str, seed: int, **settings: Any) -> float:
    """Play a task's oracle and return the reward.

    Args:
        event: Id, or short name such as `SQL`.
        task: Task id.
        seed: Seed of the episode.
        **settings: Further keyword arguments of `BridgedEpisode`.
    """
    with BridgedEpisode(event, **settings) as episode:
        episode.open(task, seed)

        def respond(action: str) -> str | None:
            reply = episode.act(action)
            return None if reply.done else reply.text

        play(get_source(parse_address(task).source).oracle(build_task(task)), respond)
        return episode.reward


def _parts(observation: Any) -> tuple[str, Image | None]:
    if isinstance(observation, str):
        return observation, None
    return observation["text"], Image.from_array(observation["image"])
