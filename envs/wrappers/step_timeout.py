"""A deadline per step, reported in the episode's status.

Environments that keep deadlines themselves (coroutine and hosted ones) receive the deadline. Others
run in this thread. In the main thread a timer interrupts the step, which works for Python code and
for blocking system calls; in other threads a step cannot be interrupted, and a step that returns
late ends the episode.
"""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Literal, cast

import gymnasium
from gymnasium.error import ResetNeeded
from gymnasium.utils import RecordConstructorArgs

from hexathlon.envs.base import Environment
from hexathlon.envs.errors import DeadlineExceeded
from hexathlon.envs.messages import Message
from hexathlon.envs.status import Status
from hexathlon.envs.wrappers.base import EpisodeWrapper, ResetResult, StepResult

__all__ = ["StepTimeout"]


class _Interrupt(BaseException):
    """Raised by the timer inside the step; a BaseException, to pass ordinary handlers."""


class StepTimeout(EpisodeWrapper):
    """Ends a step at its deadline.

    Args:
        env: A hexathlon environment.
        seconds: Per step.
        on_timeout: `truncate`: the episode ends as `truncated_time` with reward 0. `fault`:
            `DeadlineExceeded` is raised.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        seconds: float,
        on_timeout: Literal["truncate", "fault"] = "truncate",
    ) -> None:
        if not seconds > 0 or on_timeout not in ("truncate", "fault"):
            raise ValueError(
                "expected positive seconds and on_timeout 'truncate' or 'fault', "
                f"got {seconds}, {on_timeout!r}"
            )
        RecordConstructorArgs.__init__(self, seconds=seconds, on_timeout=on_timeout)
        gymnasium.Wrapper.__init__(self, env)
        self.seconds = seconds
        self.on_timeout = on_timeout
        self._over = False
        self._delegated = bool(getattr(env.unwrapped, "keeps_deadlines", False))
        if self._delegated:
            base = cast("Any", env.unwrapped)
            base.action_seconds = seconds
            base.on_hang = on_timeout

    def after_reset(self, result: ResetResult) -> ResetResult:
        """Clear the timeout of the previous episode."""
        self._over = False
        return result

    def step(self, action: Any) -> StepResult:
        """Take one assistant turn within the deadline."""
        if self._delegated:
            return super().step(action)
        if self._over:
            raise ResetNeeded("the episode ended at a step's deadline; call reset() first")
        started = time.monotonic()
        try:
            with _deadline(self.seconds):
                result = super().step(action)
        except (_Interrupt, KeyboardInterrupt):
            # SQLite drops what the timer raises in a callback; our connection raises the latter.
            if time.monotonic() - started < self.seconds:
                raise
            return self._late()
        return self._late() if time.monotonic() - started > self.seconds else result

    def _late(self) -> StepResult:
        self._over = True
        text = f"The action took longer than {self.seconds:g} s. The episode ends."
        if self.on_timeout == "fault":
            raise DeadlineExceeded(f"a step did not finish within {self.seconds:g} s")
        observation = cast("Environment", self.env.unwrapped).aside(text)
        info = {
            "status": Status.TRUNCATED_TIME.value,
            "reward_terms": {},
            "turn": len(_turns(self.env.unwrapped)),
            "tool_errors": 0,
            "cut_chars": 0,
        }
        return observation, 0.0, False, True, info


def _turns(env: Any) -> list[Message]:
    return [message for message in env.transcript if message["role"] == "assistant"]


@contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    """Interrupt the block after `seconds`, where possible."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise _Interrupt

    previous = signal.signal(signal.SIGALRM, ring)
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    started = time.monotonic()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        if left:  # an outer timer, such as a test's, resumes with its remaining time
            remaining = max(left - (time.monotonic() - started), 1e-3)
            signal.setitimer(signal.ITIMER_REAL, remaining, interval)
