"""A reward model: a policy's trunk with one linear output after the last token of a reply.

It is trained on pairs of replies with the Bradley-Terry loss and ChARM's act-adaptive margins.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from hexathlon.baselines.algorithms.preferences import ActMargins, preference_loss
from hexathlon.baselines.algorithms.samples import Array
from hexathlon.baselines.learner.errors import LossNotFinite
from hexathlon.baselines.learner.optimiser import OptimiserConfig, Optimisers
from hexathlon.baselines.learner.scoring import hidden_states

__all__ = ["PreferenceConfig", "PreferenceModel", "TokenPair"]


@dataclass(frozen=True, slots=True)
class PreferenceConfig:
    """Training of a reward model."""

    pairs: int = 4000
    """Number of train tasks from which pairs are drawn."""

    steps: int = 300
    batch: int = 16
    """Pairs per step."""

    margin: float = 1.0
    """Largest act-adaptive margin; 0 for the plain Bradley-Terry loss."""

    optimiser: OptimiserConfig = field(
        default_factory=lambda: OptimiserConfig(
            kind="muon", learning_rate=3e-3, matrix_learning_rate=0.01, warmup=20, decay="cosine"
        )
    )

    def __post_init__(self) -> None:
        if self.steps < 0 or self.margin < 0:
            raise ValueError(
                f"steps and margin must be at least 0, got {self.steps} and {self.margin}"
            )
        if self.pairs < 1 or self.batch < 1:
            raise ValueError(
                f"pairs and batch must be at least 1, got {self.pairs} and {self.batch}"
            )


class TokenPair(NamedTuple):
    """Two replies with their question, as tokens."""

    chosen: Sequence[int]
    rejected: Sequence[int]
    act: str


class PreferenceModel(nn.Module):
    """Scores texts by one number; higher is better.

    Args:
        policy: The model whose trunk is copied.
        config: Settings of training.
    """

    def __init__(self, policy: Any, config: PreferenceConfig) -> None:
        super().__init__()
        inputs = policy.get_input_embeddings().weight
        self.trunk = copy.deepcopy(policy.get_decoder()).requires_grad_(True)
        self.head = nn.Linear(inputs.shape[1], 1, device=inputs.device, dtype=torch.float32)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)
        self.settings = config
        self.margins = ActMargins(config.margin)
        self.optimisers = Optimisers(self, config.optimiser, config.steps)

    def get_decoder(self) -> Any:
        """Return the trunk, under the name of a language model's method."""
        return self.trunk

    def forward(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """Return the score of each text, `[texts]`."""
        device = self.head.weight.device
        ends = torch.tensor([len(text) - 1 for text in texts], device=device)
        ids = torch.zeros(len(texts), int(ends.max()) + 1, dtype=torch.long, device=device)
        for row, text in enumerate(texts):
            ids[row, : len(text)] = torch.tensor(text, device=device)
        states = hidden_states(self, ids)
        last = states[torch.arange(len(texts), device=device), ends]
        scores: Tensor = self.head(last.float())[:, 0]
        return scores

    def gaps(self, pairs: Sequence[TokenPair], batch: int = 32) -> Array:
        """Return chosen minus rejected of each pair, without a gradient."""
        self.eval()
        parts = [np.zeros(0)]
        with torch.no_grad():
            for start in range(0, len(pairs), batch):
                chosen, rejected = self._both(pairs[start : start + batch])
                parts.append((chosen - rejected).double().cpu().numpy())
        return np.concatenate(parts)

    def update(self, pairs: Sequence[TokenPair]) -> dict[str, float]:
        """Train on a batch of pairs; return the loss, accuracy and mean margin.

        Raises:
            LossNotFinite: If the loss is not finite.
        """
        self.train()
        acts = [pair.act for pair in pairs]
        self.optimisers.zero()
        chosen, rejected = self._both(pairs)
        margin = torch.tensor(self.margins.of(acts), device=chosen.device, dtype=chosen.dtype)
        loss = preference_loss(chosen, rejected, margin)
        if not bool(torch.isfinite(loss)):
            raise LossNotFinite(f"the preference loss is {float(loss)}; lower its learning rate")
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimisers.collect()
        self.optimisers.step()
        gaps = (chosen - rejected).detach()
        self.margins.observe(acts, gaps.tolist())
        return {
            "loss": float(loss.detach()),
            "accuracy": float((gaps > 0).double().mean()),
            "margin": float(margin.mean()),
        }

    def _both(self, pairs: Sequence[TokenPair]) -> tuple[Tensor, Tensor]:
        scores = self([*(pair.chosen for pair in pairs), *(pair.rejected for pair in pairs)])
        return scores[: len(pairs)], scores[len(pairs) :]
