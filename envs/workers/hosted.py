"""The caller's side of an environment in a worker process.

A `HostedEnvironment` has the interface of the environment it hosts: spaces, reset, step, snapshot,
fork, verdict. It differs in failures: a crashed worker is an `EnvFault` of this environment alone,
and a hanging one is killed at its deadline. In both cases the next `reset` starts a fresh worker.
"""

import asyncio
import sys
import weakref
from dataclasses import dataclass
from typing import Any, Self, cast

import gymnasium
from gymnasium.error import ResetNeeded

from hexathlon.envs import errors
from hexathlon.envs.aio import AsyncEnvironment, OnHang
from hexathlon.envs.errors import DeadlineExceeded, EnvFault, WorkerCrashed, WrongState
from hexathlon.envs.messages import (
    Message,
    assistant_message,
    make_message,
    parse_message,
    parse_text,
)
from hexathlon.envs.observations import show_image
from hexathlon.envs.status import Status
from hexathlon.envs.workers.codec import decode, encode
from hexathlon.envs.workers.description import message_from_data, space_from_data
from hexathlon.envs.workers.exchange import aexchange, exchange
from hexathlon.envs.workers.processes import Worker, start_worker
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.errors import TaskError
from hexathlon.tasks.task import Limits, Task

__all__ = ["HostedEnvironment", "HostedState"]

GRACE_SECONDS = 0.5
"""Extra seconds for an environment that keeps deadlines itself, before its worker is killed."""


@dataclass(frozen=True, slots=True)
class HostedState:
    """State of a hosted episode, as bytes readable by any worker with the same entry point."""

    hosted: str
    data: bytes


class _Late(Exception):
    """The deadline passed without a reply."""


