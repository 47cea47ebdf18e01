"""The first turns of a rollout, from which it, or others, go on.

A rollout that pauses leaves a prefix. Going on from it restores the environment's snapshot and the
player's conversation, so that several rollouts can share the turns before a fork. Without a
snapshot the recorded actions are taken again; without a player's memory, the player is told what
happened.
"""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

from hexathlon.baselines.agents.base import AgentMismatch, GaveUp, PastTurn, Player
from hexathlon.baselines.engines.base import Usage
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.envs.messages import Message
from hexathlon.envs.state import State
from hexathlon.evaluators.records import TrialKey

__all__ = [
    "Pause",
    "Prefix",
    "PrefixDiffers",
    "Remembers",
    "Spent",
    "heard",
    "past_turns",
    "require_same",
    "take_up",
]


class PrefixDiffers(Exception):
    """Recorded actions, taken again, gave something else than the record says."""


class Pause:
    """When a rollout is to pause: after a number of turns, or as soon as it is asked to.

    Args:
        after: Turns taken in all; None pauses on request alone.
    """

    def __init__(self, after: int | None = None) -> None:
        self.after = after
        self.requested = False

    def due(self, turns: int) -> bool:
        """Return whether a rollout that has taken so many turns pauses now."""
        return self.requested or (self.after is not None and turns >= self.after)


class Spent(NamedTuple):
    """What the turns of a prefix used up."""

    usage: Usage = Usage()
    waited: float = 0.0
    """Seconds."""

    seconds: float = 0.0
    """By the clock, from the first attempt's start."""

    latencies: tuple[float, ...] = ()
    tool_errors: int = 0
    cut_chars: int = 0
    aborted: float = 0.0
    """Seconds of a turn that was aborted and is yet to end."""

    reset: float = 0.0
    agent: float = 0.0
    env: float = 0.0


@dataclass(frozen=True, slots=True)
class Prefix:
    """Turns that were taken, and what is needed to go on from them. Can be pickled."""

    key: TrialKey
    """The trial that took the turns; others may go on from them."""

    opening: Any = ""
    steps: tuple[Mapping[str, Any], ...] = ()
    """The turns, as a record lists them."""

    system_prompt: str = ""
    tools: Sequence[Mapping[str, Any]] = ()
    state: State | None = None
    """The environment after the last turn; None where the actions have to be taken again."""

    memory: Any = None
    """The player's own state; None where it has to be told what happened."""

    spent: Spent = Spent()
    earlier: tuple[Mapping[str, Any], ...] = ()
    """Attempts before this one that infrastructure ended."""

    media: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def turns(self) -> int:
        """Number of turns."""
        return len(self.steps)

    @property
    def begun(self) -> bool:
        """Whether there is something to go on from: turns, a snapshot, or a first turn's tokens."""
        return bool(self.steps) or self.state is not None or self.memory is not None

    def portable(self) -> "Prefix":
        """Return the prefix without a snapshot: going on takes the actions again."""
        return replace(self, state=None)

    def told(self) -> "Prefix":
        """Return the prefix for another player, who is told what happened."""
        return replace(self, memory=None)

    @staticmethod
    def of(trajectory: Trajectory, turns: int) -> "Prefix":
        """Return a trajectory's first turns, to be taken again.

        Raises:
            ValueError: It has fewer.
        """
        steps = trajectory.record["steps"]
        if not 0 <= turns <= len(steps):
            raise ValueError(f"the trajectory has {len(steps)} turns, {turns} were asked for")
        return Prefix(
            trajectory.key,
            trajectory.record["opening"],
            tuple(steps[:turns]),
            trajectory.system_prompt,
            trajectory.tools,
            media=trajectory.media,
        )


@runtime_checkable
class Remembers(Protocol):
    """A player whose conversation can be saved and taken up again."""

    def save(self) -> Any:
        """Return the conversation as detached, picklable data."""
        ...

    def resume(self, past: Sequence[PastTurn], memory: Any) -> None:
        """Go on from turns that were taken.

        Args:
            past: The turns with what was heard before each.
            memory: What a player of the same agent saved after them; None for turns of others.
        """
        ...


def past_turns(transcript: Sequence[Message], steps: Sequence[Mapping[str, Any]]) -> list[PastTurn]:
    """Return what was heard before each of the steps, and what was done."""
    turns: list[PastTurn] = []
    heard: list[Message] = []
    for message in transcript:
        if message["role"] == "assistant":
            step = steps[len(turns)]
            turns.append(PastTurn(tuple(heard), step["action"], step.get("said", "")))
            heard = []
        else:
            heard.append(message)
    return turns


def heard(transcript: Sequence[Message]) -> int:
    """Return how many messages there are up to the last turn, which the player knows."""
    roles = [message["role"] for message in transcript]
    return len(roles) - roles[::-1].index("assistant")


def require_same(what: str, recorded: Any, again: Any) -> None:
    """Raise `PrefixDiffers` unless actions taken again gave what was recorded."""
    if again != recorded:
        raise PrefixDiffers(f"{what} was {recorded!r:.200}, taken again it is {again!r:.200}")


def take_up(player: Player, past: Sequence[PastTurn], memory: Any) -> None:
    """Bring a new player to where turns that were taken have led.

    A player without a memory is asked for each turn again, and its answers are dropped: scripts
    come to the same place that way. A script that comes to its end on another's turns gives up
    when it is asked for one that counts.

    Raises:
        AgentMismatch: A player that waits for a model cannot be brought there.
    """
    if isinstance(player, Remembers):
        player.resume(past, memory)
        return
    for turn in past:
        try:
            answer = player.act(turn.messages)
        except GaveUp:
            continue
        if isinstance(answer, Awaitable):
            getattr(answer, "close", lambda: None)()
            raise AgentMismatch(
                f"{type(player).__name__} cannot go on from recorded turns; implement save() and "
                "resume() as LlmAgent's player does"
            )
