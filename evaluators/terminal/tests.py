"""Verifiers over the outcomes of tests run by the grader.

The grader works in a separate sandbox after the agent's has ended, and stores plain JSON in the
final state. The verdict is a pure function of that state, so records can be rescored.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.task import Task

__all__ = ["harbor_reward", "terminal_tests"]


def terminal_tests(
    task: Task,
    params: Mapping[str, Any],
    final_state: Mapping[str, Any],
    transcript: Sequence[Mapping[str, Any]],
) -> Verdict:
    """Score 1 if every expected test of every step was reported exactly once and passed.

    Params: `tests`: step name → expected test ids; a step without ids is graded by its reward;
        `parts` (default false): ids begin with the name of the step whose work they test and a
        slash, and `partial` is the share of steps whose work was right at every report, those
        that were never made included.
    A skipped, expected-to-fail, repeated, missing or additional test fails the step. A script's
    reward of 1 although not all tests have passed is flagged (`unbacked_reward`).
    """
    steps = {step["name"]: step for step in final_state.get("steps", ())}
    faults = [step["fault"] for step in steps.values() if step.get("fault")]
    if faults:
        return Verdict(
            score=0.0, status="unscored", terms={"grader_fault": 1.0}, evidence={"fault": faults[0]}
        )
    findings = {name: _finding(ids, steps.get(name)) for name, ids in params["tests"].items()}
    if params.get("parts"):
        passed = sum(_held(name, params["tests"], steps) for name in params["tests"])
    else:
        passed = sum(_share(ids, steps.get(name)) for name, ids in params["tests"].items())
    wrong = [f"{name}: {what}" if name else what for name, what in findings.items() if what]
    unbacked = any(what and _rewarded(steps.get(name)) for name, what in findings.items())
    flags = sorted([*final_state.get("flags", ()), *(["unbacked_reward"] if unbacked else [])])
    terms = {"steps_passed": float(sum(not what for what in findings.values()))}
    terms |= {f"flag_{flag}": 1.0 for flag in flags}
    return Verdict(
        score=float(not wrong),
        partial=1.0 if not wrong else min(passed / max(len(findings), 1), 0.999),
        terms=terms,
        evidence={"failed": wrong[:20], "flags": flags},
    )


def harbor_reward(
    task: Task,
    params: Mapping[str, Any],
    final_state: Mapping[str, Any],
    transcript: Sequence[Mapping[str, Any]],
) -> Verdict:
    """Score by Harbor's rule: the mean reward of the steps, or the reward of the last step.

    Params: `strategy`: `mean` or `final`; `steps`: the number of steps. A step that was not reached
        counts as 0, a step without a reward leaves the task unscored; rewards are clipped to 0…1.
    """
    steps = list(final_state.get("steps", ()))
    missing = [step["name"] for step in steps if step.get("reward") is None]
    if missing:
        evidence = {"without_reward": missing}
        return Verdict(score=0.0, status="unscored", terms={"no_reward": 1.0}, evidence=evidence)
    rewards = [min(max(_mean(step["reward"]), 0.0), 1.0) for step in steps]
    rewards += [0.0] * (int(params.get("steps", 1)) - len(rewards))
    final = params.get("strategy") == "final"
    score = rewards[-1] if final and rewards else sum(rewards) / max(len(rewards), 1)
    return Verdict(score=score, terms={"reward": score})


def _mean(reward: Mapping[str, float]) -> float:
    """Return the main reward: the key `reward` if present, else the mean of all."""
    if "reward" in reward:
        return float(reward["reward"])
    return sum(reward.values()) / len(reward) if reward else 0.0


def _rewarded(step: Mapping[str, Any] | None) -> bool:
    """Return whether the task's script gave the full reward."""
    return step is not None and bool(step.get("reward")) and _mean(step["reward"]) >= 1.0


def _finding(ids: Sequence[str], step: Mapping[str, Any] | None) -> str:
    """Return the fault of a step; empty if it passed."""
    if step is None:
        return "not_reached"
    if not ids:
        return "" if _rewarded(step) else "reward"
    counted = Counter(name for name, _ in step["tests"])
    outcomes = dict(step["tests"])
    for name in ids:
        if counted[name] != 1:
            return f"{name}: {'missing' if not counted[name] else 'repeated'}"
        if outcomes[name] != "passed":
            return f"{name}: {outcomes[name]}"
    others = sorted(set(counted) - set(ids))
    if any(outcomes[name] != "passed" for name in others):
        return f"{others[0]}: unexpected"
    if step.get("reward") is not None and _mean(step["reward"]) < 1.0:
        return "reward"
    return ""


def _held(
    part: str, tests: Mapping[str, Sequence[str]], steps: Mapping[str, Mapping[str, Any]]
) -> float:
    """Return 1 if the work of one step was right at its own report and at all later ones."""
    for name, ids in tests.items():
        own = [test for test in ids if test.startswith(f"{part}/")]
        if own and _share(own, steps.get(name)) < 1.0:
            return 0.0
    return 1.0


def _share(ids: Sequence[str], step: Mapping[str, Any] | None) -> float:
    if step is None:
        return 0.0
    if not ids:
        return float(not _finding(ids, step))
    outcomes = dict(step["tests"])
    return len([name for name in ids if outcomes.get(name) == "passed"]) / len(ids)
