"""How an engine is compared with the learner whose weights it was given."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hexathlon.baselines.engines.errors import MalformedReply, WeightsDiffer

__all__ = ["Probe"]


class Probe(NamedTuple):
    """Tokens on which an engine's log-probabilities are compared with the learner's."""

    ids: list[int]
    """A fixed prompt."""

    expect: Callable[[list[int]], list[float]]
    """The learner's log-probability of every token of a sequence but the first."""

    tolerance: float = 1e-3
    """Largest difference; 3e-6 is usual in float32, bfloat16 needs more."""

    drawn: int = 8
    """Tokens that a server continues the prompt with, which are compared too."""

    def difference(self, ids: list[int], values: Sequence[float], hint: str = "") -> float:
        """Return the largest difference between an engine's log-probabilities and the learner's.

        Args:
            ids: A sequence that begins with the prompt.
            values: The engine's log-probability of every token but the first.
            hint: Ends the error's message.

        Raises:
            MalformedReply: If there are not as many values as tokens to compare.
            WeightsDiffer: If the difference is above the tolerance, or not a number.
        """
        wanted = self.expect(ids)
        if len(values) != len(wanted):
            raise MalformedReply(f"{len(values)} log-probabilities came, {len(wanted)} were asked")
        apart = [abs(one - other) for one, other in zip(values, wanted, strict=True)]
        difference = max(apart) if all(map(math.isfinite, apart)) else math.nan
        if not difference <= self.tolerance:
            raise WeightsDiffer(
                f"the engine's log-probabilities differ from the learner's by {difference:.3g}, "
                f"more than {self.tolerance:g}: it does not draw from the weights it was sent{hint}"
            )
        return difference
