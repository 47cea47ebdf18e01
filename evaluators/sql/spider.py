"""Spider's test-suite rule: the same multiset of rows under some permutation of the columns.

DISTINCT is removed from both statements unless the check says to keep it, rows are compared as a
list if the expected statement orders them, and every database must agree. Known to accept wrong
answers: superfluous duplicates through the removed DISTINCT, and swapped columns of equal content.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.evaluators.sql.compare import column_orders
from hexathlon.evaluators.sql.runs import GraderFault, gold_terms, pairs
from hexathlon.evaluators.sql.strict import submitted_sql, unscored, wrong
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.sql.world.backends.base import StoredRow
from hexathlon.tasks.task import Task

__all__ = ["same_denotation", "spider", "without_distinct"]

_PIECE = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\bdistinct\b", re.IGNORECASE)
_SPLIT_OPERATORS = (("> =", ">="), ("< =", "<="), ("! =", "!="))
_CURRENT_YEAR = re.compile(r"YEAR\s*\(\s*CURDATE\s*\(\s*\)\s*\)\s*", re.IGNORECASE)


def spider(
    task: Task,
    params: Mapping[str, Any],
    final_state: Mapping[str, Any],
    transcript: Sequence[Mapping[str, Any]],
) -> Verdict:
    """Score 1 if both statements denote the same on every database.

    Params: `gold` (SQL), `keep_distinct` (default false).
    """
    sql, problem = submitted_sql(final_state)
    keep = bool(params.get("keep_distinct", False))
    gold_sql, got_sql = _prepared(params["gold"], keep), _prepared(sql, keep)
    terms = gold_terms(task, gold_sql)
    if problem:
        verdict = wrong(problem)
        return verdict.model_copy(update={"terms": {**verdict.terms, **terms}})
    ordered = "order by" in gold_sql.lower()
    try:
        same = all(
            not pair.got.error
            and not pair.got.more
            and same_denotation(pair.gold.rows, pair.got.rows, ordered=ordered)
            for pair in pairs(task, gold_sql, got_sql, final_state)
        )
    except GraderFault as fault:
        return unscored(fault)
    return Verdict(score=float(same), terms=terms)


def same_denotation(gold: Sequence[StoredRow], got: Sequence[StoredRow], *, ordered: bool) -> bool:
    """Whether two results are equal under some permutation of the columns."""
    if not gold and not got:
        return True
    if len(gold) != len(got) or len(gold[0]) != len(got[0]):
        return False
    for order in column_orders(gold, got):
        arranged = [tuple(row[column] for column in order) for row in got]
        same = list(gold) == arranged if ordered else Counter(gold) == Counter(arranged)
        if same:
            return True
    return False


def without_distinct(sql: str) -> str:
    """Return the statement without the word DISTINCT, except inside quotes."""
    return _PIECE.sub(lambda piece: piece[0] if piece[0][0] in "'\"" else "", sql)


def _prepared(sql: str, keep_distinct: bool) -> str:
    for apart, together in _SPLIT_OPERATORS:
        sql = sql.replace(apart, together)
    sql = _CURRENT_YEAR.sub("2020", sql)
    return sql if keep_distinct else without_distinct(sql)
