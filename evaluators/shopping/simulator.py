"""ShopSimulator's two rewards over category, attributes, options and price.

`shopping_loose` is their weighted sum, here with equal weights; `shopping_strict` their product,
with each term 1 only if every condition of its kind holds. Full success means both are 1.
"""

import math
from collections.abc import Mapping
from typing import Any

from hexathlon.evaluators.shopping.order import group_terms
from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import Messages
from hexathlon.tasks.task import Task

__all__ = ["shopping_loose", "shopping_strict"]


def shopping_loose(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Messages
) -> Verdict:
    """Return the mean of the four terms; 0 without a purchase."""
    if not final_state.get("orders"):
        return Verdict(score=0.0)
    terms = group_terms(params, final_state)
    return Verdict(score=sum(terms.values()) / len(terms))


def shopping_strict(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Messages
) -> Verdict:
    """Return the product of the four terms, each all or nothing; 0 without a purchase."""
    if not final_state.get("orders"):
        return Verdict(score=0.0)
    terms = group_terms(params, final_state)
    return Verdict(score=math.prod(float(term == 1.0) for term in terms.values()))
