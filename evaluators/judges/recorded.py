"""Decisions by code on a task's rubric, for the `judges` field of its trial records.

Criteria that need a judge are left to `hexathlon judge`, which writes its scores to other files.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.evaluators.judges.predicates import decide_by_code
from hexathlon.evaluators.judges.rubric_files import get_rubric
from hexathlon.evaluators.judges.transcript import JudgedTranscript
from hexathlon.evaluators.records.trial import JsonContent

__all__ = ["decided_by_code"]


def decided_by_code(
    rubric: str | None, opening: JsonContent, steps: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return a decision for each criterion of a rubric that code can decide.

    Args:
        rubric: The rubric's registered name; None for a task without one.
        opening: The first message of the trial.
        steps: Actions and observations, in record form.

    Raises:
        RubricError: If nothing is registered under the name.
    """
    if rubric is None:
        return []
    registered = get_rubric(rubric)
    criteria = [criterion for criterion in registered.decided if criterion.check is not None]
    if not criteria:
        return []
    transcript = JudgedTranscript.of_record({"opening": opening, "steps": steps})
    return [
        {**decide_by_code(criterion, transcript).as_json(), "rubric": registered.hash}
        for criterion in criteria
    ]
