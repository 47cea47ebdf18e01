"""Base class of our wrappers: one set of hooks for the blocking and the coroutine interface.

A plain Gymnasium wrapper overrides `step`, which hides a coroutine interface below it from a vector
environment. These wrappers only define what happens before and after; the base does the calling
and awaiting.
"""

from typing import Any, cast

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from hexathlon.envs.status import Status

__all__ = ["EpisodeWrapper", "ResetResult", "StepResult", "awaits"]

StepResult = tuple[Any, float, bool, bool, dict[str, Any]]
ResetResult = tuple[Any, dict[str, Any]]


class EpisodeWrapper(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """A wrapper with hooks around `reset` and `step`; subclasses record their arguments."""

    def after_reset(self, result: ResetResult) -> ResetResult:
        """Process the opening of an episode; returns the result for the caller."""
        return result

    def before_step(self, action: Any) -> Any:
        """Return the action to pass on."""
        return action

    def after_step(self, action: Any, result: StepResult) -> StepResult:
        """Process a step; returns the result for the caller."""
        return result

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> ResetResult:
        """Start an episode."""
        return self.after_reset(self.env.reset(seed=seed, options=options))

    def step(self, action: Any) -> StepResult:
        """Take one assistant turn."""
        passed = self.before_step(action)
        return self.after_step(passed, cast("StepResult", self.env.step(passed)))

    async def areset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> ResetResult:
        """Start an episode; available only if `awaits` is true."""
        return self.after_reset(await cast("Any", self.env).areset(seed=seed, options=options))

    async def astep(self, action: Any) -> StepResult:
        """Take one assistant turn; available only if `awaits` is true."""
        passed = self.before_step(action)
        return self.after_step(passed, await cast("Any", self.env).astep(passed))

    def cut_short(self, status: Status, result: StepResult) -> StepResult:
        """Truncate the wrapped episode and return the step with its verdict."""
        observation, _, _, _, info = result
        base = cast("Any", self.env.unwrapped)
        base.finish(status)
        verdict = base.verdict()
        ended = {**info, "status": status.value, "reward_terms": dict(verdict.terms)}
        return observation, float(verdict.score), False, True, ended


def awaits(env: gymnasium.Env[Any, Any]) -> bool:
    """Return whether `astep` and `areset` work through the whole stack of wrappers."""
    while isinstance(env, gymnasium.Wrapper):
        if not isinstance(env, EpisodeWrapper):
            return False
        env = env.env
    return hasattr(env, "astep")
