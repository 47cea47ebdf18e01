"""The detached state of an episode, used by fork and restore."""

from dataclasses import dataclass
from typing import Any

from hexathlon.envs.errors import WrongState
from hexathlon.envs.messages import Action, Message
from hexathlon.envs.status import Status
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.task import Limits, Task

__all__ = ["State"]


@dataclass(frozen=True, slots=True)
class State:
    """Everything that determines how an episode continues. Opaque to callers; picklable."""

    family: str
    task: Task
    limits: Limits
    seed: int
    rng: Any
    """State of the episode's bit generator; None if nothing was drawn yet."""

    status: Status
    verdict: Verdict | None
    transcript: tuple[Message | Action, ...]
    counters: tuple[int, int, int, int]
    """Turns, tool errors, characters cut, and calls charged as further turns."""

    payload: Any
    """The world's part; immutable by contract, since several forks may load it."""

    def require_family(self, family: str) -> None:
        """Raise `WrongState` unless the state belongs to `family`."""
        if self.family != family:
            raise WrongState(f"expected a state of {family!r}, got one of {self.family!r}")
