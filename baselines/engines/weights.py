"""Weights sent from a learner to an engine."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hexathlon.baselines.engines.comparison import LogProbabilityProbe

__all__ = ["Weights"]


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights as a model in this process or a directory, with the probe to verify them.

    Raises:
        ValueError: If not exactly one of model and directory is given.
    """

    probe: LogProbabilityProbe
    model: Any = None
    """The learner's causal language model."""

    folder: Path | None = None
    """Directory of safetensors with the checkpoint's parameter names, readable by the engine."""

    def __post_init__(self) -> None:
        if (self.model is None) == (self.folder is None):
            raise ValueError("expected exactly one of model and folder")
