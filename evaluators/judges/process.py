"""Process scores beyond the outcome: first errors and verdicts step by step.

FAPO (arXiv 2510.22543) subtracts from a correct outcome whose process was flawed. If the process
judge did not decide, the reward is None. `hexathlon.baselines.judging.process` has the judges.
"""

from collections.abc import Sequence

from hexathlon.evaluators.judges.labels import Decision

__all__ = ["fapo_reward", "worst_step"]


def fapo_reward(correct: bool, flawed: bool | None, penalty: float = 1.0) -> float | None:
    """Return 1 for a clean correct process, 1 - penalty for a flawed one, -1 for a wrong outcome.

    None if the outcome is correct and the process is undecided.
    """
    if not correct:
        return -1.0
    if flawed is None:
        return None
    return 1.0 - penalty if flawed else 1.0


def worst_step(steps: Sequence[Decision], *, pitfall: bool = False) -> Decision:
    """Return the first decision with the worst value; one undecided step leaves all undecided.

    An undecided step does not matter if another one has the lowest value there is: with two
    labels, a single failure decides (How2Score's "no critical failure").

    Args:
        steps: At least one decision.
        pitfall: Whether higher values are worse.

    Raises:
        ValueError: If there is no step.
    """
    if not steps:
        raise ValueError("expected the decision on at least one step, got none")
    bottom = 1.0 if pitfall else 0.0
    for step in steps:
        if step.value == bottom:
            return step
    for step in steps:
        if step.value is None:
            return step

    def badness(step: Decision) -> float:
        value = step.value or 0.0
        return -value if pitfall else value

    return min(steps, key=badness)
