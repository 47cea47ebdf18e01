"""Forgeries with recomputed hashes: those that `verify` finds, and those that leave no trace."""

from support.forgeries.base import Forgery, failed, honest_runs, passed
from support.forgeries.files import FILES, JUDGED
from support.forgeries.plans import PLANS
from support.forgeries.records import EPISODES, INFRA, OUTCOMES, STATEMENTS, as_infra
from support.forgeries.undetected import UNDETECTED

__all__ = ["CATALOGUE", "UNDETECTED", "Forgery", "as_infra", "failed", "honest_runs", "passed"]

CATALOGUE = [*PLANS, *INFRA, *OUTCOMES, *EPISODES, *STATEMENTS, *FILES, *JUDGED]
