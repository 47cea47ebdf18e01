"""The registries of the pipeline's stages."""

from hexathlon.baselines.pipeline import branching, stitching  # noqa: F401 - register structures
from hexathlon.baselines.pipeline.allocation import ALLOCATORS
from hexathlon.baselines.pipeline.filters import FILTERS
from hexathlon.baselines.pipeline.hints import HINTS
from hexathlon.baselines.pipeline.horizons import HORIZONS
from hexathlon.baselines.pipeline.lateness import LATENESS
from hexathlon.baselines.pipeline.replay import REPLAYS
from hexathlon.baselines.pipeline.samplers import SAMPLERS
from hexathlon.baselines.pipeline.shaping import SHAPINGS
from hexathlon.baselines.pipeline.structures import STRUCTURES

__all__ = [
    "ALLOCATORS",
    "FILTERS",
    "HINTS",
    "HORIZONS",
    "LATENESS",
    "REPLAYS",
    "SAMPLERS",
    "SHAPINGS",
    "STRUCTURES",
]
