"""Interfaces of agents and players: an agent creates one player per trial, a player takes turns.

An agent holds what the trials of a run share, such as a model's connection or a file of recorded
actions. A player holds the conversation of one trial. A player's `act` is a coroutine
function if the agent is `asynchronous`, else a plain function.
"""

import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from hexathlon.baselines.engines.base import Usage
from hexathlon.envs.messages import Message
from hexathlon.evaluators.content import joined
from hexathlon.evaluators.content import text_of as content_text
from hexathlon.tasks.source import TaskSource
from hexathlon.tasks.task import Task

__all__ = [
    "Admission",
    "Agent",
    "AgentMismatch",
    "Episode",
    "GaveUp",
    "Interrupted",
    "PastTurn",
    "Player",
    "Turn",
    "text_of",
]


class GaveUp(Exception):
    """The player ends the episode; its current state is graded."""


class AgentMismatch(Exception):
    """The agent cannot play a trial of the plan; the run stops with the reason."""


class Interrupted(Exception):
    """The turn was aborted; the player keeps its partial reply and can be asked again."""


class Turn(NamedTuple):
    """One assistant turn and the resources it used."""

    action: str
    """Canonical action text: a JSON call, a list of them, or prose."""

    usage: Usage = Usage()
    waited: float = 0.0
    """Seconds in queues and between retries, which do not count as working time."""

    said: str = ""
    """Prose next to the calls, which the environment does not see."""


class PastTurn(NamedTuple):
    """An earlier turn, restored from its record."""

    messages: tuple[Message, ...]
    """The new messages before it."""

    action: str
    said: str = ""


class Admission(Protocol):
    """Opens the environment's sandbox to a program of another maker."""

    def __call__(
        self, mounts: Sequence[str], memory_mb: int, seconds: float, port: int
    ) -> socket.socket:
        """Return a socket that listens on the sandbox's loopback; see `TerminalEnv.admit`."""
        ...


@dataclass(frozen=True, slots=True)
class Episode:
    """Context of a new player."""

    task: Task
    """For scripted agents; players of models use only `system_prompt`, `tools` and messages."""

    source: TaskSource
    seed: int
    trial: int
    env: str
    system_prompt: str
    tools: Sequence[Mapping[str, Any]]
    peek: Callable[[str], str | None] = lambda action: None
    """For demonstrators: the observation that an action would give, taken in a fork; None if the
    action would change the state."""

    admit: Admission | None = None
    """For agents that are programs: of environments with a sandbox in which they work."""

    context: str = ""
    """For policies in training: text after the opening, such as a hint."""


class Player(Protocol):
    """Plays one trial."""

    def act(self, messages: Sequence[Message]) -> Turn | Awaitable[Turn]:
        """Answer the new messages.

        Raises:
            GaveUp: If the player has no further action.
            Interrupted: If the engine aborted the turn.
        """
        ...


class Agent(Protocol):
    """Plays any number of trials, with one player for each."""

    @property
    def name(self) -> str:
        """The name in plans and tables."""
        ...

    @property
    def version(self) -> str:
        """Version, increased when the same messages can lead to a different turn."""
        ...

    @property
    def asynchronous(self) -> bool:
        """Whether `act` of its players is a coroutine."""
        ...

    def begin(self, episode: Episode) -> Player:
        """Return a player for one trial."""
        ...


def text_of(messages: Sequence[Message]) -> str:
    """Join the texts of new messages, as a text environment does."""
    if len(messages) == 1:
        return content_text(messages[0]["content"])
    return content_text(joined(message["content"] for message in messages))
