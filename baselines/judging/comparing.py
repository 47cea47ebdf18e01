"""Judges that compare: pairs in both orders, and whole groups in seeded orders (CPO).

Candidates are shown as letters, or as first and second; nothing else is told of them. Where one of
them speaks to the judge, the comparison is made with and without these passages: those who did so
get the worse of both, the others what they are worth without.
"""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from hexathlon.baselines.judging.client import Asked, JudgeClient
from hexathlon.baselines.judging.pointwise import masked, speaks_to_judge
from hexathlon.evaluators.judges.groups import averaged, orders, tournament
from hexathlon.evaluators.judges.parsing import GroupVerdict, PairVerdict, read_group, read_pair
from hexathlon.evaluators.judges.prompts import LETTERS, groupwise_prompt, pairwise_prompt
from hexathlon.evaluators.judges.rubric import Rubric
from hexathlon.evaluators.judges.transcript import JudgedTranscript

__all__ = ["GroupScores", "GroupwiseJudge", "JudgedComparison", "PairwiseJudge"]

_RESULTS = {"first": 1.0, "tie": 0.5, "second": 0.0}


class JudgedComparison(NamedTuple):
    """What came of comparing two transcripts in both orders."""

    result: float | None
    """Of the first: 1 better, 0.5 tie or disagreement between the orders, 0 worse; None where an
    order has no answer."""

    forward: str | None
    """Label where the first was shown first."""

    backward: str | None
    """Label where it was shown second; `first` then means the other one."""

    faults: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def consistent(self) -> bool | None:
        """Whether both orders name the same winner; None where one has no answer."""
        if self.forward not in _RESULTS or self.backward not in _RESULTS:
            return None
        return _RESULTS[self.forward] == 1.0 - _RESULTS[self.backward]


class GroupScores(NamedTuple):
    """What the members of a group are worth beside each other."""

    values: tuple[float | None, ...]
    calls: int
    answered: int
    faults: tuple[str, ...] = ()
    flags: tuple[tuple[str, ...], ...] = ()
    comparisons: tuple[JudgedComparison, ...] = ()


class PairwiseJudge:
    """Says which of two transcripts fulfils a rubric better, asked in both orders."""

    def __init__(self, client: JudgeClient, *, guarded: bool = True) -> None:
        self.client = client
        self.guarded = guarded

    async def compare(
        self, rubric: Rubric, first: JudgedTranscript, second: JudgedTranscript, *, repeat: int = 0
    ) -> JudgedComparison:
        """Compare two transcripts."""
        plain = await self._both_orders(rubric, first, second, repeat)
        speaks = (speaks_to_judge(first), speaks_to_judge(second))
        if not self.guarded or not any(speaks):
            return plain
        bare = await self._both_orders(rubric, masked(first), masked(second), repeat)
        return bare._replace(result=_worse(plain.result, bare.result, speaks), flags=("addressed",))

    async def tournament(self, rubric: Rubric, group: Sequence[JudgedTranscript]) -> GroupScores:
        """Compare each with each in both orders; a member's value is its mean result."""
        pairs = [(i, j) for i in range(len(group)) for j in range(i + 1, len(group))]
        asked = (self.compare(rubric, group[i], group[j]) for i, j in pairs)
        found = await asyncio.gather(*asked)
        results = {pair: one.result for pair, one in zip(pairs, found, strict=True)}
        return GroupScores(
            tuple(tournament(len(group), results)),
            2 * len(pairs),
            sum((one.forward is not None) + (one.backward is not None) for one in found),
            tuple(fault for one in found for fault in one.faults),
            tuple(("addressed",) if speaks_to_judge(one) else () for one in group),
            tuple(found),
        )

    async def _both_orders(
        self, rubric: Rubric, first: JudgedTranscript, second: JudgedTranscript, repeat: int
    ) -> JudgedComparison:
        forward, backward = await asyncio.gather(
            self._ask(rubric, first, second, repeat), self._ask(rubric, second, first, repeat)
        )
        one, other = _label(forward), _label(backward)
        result: float | None = None
        if one in _RESULTS and other in _RESULTS:
            agree = _RESULTS[one] == 1.0 - _RESULTS[other]
            result = _RESULTS[one] if agree else 0.5
        return JudgedComparison(result, one, other, (*forward.faults, *backward.faults))

    async def _ask(
        self, rubric: Rubric, first: JudgedTranscript, second: JudgedTranscript, repeat: int
    ) -> Asked[PairVerdict]:
        return await self.client.ask(
            pairwise_prompt(rubric, first, second),
            lambda text: read_pair(text, first, second),
            repeat=repeat,
        )


class GroupwiseJudge:
    """Scores a whole group in one question, averaged over several seeded orders.

    Args:
        client: Asks the model.
        permutations: Orders in which each group is shown; every second is the reverse of the one
            before, so an even number cancels a liking for places.
        scores: Ask for scores from 0 to 10 instead of a ranking.
        guarded: See the module.
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
            rubric: Whose criteria count.
            group: 2 to 26 transcripts of the same task.
            address: Names the group; with the judge's seed it fixes the orders.

        Raises:
            ValueError: If the group is too small or too large to be shown at once.
        """
        if not 2 <= len(group) <= len(LETTERS):
            raise ValueError(f"a group has 2 to {len(LETTERS)} members, got {len(group)}")
        shown = orders(
            len(group), self.permutations, self.client.identity.seed, rubric.hash, *address
        )
        plain = await self._views(rubric, group, shown)
        speaks = [speaks_to_judge(one) for one in group]
        if not self.guarded or not any(speaks):
            return plain
        bare = await self._views(rubric, [masked(one) for one in group], shown)
        values = tuple(
            _least(a, b) if bad else b
            for a, b, bad in zip(plain.values, bare.values, speaks, strict=True)
        )
        return GroupScores(
            values,
            plain.calls + bare.calls,
            plain.answered + bare.answered,
            (*plain.faults, *bare.faults),
            tuple(("addressed",) if bad else () for bad in speaks),
        )

    async def _views(
        self, rubric: Rubric, group: Sequence[JudgedTranscript], shown: Sequence[tuple[int, ...]]
    ) -> GroupScores:
        asked = await asyncio.gather(*(self._ask(rubric, group, order) for order in shown))
        values = [None if one.answer is None else one.answer.values for one in asked]
        return GroupScores(
            tuple(averaged(len(group), list(zip(shown, values, strict=True)))),
            len(shown),
            sum(value is not None for value in values),
            tuple(fault for one in asked for fault in one.faults),
        )

    async def _ask(
        self, rubric: Rubric, group: Sequence[JudgedTranscript], order: Sequence[int]
    ) -> Asked[GroupVerdict]:
        members = [group[index] for index in order]

        def read(text: str) -> GroupVerdict:
            return read_group(text, members, LETTERS)

        return await self.client.ask(groupwise_prompt(rubric, members, scores=self.scores), read)


def _label(asked: Asked[PairVerdict]) -> str | None:
    return None if asked.answer is None else asked.answer.label


def _worse(plain: float | None, bare: float | None, speaks: tuple[bool, bool]) -> float | None:
    """Return the result of the first: the worse for whoever speaks to the judge."""
    if plain is None or bare is None:
        return None
    if all(speaks):
        return bare if plain == bare else 0.5
    return min(plain, bare) if speaks[0] else max(plain, bare)


def _least(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else min(a, b)
