"""Comparative judges: pairs in both orders, and whole groups in seeded orders (CPO).

Candidates are labelled by letters, or as first and second, and otherwise anonymous. If one of them
addresses the judge, they are compared with and without such passages: candidates that address the
judge get the worse of the two results, the others the result without them.
"""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from hexathlon.baselines.judging.client import JudgeAnswer, JudgeClient
from hexathlon.baselines.judging.pointwise import addresses_judge, masked
from hexathlon.evaluators.judges.groups import averaged, orders, tournament
from hexathlon.evaluators.judges.parsing import GroupVerdict, PairVerdict, read_group, read_pair
from hexathlon.evaluators.judges.prompts import LETTERS, groupwise_prompt, pairwise_prompt
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
    flags: tuple[str, ...] = ()

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
    faults: tuple[str, ...] = ()
    flags: tuple[tuple[str, ...], ...] = ()
    comparisons: tuple[JudgedComparison, ...] = ()
    shown: tuple[tuple[tuple[int, ...], tuple[float, ...] | None], ...] = ()
    """The members in the order shown and their values, for each call without masks; no values for
    a call without an answer. Every second call shows the reverse order of the one before."""


class PairwiseJudge:
    """Decides which of two transcripts satisfies a rubric better, in both orders.

    Args:
        client: Client of the model.
        guarded: Whether transcripts that address the judge are compared twice; see the module.
    """

    def __init__(self, client: JudgeClient, *, guarded: bool = True) -> None:
        self.client = client
        self.guarded = guarded

    async def compare(
        self, rubric: Rubric, first: JudgedTranscript, second: JudgedTranscript, *, repeat: int = 0
    ) -> JudgedComparison:
        """Compare two transcripts."""
        plain = await self._both_orders(rubric, first, second, repeat)
        addressing = (addresses_judge(first), addresses_judge(second))
        if not self.guarded or not any(addressing):
            return plain
        bare = await self._both_orders(rubric, masked(first), masked(second), repeat)
        result = _worse(plain.result, bare.result, addressing)
        return bare._replace(result=result, flags=("addressed",))

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
            tuple(("addressed",) if addresses_judge(member) else () for member in group),
            tuple(comparisons),
        )

    async def _both_orders(
        self, rubric: Rubric, first: JudgedTranscript, second: JudgedTranscript, repeat: int
    ) -> JudgedComparison:
        forward, backward = await asyncio.gather(
            self._ask(rubric, first, second, repeat), self._ask(rubric, second, first, repeat)
        )
        label, swapped = _label(forward), _label(backward)
        result: float | None = None
        if label in _RESULTS and swapped in _RESULTS:
            agree = _RESULTS[label] == 1.0 - _RESULTS[swapped]
            result = _RESULTS[label] if agree else 0.5
        return JudgedComparison(result, label, swapped, (*forward.faults, *backward.faults))

    async def _ask(
        self, rubric: Rubric, first: JudgedTranscript, second: JudgedTranscript, repeat: int
    ) -> JudgeAnswer[PairVerdict]:
        return await self.client.ask(
            pairwise_prompt(rubric, first, second),
            lambda text: read_pair(text, first, second),
            repeat=repeat,
        )


class GroupwiseJudge:
    """Scores a whole group in one question, averaged over several seeded orders.

    Args:
        client: Client of the model.
        permutations: Number of orders per group; every second order reverses the one before, so an
            even number cancels position bias.
        scores: Whether to ask for scores from 0 to 10 instead of a ranking.
        guarded: Whether groups with members that address the judge are scored twice; see the
            module.
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
        plain = await self._average(rubric, group, permutations)
        addressing = [addresses_judge(member) for member in group]
        if not self.guarded or not any(addressing):
            return plain
        bare = await self._average(rubric, [masked(member) for member in group], permutations)
        values = tuple(
            _least(a, b) if flagged else b
            for a, b, flagged in zip(plain.values, bare.values, addressing, strict=True)
        )
        return GroupScores(
            values,
            plain.calls + bare.calls,
            plain.answered + bare.answered,
            (*plain.faults, *bare.faults),
            tuple(("addressed",) if flagged else () for flagged in addressing),
            shown=plain.shown,
        )

    async def _average(
        self,
        rubric: Rubric,
        group: Sequence[JudgedTranscript],
        permutations: Sequence[tuple[int, ...]],
    ) -> GroupScores:
        """Ask once per order and average the members' values."""
        replies = await asyncio.gather(*(self._ask(rubric, group, order) for order in permutations))
        values = [None if reply.answer is None else reply.answer.values for reply in replies]
        return GroupScores(
            tuple(averaged(len(group), list(zip(permutations, values, strict=True)))),
            len(permutations),
            sum(value is not None for value in values),
            tuple(fault for reply in replies for fault in reply.faults),
            shown=tuple(
                (order, None if value is None else tuple(value))
                for order, value in zip(permutations, values, strict=True)
            ),
        )

    async def _ask(
        self, rubric: Rubric, group: Sequence[JudgedTranscript], order: Sequence[int]
    ) -> JudgeAnswer[GroupVerdict]:
        members = [group[index] for index in order]

        def read(text: str) -> GroupVerdict:
            return read_group(text, members, LETTERS)

        return await self.client.ask(groupwise_prompt(rubric, members, scores=self.scores), read)


def _label(asked: JudgeAnswer[PairVerdict]) -> str | None:
    return None if asked.answer is None else asked.answer.label


def _worse(plain: float | None, bare: float | None, addressing: tuple[bool, bool]) -> float | None:
    """Return the first candidate's result; a candidate that addresses the judge gets the worse."""
    if plain is None or bare is None:
        return None
    if all(addressing):
        return bare if plain == bare else 0.5
    return min(plain, bare) if addressing[0] else max(plain, bare)


def _least(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else min(a, b)
