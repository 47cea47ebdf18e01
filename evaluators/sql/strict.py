"""The strict rule for queries: the same multiset of rows on the visible and all hidden databases.

Column count and, unless declared otherwise, column positions must agree; the order of rows counts
only if the task declares it. `sql_impossible` grades the claim that a task is impossible by its
evidence.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.evaluators.sql.compare import ComparisonPolicy, difference, overlap
from hexathlon.evaluators.sql.runs import GraderFault, ResultPair, pairs
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.task import Task

__all__ = ["policy_of", "sql_impossible", "sql_result", "submitted_sql", "unscored", "wrong"]

_LONGEST = 20_000


def sql_result(
    task: Task,
    params: Mapping[str, Any],
    final_state: Mapping[str, Any],
    transcript: Sequence[Mapping[str, Any]],
) -> Verdict:
    """Score 1 if the submitted query gives the expected result on every database.

    Params: `gold` (SQL); `ordered`, `order_by`, `column_order` and `tolerance` as in
    `ComparisonPolicy`; `steps`: the number of SQLite's steps that the submission may take on each
    database; `asked`: what the question leaves open and the user must have been asked for, so that
    a lucky guess is not rewarded.
    """
    sql, problem = submitted_sql(final_state)
    if problem:
        return wrong(problem)
    try:
        results = pairs(task, params["gold"], sql, final_state, steps=params.get("steps"))
        verdict = _judged(results, policy_of(params))
    except GraderFault as fault:
        return unscored(fault)
    open_slots = params.get("asked", ())
    return _gated(verdict, open_slots, final_state) if open_slots else verdict


def sql_impossible(
    task: Task,
    params: Mapping[str, Any],
    final_state: Mapping[str, Any],
    transcript: Sequence[Mapping[str, Any]],
) -> Verdict:
    """Score 1 if the task was declared impossible for the right reason, with the right evidence.

    Params: `reason`, and `evidence`: the accepted strings, compared without regard to case and
    outer blanks.
    """
    if final_state.get("kind") != "impossible":
        return wrong("not_called_impossible")
    reason = final_state.get("reason") == params["reason"]
    submitted = str(final_state.get("evidence") or "").strip().strip("'\"`").lower()
    evidence = submitted in {str(accepted).strip().lower() for accepted in params["evidence"]}
    terms = {"reason": float(reason), "evidence": float(evidence)}
    return Verdict(score=float(reason and evidence), partial=(reason + evidence) / 2, terms=terms)


def policy_of(params: Mapping[str, Any]) -> ComparisonPolicy:
    """Return the comparison declared by a check."""
    order_by = params.get("order_by")
    return ComparisonPolicy(
        ordered=bool(params.get("ordered", False)),
        order_by=None if order_by is None else tuple(order_by),
        any_column_order=params.get("column_order", "positional") == "any",
        tolerance=float(params.get("tolerance", 1e-9)),
    )


def submitted_sql(final_state: Mapping[str, Any]) -> tuple[str, str]:
    """Return (submitted statement, "") or ("", what is wrong)."""
    if final_state.get("kind") != "sql":
        return "", "no_query"
    sql = final_state.get("sql")
    if not isinstance(sql, str):
        return "", "not_text"
    if not sql.strip():
        return "", "empty"
    return (sql, "") if len(sql) <= _LONGEST else ("", "too_long")


def wrong(problem: str) -> Verdict:
    """Return the verdict on a submission that cannot be run."""
    return Verdict(score=0.0, partial=0.0, terms={problem: 1.0}, evidence={"problem": problem})


def unscored(fault: Exception) -> Verdict:
    """Return the verdict for a fault of the grader."""
    return Verdict(
        score=0.0, status="unscored", terms={"grader_fault": 1.0}, evidence={"fault": str(fault)}
    )


def _gated(verdict: Verdict, open_slots: Sequence[str], final_state: Mapping[str, Any]) -> Verdict:
    """Return the verdict, with score 0 if an open slot was not asked for."""
    guessed = sorted(set(open_slots) - set(final_state.get("asked") or ()))
    terms = {**verdict.terms, "asked": float(not guessed)}
    if not guessed:
        return verdict.model_copy(update={"terms": terms})
    evidence = {**verdict.evidence, "not_asked": guessed}
    return verdict.model_copy(update={"score": 0.0, "terms": terms, "evidence": evidence})


def _judged(results: Any, policy: ComparisonPolicy) -> Verdict:
    agreed: list[str] = []
    partial = 0.0
    for pair in results:
        reason = _reason(pair, policy)
        if pair.place == 0:
            same_width = pair.got.columns == pair.gold.columns
            partial = overlap(pair.gold.rows, pair.got.rows) if same_width else 0.0
        agreed.append(reason)
        if reason:
            break
    return _verdict(agreed, partial)


def _reason(pair: ResultPair, policy: ComparisonPolicy) -> str:
    """Return the fault on one database; empty if there is none."""
    if pair.got.error:
        return f"error_{pair.got.error}"
    if pair.got.columns != pair.gold.columns:
        return "columns"
    return "rows" if pair.got.more else difference(pair.gold.rows, pair.got.rows, policy)


def _verdict(reasons: list[str], partial: float) -> Verdict:
    failed = reasons[-1]
    place = len(reasons) - 1
    terms = {"visible": float(not reasons[0]), "hidden": float(not failed)}
    evidence: dict[str, Any] = {"databases": len(reasons)}
    if failed:
        terms[failed] = 1.0
        evidence.update(problem=failed, database="visible" if place == 0 else f"hidden {place}")
        return Verdict(score=0.0, partial=min(partial, 1.0), terms=terms, evidence=evidence)
    return Verdict(score=1.0, partial=1.0, terms=terms, evidence=evidence)
