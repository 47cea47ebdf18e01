"""Weights that a learner offers to an engine."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hexathlon.baselines.engines.comparison import Probe

__all__ = ["Weights"]


@dataclass(frozen=True, slots=True)
class Weights:
    """A model in this process or a folder, and the probe that tells whether an engine took it over.

    Raises:
        ValueError: If both a model and a folder are given, or neither.
    """

    probe: Probe
    model: Any = None
    """The learner's causal language model."""

    folder: Path | None = None
    """Safetensors with the names of the checkpoint; the engine reads the same path."""

    def __post_init__(self) -> None:
        if (self.model is None) == (self.folder is None):
            raise ValueError("weights are a model or a folder, one of the two")
