"""All registries, filled: importing this module is what makes every part known by name."""

from hexathlon.baselines.algorithms import critic, group_relative
from hexathlon.baselines.algorithms.aggregation import AGGREGATIONS
from hexathlon.baselines.algorithms.bounds import BOUNDS
from hexathlon.baselines.algorithms.corrections import CORRECTIONS
from hexathlon.baselines.algorithms.divergences import DIVERGENCES
from hexathlon.baselines.algorithms.estimators import ESTIMATORS
from hexathlon.baselines.algorithms.filters import FILTERS
from hexathlon.baselines.algorithms.losses import SURROGATES
from hexathlon.baselines.algorithms.shaping import SHAPINGS

__all__ = [
    "AGGREGATIONS",
    "BOUNDS",
    "CORRECTIONS",
    "DIVERGENCES",
    "ESTIMATORS",
    "FILTERS",
    "SHAPINGS",
    "SURROGATES",
    "critic",
    "group_relative",
]
