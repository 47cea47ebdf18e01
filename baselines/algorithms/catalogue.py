"""All registries, filled: importing this module is what makes every part known by name."""

from hexathlon.baselines.algorithms import critic, group_relative, trees
from hexathlon.baselines.algorithms.aggregation import AGGREGATIONS
from hexathlon.baselines.algorithms.allocation import ALLOCATORS
from hexathlon.baselines.algorithms.bounds import BOUNDS
from hexathlon.baselines.algorithms.corrections import CORRECTIONS
from hexathlon.baselines.algorithms.divergences import DIVERGENCES
from hexathlon.baselines.algorithms.estimators import ESTIMATORS
from hexathlon.baselines.algorithms.filters import FILTERS
from hexathlon.baselines.algorithms.hints import HINTS
from hexathlon.baselines.algorithms.losses import SURROGATES
from hexathlon.baselines.algorithms.replay import REPLAYS
from hexathlon.baselines.algorithms.selection import SAMPLERS
from hexathlon.baselines.algorithms.shaping import SHAPINGS
from hexathlon.baselines.algorithms.structures import STRUCTURES

__all__ = [
    "AGGREGATIONS",
    "ALLOCATORS",
    "BOUNDS",
    "CORRECTIONS",
    "DIVERGENCES",
    "ESTIMATORS",
    "FILTERS",
    "HINTS",
    "REPLAYS",
    "SAMPLERS",
    "SHAPINGS",
    "STRUCTURES",
    "SURROGATES",
    "critic",
    "group_relative",
    "trees",
]
