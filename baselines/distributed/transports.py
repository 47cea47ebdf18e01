"""Weight transports, from the learner to the engine that samples rollouts."""

import shutil
from pathlib import Path
from typing import Any, Literal, Protocol

import torch

from hexathlon.baselines.engines.comparison import LogProbabilityProbe
from hexathlon.baselines.engines.errors import VersionDiffers
from hexathlon.baselines.engines.served.senders import GlooSender, nccl_sender
from hexathlon.baselines.engines.served.transfer import (
    Broadcast,
    TransferClient,
    TransferSender,
    loading_adapter,
)
from hexathlon.baselines.engines.tokens import TokenEngine
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.learner.adapters import merged, save_adapters
from hexathlon.baselines.learner.scoring import score
from hexathlon.tasks.seeding import generator_for

__all__ = [
    "AdapterTransport",
    "BroadcastTransport",
    "FolderTransport",
    "InProcessTransport",
    "WeightTransport",
    "probe_of",
]

_LENGTH = 48
"""Tokens in the probe's prompt."""

_TOLERANCE = {torch.float32: 1e-3, torch.float64: 1e-3}
_TOLERANCE_ELSEWHERE = 0.3
"""For formats with 8 to 11 bits of precision, whose sums depend on the order of summation."""


class WeightTransport(Protocol):
    """Transfers the learner's weights to an engine."""

    async def publish(self, model: Any, version: int) -> float:
        """Publish the current weights and verify that the engine samples from them.

        Args:
            model: The learner's causal language model.
            version: Version of these weights.

        Returns:
            The largest difference of a log-probability between engine and learner.

        Raises:
            VersionDiffers: If the engine reports another version afterwards.
            WeightsDiffer: If the engine's log-probabilities differ from the learner's.
            EngineError: If the weights cannot be transferred.
        """
        ...

    async def close(self) -> None:
        """Release the transport's resources."""
        ...


class InProcessTransport:
    """Passes the model itself to an engine in this process.

    Args:
        engine: Receives the weights.
        tolerance: Largest allowed difference of a log-probability; 0 is the default of the dtype.
    """

    def __init__(self, engine: TokenEngine, tolerance: float = 0.0) -> None:
        self._engine = engine
        self._tolerance = tolerance

    async def publish(self, model: Any, version: int) -> float:
        """Publish the weights; see `WeightTransport.publish`."""
        probe = probe_of(model, tolerance=self._tolerance)
        return await _updated(self._engine, Weights(probe, model=model), version)

    async def close(self) -> None:
        """Do nothing: the engine's owner closes it."""


class FolderTransport:
    """Writes the weights to a directory that the engine reads.

    The directory stays until the next one is published, for an engine that restarts.

    Args:
        engine: Receives the weights.
        folder: Takes the directory `weights`; the engine must see it under the same path.
        tolerance: Largest allowed difference of a log-probability; 0 is the default of the dtype.
    """

    def __init__(self, engine: TokenEngine, folder: Path, tolerance: float = 0.0) -> None:
        self._engine = engine
        self._folder = folder
        self._tolerance = tolerance

    async def publish(self, model: Any, version: int) -> float:
        """Publish the weights with merged adapters; see `WeightTransport.publish`."""
        place = self._folder / "weights" / str(version)
        shutil.rmtree(place, ignore_errors=True)  # leftovers of a killed run would be loaded too
        merged(model).save_pretrained(str(place))
        probe = probe_of(model, tolerance=self._tolerance)
        difference = await _updated(self._engine, Weights(probe, folder=place), version)
        for other in place.parent.iterdir():
            if other != place:
                shutil.rmtree(other)
        return difference

    async def close(self) -> None:
        """Delete the last published directory."""
        shutil.rmtree(self._folder / "weights", ignore_errors=True)


class BroadcastTransport:
    """Sends the weights to all servers at the same time, over vLLM's transfer API.

    Args:
        engine: Receives the weights: a server, or replicas.
        backend: `gloo` or `nccl`; what the servers were started with.
        receivers: Number of servers.
        tolerance: Largest allowed difference of a log-probability; 0 is the default of the dtype.
        host: Address of this machine, by which the servers' workers reach it.
        deadline: Timeout in seconds for the servers to get ready, and for each phase.
    """

    def __init__(
        self,
        engine: TokenEngine,
        backend: Literal["gloo", "nccl"],
        receivers: int,
        tolerance: float = 0.0,
        host: str = "127.0.0.1",
        deadline: float = 120.0,
    ) -> None:
        self._engine, self._tolerance = engine, tolerance
        self._backend, self._host, self._deadline = backend, host, deadline
        self._model: Any = None
        self._broadcast = Broadcast(receivers, self._sender, deadline)

    async def publish(self, model: Any, version: int) -> float:
        """Publish the weights with merged adapters; see `WeightTransport.publish`."""
        self._model = model
        weights = Weights(self.probe(model), transfer=self._broadcast.round(version))
        return await _updated(self._engine, weights, version)

    def probe(self, model: Any) -> LogProbabilityProbe:
        """Return the probe that verifies the update."""
        return probe_of(model, tolerance=self._tolerance)

    async def close(self) -> None:
        """Leave the group of the servers' workers."""
        await self._broadcast.close()

    def _sender(self, client: TransferClient) -> TransferSender:
        if self._backend == "nccl":
            return nccl_sender(client, self._model, self._host)
        return GlooSender(
            client, lambda: merged(self._model).named_parameters(), self._host, self._deadline
        )


class AdapterTransport:
    """Writes only low-rank adapters to a directory, which servers load while they run.

    The servers keep the checkpoint's own weights; only the trained parameters are transferred.

    Args:
        engine: Receives the adapters: a server started with a LoRA rank, or replicas.
        folder: Takes the directory `adapters-in-transit`, which the servers see under this path.
        base: The checkpoint that the servers were started with.
        tolerance: Largest allowed difference of a log-probability; 0 is the default of the dtype.
    """

    def __init__(
        self, engine: TokenEngine, folder: Path, base: Path, tolerance: float = 0.0
    ) -> None:
        self._engine, self._tolerance, self._base = engine, tolerance, base
        self._folder = folder / "adapters-in-transit"

    async def publish(self, model: Any, version: int) -> float:
        """Publish the adapters; see `WeightTransport.publish`."""
        place = self._folder / str(version)
        shutil.rmtree(place, ignore_errors=True)  # leftovers of a killed run
        save_adapters(place, model, str(self._base))
        probe = probe_of(model, tolerance=self._tolerance)
        weights = Weights(probe, transfer=loading_adapter(place, version))
        difference = await _updated(self._engine, weights, version)
        for other in self._folder.iterdir():
            if other != place:
                shutil.rmtree(other)
        return difference

    async def close(self) -> None:
        """Delete the last published directory."""
        shutil.rmtree(self._folder, ignore_errors=True)


def probe_of(model: Any, *, tolerance: float = 0.0) -> LogProbabilityProbe:
    """Return the prompt on which an engine is compared with a learner.

    Args:
        model: The learner's causal language model; it is scored when the comparison is made.
        tolerance: Largest allowed difference of a log-probability; 0 is the default of the dtype.
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
        raise VersionDiffers(f"expected version {version} in the engine, got {engine.version}")
    return difference
