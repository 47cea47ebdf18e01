"""Weights in a cluster's object store, published by the learner and read by engine replicas.

The latest weights stand on a board, so that a replica that was restarted samples from the policy
that the others sample from. The learner's log-probabilities travel with them as data: a replica
compares itself with a learner that it cannot call.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import ray
import torch
from torch import Tensor

from hexathlon.baselines.distributed.transports import probe_of
from hexathlon.baselines.engines.comparison import LogProbabilityProbe
from hexathlon.baselines.engines.errors import EngineError, VersionDiffers
from hexathlon.baselines.engines.tokens import TokenEngine
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.learner.adapters import merged

__all__ = [
    "ObjectStoreTransport",
    "RecordedProbe",
    "StoredWeights",
    "TensorSource",
    "WeightBoard",
    "packed",
    "recorded_probe",
    "stored",
]


@dataclass(frozen=True, slots=True)
class RecordedProbe:
    """A probe with the learner's answers, for comparison on another machine."""

    ids: list[int]
    log_probabilities: list[float]
    """The learner's log-probabilities of all tokens except the first."""

    following: "np.ndarray[Any, np.dtype[np.float32]]"
    """The learner's log-probabilities of the token after the last, `[vocabulary]`."""

    tolerance: float

    def expect(self, ids: list[int]) -> list[float]:
        """Return the learner's log-probabilities of the prompt, possibly with one more token.

        Raises:
            EngineError: If the sequence is not the prompt with at most one more token.
        """
        if ids == self.ids:
            return self.log_probabilities
        if ids[:-1] == self.ids and 0 <= ids[-1] < len(self.following):
            return [*self.log_probabilities, float(self.following[ids[-1]])]
        raise EngineError("the engine continues the probe's prompt with other tokens than asked")

    def probe(self) -> LogProbabilityProbe:
        """Return the probe that an engine is given; a server samples one token after the prompt."""
        return LogProbabilityProbe(self.ids, self.expect, self.tolerance, drawn=1)


def recorded_probe(model: Any, *, tolerance: float = 0.0) -> RecordedProbe:
    """Score the probe's prompt and every token after it with the learner's model.

    Args:
        model: The learner's causal language model.
        tolerance: Largest allowed difference of a log-probability; 0 is the default of the dtype.
    """
    probe = probe_of(model, tolerance=tolerance)
    device = model.get_input_embeddings().weight.device
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            logits = model(torch.tensor([probe.ids], device=device), use_cache=False).logits
    finally:
        model.train(training)
    following = logits[0, -1].float().log_softmax(-1).cpu().numpy()
    return RecordedProbe(probe.ids, probe.expect(probe.ids), following, probe.tolerance)


class StoredWeights(NamedTuple):
    """Weights that any process of the cluster can read."""

    version: int
    tensors: "ray.ObjectRef[dict[str, Any]]"
    """The result of `packed` in the object store."""

    probe: RecordedProbe


class _Packed(NamedTuple):
    values: "np.ndarray[Any, Any]"
    dtype: torch.dtype


def packed(model: Any) -> dict[str, _Packed]:
    """Return a model's parameters as arrays, which processes of one node share without copying."""
    return {name: _pack(value) for name, value in merged(model).named_parameters()}


def _pack(value: Tensor) -> _Packed:
    tensor = value.detach().cpu().contiguous()
    # NumPy knows no bfloat16; its bits travel as integers.
    bits = tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor
    return _Packed(bits.numpy(), tensor.dtype)


class TensorSource:
    """Packed parameters in the place of a model from which an engine copies its weights.

    Args:
        tensors: The result of `packed`.
    """

    def __init__(self, tensors: Mapping[str, Any]) -> None:
        self._tensors = tensors

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """Return names and values, as a model does."""
        for name, (values, dtype) in self._tensors.items():
            # A copy, since arrays in the object store must not be written, and torch cannot say so.
            yield name, torch.from_numpy(values.copy()).view(dtype)


def stored(model: Any, version: int, *, tolerance: float = 0.0) -> StoredWeights:
    """Put a model's weights into the object store; adapters are merged.

    Args:
        model: The learner's causal language model.
        version: Version of these weights.
        tolerance: Largest allowed difference of a log-probability; 0 is the default of the dtype.
    """
    probe = recorded_probe(model, tolerance=tolerance)
    return StoredWeights(version, ray.put(packed(model)), probe)


class WeightBoard:
    """Holds what a replica needs at a restart, and the weights that were published last; an actor.

    Args:
        settings: The replicas' settings.
    """

    def __init__(self, settings: Any) -> None:
        self._settings = settings
        self._latest: StoredWeights | None = None

    async def settings(self) -> Any:
        """Return the replicas' settings."""
        return self._settings

    async def publish(self, weights: StoredWeights) -> None:
        """Replace the latest weights."""
        self._latest = weights

    async def latest(self) -> StoredWeights:
        """Return the latest weights.

        Raises:
            EngineError: If none were published.
        """
        if self._latest is None:
            raise EngineError("no weights were published yet: publish them before sampling")
        return self._latest


class ObjectStoreTransport:
    """Publishes weights through the object store to all replicas.

    Args:
        engine: The replicas as one engine.
        board: Handle of the `WeightBoard`.
        tolerance: Largest allowed difference of a log-probability; 0 is the default of the dtype.
    """

    def __init__(self, engine: TokenEngine, board: Any, tolerance: float = 0.0) -> None:
        self._engine = engine
        self._board = board
        self._tolerance = tolerance

    async def publish(self, model: Any, version: int) -> float:
        """Hand over the weights; see `WeightTransport.publish`."""
        weights = stored(model, version, tolerance=self._tolerance)
        # First on the board: a replica that restarts during the update reads the new ones.
        await self._board.publish.remote(weights)
        difference = await self._engine.update(
            Weights(weights.probe.probe(), model=weights), version
        )
        if self._engine.version != version:
            raise VersionDiffers(
                f"expected version {version} in every replica, got {self._engine.version}"
            )
        return difference

    async def close(self) -> None:
        """Do nothing: the board ends with the replicas."""
