"""Scores of replayed trajectories: UI-S1's semi-online performance (SOP) and its parts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import Messages
from hexathlon.tasks.task import Task

__all__ = ["SemiOnlinePerformance", "gui_replay", "semi_online_performance"]


class SemiOnlinePerformance(NamedTuple):
    """UI-S1's metric over episodes without patches."""

    progress: float
    """Mean share of steps before the first mismatch."""

    success: float
    """Share of trajectories whose steps all match."""

    @property
    def score(self) -> float:
        """Mean of progress and success."""
        return (self.progress + self.success) / 2


def gui_replay(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Messages
) -> Verdict:
    """Score a replayed trajectory by its share of matching steps.

    The terms give the progress, the share of steps before the first mismatch, and the success, 1 if
    all steps match.

    Args:
        task: Not used.
        params: `steps`, the length of the recording.
        final_state: `matches`, for each step whether the kind and the whole action matched.
        transcript: Not used.
    """
    steps = int(params["steps"])
    exact = [bool(match[1]) for match in final_state["matches"]]
    first = exact.index(False) if False in exact else len(exact)
    success = float(first == steps)
    return Verdict(
        score=sum(exact) / steps,
        partial=first / steps,
        terms={
            "kind": sum(bool(match[0]) for match in final_state["matches"]) / steps,
            "progress": first / steps,
            "success": success,
        },
    )


def semi_online_performance(terms: Iterable[Mapping[str, float]]) -> SemiOnlinePerformance:
    """Return UI-S1's metric from the verdicts' terms, one mapping per trajectory.

    Raises:
        ValueError: If there are none.
    """
    rows: Sequence[Mapping[str, float]] = list(terms)
    if not rows:
        raise ValueError("expected at least one trajectory, got none")
    progress, success = (
        sum(row[key] for row in rows) / len(rows) for key in ("progress", "success")
    )
    return SemiOnlinePerformance(progress, success)
