"""AndroidWorld's check: the result of its own evaluator, which the environment stored."""

from collections.abc import Mapping
from typing import Any

from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import Messages
from hexathlon.tasks.task import Task

__all__ = ["android_world"]


def android_world(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Messages
) -> Verdict:
    """Return the stored score; 0 unless the agent declared the task complete or infeasible.

    Args:
        task: Not used.
        params: Not used.
        final_state: `status`, the declared end, and `android_world` with the `score` from 0 to 1.
        transcript: Not used.
    """
    score = final_state.get("android_world", {}).get("score")
    if final_state.get("status") not in ("complete", "infeasible"):
        return Verdict(score=0.0, terms={"declared": 0.0})
    if isinstance(score, bool) or not isinstance(score, (int, float)) or not 0 <= score <= 1:
        reason = "AndroidWorld's evaluator gave no score: run it beside the emulator"
        return Verdict(score=0.0, status="unscored", evidence={"reason": reason})
    return Verdict(score=float(score == 1), partial=float(score), terms={"declared": 1.0})
