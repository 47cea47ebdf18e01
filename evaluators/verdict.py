"""The verdict: what a verifier found."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Verdict"]


class Verdict(BaseModel):
    """The outcome of verifying one episode."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    score: float = Field(ge=0, le=1)
    """The headline; 0 or 1 for every strict verifier."""

    partial: float | None = Field(default=None, ge=0, le=1)
    """Partial credit, reported beside the score and never part of it."""

    terms: dict[str, float] = Field(default_factory=dict)
    """Named parts of the decision."""

    status: Literal["scored", "unscored"] = "scored"
    """`unscored` when the verifier could not decide; its score then counts for nothing."""

    evidence: dict[str, Any] = Field(default_factory=dict)
    """What the decision rests on, as JSON; never the expected answer."""

    @property
    def passed(self) -> bool:
        """Whether the episode was scored and fully met."""
        return self.status == "scored" and self.score == 1.0
