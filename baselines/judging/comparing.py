"""Comparative judges: pairs in both orders, and whole groups in seeded orders (CPO).

Candidates are labelled by letters, or as first and second, and otherwise anonymous. What a judge
sees of each are the lines that have to do with any criterion, chosen by one call per candidate, and
each comparison contains planted ones whose winner is known. A candidate whose lines cannot be
chosen has no result; a comparison in which the judge misses a planted one has no answer.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hexathlon.baselines.judging.client import JudgeAnswer, JudgeClient
from hexathlon.baselines.judging.pointwise import addresses_judge, extract
from hexathlon.evaluators.judges.excerpts import Excerpt
from hexathlon.evaluators.judges.groups import averaged, orders, tournament
from hexathlon.evaluators.judges.parsing import (
    GroupVerdict,
    PairVerdict,
    group_of,
    pair_of,
    read_group,
    read_pair,
)
from hexathlon.evaluators.judges.plants import (
    Arrangement,
    arranged,
    candidate_plants,
    read_planted,
)
from hexathlon.evaluators.judges.prompts import (
    LETTERS,
    Shown,
    groupwise_prompt,
    pairwise_prompt,
)
from hexathlon.evaluators.judges.rubric import Rubric
from hexathlon.evaluators.judges.transcript import JudgedTranscript

__all__ = ["GroupScores", "GroupwiseJudge", "JudgedComparison", "PairwiseJudge"]

_RESULTS = {"first": 1.0, "tie": 0.5, "second": 0.0}


class JudgedComparison(NamedTuple):
    """The result of comparing two transcripts in both orders."""

    result: float | None
    """Result of the first transcript: 1 better, 0.5 tie or disagreement between the orders, 0
    worse; None if an order has no answer."""

    forward: str | None
    """Label when the first transcript comes first."""

    backward: str | None
    """Label when it comes second; `first` then means the other transcript."""

    faults: tuple[str, ...] = ()

    @property
    def consistent(self) -> bool | None:
        """Whether both orders give the same winner; None if one has no answer."""
        if self.forward not in _RESULTS or self.backward not in _RESULTS:
            return None
        return _RESULTS[self.forward] == 1.0 - _RESULTS[self.backward]


class GroupScores(NamedTuple):
    """Scores of the members of a group, relative to each other."""

    values: tuple[float | None, ...]
    calls: int
    answered: int
    faults: tuple[str, ...]
    flags: tuple[tuple[str, ...], ...]
    """Flags of each member."""

    comparisons: tuple[JudgedComparison, ...] = ()
    shown: tuple[tuple[tuple[int, ...], tuple[float, ...] | None], ...] = ()
    """The members in the order shown and their values, for each call; no values for a call without
    an answer. Every second call shows the reverse order of the one before."""


class Candidate(NamedTuple):
    """A transcript and what the judge sees of it."""

    transcript: JudgedTranscript
    shown: Shown


class PairwiseJudge:
    """Decides which of two transcripts satisfies a rubric better, in both orders.

    Args:
        client: Client of the model.
        guarded: Whether to choose lines and plant comparisons; see the module.
    """

    def __init__(self, client: JudgeClient, *, guarded: bool = True) -> None:
        self.client = client
        self.guarded = guarded

    async def compare(
        self, rubric: Rubric, first: JudgedTranscript, second: JudgedTranscript, *, repeat: int = 0
    ) -> JudgedComparison:
        """Compare two transcripts."""
        candidates, faults = await _candidates(self, rubric, [first, second], repeat)
        a, b = candidates
        if a is None or b is None:
            return JudgedComparison(None, None, None, faults)
        forward, backward = await asyncio.gather(
            self._ask(rubric, a, b, repeat), self._ask(rubric, b, a, repeat)
        )
        label, swapped = _label(forward), _label(backward)
        result: float | None = None
        if label in _RESULTS and swapped in _RESULTS:
            agree = _RESULTS[label] == 1.0 - _RESULTS[swapped]
            result = _RESULTS[label] if agree else 0.5
        faults = (*faults, *forward.faults, *backward.faults)
        return JudgedComparison(result, label, swapped, faults)

    async def tournament(self, rubric: Rubric, group: Sequence[JudgedTranscript]) -> GroupScores:
        """Compare all pairs in both orders; a member's value is its mean result."""
        pairs = [(i, j) for i in range(len(group)) for j in range(i + 1, len(group))]
        comparisons = await asyncio.gather(
            *(self.compare(rubric, group[i], group[j]) for i, j in pairs)
        )
        results = {pair: row.result for pair, row in zip(pairs, comparisons, strict=True)}
        return GroupScores(
            tuple(tournament(len(group), results)),
            2 * len(pairs),
            sum((row.forward is not None) + (row.backward is not None) for row in comparisons),
            tuple(fault for row in comparisons for fault in row.faults),
            _flags(group),
            tuple(comparisons),
        )

    async def _ask(
        self, rubric: Rubric, first: Candidate, second: Candidate, repeat: int
    ) -> JudgeAnswer[PairVerdict]:
        a, b = first.transcript, second.transcript
        if not self.guarded:
            prompt = pairwise_prompt(rubric, first.shown, second.shown)
            return await self.client.ask(prompt, lambda text: read_pair(text, a, b), repeat=repeat)
        questions = _planted({"first": first, "second": second}, rubric)

        def read(data: dict[str, Any]) -> PairVerdict:
            return pair_of(data, a, b)

        return await self.client.ask(
            pairwise_prompt(rubric, first.shown, second.shown, questions),
            lambda text: read_planted(text, questions, read, lambda data: data.get("label")),
            repeat=repeat,
        )


