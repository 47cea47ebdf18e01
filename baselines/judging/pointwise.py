"""The pointwise judge: one criterion of one transcript per question.

Code decides criteria with a check, and replies without content. A transcript with passages that
address the judge is judged with and without them, and the worse of the two decisions counts.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from hexathlon.baselines.judging.client import JudgeAnswer, JudgeClient
from hexathlon.evaluators.judges.isolation import addressed, contentless, hide_addressed
from hexathlon.evaluators.judges.labels import ABSTAIN, Decision, Why
from hexathlon.evaluators.judges.parsing import PointVerdict, ReplyFault, read_criteria, read_point
from hexathlon.evaluators.judges.predicates import decide_by_code
from hexathlon.evaluators.judges.prompts import criteria_prompt, pointwise_prompt
from hexathlon.evaluators.judges.rubric import Criterion, Rubric, RubricError
from hexathlon.evaluators.judges.rubric_files import build_rubric
from hexathlon.evaluators.judges.transcript import JudgedTranscript
from hexathlon.evaluators.records.canonical import text_hash

__all__ = ["PointwiseJudge", "addresses_judge", "decision_of", "masked"]

_WHY_WRITTEN = "Made from the question by a model; what holds is a matter of meaning."


class PointwiseJudge:
    """Decides criteria one at a time.

    Args:
        client: Client of the model.
        guarded: Whether replies without content are decided by code, and transcripts that address
            the judge are judged twice. Audits disable it to measure the judge itself.
    """

    def __init__(self, client: JudgeClient, *, guarded: bool = True) -> None:
        self.client = client
        self.guarded = guarded

    async def decide(
        self, criterion: Criterion, transcript: JudgedTranscript, *, repeat: int = 0
    ) -> Decision:
        """Decide one criterion.

        Args:
            criterion: The criterion.
            transcript: The transcript.
            repeat: If above 0, ask again without using the cache.
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
        first = await self._ask(criterion, transcript, repeat)
        if not addresses_judge(transcript):
            return first
        return await self._worse_without_address(criterion, transcript, first, repeat)

    async def decide_all(
        self, rubric: Rubric, transcript: JudgedTranscript, *, repeat: int = 0
    ) -> list[Decision]:
        """Decide all criteria of a rubric, in order."""
        decisions = (self.decide(item, transcript, repeat=repeat) for item in rubric.decided)
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

    async def _worse_without_address(
        self, criterion: Criterion, transcript: JudgedTranscript, first: Decision, repeat: int
    ) -> Decision:
        """Return the worse of the decisions with and without passages that address the judge."""
        first = replace(first, flags=(*first.flags, "addressed"))
        if first.value is None or first.value == _worst(criterion):
            return first
        second = await self._ask(criterion, masked(transcript), repeat)
        if second.value is None:
            return replace(
                first, label=second.label, value=None, quote="", turn=None, why="unstable"
            )
        better = first.value - second.value if criterion.weight > 0 else second.value - first.value
        if better <= 0:
            return first
        return replace(second, flags=("addressed", "lowered"))


def decision_of(criterion: Criterion, asked: JudgeAnswer[PointVerdict]) -> Decision:
    """Return the decision for an answer, or for its absence."""
    retries = max(0, len(asked.faults) - (asked.answer is None))
    if asked.answer is None:
        return Decision(
            criterion.id, None, None, why=asked.why, retries=retries, faults=asked.faults
        )
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


def addresses_judge(transcript: JudgedTranscript) -> bool:
    """Return whether any message has a passage that addresses the judge.

    Text inside images is not searched.
    """
    return _any_addressed(tuple(line.text for line in transcript.lines))


@lru_cache(maxsize=1024)
def _any_addressed(texts: tuple[str, ...]) -> bool:
    return any(addressed(text) for text in texts)


def masked(transcript: JudgedTranscript) -> JudgedTranscript:
    """Return a transcript without passages that address the judge."""
    return JudgedTranscript(
        tuple(line._replace(text=hide_addressed(line.text)) for line in transcript.lines)
    )


def _worst(criterion: Criterion) -> float:
    return 0.0 if criterion.weight > 0 else 1.0


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
