"""The judge that is no model: criteria that code decides, and nothing else."""

from hexathlon.evaluators.judges.labels import Decision
from hexathlon.evaluators.judges.predicates import decide_by_code
from hexathlon.evaluators.judges.rubric import Criterion, Rubric
from hexathlon.evaluators.judges.transcript import JudgedTranscript

__all__ = ["CodeJudge"]


class CodeJudge:
    """Decides by predicates; a criterion without one stays unscored."""

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
        """Decide every criterion of a rubric, in its order."""
        return [await self.decide(one, transcript) for one in rubric.decided]
