"""What a course of work is worth, beyond its outcome: first errors, step verdicts, critiques.

FAPO (arXiv 2510.22543) takes from a correct outcome whose course was flawed; RM-NLHF rewards a
judge for critiques that make the points a person made. Where the process judge did not decide there
is no number.
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
    """Return 1 for a clean correct course, 1 - penalty for a flawed one, -1 for a wrong outcome.

    None where the outcome is correct and nobody could tell whether the course was.
    """
    if not correct:
        return -1.0
    if flawed is None:
        return None
    return 1.0 - penalty if flawed else 1.0


def fapo_judge_reward(
    said: int | None, truth: int | None, steps: int, *, decided: bool = True
) -> float | None:
    """Return what a process judge earns in its own training.

    1 if it tells flawed from clean rightly, else -1; where both name a first error, less their
    distance by the number of steps.

    Args:
        said: The step the judge names; None for none.
        truth: The step that is the first error; None for none.
        steps: Steps of the course.
        decided: Whether the judge's reply could be read; without one there is no reward.
    """
    if not decided:
        return None
    if (said is None) != (truth is None):
        return -1.0
    if said is None or truth is None:
        return 1.0
    return 1.0 - abs(said - truth) / steps


def first_flaw(steps: Sequence[Decision]) -> int | None:
    """Return the index of the first step judged unsound; None if there is none.

    Raises:
        ValueError: If a step before it, or any step of a course without one, was not decided.
    """
    for index, step in enumerate(steps):
        if step.value is None:
            raise ValueError(f"step {index} was not decided ({step.why})")
        if step.value < 1.0:
            return index
    return None


def step_mean(steps: Sequence[Decision]) -> float | None:
    """Return the mean value of the steps; None where one is not decided, or there is none."""
    values = [step.value for step in steps]
    if not values or any(value is None for value in values):
        return None
    return math.fsum(value for value in values if value is not None) / len(values)


def no_critical_failure(steps: Sequence[Decision]) -> float | None:
    """Return 1 if every step is sound and 0 as soon as one is not (How2Score)."""
    if any(step.value is not None and step.value < 1.0 for step in steps):
        return 0.0
    return None if any(step.value is None for step in steps) else 1.0


def critique_f1(made: int, wanted: int, shared: int) -> float:
    """Return the F1 of a critique's points against a person's.

    Args:
        made: Points that the judge made.
        wanted: Points that the person made.
        shared: Points that both made.
    """
    if not 0 <= shared <= min(made, wanted):
        raise ValueError(f"{shared} shared points of {made} and {wanted}")
    return 1.0 if made == wanted == 0 else 2.0 * shared / (made + wanted)


def rm_nlhf_reward(outcome_right: bool, f1: float, weight: float = 0.5) -> float:
    """Return the outcome's reward plus, where it is right, the weighted worth of its critique."""
    return 1.0 + weight * f1 if outcome_right else -1.0
