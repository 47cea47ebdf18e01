"""Transport of weights through a cluster's object store, from the learner to the replicas.

The types that replicas read are in `hexathlon.baselines.cluster.stored`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import ray
import torch
from torch import Tensor

from hexathlon.baselines.cluster.handles import answer_within
from hexathlon.baselines.cluster.stored import RecordedProbe, StoredWeights
from hexathlon.baselines.distributed.transports import BroadcastTransport, probe_of
from hexathlon.baselines.engines.comparison import LogProbabilityProbe
from hexathlon.baselines.engines.errors import VersionDiffers
from hexathlon.baselines.engines.tokens import TokenEngine
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.learner.adapters import merged

__all__ = [
    "ObjectStoreTransport",
    "ReplicaBroadcastTransport",
    "TensorSource",
    "packed",
    "recorded_probe",
    "stored",
]


def recorded_probe(model: Any, *, tolerance: float = 0.0) -> RecordedProbe:
    """Score the probe's prompt, and every possible next token, with the learner's model.

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


class _Packed(NamedTuple):
    values: "np.ndarray[Any, Any]"
    dtype: torch.dtype


def packed(model: Any) -> dict[str, _Packed]:
    """Return a model's parameters as arrays, which processes on one node share without copying."""
    return {name: _pack(value) for name, value in merged(model).named_parameters()}


def _pack(value: Tensor) -> _Packed:
    tensor = value.detach().cpu().contiguous()
    # NumPy has no bfloat16; its bits are sent as integers.
    bits = tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor
    return _Packed(bits.numpy(), tensor.dtype)


class TensorSource:
    """Packed parameters in place of the model from which an engine copies its weights.

    Args:
        tensors: The result of `packed`.
    """

    def __init__(self, tensors: Mapping[str, Any]) -> None:
        self._tensors = tensors

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """Return names and values, as a model does."""
        for name, (values, dtype) in self._tensors.items():
            # Copied, since arrays in the object store are read-only, which torch does not support.
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


class ObjectStoreTransport:
    """Publishes weights through the object store to all replicas.

    Args:
        engine: The replicas as one engine.
        board: Handle of the `WeightBoard`.
        tolerance: Largest allowed difference of a log-probability; 0 is the default of the dtype.
        deadline: Seconds within which the board must take the weights; replicas have their own.
    """

    def __init__(
        self, engine: TokenEngine, board: Any, tolerance: float = 0.0, deadline: float = 900.0
    ) -> None:
        self._engine = engine
        self._board = board
        self._tolerance = tolerance
        self._deadline = deadline

    async def publish(self, model: Any, version: int) -> float:
        """Publish the weights; see `WeightTransport.publish`."""
        weights = stored(model, version, tolerance=self._tolerance)
        # First on the board: a replica that restarts during the update reads the new ones.
        posted = self._board.publish.remote(weights)
        await answer_within(self._deadline, posted, f"the board to take weights {version}")
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


class ReplicaBroadcastTransport(BroadcastTransport):
    """Broadcasts weights to the servers of all replicas; they cannot be sent to restarted ones.

    Takes the arguments of `BroadcastTransport`, and the board.

    Args:
        board: Handle of the `WeightBoard`.
        more: Arguments of `BroadcastTransport`.
    """

    def __init__(self, board: Any, *more: Any, **named: Any) -> None:
        super().__init__(*more, **named)
        self._board = board

    async def publish(self, model: Any, version: int) -> float:
        """Broadcast the weights; see `WeightTransport.publish`."""
        # First: a replica that restarts during the update must not sample from older ones.
        withdrawn = self._board.withdraw.remote(version)
        await answer_within(self._deadline, withdrawn, "the board to drop its weights")
        return await super().publish(model, version)

    def probe(self, model: Any) -> LogProbabilityProbe:
        """Return a probe that replicas can answer without the learner."""
        return recorded_probe(model, tolerance=self._tolerance).probe()
