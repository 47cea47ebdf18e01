"""OSWorld's check of an episode: metrics joined by `and` or `or`, and infeasible tasks.

Declaring a feasible task infeasible, or an infeasible one complete, counts as a failure. Metrics
that are not implemented leave the episode unscored, with their names.
"""

from collections.abc import Callable, Mapping
from typing import Any

from hexathlon.evaluators.gui.osworld import applications, texts
from hexathlon.evaluators.gui.osworld.values import MetricUnsupported, stored_value
from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import Messages
from hexathlon.tasks.task import Task

__all__ = ["METRICS", "osworld"]

METRICS: Mapping[str, Callable[..., float]] = {
    **{name: getattr(texts, name) for name in texts.__all__},
    **{name: getattr(applications, name) for name in applications.__all__ if name.islower()},
    **applications.VLC_SETTINGS,
}
"""Metric functions by OSWorld's names."""


def osworld(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Messages
) -> Verdict:
    """Score an episode as OSWorld does.

    Args:
        task: Not used.
        params: `func`, `conj`, `options` and `expected` of the task file.
        final_state: `status`, the declared end, and `osworld` with `result` and `expected`, one
            stored value per metric.
        transcript: Not used.
    """
    infeasible = final_state.get("status") == "infeasible"
    if tuple(params["func"]) == ("infeasible",):
        return Verdict(score=float(infeasible), terms={"declared_infeasible": float(infeasible)})
    if infeasible:
        return Verdict(score=0.0, terms={"declared_infeasible": 1.0})
    try:
        scores = _scores(params, final_state.get("osworld", {}))
    except MetricUnsupported as error:
        reason = f"not implemented: {error}"
        return Verdict(score=0.0, status="unscored", evidence={"reason": reason})
    terms = {f"{name} {place}": score for place, (name, score) in enumerate(scores)}
    values = [score for _, score in scores]
    joined = _and(values) if params["conj"] == "and" else max(values)
    return Verdict(score=joined, partial=joined, terms=terms)


def _and(values: list[float]) -> float:
    return 0.0 if 0.0 in values else sum(values) / len(values)


def _scores(params: Mapping[str, Any], stored: Mapping[str, Any]) -> list[tuple[str, float]]:
    results = [stored_value(each) for each in stored.get("result", ())]
    expected = [stored_value(each) for each in stored.get("expected", ())]
    scores = []
    for place, name in enumerate(params["func"]):
        if name not in METRICS:
            raise MetricUnsupported(f"the metric {name}")
        arguments = [results[place] if place < len(results) else None]
        if place < len(expected):
            arguments.append(expected[place])
        options = params["options"][place] if place < len(params["options"]) else {}
        try:
            scores.append((name, float(METRICS[name](*arguments, **options))))
        except TypeError as error:
            raise MetricUnsupported(f"options {sorted(options)} of {name} ({error})") from error
    return scores
