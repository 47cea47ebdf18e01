"""Published weights as the processes of a cluster see them: a reference, a probe, and the board.

The board holds the latest weights, so that a restarted replica samples from the same policy as the
others. The learner's log-probabilities are sent along as data, since a replica cannot call the
learner that it is compared with. Needs no PyTorch.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import ray

from hexathlon.baselines.engines.comparison import LogProbabilityProbe
from hexathlon.baselines.engines.errors import EngineError, EngineMissing

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
        raise EngineError("the engine returned a sequence that does not extend the probe's prompt")

    def probe(self) -> LogProbabilityProbe:
        """Return the probe for an engine; a server samples one token after the prompt."""
        return LogProbabilityProbe(self.ids, self.expect, self.tolerance, drawn=1)


class StoredWeights(NamedTuple):
    """Weights that any process of the cluster can read."""

    version: int
    tensors: "ray.ObjectRef[dict[str, Any]]"
    """The result of `packed` in the object store."""

    probe: RecordedProbe


class WeightBoard:
    """Actor with the state that a restarted replica needs: settings and the latest weights.

    Args:
        settings: The replicas' settings.
    """

    def __init__(self, settings: Any) -> None:
        self._settings = settings
        self._latest: StoredWeights | None = None
        self._broadcast = -1

    async def settings(self) -> Any:
        """Return the replicas' settings."""
        return self._settings

    async def publish(self, weights: StoredWeights) -> None:
        """Replace the latest weights."""
        self._latest = weights

    async def withdraw(self, version: int) -> None:
        """Drop the weights, because the replicas get newer ones by broadcast.

        Args:
            version: Version of the weights that are broadcast.
        """
        self._latest, self._broadcast = None, version

    async def latest(self) -> StoredWeights:
        """Return the latest weights.

        Raises:
            EngineError: If none were published.
            EngineMissing: If the latest ones were broadcast.
        """
        if self._latest is None and self._broadcast >= 0:
            raise EngineMissing(
                f"the weights of version {self._broadcast} were broadcast, and cannot be sent to a "
                "restarted replica: run the recipe again to resume"
            )
        if self._latest is None:
            raise EngineError("no weights have been published: publish them before sampling")
        return self._latest
