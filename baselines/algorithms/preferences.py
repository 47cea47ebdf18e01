"""The loss of reward models that learn from preferences, and its margins.

Sources: Bradley-Terry; ChARM (act-adaptive margin). Where an abstract leaves a formula open, the
docstring says what was chosen.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

__all__ = ["ActMargins", "preference_loss"]


def preference_loss(chosen: Tensor, rejected: Tensor, margin: Tensor) -> Tensor:
    """Return the mean of -log sigma(chosen - rejected - margin), all `[pairs]`."""
    return torch.nn.functional.softplus(margin - (chosen - rejected)).mean()


class ActMargins:
    """ChARM's margins: one for each kind of act, by the model's own confidence on it.

    L = -log sigma(r_w - r_l - m), m from the model's confidence. Chosen here: the confidence c of
    an act is a moving average of the probability sigma(r_w - r_l) that the model gives to the
    better reply, and m = scale * max(0, 2 c - 1): 0 for acts at chance, `scale` for certain ones.

    Args:
        scale: Largest margin; 0 gives the plain Bradley-Terry loss.
        decay: Weight of the past in the moving average.
    """

    def __init__(self, scale: float = 1.0, decay: float = 0.9) -> None:
        self._scale, self._decay = scale, decay
        self.confidence: dict[str, float] = {}

    def of(self, acts: Sequence[str]) -> list[float]:
        """Return the margin of each pair."""
        return [self._scale * max(0.0, 2 * self.confidence.get(act, 0.5) - 1) for act in acts]

    def observe(self, acts: Sequence[str], gaps: Sequence[float]) -> None:
        """Update the confidence by the differences r_w - r_l of some pairs."""
        for act in sorted(set(acts)):
            own = [gap for name, gap in zip(acts, gaps, strict=True) if name == act]
            mean = float(np.mean(1 / (1 + np.exp(-np.array(own)))))
            before = self.confidence.get(act, 0.5)
            self.confidence[act] = self._decay * before + (1 - self._decay) * mean
