"""The episode of an environment: its task, state, random stream, verdict and snapshots.

What the agent sees and does is left to `hexathlon.envs.base`.
"""

import copy
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded

from hexathlon.envs.errors import ForkUnsupported, VerifierFault
from hexathlon.envs.messages import Message, Transcript
from hexathlon.envs.options import check_limits
from hexathlon.envs.state import State
from hexathlon.envs.status import Status
from hexathlon.envs.tools import ToolTable
from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import verify
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.task import Limits, Task, ToolSchema

__all__ = ["EpisodeEnvironment"]

_LIMITS = Limits()
_NO_TOOLS = ToolTable(())
_MOST_TABLES = 64
_ONGOING = Status.ONGOING  # cached, as the member lookup is slow
_UNGRADED = Verdict(score=0.0, evidence={"graded": False})
_tables: dict[tuple[int, ...], ToolTable] = {}


def _table_of(tools: tuple[ToolSchema, ...]) -> ToolTable:
    """Return the table of these schemas, shared by all tasks that share the schema objects."""
    key = tuple(map(id, tools))
    table = _tables.get(key)
    if table is None:
        if len(_tables) >= _MOST_TABLES:
            _tables.clear()
        table = _tables[key] = ToolTable(tools)
    return table


class EpisodeEnvironment(gymnasium.Env[Any, Any]):
    """An environment that plays one task at a time and can grade, save and fork the episode.

    Args:
        limits: Overrides single limits of every task, such as `{"turns": 5}`; flat JSON.
    """

    family: ClassVar[str] = ""

    supports_fork: ClassVar[bool] = True
    fork_obstacle: ClassVar[str] = ""
    """Why the backend cannot fork; set if `supports_fork` is False."""

    def __init__(self, limits: Mapping[str, Any] | None = None) -> None:
        self.limits_override = check_limits(limits or {})
        self._task: Task | None = None
        self._limit_to(_LIMITS)
        self._table = _NO_TOOLS
        self._status = Status.ABORTED
        self._verdict: Verdict | None = None
        self._transcript = Transcript(())
        self._turn = self._tool_errors = self._cut_chars = self._episode_seed = 0
        self._stream: np.random.Generator | None = None
        self._stream_of: tuple[str, int] | None = None
        self.grading = True
        """Whether episodes are graded; False where only the agent's turns matter: all score 0."""

        self._base_names: frozenset[str] = frozenset()
        """Attributes of the base classes; all others are the world's."""

    # Hooks for authors -------------------------------------------------------------------------

    def final_state(self) -> dict[str, Any]:
        """Return the world state that the verifiers need, as JSON; valid at any time."""
        return {}

    def save(self) -> Any:
        """Return the world's part of a snapshot; it must not change when the world does.

        By default a deep copy of every attribute that the subclass has set.
        """
        return copy.deepcopy({name: vars(self)[name] for name in self._world_names()})

    def load(self, payload: Any) -> None:
        """Restore the world from `payload` without sharing mutable objects with it."""
        for name in self._world_names():
            delattr(self, name)
        vars(self).update(copy.deepcopy(payload or {}))

    def detach(self) -> None:
        """Drop, in a fresh shallow copy, resources owned by the original; `load` follows."""

    # The episode -------------------------------------------------------------------------------

    @property
    def task(self) -> Task:
        """The current task."""
        if self._task is None:
            raise ResetNeeded("there is no task yet; call reset() first")
        return self._task

    @property
    def limits(self) -> Limits:
        """The current limits: the task's, with this environment's overrides."""
        return self._limits

    @property
    def transcript(self) -> tuple[Message, ...]:
        """The messages so far: the opening, then turns and answers."""
        return tuple(self._transcript)

    @property
    def message_count(self) -> int:
        """The number of messages so far."""
        return len(self._transcript)

    def messages_since(self, index: int) -> tuple[Message, ...]:
        """The messages from position `index` on; earlier ones are not accessed."""
        return self._transcript[index:]

    def finish(self, status: Status = Status.COMPLETED) -> None:
        """End the episode after the current turn; called from tools."""
        self._status = status

    def _world_names(self) -> list[str]:
        return [name for name in vars(self) if name not in self._base_names]

    def _begin(self, task: Task) -> None:
        if task.family != self.family:
            raise ValueError(f"{task.id} is a {task.family} task, this is {self.family}")
        limits, tools = task.limits, task.tools
        if self.limits_override:
            limits = Limits(**{**limits.model_dump(), **self.limits_override})
        if limits is not self._limits:
            self._limit_to(limits)
        self._most_turns = limits.turns
        self._task = task
        self._table = _table_of(tools) if tools else _NO_TOOLS
        self._status, self._verdict = _ONGOING, None
        self._turn = self._tool_errors = self._cut_chars = 0
        self._stream, self._stream_of = None, (task.id, self._episode_seed)

    def _limit_to(self, limits: Limits) -> None:
        self._limits = limits
        self._most_turns, self._most_chars = limits.turns, limits.observation_chars

    @property
    def _np_random(self) -> np.random.Generator | None:
        """The episode's random stream: a function of (task, seed), however the task was chosen.

        Created on first use, since many episodes never draw; None before the first task.
        """
        if self._stream is None and self._stream_of is not None:
            self._stream = generator_for("episode", *self._stream_of)
        return self._stream

    @_np_random.setter
    def _np_random(self, stream: np.random.Generator | None) -> None:
        self._stream = stream

    # Fork --------------------------------------------------------------------------------------

    def snapshot(self) -> State:
        """Return the full state of the episode, detached from this environment."""
        self._require_fork()
        return State(
            family=self.family,
            task=self.task,
            limits=self._limits,
            seed=self._episode_seed,
            rng=None if self._stream is None else self._stream.bit_generator.state,
            status=self._status,
            verdict=self._verdict,
            transcript=self._transcript.frozen(),
            counters=(
                self._turn,
                self._tool_errors,
                self._cut_chars,
                self._limits.turns - self._most_turns,
            ),
            payload=self.save(),
        )

    def restore(self, state: State) -> None:
        """Continue from `state`, which may come from any environment of the same family.

        Raises:
            WrongState: If the state comes from another family.
        """
        self._require_fork()
        state.require_family(self.family)
        self._task, self._episode_seed = state.task, state.seed
        self._limit_to(state.limits)
        self._table = _table_of(state.task.tools)
        self._status, self._verdict = state.status, state.verdict
        self._transcript = Transcript(state.transcript)
        self._turn, self._tool_errors, self._cut_chars, more = state.counters
        self._most_turns -= more
        self._stream, self._stream_of = None, (state.task.id, state.seed)
        if state.rng is not None:
            bits = np.random.PCG64()
            bits.state = state.rng
            self._stream = np.random.Generator(bits)
        self.load(state.payload)

    def fork(self, n: int = 1) -> list[Self]:
        """Return `n` independent environments in the same state as this one."""
        state = self.snapshot()
        clones = [self._blank() for _ in range(n)]
        for clone in clones:
            clone.restore(state)
        return clones

    def _blank(self) -> Self:
        clone = copy.copy(self)
        clone.__dict__ = dict(vars(clone))  # as in `Environment.__init__`
        clone.action_space = copy.deepcopy(self.action_space)
        clone.observation_space = copy.deepcopy(self.observation_space)
        clone.detach()
        return clone

    def _require_fork(self) -> None:
        if not self.supports_fork:
            raise ForkUnsupported(f"{type(self).__name__} cannot fork: {self.fork_obstacle}")

    # Verdict -----------------------------------------------------------------------------------

    def verdict(self) -> Verdict:
        """Grade the episode in its current state; the result is cached once the episode has ended.

        Raises:
            VerifierFault: If the verifier itself failed.
        """
        if self._verdict is not None:
            return self._verdict
        if not self.grading:
            return _UNGRADED
        try:
            verdict = verify(self._task or self.task, self.final_state(), self._transcript)
        except Exception as error:
            raise VerifierFault(f"verifying {self.task.id} failed: {error!r}") from error
        if self._status is not _ONGOING:
            self._verdict = verdict
        return verdict
