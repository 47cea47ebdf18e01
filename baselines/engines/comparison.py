"""Comparison of an engine's log-probabilities with those of the learner after a weight update."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hexathlon.baselines.engines.errors import MalformedReply, WeightsDiffer

__all__ = ["LogProbabilityProbe"]


class LogProbabilityProbe(NamedTuple):
    """A prompt on which log-probabilities of engine and learner are compared."""

    ids: list[int]
    """A fixed prompt."""

    expect: Callable[[list[int]], list[float]]
    """Returns the learner's log-probabilities of all tokens of a sequence except the first."""

    tolerance: float = 1e-3
    """Maximum absolute difference; about 3e-6 is typical in float32, bfloat16 needs more."""

    drawn: int = 8
    """Number of tokens that a server samples after the prompt, which are also compared."""

    def difference(self, ids: list[int], values: Sequence[float], hint: str = "") -> float:
        """Return the maximum absolute difference between log-probabilities of engine and learner.

        Args:
            ids: A sequence that begins with the prompt.
            values: The engine's log-probabilities of all tokens except the first.
            hint: Appended to the error message.

        Raises:
            MalformedReply: If the number of values is wrong.
            WeightsDiffer: If the difference exceeds the tolerance or is not finite.
        """
        expected = self.expect(ids)
        if len(values) != len(expected):
            raise MalformedReply(f"expected {len(expected)} log-probabilities, got {len(values)}")
        differences = [abs(value - target) for value, target in zip(values, expected, strict=True)]
        difference = max(differences) if all(map(math.isfinite, differences)) else math.nan
        if not difference <= self.tolerance:
            raise WeightsDiffer(
                f"log-probabilities of engine and learner differ by {difference:.3g}, more than "
                f"{self.tolerance:g}: the engine does not sample from the weights it was sent{hint}"
            )
        return difference
