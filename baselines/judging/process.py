"""Process judges: the first error of a transcript, and decisions for each turn.

`FirstErrorJudge` and `StepJudge` answer about single transcripts. `ByFirstError` and `ByTurns` make
of them judges of whole rubrics, which `judge_run` and the command `judge run --kind` use.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from hexathlon.baselines.judging.client import JudgeClient
from hexathlon.baselines.judging.pointwise import PointwiseJudge
from hexathlon.evaluators.judges.excerpts import Excerpt
from hexathlon.evaluators.judges.labels import ABSTAIN, Decision, Why
from hexathlon.evaluators.judges.parsing import FirstError, first_error_of
from hexathlon.evaluators.judges.plants import arranged, read_planted, turn_plants
from hexathlon.evaluators.judges.process import fapo_reward, worst_step
from hexathlon.evaluators.judges.prompts import first_error_prompt
from hexathlon.evaluators.judges.rubric import Criterion, Rubric
from hexathlon.evaluators.judges.transcript import JudgedTranscript

__all__ = ["ByFirstError", "ByTurns", "FirstErrorJudge", "LocatedError", "StepJudge"]


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
    """Locates the agent's first wrong turn.

    The whole transcript is shown, as any line may be the wrong one; planted questions guard it.

    Args:
        client: Client of the model.
    """

    def __init__(self, client: JudgeClient) -> None:
        self.client = client

    async def locate(self, transcript: JudgedTranscript, *, repeat: int = 0) -> LocatedError:
        """Locate the first error."""
        salt = [line.text for line in transcript.lines]
        questions = arranged(turn_plants(transcript, *salt), *salt)

        def read(data: dict[str, Any]) -> FirstError:
            return first_error_of(data, transcript)

        asked = await self.client.ask(
            first_error_prompt(Excerpt.of(transcript), questions),
            lambda text: read_planted(text, questions, read, _turn),
            repeat=repeat,
        )
        if asked.answer is None:
            return LocatedError(None, None, "", asked.why)
        error: FirstError = asked.answer
        if error.label == ABSTAIN:
            return LocatedError(None, None, "", "abstained")
        return LocatedError(error.label == "error", error.turn, error.quote, "")


def _turn(data: Mapping[str, Any]) -> Any:
    return data.get("turn") if data.get("label") == "error" else None


class StepJudge:
    """Decides a criterion for each turn of the agent, given the transcript up to that turn.

    Args:
        judge: Decides single criteria.
        criterion: A statement about "the agent's last turn"; its scope is set to `last`.
    """

    def __init__(self, judge: PointwiseJudge, criterion: Criterion) -> None:
        self.judge = judge
        self.criterion = criterion.model_copy(update={"scope": "last"})

    async def decide(self, transcript: JudgedTranscript, *, repeat: int = 0) -> list[Decision]:
        """Return one decision per turn of the agent, in order."""
        ends = transcript.within("agent")
        prefixes = (JudgedTranscript(transcript.lines[: end + 1]) for end in ends)
        decisions = (
            self.judge.decide(self.criterion, prefix, repeat=repeat) for prefix in prefixes
        )
        return list(await asyncio.gather(*decisions))


class ByFirstError:
    """Decides the criterion of the rubric `first_error` by locating the first wrong turn.

    Args:
        client: Client of the model.
    """

    def __init__(self, client: JudgeClient) -> None:
        self._judge = FirstErrorJudge(client)

    async def decide(
        self, criterion: Criterion, transcript: JudgedTranscript, *, repeat: int = 0
    ) -> Decision:
        """Decide whether any turn is wrong; the evidence is from the first that is."""
        found = await self._judge.locate(transcript, repeat=repeat)
        if found.flawed is None:
            label = ABSTAIN if found.why == "abstained" else None
            return Decision(criterion.id, label, None, why=found.why)
        label = criterion.menu[0 if found.flawed else -1]
        value = criterion.value_of(label)
        return Decision(criterion.id, label, value, found.quote, found.turn)

    async def decide_all(
        self, rubric: Rubric, transcript: JudgedTranscript, *, repeat: int = 0
    ) -> list[Decision]:
        """Decide the rubric's only criterion."""
        decisions = (self.decide(one, transcript, repeat=repeat) for one in rubric.decided)
        return list(await asyncio.gather(*decisions))


class ByTurns:
    """Decides each criterion for every turn of the agent; the worst turn decides the whole.

    Criteria that code decides are about the whole transcript, as for a pointwise judge.

    Args:
        judge: Decides single criteria.
    """

    def __init__(self, judge: PointwiseJudge) -> None:
        self._judge = judge

    async def decide(
        self, criterion: Criterion, transcript: JudgedTranscript, *, repeat: int = 0
    ) -> Decision:
        """Decide a criterion; `details` has the label of each turn."""
        if criterion.check is not None or not transcript.within("agent"):
            return await self._judge.decide(criterion, transcript, repeat=repeat)
        steps = await StepJudge(self._judge, criterion).decide(transcript, repeat=repeat)
        worst = worst_step(steps, pitfall=criterion.weight < 0)
        return replace(worst, details={"turns": [step.label for step in steps]})

    async def decide_all(
        self, rubric: Rubric, transcript: JudgedTranscript, *, repeat: int = 0
    ) -> list[Decision]:
        """Decide all criteria of a rubric, in order."""
        decisions = (self.decide(one, transcript, repeat=repeat) for one in rubric.decided)
        return list(await asyncio.gather(*decisions))