class GroupwiseJudge:
    """Scores a whole group in one question, averaged over several seeded orders.

    Args:
        client: Client of the model.
        permutations: Number of orders per group; every second order reverses the one before, so an
            even number cancels position bias.
        scores: Whether to ask for scores from 0 to 10 instead of a ranking.
        guarded: Whether to choose lines and plant comparisons; see the module.
    """

    def __init__(
        self,
        client: JudgeClient,
        *,
        permutations: int = 2,
        scores: bool = False,
        guarded: bool = True,
    ) -> None:
        self.client = client
        self.permutations = permutations
        self.scores = scores
        self.guarded = guarded

    async def judge(
        self,
        rubric: Rubric,
        group: Sequence[JudgedTranscript],
        *,
        address: Sequence[str | int] = (),
    ) -> GroupScores:
        """Score the members of a group.

        Args:
            rubric: The criteria.
            group: 2 to 26 transcripts of the same task.
            address: Identifies the group; determines the orders, together with the judge's seed.

        Raises:
            ValueError: If the size of the group is out of range.
        """
        if not 2 <= len(group) <= len(LETTERS):
            raise ValueError(f"expected a group of 2 to {len(LETTERS)} members, got {len(group)}")
        permutations = orders(
            len(group), self.permutations, self.client.identity.seed, rubric.hash, *address
        )
        candidates, faults = await _candidates(self, rubric, group)
        left = {at: member for at, member in enumerate(candidates) if member is not None}
        if len(left) < 2:
            none = (None,) * len(group)
            return GroupScores(none, self.permutations, 0, faults, _flags(group))
        chosen = [tuple(index for index in order if index in left) for order in permutations]
        replies = await asyncio.gather(
            *(self._ask(rubric, [left[index] for index in order]) for order in chosen)
        )
        values = [None if reply.answer is None else reply.answer.values for reply in replies]
        return GroupScores(
            tuple(averaged(len(group), list(zip(chosen, values, strict=True)))),
            len(chosen),
            sum(value is not None for value in values),
            (*faults, *(fault for reply in replies for fault in reply.faults)),
            _flags(group),
            shown=tuple(
                (order, None if value is None else tuple(value))
                for order, value in zip(chosen, values, strict=True)
            ),
        )

    async def _ask(self, rubric: Rubric, members: Sequence[Candidate]) -> JudgeAnswer[GroupVerdict]:
        transcripts = [member.transcript for member in members]
        shown = [member.shown for member in members]
        if not self.guarded:
            return await self.client.ask(
                groupwise_prompt(rubric, shown, scores=self.scores),
                lambda text: read_group(text, transcripts, LETTERS),
            )
        questions = _planted(dict(zip(LETTERS, members, strict=False)), rubric)

        def read(data: dict[str, Any]) -> GroupVerdict:
            return group_of(data, transcripts, LETTERS)

        return await self.client.ask(
            groupwise_prompt(rubric, shown, scores=self.scores, questions=questions),
            lambda text: read_planted(text, questions, read, _winner),
        )


async def _candidates(
    judge: PairwiseJudge | GroupwiseJudge,
    rubric: Rubric,
    group: Sequence[JudgedTranscript],
    repeat: int = 0,
) -> tuple[list[Candidate | None], tuple[str, ...]]:
    """Return the candidates, None for those whose lines could not be chosen, and the faults.

    If the server failed for one, all are None: which candidates are compared must not depend on it.
    """
    if not judge.guarded:
        return [Candidate(member, member) for member in group], ()
    answers = await asyncio.gather(
        *(extract(judge.client, rubric.judged, member, repeat) for member in group)
    )
    faults = tuple(fault for asked in answers for fault in asked.faults)
    if any(asked.why == "provider" for asked in answers):
        return [None] * len(group), faults
    candidates: list[Candidate | None] = []
    for member, asked in zip(group, answers, strict=True):
        chosen = None if asked.answer is None else list(asked.answer.values())
        candidates.append(None if chosen is None else Candidate(member, _union(member, chosen)))
    return candidates, faults


def _flags(group: Sequence[JudgedTranscript]) -> tuple[tuple[str, ...], ...]:
    return tuple(("addressed",) if addresses_judge(member) else () for member in group)


def _union(transcript: JudgedTranscript, chosen: Sequence[Excerpt]) -> Excerpt:
    """Return the lines that are in any of the excerpts."""
    lines = {line for excerpt in chosen for line in excerpt.lines}
    whole = Excerpt.of(transcript)
    return whole.keep(place for place, line in enumerate(whole.lines) if line in lines)


def _planted(candidates: Mapping[str, Candidate], rubric: Rubric) -> Arrangement:
    shown = {
        name: candidate.shown
        for name, candidate in candidates.items()
        if isinstance(candidate.shown, Excerpt)
    }
    salt = (rubric.hash, *(excerpt.text for excerpt in shown.values()))
    return arranged(candidate_plants(shown, *salt), *salt)


def _winner(data: Mapping[str, Any]) -> Any:
    """Return the letter that is ranked first, or has the highest score alone."""
    ranking, scores = data.get("ranking"), data.get("scores")
    if isinstance(ranking, list) and ranking:
        return ranking[0]
    if not isinstance(scores, dict) or not all(type(v) in (int, float) for v in scores.values()):
        return None
    best = [name for name, value in scores.items() if value == max(scores.values())]
    return best[0] if len(best) == 1 else None


def _label(asked: JudgeAnswer[PairVerdict]) -> str | None:
    return None if asked.answer is None else asked.answer.label
