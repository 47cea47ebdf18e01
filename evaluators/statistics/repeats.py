"""Statistics of repeated trials of one task: pass@k, pass^k and consistency.

``pass@k`` (any of k succeeds): Chen et al., arXiv 2107.03374, equation 1. ``pass^k`` (all k
succeed): Yao et al., arXiv 2406.12045. Both are the unbiased forms: the share of all
choices of k out of the n trials. Another published convention for pass^k, (c/n)^k, is biased
upwards and not used.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, repeat


def pass_at_k(successes: Sequence[int], trials: Sequence[int], k: int) -> float:
    """Return the mean over tasks of 1 - C(n-c, k)/C(n, k).

    Args:
        successes: c, successful trials by task.
        trials: n, scored trials by task.
        k: Number of attempts.

    Raises:
        ValueError: If a task has fewer than ``k`` trials.
    """
    return _mean(successes, trials, k, lambda c, n: 1.0 - math.comb(n - c, k) / math.comb(n, k))


def pass_hat_k(successes: Sequence[int], trials: Sequence[int], k: int) -> float:
    """Return the mean over tasks of C(c, k)/C(n, k): the chance that k trials all succeed.

    Arguments and errors as in `pass_at_k`.
    """
    return _mean(successes, trials, k, lambda c, n: math.comb(c, k) / math.comb(n, k))


def outcome_consistency(successes: Sequence[int], trials: Sequence[int]) -> float:
    """Return the mean over tasks of (2p - 1)^2, p = c/n: 1 if all agree, 0 for a coin toss.

    Raises:
        ValueError: If a task has fewer than two trials.
    """
    return _mean(successes, trials, 2, lambda c, n: (2.0 * c / n - 1.0) ** 2)


def _mean(
    successes: Sequence[int], trials: Sequence[int], k: int, share: Callable[[int, int], float]
) -> float:
    """Return the mean share over tasks, computed once for tasks with equal counts."""
    if len(successes) != len(trials) or not trials:
        raise ValueError(f"{len(successes)} tasks with successes, {len(trials)} with trials")
    if k < 1:
        raise ValueError(f"k must be at least 1, found {k}")
    counts = Counter(zip(successes, trials, strict=True))
    for c, n in counts:
        if not 0 <= c <= n:
            raise ValueError(f"{c} successes in {n} trials")
        if k > n:
            raise ValueError(f"k = {k} needs at least {k} scored trials of every task, found {n}")
    shares = (repeat(share(c, n), count) for (c, n), count in counts.items())
    return math.fsum(chain.from_iterable(shares)) / len(trials)
