"""Budgets of one trial beyond the environment's own limits."""

from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from hexathlon.baselines.engines.base import Usage
from hexathlon.envs.status import Status

__all__ = ["Exceeded", "TrialLimits"]


class Exceeded(NamedTuple):
    """An exhausted budget."""

    limit: str
    """Name of the field of `TrialLimits`."""

    status: Status


class TrialLimits(BaseModel):
    """Budgets of one trial; None means unlimited. A trial that exhausts one is still graded."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    turns: int | None = Field(default=None, ge=1)
    """Replaces the task's own turn limit; enforced by the environment."""

    output_tokens: int | None = Field(default=None, ge=1)
    total_tokens: int | None = Field(default=None, ge=1)
    """Input and output tokens of all calls."""

    wall_seconds: float | None = Field(default=None, gt=0)
    working_seconds: float | None = Field(default=None, gt=0)
    """Wall-clock time minus time in queues and between retries."""

    cost: float | None = Field(default=None, gt=0)
    """In the currency of the price table, which must list the model."""

    def exceeded(self, usage: Usage, wall: float, waited: float) -> Exceeded | None:
        """Return the first exhausted budget, or None.

        Args:
            usage: Tokens and cost so far.
            wall: Wall-clock seconds since the start of the trial.
            waited: Seconds of it spent in queues and between retries.
        """
        if _reached(usage.output, self.output_tokens):
            return Exceeded("output_tokens", Status.TRUNCATED_LENGTH)
        if _reached(usage.input + usage.output, self.total_tokens):
            return Exceeded("total_tokens", Status.TRUNCATED_LENGTH)
        if _reached(wall, self.wall_seconds):
            return Exceeded("wall_seconds", Status.TRUNCATED_TIME)
        if _reached(wall - waited, self.working_seconds):
            return Exceeded("working_seconds", Status.TRUNCATED_TIME)
        if _reached(usage.cost or 0.0, self.cost):
            return Exceeded("cost", Status.TRUNCATED_LENGTH)
        return None

    def seconds_left(self, wall: float) -> float | None:
        """Return the remaining wall-clock seconds, or None if unlimited."""
        return None if self.wall_seconds is None else max(self.wall_seconds - wall, 0.0)


def _reached(used: float, bound: float | None) -> bool:
    return bound is not None and used >= bound
