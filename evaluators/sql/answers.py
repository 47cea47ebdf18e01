"""The strict rule for answers given as values: exactly the same multiset of values."""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from hexathlon.evaluators.sql.strict import wrong
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.task import Task

__all__ = ["sql_answer"]


def sql_answer(
    task: Task,
    params: Mapping[str, Any],
    final_state: Mapping[str, Any],
    transcript: Sequence[Mapping[str, Any]],
) -> Verdict:
    """Score 1 if the submitted values are the label's, in any order.

    Params: `label` (list of values). Numbers are equal if their values are, regardless of
    spelling; text must agree in every letter except for outer blanks.
    """
    answer = final_state.get("answer")
    if final_state.get("kind") != "answer" or not isinstance(answer, Sequence):
        return wrong("no_answer")
    actual, expected = Counter(map(_value, answer)), Counter(map(_value, params["label"]))
    return Verdict(score=float(actual == expected))


def _value(item: Any) -> str | Decimal:
    text = str(item).strip()
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    # Equal numbers are equal keys whatever their exponents; normalising would round and overflow.
    return number if number.is_finite() else text
