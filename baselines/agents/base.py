"""What an agent is: it begins an episode and gets a player, and the player takes turns.

An agent is shared by all trials of a run and holds what they share (a model's connection, a file
of recorded actions). A player belongs to one trial and holds its conversation. A player's `act`
may be an ordinary function or a coroutine; its agent says which by `asynchronous`.
"""

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
    """A player has nothing more to say; the episode is graded as it stands."""


class AgentMismatch(Exception):
    """An agent cannot play what the plan asks of it; the run stops and says why."""


class Interrupted(Exception):
    """A turn was aborted before its end; the player keeps what it has and can be asked again."""


class Turn(NamedTuple):
    """One assistant turn and what it took."""

    action: str
    """Canonical action text: a JSON call, a list of them, or prose."""

    usage: Usage = Usage()
    waited: float = 0.0
    """Seconds of queueing and backing off, which do not count as working time."""

    said: str = ""
    """Prose that came beside the calls and that the environment does not see."""


class PastTurn(NamedTuple):
    """A turn that was taken."""

    messages: tuple[Message, ...]
    """What was heard before it."""

    action: str
    said: str = ""


@dataclass(frozen=True, slots=True)
class Episode:
    """What a player is told at the start."""

    task: Task
    """For scripted agents; a model's player reads `system_prompt`, `tools` and messages alone."""

    source: TaskSource
    seed: int
    trial: int
    env: str
    system_prompt: str
    tools: Sequence[Mapping[str, Any]]
    peek: Callable[[str], str | None] = lambda action: None
    """For demonstrators: the observation that an action would bring, taken in a fork; None where
    it would change the world."""


class Player(Protocol):
    """Plays one trial."""

    def act(self, messages: Sequence[Message]) -> Turn | Awaitable[Turn]:
        """Answer the new messages.

        Raises:
            GaveUp: If there is nothing more to say.
            Interrupted: If the engine aborted the turn.
        """
        ...


class Agent(Protocol):
    """Plays any number of trials, one player each."""

    @property
    def name(self) -> str:
        """Stands in the plan and in tables."""
        ...

    @property
    def version(self) -> str:
        """Rises when the same messages can give another turn."""
        ...

    @property
    def asynchronous(self) -> bool:
        """Whether its players' `act` is a coroutine."""
        ...

    def begin(self, episode: Episode) -> Player:
        """Return a player for one trial."""
        ...


def text_of(messages: Sequence[Message]) -> str:
    """Return what new messages say as one text, as a text environment shows it."""
    if len(messages) == 1:
        return content_text(messages[0]["content"])
    return content_text(joined(message["content"] for message in messages))
