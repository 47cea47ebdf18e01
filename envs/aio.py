"""Environments whose hooks are coroutines: browsers, phones, sandboxes, remote services.

An author writes `async def` where something is waited for; hooks that wait for nothing may stay
ordinary functions. `step` and `reset` work as everywhere; `astep` and `areset` are the same for
callers inside an event loop, and it is by them that a vector environment waits for many at once.

Each action has a deadline. An action that is still waiting at its deadline is cancelled there,
and what then follows is declared in `on_hang`.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Coroutine
from typing import Any, ClassVar, Literal, Self, TypeVar

from hexathlon.envs.base import Environment
from hexathlon.envs.errors import DeadlineExceeded, ToolError
from hexathlon.envs.loops import LoopLease
from hexathlon.envs.messages import Action, Call
from hexathlon.envs.status import Status
from hexathlon.evaluators.content import Content

__all__ = ["AsyncEnvironment", "OnHang"]

OnHang = Literal["truncate", "fault"]
"""`truncate`: the agent's action is to blame, the episode ends as `truncated_time`. `fault`: the
backend is to blame, `DeadlineExceeded` is raised and the trial counts as an infrastructure fault.
"""

_Result = TypeVar("_Result")


class AsyncEnvironment(Environment):
    """An environment whose `on_reset`, `on_text`, tools, `frame` and `conclude` may be coroutines.

    Takes the arguments of `Environment`.
    """

    on_hang: OnHang = "truncate"

    keeps_deadlines: ClassVar[bool] = True
    """A host in another process then leaves it some grace before killing it."""

    reset_seconds: float = 60.0
    """Deadline of `reset`; past it the backend is at fault."""

    action_seconds: float | None = None
    """Deadline of an action in place of the task's `seconds_per_action`."""

    _lease: LoopLease | None = None

    async def conclude(self) -> None:
        """Gather whatever `final_state` needs; awaited once, before the verdict."""

    async def aclose(self) -> None:
        """Let go of the backend; awaited by `close`."""

    async def areset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode; see `Environment.reset`.

        Raises:
            DeadlineExceeded: The backend did not get ready within `reset_seconds`.
        """
        task = self._open_episode(seed, options)
        try:
            async with asyncio.timeout(self.reset_seconds):
                opening: Content = await _settled(self.on_reset(task))
                frame = await self._aframe()
        except TimeoutError as error:
            self.finish(Status.ABORTED)
            raise DeadlineExceeded(
                f"reset of {task.id} was not done after {self.reset_seconds:g} s"
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
                if self._status is not Status.ONGOING or self._turn >= self._limits.turns:
                    await self.conclude()
        except TimeoutError as error:
            if self.on_hang == "fault":
                self.finish(Status.ERROR_ENV)
                raise DeadlineExceeded(
                    f"an action of {self.task.id} was not done after {seconds:g} s"
                ) from error
            self.finish(Status.TRUNCATED_TIME)
            answers = [(None, f"The action took longer than {seconds:g} s. The episode ends.")]
            # The backend may hang still, so the image is the one before the action.
            frame = None if self.image_size is None else self._latest_image()
        return self._close_turn(answers, frame)

    async def _aframe(self) -> Any:
        return None if self.image_size is None else await _settled(self.frame())

    async def _answers(self, turn: Action) -> list[tuple[Call | None, Content]]:
        if not turn.calls:
            return [(None, await _settled(self.on_text(turn.text)))]
        return [(call, await self._arun(call)) for call in turn.calls]

    async def _arun(self, call: Call) -> Content:
        try:
            return await _settled(self._run(call))
        except ToolError as error:
            self._tool_errors += 1
            return f"Error: {error}"

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode and wait until it stands."""
        return self.wait(self.areset(seed=seed, options=options))

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one assistant turn and wait for its end."""
        return self.wait(self.astep(action))

    def wait(self, coroutine: Coroutine[Any, Any, _Result]) -> _Result:
        """Run a coroutine on this thread's private loop; for hooks such as `save` as well."""
        return self.lease().run(coroutine)

    def lease(self) -> LoopLease:
        """Return this environment's share in the private loop, taken at first need."""
        if self._lease is None:
            self._lease = LoopLease(self)
        return self._lease

    def close(self) -> None:
        """Let go of the backend and of the loop; closing twice is allowed."""
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
    """Return the value, awaited where it has to be."""
    return await value if inspect.isawaitable(value) else value
