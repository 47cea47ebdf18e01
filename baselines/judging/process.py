"""Judges of a course of work: where it first went wrong, and whether each step is sound."""

import asyncio
from typing import NamedTuple

from hexathlon.baselines.judging.client import JudgeClient
from hexathlon.baselines.judging.pointwise import PointwiseJudge
from hexathlon.evaluators.judges.labels import ABSTAIN, Decision, Why
from hexathlon.evaluators.judges.parsing import FirstError, read_first_error
from hexathlon.evaluators.judges.process import fapo_reward
from hexathlon.evaluators.judges.prompts import first_error_prompt
from hexathlon.evaluators.judges.rubric import Criterion
from hexathlon.evaluators.judges.transcript import JudgedTranscript

__all__ = ["FirstErrorJudge", "LocatedError", "StepJudge"]


class LocatedError(NamedTuple):
    """Whether a course of work is flawed, and where."""

    flawed: bool | None
    """None where the judge could not tell or gave no readable answer."""

    turn: int | None
    quote: str
    why: Why

    def reward(self, correct: bool, penalty: float = 1.0) -> float | None:
        """Return FAPO's reward of a course with this outcome; None where it is undecided."""
        return fapo_reward(correct, self.flawed, penalty)


class FirstErrorJudge:
    """Names the agent's first wrong turn."""

    def __init__(self, client: JudgeClient) -> None:
        self.client = client

    async def locate(self, transcript: JudgedTranscript, *, repeat: int = 0) -> LocatedError:
        """Look for the first mistake."""
        asked = await self.client.ask(
            first_error_prompt(transcript),
            lambda text: read_first_error(text, transcript),
            repeat=repeat,
        )
        if asked.answer is None:
            return LocatedError(None, None, "", asked.why)
        found: FirstError = asked.answer
        if found.label == ABSTAIN:
            return LocatedError(None, None, "", "abstained")
        return LocatedError(found.label == "error", found.turn, found.quote, "")


class StepJudge:
    """Decides a criterion for each turn of the agent, shown only what came before and the turn.

    Args:
        judge: Decides single criteria.
        criterion: A statement about "the agent's last turn"; its scope is taken to be that.
    """

    def __init__(self, judge: PointwiseJudge, criterion: Criterion) -> None:
        self.judge = judge
        self.criterion = criterion.model_copy(update={"scope": "last"})

    async def decide(self, transcript: JudgedTranscript) -> list[Decision]:
        """Return one decision per turn of the agent, in order."""
        ends = transcript.within("agent")
        shown = (JudgedTranscript(transcript.lines[: end + 1]) for end in ends)
        asked = (self.judge.decide(self.criterion, one) for one in shown)
        return list(await asyncio.gather(*asked))
