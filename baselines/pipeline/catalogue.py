"""The registries of the pipeline's stages: importing this module registers every part."""

from hexathlon.baselines.pipeline import (
    branching,
    context_filters,
    curricula,
    judging_rewards,
    pivots,
    process_rewards,
    stitching,
    token_branching,
    tool_errors,
)
from hexathlon.baselines.pipeline.allocation import ALLOCATORS
from hexathlon.baselines.pipeline.contexts import CONTEXTS
from hexathlon.baselines.pipeline.filters import FILTERS
from hexathlon.baselines.pipeline.hints import HINTS
from hexathlon.baselines.pipeline.horizons import HORIZONS
from hexathlon.baselines.pipeline.lateness import LATENESS
from hexathlon.baselines.pipeline.pruning import PRUNINGS
from hexathlon.baselines.pipeline.replay import REPLAYS
from hexathlon.baselines.pipeline.samplers import SAMPLERS
from hexathlon.baselines.pipeline.shaping import SHAPINGS
from hexathlon.baselines.pipeline.structures import STRUCTURES

__all__ = [
    "ALLOCATORS",
    "CONTEXTS",
    "FILTERS",
    "HINTS",
    "HORIZONS",
    "LATENESS",
    "PRUNINGS",
    "REPLAYS",
    "SAMPLERS",
    "SHAPINGS",
    "STRUCTURES",
    "branching",
    "context_filters",
    "curricula",
    "judging_rewards",
    "pivots",
    "process_rewards",
    "stitching",
    "token_branching",
    "tool_errors",
]
