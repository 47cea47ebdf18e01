"""Transports: ways for the learner's weights to reach the engine that draws rollouts."""

import shutil
from pathlib import Path
from typing import Any, Protocol

import torch

from hexathlon.baselines.engines.comparison import LogProbabilityProbe
from hexathlon.baselines.engines.errors import VersionDiffers
from hexathlon.baselines.engines.tokens import TokenEngine
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.learner.adapters import merged
from hexathlon.baselines.learner.scoring import score
from hexathlon.tasks.seeding import generator_for

__all__ = ["FolderTransport", "InProcessTransport", "WeightTransport", "probe_of"]

_LENGTH = 48
"""Tokens of the probe's prompt."""

_TOLERANCE = {torch.float32: 1e-3, torch.float64: 1e-3}
_TOLERANCE_ELSEWHERE = 0.3
"""Of formats with 8 to 11 bits of precision, whose sums depend on the order of their parts."""


class WeightTransport(Protocol):
    """Lets an engine draw from the learner's weights."""

    async def publish(self, model: Any, version: int) -> float:
        """Hand over the weights as they are now and verify that the engine draws from them.

        Args:
            model: The learner's causal language model.
            version: Number of these weights.

        Returns:
            The largest difference of a log-probability between engine and learner.

        Raises:
            VersionDiffers: The engine names another version afterwards.
            WeightsDiffer: The engine's log-probabilities are not the learner's.
            EngineError: The weights could not be handed over.
        """
        ...


class InProcessTransport:
    """Offers the model itself to an engine in this process.

    Args:
        engine: Takes the weights over.
        tolerance: Largest difference of a log-probability; 0 chooses by the weights' precision.
    """

    def __init__(self, engine: TokenEngine, tolerance: float = 0.0) -> None:
        self._engine = engine
        self._tolerance = tolerance

    async def publish(self, model: Any, version: int) -> float:
        """Hand over the weights; see `WeightTransport.publish`."""
        probe = probe_of(model, tolerance=self._tolerance)
        return await _updated(self._engine, Weights(probe, model=model), version)


class FolderTransport:
    """Writes the weights to a folder that the engine reads, and removes them afterwards.

    Args:
        engine: Takes the weights over.
        folder: Where they are written for a moment; the engine reads the same path.
        tolerance: Largest difference of a log-probability; 0 chooses by the weights' precision.
    """

    def __init__(self, engine: TokenEngine, folder: Path, tolerance: float = 0.0) -> None:
        self._engine = engine
        self._folder = folder
        self._tolerance = tolerance

    async def publish(self, model: Any, version: int) -> float:
        """Hand over the weights, adapters merged; see `WeightTransport.publish`."""
        place = self._folder / f"weights-{version}"
        shutil.rmtree(place, ignore_errors=True)  # what a killed run left would be loaded too
        try:
            merged(model).save_pretrained(str(place))
            probe = probe_of(model, tolerance=self._tolerance)
            return await _updated(self._engine, Weights(probe, folder=place), version)
        finally:
            shutil.rmtree(place, ignore_errors=True)


def probe_of(model: Any, *, tolerance: float = 0.0) -> LogProbabilityProbe:
    """Return the prompt by which an engine is compared with a learner.

    Args:
        model: The learner's causal language model, as it is when the comparison is made.
        tolerance: Largest difference of a log-probability; 0 chooses by the weights' precision.
    """
    weight = model.get_input_embeddings().weight
    vocabulary = int(weight.shape[0])
    ids = generator_for("weight probe", vocabulary).integers(0, vocabulary, size=_LENGTH)

    def expect(sequence: list[int]) -> list[float]:
        tokens = torch.tensor([sequence], device=weight.device)
        training = model.training
        model.eval()
        try:
            with torch.no_grad():
                scores = score(model, tokens, torch.ones_like(tokens[:, 1:]))
        finally:
            model.train(training)
        return [float(value) for value in scores.log_probabilities[0]]

    chosen = tolerance or _TOLERANCE.get(weight.dtype, _TOLERANCE_ELSEWHERE)
    return LogProbabilityProbe(ids.tolist(), expect, chosen)


async def _updated(engine: TokenEngine, weights: Weights, version: int) -> float:
    difference = await engine.update(weights, version)
    if engine.version != version:
        raise VersionDiffers(f"the engine says version {engine.version}, not {version}")
    return difference