class HostedEnvironment(AsyncEnvironment):
    """An environment in its own worker process.

    Args:
        hosted: `module:Class` of the environment; imported in the worker only.
        on_hang: Effect of a hang, `truncate` or `fault`; by default as the environment declares.
        action_seconds: Deadline of an action; the task's `seconds_per_action` by default.
        reset_seconds: Deadline of `reset`, and of starting the worker.
        **kwargs: For the environment; plain data only.
    """

    def __init__(
        self,
        hosted: str,
        *,
        on_hang: OnHang | None = None,
        action_seconds: float | None = None,
        reset_seconds: float = 60.0,
        **kwargs: Any,
    ) -> None:
        self.hosted = hosted
        self.action_seconds = action_seconds
        self.reset_seconds = reset_seconds
        self._kwargs = kwargs
        self._wanted_on_hang = on_hang
        self._clear()
        self._start()
        about = self.wait(self._make())
        for name, value in about["attributes"].items():
            setattr(self, name, value)
        self.on_hang: OnHang = on_hang or about["on_hang"]
        self.action_space = space_from_data(about["action_space"])
        self.observation_space = space_from_data(about["observation_space"])

    def _clear(self) -> None:
        """Reset to no worker and no episode."""
        self._worker: Worker | None = None
        self._finalizer: weakref.finalize[Any, Any] | None = None
        self._own_deadline = False
        self._task = None
        self._limit_to(Limits())
        self._messages: list[Message] = []
        self._ended: Status | None = Status.ABORTED
        self._counters = {"turn": 0, "tool_errors": 0, "cut_chars": 0}

    # Gymnasium ---------------------------------------------------------------------------------

    async def areset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode, in a fresh worker if the last one is gone.

        Raises:
            WorkerCrashed: If the worker ended.
            DeadlineExceeded: If the environment was not ready within `reset_seconds`.
        """
        gymnasium.Env.reset(self, seed=seed)
        if self._worker is None:
            self._start()
            await self._make()
        self._ended = Status.ABORTED
        try:
            observation, info, episode = await self._ask(
                "reset", self.reset_seconds, seed=seed, options=options
            )
        except _Late as late:
            raise DeadlineExceeded(
                f"reset of {self.hosted} did not finish within {self.reset_seconds:g} s"
            ) from late
        self._begin_hosted(episode)
        self._note({})
        return observation, info

    async def astep(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one assistant turn.

        Raises:
            ResetNeeded: If the episode has ended, or its worker is gone.
            WorkerCrashed: If the worker ended during this turn.
            DeadlineExceeded: If the worker hung and `on_hang` is `fault`.
        """
        self._require_episode()
        seconds = self.action_seconds or self.limits.seconds_per_action
        patience = seconds + (GRACE_SECONDS if self._own_deadline else 0.0)
        try:
            result, new = await self._ask(
                "step", patience, action=action, seconds=self.action_seconds
            )
        except _Late as late:
            if self.on_hang == "fault":
                self._ended = Status.ERROR_ENV
                raise DeadlineExceeded(
                    f"an action in {self.hosted} did not finish within {patience:g} s; "
                    "its worker was killed"
                ) from late
            return self._timed_out(action, seconds)
        observation, reward, terminated, truncated, info = result
        self._messages += map(message_from_data, new)
        self._note(info)
        return observation, reward, terminated, truncated, info

    def render(self) -> Any:
        """Return what the hosted environment renders."""
        return self._call("render")

    async def aclose(self) -> None:
        """End the worker."""
        self._discard(kill=False)
        self._ended = Status.ABORTED

    # Fork --------------------------------------------------------------------------------------

    def snapshot(self) -> HostedState:  # type: ignore[override]
        """Return the full state of the episode, as bytes."""
        return HostedState(self.hosted, encode(self._call("snapshot")))

    def restore(self, state: HostedState) -> None:  # type: ignore[override]
        """Continue from a state of an environment with the same entry point.

        Raises:
            WrongState: If the state is from another environment.
        """
        if not isinstance(state, HostedState) or state.hosted != self.hosted:
            raise WrongState(f"expected a state of {self.hosted}, got {type(state).__name__}")
        if self._worker is None:
            self._start()
            self.wait(self._make())
        data = decode(state.data)
        self._begin_hosted(self._call("restore", state=data))
        turn, tool_errors, cut_chars, _ = data["counters"]
        self._counters = {"turn": turn, "tool_errors": tool_errors, "cut_chars": cut_chars}

    def fork(self, n: int = 1) -> list[Self]:
        """Return `n` environments in the same state, each in its own worker."""
        state = self.snapshot()
        clones = [type(self)(self.hosted, **self._arguments()) for _ in range(n)]
        for clone in clones:
            clone.spec = self.spec
            clone.restore(state)
        return clones

    def _arguments(self) -> dict[str, Any]:
        return {
            "on_hang": self._wanted_on_hang,
            "action_seconds": self.action_seconds,
            "reset_seconds": self.reset_seconds,
            **self._kwargs,
        }

    # Access to the episode ---------------------------------------------------------------------

    def verdict(self) -> Verdict:
        """Grade the episode; if its worker was killed at its deadline, the score is 0."""
        if self._ended is Status.TRUNCATED_TIME:
            return Verdict(score=0.0, evidence={"ended": self._ended.value})
        return Verdict.model_validate(self._call("verdict"))

    def final_state(self) -> dict[str, Any]:
        """Return the state for verifiers; only a note if the worker was killed at its deadline."""
        if self._ended is Status.TRUNCATED_TIME:
            return {"lost": "the worker was killed at its deadline"}
        return cast("dict[str, Any]", self._call("final_state"))

    def finish(self, status: Status = Status.COMPLETED) -> None:
        """End the episode from outside, as a wrapper with a budget does."""
        self._call("finish", status=status.value)

    @property
    def transcript(self) -> tuple[Message, ...]:
        """The messages so far: the opening, then turns and answers."""
        return tuple(self._messages)

    def messages_since(self, index: int) -> tuple[Message, ...]:
        """The messages from position `index` on."""
        return tuple(self._messages[index:])

    # Internals ---------------------------------------------------------------------------------

    def _start(self) -> None:
        """Start a worker; it ends with this object at the latest."""
        self._worker = start_worker()
        self._finalizer = weakref.finalize(self, self._worker.end, kill=True)

    async def _make(self) -> Any:
        """Have the worker make its environment."""
        try:
            about = await self._ask(
                "make",
                self.reset_seconds,
                entry_point=self.hosted,
                kwargs=self._kwargs,
                path=list(sys.path),
            )
        except _Late as late:
            raise DeadlineExceeded(
                f"making {self.hosted} took longer than {self.reset_seconds:g} s"
            ) from late
        except Exception:
            self._discard(kill=True)
            raise
        self._own_deadline = about["keeps_deadlines"]
        return about

    def _call(self, operation: str, **arguments: Any) -> Any:
        """Send a short request; blocking, so it may be called inside an event loop."""
        if self._worker is None:
            raise ResetNeeded(f"{self.hosted} has no worker; call reset() first")
        request = encode({"operation": operation, "arguments": arguments})
        try:
            reply = exchange(self._worker.socket, request, self.reset_seconds)
        except TimeoutError as error:
            self._ended = Status.ERROR_ENV
            self._discard(kill=True)
            raise DeadlineExceeded(
                f"{operation} of {self.hosted} did not finish within {self.reset_seconds:g} s"
            ) from error
        except ConnectionError as error:
            raise self._crashed(operation) from error
        return self._opened_reply(operation, reply)

    async def _ask(self, operation: str, within: float, **arguments: Any) -> Any:
        """Send a request and await the reply; without a reply the worker is killed."""
        request = encode({"operation": operation, "arguments": arguments})
        worker = cast("Worker", self._worker)
        try:
            async with asyncio.timeout(within):
                reply = await aexchange(worker.socket, request)
        except TimeoutError as error:
            self._discard(kill=True)
            raise _Late from error
        except ConnectionError as error:
            raise self._crashed(operation) from error
        except asyncio.CancelledError:
            self._discard(kill=True)
            raise
        return self._opened_reply(operation, reply)

    def _opened_reply(self, operation: str, reply: bytes) -> Any:
        """Return the value of a reply; a damaged reply counts as a crash of the worker."""
        try:
            content = decode(reply)
        except ValueError as error:
            raise self._crashed(operation) from error
        if "error" in content:
            raise _rebuilt(content["error"])
        return content["value"]

    def _crashed(self, operation: str) -> WorkerCrashed:
        self._ended = Status.ERROR_ENV
        ending = self._discard(kill=True)
        return WorkerCrashed(f"the worker of {self.hosted} ended during {operation}: {ending}")

    def _begin_hosted(self, episode: Any) -> None:
        self._task = Task.model_validate(episode["task"])
        self._limit_to(Limits.model_validate(episode["limits"]))
        self._messages = [message_from_data(message) for message in episode["messages"]]
        self._ended = None

    def _discard(self, *, kill: bool) -> str:
        if self._worker is None or self._finalizer is None:
            return "already gone"
        self._finalizer.detach()
        worker, self._worker, self._finalizer = self._worker, None, None
        return worker.end(kill=kill)

    def _require_episode(self) -> None:
        if self._ended is not None or self._worker is None:
            status = self._ended.value if self._ended else "without a worker"
            raise ResetNeeded(f"the episode is {status}; call reset() first")

    def _note(self, info: dict[str, Any]) -> None:
        self._counters = {name: info.get(name, 0) for name in self._counters}

    def _timed_out(
        self, action: Any, seconds: float
    ) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._ended = Status.TRUNCATED_TIME
        text = f"The action took longer than {seconds:g} s. The episode ends."
        message = make_message("user", text)
        if self.image_size is not None:
            show_image([message], self._latest_image())
        turn = parse_text(action) if isinstance(action, str) else parse_message(action)
        self._messages += [assistant_message(turn), message]
        observation = self._as_observation([message])
        self._counters["turn"] += 1
        info: dict[str, Any] = {"status": self._ended.value, "reward_terms": {}, **self._counters}
        return observation, 0.0, False, True, info


_SIMPLE: dict[str, type[Exception]] = {
    "ResetNeeded": ResetNeeded,
    "ForkUnsupported": errors.ForkUnsupported,
    "WrongState": WrongState,
    "TaskError": TaskError,
    "ValueError": ValueError,
    "TypeError": TypeError,
    "IndexError": IndexError,
}


def _rebuilt(data: dict[str, Any]) -> Exception:
    simple = _SIMPLE.get(data["kind"])
    if simple is not None:
        return simple(data["message"])
    return EnvFault(data["message"], cause=data["cause"])
