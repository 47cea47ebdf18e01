"""Prefixes: the first turns of a rollout, from which it or other rollouts continue.

A paused rollout returns a prefix. Continuing from it restores the environment's snapshot and the
player's conversation, so that several rollouts can share the turns before a fork. Without a
snapshot, the recorded actions are replayed; without a player's memory, the player receives the
recorded messages.
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
    "TurnJournal",
    "Pause",
    "Prefix",
    "PrefixDiffers",
    "ResourcesUsed",
    "ResumablePlayer",
    "messages_heard",
    "past_turns",
    "require_same",
    "resume_player",
]


class PrefixDiffers(Exception):
    """Replayed actions gave results that differ from the recorded ones."""


class Pause:
    """When a rollout pauses: after a number of turns, or as soon as `requested` is set.

    Args:
        after: Total number of turns; None pauses on request only.
    """

    def __init__(self, after: int | None = None) -> None:
        self.after = after
        self.requested = False

    def due(self, turns: int) -> bool:
        """Return whether a rollout pauses after this many turns."""
        return self.requested or (self.after is not None and turns >= self.after)


class TurnJournal:
    """The turns of rollouts in progress, so that other processes can continue if this one is lost.

    Copying a conversation after every turn would cost more than it saves, so a rollout writes its
    turns only after a request, at the end of the next turn. Methods may be called from any thread.
    """

    def __init__(self) -> None:
        self.turns = 0
        """Number of turns taken by all rollouts."""

        self._wanted: set[TrialKey] = set()
        self._playing: set[TrialKey] = set()
        self._written: dict[TrialKey, Prefix] = {}

    def begin(self, key: TrialKey) -> None:
        """Register a rollout in progress."""
        self._playing.add(key)

    def end(self, key: TrialKey) -> None:
        """Remove a rollout that has ended or paused."""
        self._playing.discard(key)
        self._wanted.discard(key)
        self._written.pop(key, None)

    def turn(self, key: TrialKey) -> bool:
        """Count a turn; return whether the turns so far should be written."""
        self.turns += 1
        return key in self._wanted

    def write(self, prefix: "Prefix") -> None:
        """Store the turns of a rollout."""
        self._wanted.discard(prefix.key)
        self._written[prefix.key] = prefix

    def take(self) -> "list[Prefix]":
        """Return the turns written since the last call, and request the next ones."""
        written = [self._written.pop(key) for key in list(self._written)]
        self._wanted |= set(self._playing)
        return written


class ResourcesUsed(NamedTuple):
    """Resources used by the turns of a prefix; all times in seconds."""

    usage: Usage = Usage()
    waited: float = 0.0
    """Time in queues and between retries."""

    seconds: float = 0.0
    """Wall-clock time since the start of the attempt."""

    latencies: tuple[float, ...] = ()
    errors: tuple[int, ...] = ()
    """Failed tool calls of each turn."""

    cut_chars: int = 0
    aborted: float = 0.0
    """Time of a turn that was aborted and has not finished."""

    reset: float = 0.0
    agent: float = 0.0
    env: float = 0.0


@dataclass(frozen=True, slots=True)
class Prefix:
    """The turns taken so far and the state needed to continue from them. Can be pickled."""

    key: TrialKey
    """The trial that took the turns; others may continue from them."""

    opening: Any = ""
    steps: tuple[Mapping[str, Any], ...] = ()
    """The turns, as in a record."""

    system_prompt: str = ""
    tools: Sequence[Mapping[str, Any]] = ()
    state: State | None = None
    """The environment after the last turn; None if the actions must be replayed."""

    memory: Any = None
    """The player's own state; None if the player must be given the recorded messages."""

    spent: ResourcesUsed = ResourcesUsed()
    context: str = ""
    """Text that a training policy reads after the opening, such as a hint; not in records."""

    earlier: tuple[Mapping[str, Any], ...] = ()
    """Earlier attempts that ended in infrastructure failures."""

    media: Mapping[str, bytes] = field(default_factory=dict)
    points: tuple["Prefix", ...] = ()
    """The states before it from which other trials may fork, if the request keeps them."""

    @property
    def turns(self) -> int:
        """Number of turns."""
        return len(self.steps)

    @property
    def begun(self) -> bool:
        """Whether there is any state: turns, a snapshot, or tokens of an unfinished first turn."""
        return bool(self.steps) or self.state is not None or self.memory is not None

    def portable(self) -> "Prefix":
        """Return the prefix without its snapshot; continuing from it replays the actions."""
        return replace(self, state=None)

    def without_memory(self) -> "Prefix":
        """Return the prefix for a different player, which receives the recorded messages."""
        return replace(self, memory=None)

    @staticmethod
    def of(trajectory: Trajectory, turns: int) -> "Prefix":
        """Return the first turns of a trajectory, to be replayed.

        Raises:
            ValueError: If the trajectory has fewer turns.
        """
        steps = trajectory.record["steps"]
        if not 0 <= turns <= len(steps):
            raise ValueError(f"expected 0 to {len(steps)} turns of the trajectory, got {turns}")
        return Prefix(
            trajectory.key,
            trajectory.record["opening"],
            tuple(steps[:turns]),
            trajectory.system_prompt,
            trajectory.tools,
            media=trajectory.media,
        )


@runtime_checkable
class ResumablePlayer(Protocol):
    """A player whose conversation can be saved and resumed."""

    def save(self) -> Any:
        """Return the conversation as detached, picklable data."""
        ...

    def resume(self, past: Sequence[PastTurn], memory: Any) -> None:
        """Continue from turns that were taken before.

        Args:
            past: The turns, each with the messages before it.
            memory: State saved by a player of the same agent after these turns; None if another
                agent took them.
        """
        ...


def past_turns(transcript: Sequence[Message], steps: Sequence[Mapping[str, Any]]) -> list[PastTurn]:
    """Return the recorded steps, each with the messages that preceded it."""
    turns: list[PastTurn] = []
    messages: list[Message] = []
    for message in transcript:
        if message["role"] == "assistant":
            step = steps[len(turns)]
            turns.append(PastTurn(tuple(messages), step["action"], step.get("said", "")))
            messages = []
        else:
            messages.append(message)
    return turns


def messages_heard(transcript: Sequence[Message]) -> int:
    """Return the number of messages up to and including the agent's last turn."""
    roles = [message["role"] for message in transcript]
    return len(roles) - roles[::-1].index("assistant")


def require_same(name: str, recorded: Any, replayed: Any) -> None:
    """Raise `PrefixDiffers` unless a replayed value equals the recorded one."""
    if replayed != recorded:
        raise PrefixDiffers(f"{name} was {recorded!r:.200}, the replay gives {replayed!r:.200}")


def resume_player(player: Player, past: Sequence[PastTurn], memory: Any) -> None:
    """Bring a new player into the state after `past`.

    A player without a memory is asked for every turn again and its answers are discarded, which
    brings scripts into the same state. A script that ends during the turns of another agent gives
    up on its own first turn.

    Raises:
        AgentMismatch: If an asynchronous player does not implement `ResumablePlayer`.
    """
    if isinstance(player, ResumablePlayer):
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
                f"{type(player).__name__} cannot continue from recorded turns: implement save() "
                "and resume(), as the player of LlmAgent does"
            )
