"""A judge without a model, for rubrics whose criteria are all decided by code."""

from hexathlon.evaluators.judges.labels import Decision
from hexathlon.evaluators.judges.predicates import decide_by_code
from hexathlon.evaluators.judges.rubric import Criterion, Rubric
from hexathlon.evaluators.judges.transcript import JudgedTranscript

__all__ = ["CodeJudge"]


class CodeJudge:
    """Decides criteria by predicates; criteria without one are unscored."""

    async def decide(
        self, criterion: Criterion, transcript: JudgedTranscript, *, repeat: int = 0
    ) -> Decision:
        """Decide one criterion."""
        if criterion.check is None:
            return Decision(criterion.id, None, None, why="abstained", source="code")
        return decide_by_code(criterion, transcript)

    async def decide_all(
        self, rubric: Rubric, transcript: JudgedTranscript, *, repeat: int = 0
    ) -> list[Decision]:
        """Decide all criteria of a rubric, in order."""
        return [await self.decide(criterion, transcript) for criterion in rubric.decided]
