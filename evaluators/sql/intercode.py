"""InterCode's rule for SQL: overlap of the rows, scaled by the similarity of their order.

Rows are compared as text. The scale is Kendall's tau-b between the common rows in the order of
either side, which can be negative; the raw value is in the term `reward`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.evaluators.sql.runs import GraderFault, marks_empty_gold, pairs
from hexathlon.evaluators.sql.strict import submitted_sql, unscored, wrong
from hexathlon.evaluators.statistics.rank_correlation import kendall_tau
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.sql.world.backends.base import StoredRow
from hexathlon.tasks.task import Task

__all__ = ["intercode_iou", "iou_reward"]

_MAX_ROWS = 20_000


@marks_empty_gold
def intercode_iou(
    task: Task,
    params: Mapping[str, Any],
    final_state: Mapping[str, Any],
    transcript: Sequence[Mapping[str, Any]],
) -> Verdict:
    """Score by intersection over union of the rows, times Kendall's tau if it is defined."""
    sql, problem = submitted_sql(final_state)
    if problem:
        return wrong(problem)
    try:
        pair = next(pairs(task, params["gold"], sql, final_state, spare_rows=_MAX_ROWS))
    except GraderFault as fault:
        return unscored(fault)
    if pair.got.error:
        return wrong(f"error_{pair.got.error}")
    reward = iou_reward(pair.gold.rows, pair.got.rows)
    return Verdict(score=max(reward, 0.0), terms={"reward": reward})


def iou_reward(gold: Sequence[StoredRow], got: Sequence[StoredRow]) -> float:
    """Return the reward, in -1..1; 1 when both are empty."""
    gold_texts, got_texts = [str(row) for row in gold], [str(row) for row in got]
    left, right = Counter(got_texts), Counter(gold_texts)
    common, union = left & right, left | right
    if not union:
        return 1.0
    reward = common.total() / union.total()
    if common:
        places = {text: place for place, text in enumerate(sorted(common))}
        got_places, gold_places = (
            [places[text] for text in _kept(texts, common)] for texts in (got_texts, gold_texts)
        )
        tau = kendall_tau(got_places, gold_places)
        if tau is not None:
            return round(tau * reward, 2)
    return reward


def _kept(texts: Sequence[str], common: Counter[str]) -> list[str]:
    """Return the common rows in the order of `texts`, with their common multiplicity."""
    remaining = Counter(common)
    kept = []
    for text in texts:
        if remaining[text] > 0:
            remaining[text] -= 1
            kept.append(text)
    return kept
