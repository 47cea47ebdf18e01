"""Complete registries of the algorithms: importing this module registers every part."""

from hexathlon.baselines.algorithms import (
    budgets,
    critic,
    entropy_shaped,
    external,
    group_relative,
    hapo,
    hinted,
    sets,
    stepwise,
    survivors,
    trees,
)
from hexathlon.baselines.algorithms.aggregation import AGGREGATIONS
from hexathlon.baselines.algorithms.bounds import BOUNDS
from hexathlon.baselines.algorithms.corrections import CORRECTIONS
from hexathlon.baselines.algorithms.divergences import DIVERGENCES
from hexathlon.baselines.algorithms.estimators import ESTIMATORS
from hexathlon.baselines.algorithms.losses import SURROGATES
from hexathlon.baselines.algorithms.token_rules import TOKEN_RULES

__all__ = [
    "AGGREGATIONS",
    "BOUNDS",
    "CORRECTIONS",
    "DIVERGENCES",
    "ESTIMATORS",
    "SURROGATES",
    "TOKEN_RULES",
    "budgets",
    "critic",
    "entropy_shaped",
    "external",
    "group_relative",
    "hapo",
    "hinted",
    "sets",
    "stepwise",
    "survivors",
    "trees",
]
