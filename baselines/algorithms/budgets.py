"""Estimators that compare rollouts under different budgets."""

from collections.abc import Sequence

import numpy as np

from hexathlon.baselines.algorithms.estimators import ESTIMATORS, Credit, every_token
from hexathlon.baselines.algorithms.group_relative import standardise
from hexathlon.baselines.algorithms.samples import Array, Group, Sample

__all__ = ["BUDGET", "BUDGETS", "budget_of", "budgeted_rewards", "check_budgets", "hbpo"]

BUDGET = "Budget: "
"""Beginning of the contexts that set a token budget; the number of tokens follows."""


BUDGETS = (512, 1024, 2048, 2560)
"""HBPO's budgets, in tokens."""


def check_budgets(budgets: Sequence[int]) -> None:
    """Raise a `ValueError` if there are no budgets, or one is below 1."""
    if not budgets or min(budgets) < 1:
        raise ValueError(f"expected budgets of at least 1 token, got {list(budgets)}")


def budgeted_rewards(rewards: Array, lengths: Array, budgets: Array) -> Array:
    """Return rewards that fall with the length beyond a budget, `[members]`.

    R up to the budget b, then R * max(1 - (length - b) / b, 0).
    """
    over = np.maximum(lengths - budgets, 0.0) / budgets
    scaled: Array = rewards * np.maximum(1.0 - over, 0.0)
    return scaled


def budget_of(sample: Sample, otherwise: int) -> int:
    """Return the token budget that a rollout's context sets; `otherwise` without such a context."""
    if not sample.context.startswith(BUDGET):
        return otherwise
    return int(sample.context.removeprefix(BUDGET).split()[0])


@ESTIMATORS.register("hbpo")
def hbpo(
    groups: Sequence[Group],
    values: Sequence[Array] | None = None,
    *,
    budgets: Sequence[int] = BUDGETS,
    eps: float = 1e-6,
) -> Credit:
    """Subgroups with token budgets, compared within and across (HBPO).

    A member has the budget b that its context `budgets` sets; without one, member i of the group
    has that of number i modulo their count. With R' the reward that falls beyond the budget,
    A = (R' - mean of the members with this budget) + (R' - mean of all) / std of all. Chosen here:
    a subgroup's baseline is its mean; the reward is flat inside the budget and 0 from twice it.

    Raises:
        ValueError: If there are no budgets, or one is below 1.
    """
    check_budgets(budgets)
    advantages = []
    for group in groups:
        limits = np.array(
            [budget_of(s, budgets[n % len(budgets)]) for n, s in enumerate(group.samples)]
        )
        place = np.unique(limits, return_inverse=True)[1]
        lengths = np.array([sample.tokens for sample in group.samples], dtype=np.float64)
        shaped = budgeted_rewards(group.rewards, lengths, limits)
        means = np.bincount(place, weights=shaped) / np.bincount(place)
        advantages.append(shaped - means[place] + standardise(shaped, eps))
    return every_token(groups, np.concatenate(advantages))
