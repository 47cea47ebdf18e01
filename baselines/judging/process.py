"""Process judges: the first error of a transcript, and decisions for each turn."""

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
    """Whether a transcript has an error, and where."""

    flawed: bool | None
    """None if the judge could not tell or gave no valid answer."""

    turn: int | None
    quote: str
    why: Why

    def reward(self, correct: bool, penalty: float = 1.0) -> float | None:
        """Return the FAPO reward of a transcript with this outcome; None if undecided."""
        return fapo_reward(correct, self.flawed, penalty)


class FirstErrorJudge:
    """Locates the agent's first wrong turn."""

    def __init__(self, client: JudgeClient) -> None:
        self.client = client

    async def locate(self, transcript: JudgedTranscript, *, repeat: int = 0) -> LocatedError:
        """Locate the first error."""
        asked = await self.client.ask(
            first_error_prompt(transcript),
            lambda text: read_first_error(text, transcript),
            repeat=repeat,
        )
        if asked.answer is None:
            return LocatedError(None, None, "", asked.why)
        error: FirstError = asked.answer
        if error.label == ABSTAIN:
            return LocatedError(None, None, "", "abstained")
        return LocatedError(error.label == "error", error.turn, error.quote, "")


class StepJudge:
    """Decides a criterion for each turn of the agent, given the transcript up to that turn.

    Args:
        judge: Decides single criteria.
        criterion: A statement about "the agent's last turn"; its scope is set to `last`.
    """

    def __init__(self, judge: PointwiseJudge, criterion: Criterion) -> None:
        self.judge = judge
        self.criterion = criterion.model_copy(update={"scope": "last"})

    async def decide(self, transcript: JudgedTranscript) -> list[Decision]:
        """Return one decision per turn of the agent, in order."""
        ends = transcript.within("agent")
        prefixes = (JudgedTranscript(transcript.lines[: end + 1]) for end in ends)
        decisions = (self.judge.decide(self.criterion, prefix) for prefix in prefixes)
        return list(await asyncio.gather(*decisions))
