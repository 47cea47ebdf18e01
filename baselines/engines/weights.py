"""Weights sent from a learner to an engine."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hexathlon.baselines.engines.comparison import LogProbabilityProbe

__all__ = ["Weights"]


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights as a model, a directory or a transfer to servers, with the probe to verify them.

    Raises:
        ValueError: If not exactly one of model, folder and transfer is given.
    """

    probe: LogProbabilityProbe
    model: Any = None
    """The learner's causal language model."""

    folder: Path | None = None
    """Directory of safetensors with the checkpoint's parameter names, readable by the engine."""

    transfer: Callable[[Any], Awaitable[None]] | None = None
    """Called with the `ServedEngine` of every server that is to have the weights, once it is
    paused; loads them and sets their version."""

    def __post_init__(self) -> None:
        if sum(part is not None for part in (self.model, self.folder, self.transfer)) != 1:
            raise ValueError("expected exactly one of model, folder and transfer")
