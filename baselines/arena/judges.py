"""Judges for the arena: the rules of the tasks, or models by a rubric, pairwise or in groups."""

import asyncio
from collections.abc import Awaitable, Sequence

from hexathlon.baselines.arena.arena import Comparer
from hexathlon.baselines.arena.simulation import Performance
from hexathlon.baselines.judging.comparing import GroupwiseJudge, PairwiseJudge
from hexathlon.evaluators.judges.rubric import Rubric
from hexathlon.evaluators.judges.transcript import JudgedTranscript

__all__ = ["group_comparer", "rubric_comparer", "score_comparer"]


def score_comparer(first: Performance, second: Performance) -> float | None:
    """Compare by what the tasks' own rules say: the score, and on a tie the partial credit."""
    ranks = []
    for one in (first, second):
        if one.score is None:
            return None
        partial = one.record["partial"]
        ranks.append((one.score, one.score if partial is None else partial))
    return 0.5 if ranks[0] == ranks[1] else float(ranks[0] > ranks[1])


def rubric_comparer(judge: PairwiseJudge, rubric: Rubric) -> Comparer:
    """Compare by a model that reads both performances, in both orders, under a rubric."""

    async def compare(first: Performance, second: Performance) -> float | None:
        found = await judge.compare(rubric, _transcript(first), _transcript(second))
        return found.result

    return compare


def group_comparer(
    judge: GroupwiseJudge, rubric: Rubric, performances: Sequence[Performance]
) -> Comparer:
    """Compare by one judgement of each scene's whole group (CPO), asked when first needed.

    Args:
        judge: Scores groups.
        rubric: Whose criteria count.
        performances: All that will be compared.
    """
    groups: dict[str, list[Performance]] = {}
    for one in performances:
        if one.played:
            groups.setdefault(one.scene, []).append(one)
    asked: dict[str, asyncio.Task[dict[str, float | None]]] = {}

    async def judged(scene: str) -> dict[str, float | None]:
        group = groups[scene]
        shown = [_transcript(one) for one in group]
        scores = await judge.judge(rubric, shown, address=(scene,))
        return dict(zip((one.agent for one in group), scores.values, strict=True))

    def compare(first: Performance, second: Performance) -> Awaitable[float | None]:
        if first.scene not in asked:
            asked[first.scene] = asyncio.ensure_future(judged(first.scene))
        return _by_value(asked[first.scene], first.agent, second.agent)

    return compare


async def _by_value(
    asked: Awaitable[dict[str, float | None]], first: str, second: str
) -> float | None:
    values = await asked
    a, b = values[first], values[second]
    if a is None or b is None:
        return None
    return 0.5 if a == b else float(a > b)


def _transcript(performance: Performance) -> JudgedTranscript:
    return JudgedTranscript.of_record(performance.record)
