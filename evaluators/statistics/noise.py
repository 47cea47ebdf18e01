"""Noise of a score over repeat runs: the same agent on the same tasks, sampled again."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["repeat_deviation"]


def repeat_deviation(passed: Sequence[int], trials: Sequence[int]) -> float | None:
    """Return the standard deviation of a score over repeat runs on the same tasks.

    With c_i of n_i trials of task i passed, the unbiased variance of a single trial is
    n/(n-1) p(1-p), p = c/n; the score's variance is the sum over tasks of that over n_i, divided
    by the square of the number of tasks. None if a task has fewer than two trials.

    Args:
        passed: Passed trials by task.
        trials: Scored trials by task.
    """
    if not trials or min(trials) < 2:
        return None
    variance = math.fsum(
        (c / n) * (1 - c / n) / (n - 1) for c, n in zip(passed, trials, strict=True)
    )
    return math.sqrt(variance) / len(trials)
