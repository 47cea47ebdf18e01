"""Process scores beyond the outcome: first errors, step verdicts, critiques.

FAPO (arXiv 2510.22543) subtracts from a correct outcome whose process was flawed; RM-NLHF rewards a
judge for critiques that make the same points as a person. If the process judge did not decide,
there is no number.
"""

import math
from collections.abc import Sequence

from hexathlon.evaluators.judges.labels import Decision

__all__ = [
    "critique_f1",
    "fapo_judge_reward",
    "fapo_reward",
    "first_flaw",
    "no_critical_failure",
    "rm_nlhf_reward",
    "step_mean",
]


def fapo_reward(correct: bool, flawed: bool | None, penalty: float = 1.0) -> float | None:
    """Return 1 for a clean correct process, 1 - penalty for a flawed one, -1 for a wrong outcome.

    None if the outcome is correct and the process is undecided.
    """
    if not correct:
        return -1.0
    if flawed is None:
        return None
    return 1.0 - penalty if flawed else 1.0


def fapo_judge_reward(
    judged: int | None, truth: int | None, steps: int, *, decided: bool = True
) -> float | None:
    """Return a process judge's reward in its own training.

    1 if it distinguishes flawed from clean correctly, else -1; if both name a first error, minus
    their distance divided by the number of steps.

    Args:
        judged: The first error according to the judge; None for none.
        truth: The true first error; None for none.
        steps: Number of steps.
        decided: Whether the judge's reply was valid; otherwise there is no reward.
    """
    if not decided:
        return None
    if (judged is None) != (truth is None):
        return -1.0
    if judged is None or truth is None:
        return 1.0
    return 1.0 - abs(judged - truth) / steps


def first_flaw(steps: Sequence[Decision]) -> int | None:
    """Return the index of the first step judged unsound; None if there is none.

    Raises:
        ValueError: If an earlier step is undecided or, without an unsound step, any step is.
    """
    for index, step in enumerate(steps):
        if step.value is None:
            raise ValueError(f"step {index} was not decided ({step.why})")
        if step.value < 1.0:
            return index
    return None


def step_mean(steps: Sequence[Decision]) -> float | None:
    """Return the mean value of the steps; None if one is undecided, or there is none."""
    values = [step.value for step in steps]
    if not values or any(value is None for value in values):
        return None
    return math.fsum(value for value in values if value is not None) / len(values)


def no_critical_failure(steps: Sequence[Decision]) -> float | None:
    """Return 1 if every step is sound and 0 if any is not (How2Score)."""
    if any(step.value is not None and step.value < 1.0 for step in steps):
        return 0.0
    return None if any(step.value is None for step in steps) else 1.0


def critique_f1(judge: int, person: int, shared: int) -> float:
    """Return the F1 of a critique's points against a person's.

    Args:
        judge: Number of the judge's points.
        person: Number of the person's points.
        shared: Number of common points.

    Raises:
        ValueError: If there are more shared points than the judge or the person has.
    """
    if not 0 <= shared <= min(judge, person):
        raise ValueError(f"expected at most {min(judge, person)} shared points, got {shared}")
    return 1.0 if judge == person == 0 else 2.0 * shared / (judge + person)


def rm_nlhf_reward(outcome_right: bool, f1: float, weight: float = 0.5) -> float:
    """Return the outcome's reward plus, if it is right, the weighted value of its critique."""
    return 1.0 + weight * f1 if outcome_right else -1.0
