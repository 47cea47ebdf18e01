"""What one trial may use up beyond the environment's own limits, and how it is counted."""

from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from hexathlon.baselines.engines.base import Usage
from hexathlon.envs.status import Status

__all__ = ["Exceeded", "TrialLimits"]


class Exceeded(NamedTuple):
    """A budget that ran out."""

    limit: str
    """Name of the field of `TrialLimits`."""

    status: Status


class TrialLimits(BaseModel):
    """Budgets of one trial; None sets no bound. What was done until then is graded."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    turns: int | None = Field(default=None, ge=1)
    """Replaces the task's own number of turns; kept by the environment."""

    output_tokens: int | None = Field(default=None, ge=1)
    total_tokens: int | None = Field(default=None, ge=1)
    """Input and output of all calls together."""

    wall_seconds: float | None = Field(default=None, gt=0)
    working_seconds: float | None = Field(default=None, gt=0)
    """Wall-clock less the time spent in queues and between retries."""

    cost: float | None = Field(default=None, gt=0)
    """In the price table's currency; needs a model that the table lists."""

    def exceeded(self, usage: Usage, wall: float, waited: float) -> Exceeded | None:
        """Return the first budget that is used up, or None."""
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
        """Return the wall-clock seconds that the next turn may take, or None."""
        return None if self.wall_seconds is None else max(self.wall_seconds - wall, 0.0)


def _reached(used: float, bound: float | None) -> bool:
    return bound is not None and used >= bound
