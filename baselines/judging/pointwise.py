"""The pointwise judge: one criterion of one transcript per question.

Code decides criteria with a check, and replies without content. For the others, one call chooses
the lines that have to do with each criterion (`hexathlon.evaluators.judges.extraction`), and one
call per criterion decides it from these lines alone, together with planted questions
(`hexathlon.evaluators.judges.plants`). A judge that misses a planted question is asked again; then
the criterion is unscored.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from hexathlon.baselines.judging.client import JudgeAnswer, JudgeClient
from hexathlon.evaluators.judges.excerpts import Excerpt
from hexathlon.evaluators.judges.extraction import ExtractionQuestion
from hexathlon.evaluators.judges.isolation import addressed, contentless
from hexathlon.evaluators.judges.labels import ABSTAIN, Decision, Why
from hexathlon.evaluators.judges.parsing import (
    PointVerdict,
    ReplyFault,
    point_of,
    read_criteria,
    read_point,
)
from hexathlon.evaluators.judges.plants import arranged, point_plants, read_planted
from hexathlon.evaluators.judges.predicates import decide_by_code
from hexathlon.evaluators.judges.prompts import criteria_prompt, pointwise_prompt
from hexathlon.evaluators.judges.rubric import Criterion, Rubric, RubricError
from hexathlon.evaluators.judges.rubric_files import build_rubric
from hexathlon.evaluators.judges.transcript import JudgedTranscript
from hexathlon.evaluators.records.canonical import text_hash

__all__ = ["PointwiseJudge", "addresses_judge", "decision_of", "extract"]

_WHY_WRITTEN = "Made from the question by a model; what holds is a matter of meaning."


class PointwiseJudge:
    """Decides criteria one at a time.

    Args:
        client: Client of the model.
        guarded: Whether replies without content are decided by code, and the others from extracted
            lines with planted questions. Audits disable it to measure the judge itself.
    """

    def __init__(self, client: JudgeClient, *, guarded: bool = True) -> None:
        self.client = client
        self.guarded = guarded

    async def decide(
        self,
        criterion: Criterion,
        transcript: JudgedTranscript,
        *,
        repeat: int = 0,
        topics: Sequence[Criterion] = (),
    ) -> Decision:
        """Decide one criterion.

        Args:
            criterion: The criterion.
            transcript: The transcript.
            repeat: If above 0, ask again without using the cache.
            topics: All criteria, this one included, that are decided on the transcript: lines are
                then chosen for all of them in one call. Empty chooses for this one alone.
        """
        if criterion.check is not None:
            return decide_by_code(criterion, transcript)
        if not self.guarded:
            return await self._ask(criterion, transcript, repeat)
        if criterion.scope != "transcript" and contentless(
            transcript.spoken(criterion.scope), [transcript.question, criterion.text]
        ):
            worst = criterion.menu[0]
            return Decision(criterion.id, worst, 0.0, source="code", flags=("contentless",))
        extracted = await extract(self.client, topics or (criterion,), transcript, repeat)
        if extracted.answer is None:
            decision = unscored(criterion, extracted)
        else:
            shown = extracted.answer[criterion.id]
            decision = await self._ask_planted(criterion, transcript, shown, repeat)
            decision = replace(
                decision,
                retries=len(extracted.faults) + decision.retries,
                faults=(*extracted.faults, *decision.faults),
            )
        flagged = addresses_judge(transcript)
        return replace(decision, flags=(*decision.flags, "addressed")) if flagged else decision

    async def decide_all(
        self, rubric: Rubric, transcript: JudgedTranscript, *, repeat: int = 0
    ) -> list[Decision]:
        """Decide all criteria of a rubric, in order."""
        decisions = (
            self.decide(item, transcript, repeat=repeat, topics=rubric.judged)
            for item in rubric.decided
        )
        return list(await asyncio.gather(*decisions))

    async def write_rubric(self, question: str, least: int = 3, most: int = 8) -> Rubric | None:
        """Write criteria for a question alone (CE-RM, first stage); None without a valid reply.

        The criteria depend on the question only, so that all answers to it are judged alike.
        """

        def read(text: str) -> Rubric:
            rows = read_criteria(text, least, most)
            return _written(question, rows)

        return (await self.client.ask(criteria_prompt(question, least, most), read)).answer

    async def _ask(
        self, criterion: Criterion, transcript: JudgedTranscript, repeat: int
    ) -> Decision:
        asked = await self.client.ask(
            pointwise_prompt(criterion, transcript),
            lambda text: read_point(text, criterion, transcript),
            repeat=repeat,
        )
        return decision_of(criterion, asked)

    async def _ask_planted(
        self, criterion: Criterion, transcript: JudgedTranscript, shown: Excerpt, repeat: int
    ) -> Decision:
        """Ask about the lines shown, with planted questions beside the real one."""
        salt = (criterion.text, shown.text)
        questions = arranged(point_plants(criterion.menu, shown, *salt), *salt)

        def read(data: dict[str, Any]) -> PointVerdict:
            return point_of(data, criterion, transcript)

        asked = await self.client.ask(
            pointwise_prompt(criterion, shown, questions),
            lambda text: read_planted(text, questions, read, _label),
            repeat=repeat,
        )
        return decision_of(criterion, asked)


async def extract(
    client: JudgeClient,
    topics: Sequence[Criterion],
    transcript: JudgedTranscript,
    repeat: int = 0,
) -> JudgeAnswer[dict[str, Excerpt]]:
    """Return the lines that have to do with each criterion, by its id."""
    question = _question(tuple(topics), transcript)
    return await client.ask(question.prompt, question.read, repeat=repeat)


@lru_cache(maxsize=64)
def _question(topics: tuple[Criterion, ...], transcript: JudgedTranscript) -> ExtractionQuestion:
    """Return the question of an extraction; the criteria of one transcript share it."""
    return ExtractionQuestion(topics, transcript)


def _label(data: Mapping[str, Any]) -> Any:
    return data.get("label")


def decision_of(criterion: Criterion, asked: JudgeAnswer[PointVerdict]) -> Decision:
    """Return the decision for an answer, or for its absence."""
    if asked.answer is None:
        return unscored(criterion, asked)
    retries = len(asked.faults)
    label, quote, turn = asked.answer
    why: Why = "abstained" if label == ABSTAIN else ""
    return Decision(
        criterion.id,
        label,
        criterion.value_of(label),
        quote,
        turn,
        why,
        asked.source,
        retries=retries,
        faults=asked.faults,
    )


def unscored(criterion: Criterion, asked: JudgeAnswer[Any]) -> Decision:
    """Return the decision for a question without an answer."""
    retries = max(0, len(asked.faults) - 1)
    return Decision(criterion.id, None, None, why=asked.why, retries=retries, faults=asked.faults)


def addresses_judge(transcript: JudgedTranscript) -> bool:
    """Return whether a message has a passage that, by its words, may address the judge.

    A flag for readers of the results; it decides nothing. Text inside images is not searched.
    """
    return _any_addressed(tuple(line.text for line in transcript.lines))


@lru_cache(maxsize=1024)
def _any_addressed(texts: tuple[str, ...]) -> bool:
    return any(addressed(text) for text in texts)


def _written(question: str, rows: Sequence[tuple[str, float]]) -> Rubric:
    data = {
        "id": "written",
        "aggregator": "rar",
        "made_from": text_hash(question),
        "criteria": [
            {"id": f"c{number}", "text": text, "weight": weight, "why": _WHY_WRITTEN}
            for number, (text, weight) in enumerate(rows, start=1)
        ],
    }
    try:
        return build_rubric(data, "the criteria")
    except RubricError as error:
        raise ReplyFault("malformed", str(error)) from None
