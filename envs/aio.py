"""Environments with coroutine hooks: browsers, phones, sandboxes, remote services.

An author writes `async def` for hooks that wait on I/O; the others may stay ordinary functions.
`step` and `reset` work as in any environment. `astep` and `areset` are their coroutine versions,
which a vector environment uses to wait for many environments at once.

Each action has a deadline, at which a pending action is cancelled. `on_hang` declares what
happens next.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Coroutine
from typing import Any, ClassVar, Literal, Self, TypeVar

from hexathlon.envs.base import Environment
from hexathlon.envs.errors import DeadlineExceeded, ToolError
from hexathlon.envs.loops import LoopLease
from hexathlon.envs.messages import Action, ParsedCall
from hexathlon.envs.status import Status
from hexathlon.evaluators.content import Content

__all__ = ["AsyncEnvironment", "OnHang"]

OnHang = Literal["truncate", "fault"]
"""`truncate`: the agent's action is to blame; the episode ends as `truncated_time`. `fault`: the
backend is to blame; `DeadlineExceeded` is raised and the trial counts as an infrastructure fault.
"""

_Result = TypeVar("_Result")


class AsyncEnvironment(Environment):
    """An environment whose `on_reset`, `on_text`, tools, `frame` and `conclude` may be coroutines.

    Takes the arguments of `Environment`.
    """

    on_hang: OnHang = "truncate"

    keeps_deadlines: ClassVar[bool] = True
    """If True, a host in another process allows a grace period before killing the worker."""

    reset_seconds: float = 60.0
    """Deadline of `reset` in seconds; exceeding it is a backend fault."""

    action_seconds: float | None = None
    """Deadline of an action in seconds; overrides the task's `seconds_per_action`."""

    _lease: LoopLease | None = None

    async def conclude(self) -> None:
        """Collect what `final_state` needs; awaited once, before the verdict."""

    async def aclose(self) -> None:
        """Release the backend; awaited by `close`."""

    async def areset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode; see `Environment.reset`.

        Raises:
            DeadlineExceeded: If the backend did not get ready within `reset_seconds`.
        """
        task = self._open_episode(seed, options)
        try:
            async with asyncio.timeout(self.reset_seconds):
                opening: Content = await _settled(self.on_reset(task))
                frame = await self._aframe()
        except TimeoutError as error:
            self.finish(Status.ABORTED)
            raise DeadlineExceeded(
                f"reset of {task.id} did not finish within {self.reset_seconds:g} s"
            ) from error
        return self._opened(task, opening, frame)

    async def astep(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one assistant turn; see `Environment.step`."""
        turn = self._open_turn(action)
        seconds = self.action_seconds or self.limits.seconds_per_action
        try:
            async with asyncio.timeout(seconds):
                answers = await self._answers(turn)
                frame = await self._aframe()
                if self._status is not Status.ONGOING or self._turn >= self._most_turns:
                    await self.conclude()
        except TimeoutError as error:
            if self.on_hang == "fault":
                self.finish(Status.ERROR_ENV)
                raise DeadlineExceeded(
                    f"an action of {self.task.id} did not finish within {seconds:g} s"
                ) from error
            self.finish(Status.TRUNCATED_TIME)
            answers = [(None, f"The action took longer than {seconds:g} s. The episode ends.")]
            # The backend may still hang, so this is the image from before the action.
            frame = None if self.image_size is None else self._latest_image()
        return self._close_turn(answers, frame)

    async def _aframe(self) -> Any:
        return None if self.image_size is None else await _settled(self.frame())

    async def _answers(self, turn: Action) -> list[tuple[ParsedCall | None, Content]]:
        if not turn.calls:
            return [(None, await _settled(self.on_text(turn.text)))]
        first, *others = turn.calls
        answers: list[tuple[ParsedCall | None, Content]] = [(first, await self._arun(first))]
        for call in others:
            self._spend()
            answers.append((call, await self._arun(call)))
        return answers

    async def _arun(self, call: ParsedCall) -> Content:
        try:
            return await _settled(self._run(call))
        except ToolError as error:
            self._tool_errors += 1
            return f"Error: {error}"

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode and block until it is ready."""
        return self.wait(self.areset(seed=seed, options=options))

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one assistant turn and block until it ends."""
        return self.wait(self.astep(action))

    def wait(self, coroutine: Coroutine[Any, Any, _Result]) -> _Result:
        """Run a coroutine on this thread's private event loop; also for hooks such as `save`."""
        return self.lease().run(coroutine)

    def lease(self) -> LoopLease:
        """Return this environment's lease on the private event loop, acquired on first use."""
        if self._lease is None:
            self._lease = LoopLease(self)
        return self._lease

    def close(self) -> None:
        """Release the backend and the event loop; idempotent."""
        self.wait(self.aclose())
        if self._lease is not None:
            self._lease.end()
            self._lease = None
        super().close()

    def _blank(self) -> Self:
        clone = super()._blank()
        clone._lease = None
        return clone

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lease": None}


async def _settled(value: _Result | Awaitable[_Result]) -> _Result:
    """Return the value, awaiting it if necessary."""
    return await value if inspect.isawaitable(value) else value
