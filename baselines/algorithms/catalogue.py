"""Complete registries of the algorithms: importing this module registers every part."""

from hexathlon.baselines.algorithms import (
    critic,
    entropy_shaped,
    group_relative,
    sets,
    stepwise,
    trees,
)
from hexathlon.baselines.algorithms.aggregation import AGGREGATIONS
from hexathlon.baselines.algorithms.bounds import BOUNDS
from hexathlon.baselines.algorithms.corrections import CORRECTIONS
from hexathlon.baselines.algorithms.divergences import DIVERGENCES
from hexathlon.baselines.algorithms.estimators import ESTIMATORS
from hexathlon.baselines.algorithms.losses import SURROGATES

__all__ = [
    "AGGREGATIONS",
    "BOUNDS",
    "CORRECTIONS",
    "DIVERGENCES",
    "ESTIMATORS",
    "SURROGATES",
    "critic",
    "entropy_shaped",
    "group_relative",
    "sets",
    "stepwise",
    "trees",
]
