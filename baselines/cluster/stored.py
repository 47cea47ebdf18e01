"""Published weights as the processes of a cluster see them: a reference, a probe, and the board.

The latest weights stand on the board, so that a replica that was restarted samples from the policy
that the others sample from. The learner's log-probabilities travel with them as data: a replica
compares itself with a learner that it cannot call. Needs no PyTorch.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import ray

from hexathlon.baselines.engines.comparison import LogProbabilityProbe
from hexathlon.baselines.engines.errors import EngineError

__all__ = ["RecordedProbe", "StoredWeights", "WeightBoard"]


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


class StoredWeights(NamedTuple):
    """Weights that any process of the cluster can read."""

    version: int
    tensors: "ray.ObjectRef[dict[str, Any]]"
    """The result of `packed` in the object store."""

    probe: RecordedProbe


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
