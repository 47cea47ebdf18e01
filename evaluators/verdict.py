"""The verdict: result of a verifier."""

from typing import Any, Literal

from pydantic import ConfigDict, Field, ValidationError

from hexathlon.tasks.errors import InvalidRecord
from hexathlon.tasks.record import StrictRecord, explained

__all__ = ["Verdict"]


class Verdict(StrictRecord):
    """Result of verifying one episode."""

    model_config = ConfigDict(allow_inf_nan=False)

    score: float = Field(ge=0, le=1)
    """The headline; 0 or 1 for every strict verifier."""

    partial: float | None = Field(default=None, ge=0, le=1)
    """Partial credit, reported separately from the score."""

    terms: dict[str, float] = Field(default_factory=dict)
    """Named components of the decision."""

    status: Literal["scored", "unscored"] = "scored"
    """`unscored` if the verifier could not decide; the score is then ignored."""

    evidence: dict[str, Any] = Field(default_factory=dict)
    """Basis of the decision, as JSON; never the expected answer."""

    def __init__(self, /, **data: Any) -> None:
        # As in the base, but with one call less, since every episode creates a verdict.
        try:
            self.__pydantic_validator__.validate_python(data, self_instance=self)
        except ValidationError as error:
            raise InvalidRecord(explained(type(self), error)) from None

    @property
    def passed(self) -> bool:
        """Whether the episode was scored and met every requirement."""
        return self.status == "scored" and self.score == 1.0
