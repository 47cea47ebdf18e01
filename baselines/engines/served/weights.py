"""A learner's weights on their way to a server: written where it can read them, then compared."""

import shutil
from pathlib import Path
from typing import Any

import torch

from hexathlon.baselines.engines.served.engine import Probe, ServedEngine
from hexathlon.baselines.learner.scoring import score
from hexathlon.tasks.seeding import generator_for

__all__ = ["probe_of", "publish"]

_LENGTH = 48
"""Tokens of the probe's prompt."""


def probe_of(model: Any, *, tolerance: float = 1e-3) -> Probe:
    """Return the prompt by which a server is compared with a learner.

    Args:
        model: The learner's causal language model, as it is when the comparison is made.
        tolerance: Largest difference of a log-probability.
    """
    vocabulary = int(model.get_input_embeddings().weight.shape[0])
    ids = generator_for("weight probe", vocabulary).integers(0, vocabulary, size=_LENGTH)

    def expect(sequence: list[int]) -> list[float]:
        tokens = torch.tensor([sequence], device=model.get_input_embeddings().weight.device)
        training = model.training
        model.eval()
        try:
            with torch.no_grad():
                found = score(model, tokens, torch.ones_like(tokens[:, 1:]))
        finally:
            model.train(training)
        return [float(value) for value in found.log_probabilities[0]]

    return Probe(ids.tolist(), expect, tolerance)


async def publish(
    model: Any, engine: ServedEngine, version: int, folder: Path, *, tolerance: float = 1e-3
) -> float:
    """Let a server draw from the learner's weights as they are now.

    Args:
        model: The learner's causal language model.
        engine: The server.
        version: Number of these weights.
        folder: Where they are written for a moment; the server reads the same path.
        tolerance: Largest difference of a log-probability.

    Returns:
        The largest difference found.

    Raises:
        EngineError: The server does not draw from these weights now; see `ServedEngine.update`.
    """
    place = folder / f"weights-{version}"
    shutil.rmtree(place, ignore_errors=True)  # what a killed run left would be loaded too
    try:
        model.save_pretrained(str(place))
        return await engine.update(place, version, probe_of(model, tolerance=tolerance))
    finally:
        shutil.rmtree(place, ignore_errors=True)
