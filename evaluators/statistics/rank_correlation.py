"""Rank correlation of two orderings."""

import math
from collections.abc import Sequence

import numpy as np

__all__ = ["kendall_tau"]


def kendall_tau(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Return Kendall's tau-b of two sequences of equal length; None if either is all ties."""
    x, y = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    balance = tied_x = tied_y = 0
    for position in range(len(x) - 1):
        signs_x = np.sign(x[position + 1 :] - x[position])
        signs_y = np.sign(y[position + 1 :] - y[position])
        balance += int(np.sum(signs_x * signs_y))
        tied_x += int(np.sum(signs_x == 0))
        tied_y += int(np.sum(signs_y == 0))
    total = len(x) * (len(x) - 1) // 2
    scale = math.sqrt((total - tied_x) * (total - tied_y))
    return balance / scale if scale else None
