"""Comparers for the arena: the tasks' own rules, or models with a rubric, pairwise or in groups."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from hexathlon.baselines.arena.arena import Comparer
from hexathlon.baselines.arena.simulation import Performance
from hexathlon.baselines.judging.comparing import GroupwiseJudge, PairwiseJudge
from hexathlon.evaluators.judges.rubric import Rubric
from hexathlon.evaluators.judges.transcript import JudgedTranscript

__all__ = ["RubricOf", "group_comparer", "rubric_comparer", "score_comparer"]

RubricOf = Rubric | Callable[[Performance], Rubric]
"""One rubric, or a function that returns that of a performance's scene."""


def score_comparer(first: Performance, second: Performance) -> float | None:
    """Compare by the tasks' own rules: the score, and the partial credit if scores are equal."""
    ranks = []
    for performance in (first, second):
        if performance.score is None:
            return None
        partial = performance.record["partial"]
        ranks.append((performance.score, performance.score if partial is None else partial))
    return 0.5 if ranks[0] == ranks[1] else float(ranks[0] > ranks[1])


def rubric_comparer(judge: PairwiseJudge, rubric: RubricOf) -> Comparer:
    """Return a comparer that asks a model about both performances in both orders."""

    async def compare(first: Performance, second: Performance) -> float | None:
        criteria = _rubric(rubric, first)
        comparison = await judge.compare(criteria, _transcript(first), _transcript(second))
        return comparison.result

    return compare


def group_comparer(
    judge: GroupwiseJudge, rubric: RubricOf, performances: Sequence[Performance]
) -> Comparer:
    """Return a comparer by one judgement of each scene's whole group (CPO), made on demand.

    Args:
        judge: Scores groups.
        rubric: The criteria, of all scenes or by scene.
        performances: All performances that will be compared.
    """
    groups: dict[str, list[Performance]] = {}
    for performance in performances:
        if performance.played:
            groups.setdefault(performance.scene, []).append(performance)
    judgements: dict[str, asyncio.Task[dict[str, float | None]]] = {}

    async def judge_scene(scene: str) -> dict[str, float | None]:
        group = groups[scene]
        transcripts = [_transcript(performance) for performance in group]
        criteria = _rubric(rubric, group[0])
        scores = await judge.judge(criteria, transcripts, address=(scene,))
        agents = (performance.agent for performance in group)
        return dict(zip(agents, scores.values, strict=True))

    def compare(first: Performance, second: Performance) -> Awaitable[float | None]:
        if first.scene not in judgements:
            judgements[first.scene] = asyncio.ensure_future(judge_scene(first.scene))
        return _by_value(judgements[first.scene], first.agent, second.agent)

    return compare


async def _by_value(
    judgement: Awaitable[dict[str, float | None]], first: str, second: str
) -> float | None:
    values = await judgement
    a, b = values[first], values[second]
    if a is None or b is None:
        return None
    return 0.5 if a == b else float(a > b)


def _rubric(rubric: RubricOf, performance: Performance) -> Rubric:
    return rubric if isinstance(rubric, Rubric) else rubric(performance)


def _transcript(performance: Performance) -> JudgedTranscript:
    return JudgedTranscript.of_record(performance.record)
