"""Process scores beyond the outcome: first errors and verdicts step by step.

FAPO (arXiv 2510.22543) subtracts from a correct outcome whose process was flawed. If the process
judge did not decide, the reward is None. `hexathlon.baselines.judging.process` has the judges.
"""

import math
from collections.abc import Sequence

from hexathlon.evaluators.judges.labels import Decision

__all__ = [
    "fapo_reward",
    "first_flaw",
    "no_critical_failure",
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
