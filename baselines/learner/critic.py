"""The critic: predicts the remaining return before each sampled token.

It is a trunk with one linear output. The trunk is either a copy of the policy's at the start of the
run, trained with the critic, or the policy's own, which the critic reads and never changes.
"""

import copy
import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from hexathlon.baselines.algorithms.losses import value_loss
from hexathlon.baselines.algorithms.samples import Array, Sample
from hexathlon.baselines.learner.batching import Example, MicroBatch, parts_of, token_values
from hexathlon.baselines.learner.errors import LossNotFinite
from hexathlon.baselines.learner.optimiser import OptimiserConfig, Optimisers
from hexathlon.baselines.learner.ranks import ALONE, Ranks
from hexathlon.baselines.learner.scoring import hidden_states

__all__ = ["Critic", "CriticConfig"]


@dataclass(frozen=True, slots=True)
class CriticConfig:
    """Trunk and training of the critic."""

    trunk: Literal["copy", "shared"] = "copy"
    """`copy` trains its own trunk; `shared` trains a linear output on the policy's states."""

    optimiser: OptimiserConfig = field(default_factory=lambda: OptimiserConfig(learning_rate=1e-3))
    clip: float = 0.2
    """Maximum change of a value in one update, beyond which its gradient is 0; 0 for no bound."""

    warmup: int = 0
    """Number of updates of the critic before the first update of the policy."""

    epochs: int = 1
    minibatches: int = 1
    heads: int = 1
    """Number of linear outputs. They take a task's rollouts in turn, by the number of the trial,
    and the value is their mean (AsyPPO's mini-critics, which here share a trunk)."""


class Critic:
    """Values of sampled tokens, and their updates.

    Args:
        policy: The model whose trunk is copied or shared.
        config: Settings.
        updates: Length of the schedule, in updates.
        token_budget: Maximum number of tokens per forward pass, including padding.
        ranks: The learner ranks; each is given its share of every update.
    """

    def __init__(
        self,
        policy: Any,
        config: CriticConfig,
        updates: int,
        token_budget: int = 16_384,
        ranks: Ranks = ALONE,
    ) -> None:
        self.config = config
        self.updates = 0
        self._budget = token_budget
        self._policy = policy
        self._ranks = ranks
        if config.heads < 1:
            raise ValueError(f"a critic needs at least 1 head, got {config.heads}")
        self.network = _Values(policy, config.trunk == "copy", config.heads)
        steps = updates * config.epochs * config.minibatches
        self.optimisers = Optimisers(self.network, config.optimiser, steps)

    @property
    def warming(self) -> bool:
        """Whether the policy is still held fixed."""
        return self.updates < self.config.warmup

    def values(self, samples: Sequence[Sample]) -> list[Array]:
        """Return the value before each sampled token, `[tokens]` per sample, 0 elsewhere."""
        return self._evaluated(samples, self.forward)

    def disagreement(self, samples: Sequence[Sample]) -> list[Array]:
        """Return the deviation of the heads' values before each sampled token, as `values`."""
        return self._evaluated(samples, lambda part: self._outputs(part).std(-1, correction=0))

    def _evaluated(
        self, samples: Sequence[Sample], evaluate: Callable[[MicroBatch], Tensor]
    ) -> list[Array]:
        examples = [
            Example(
                sample,
                np.zeros(len(sample.ids)),
                sample.sampled.astype(np.float64),
                streams=self._heads(sample),
            )
            for sample in samples
        ]
        return token_values(samples, self._parts(examples), lambda part: evaluate(part) * part.mask)

    def forward(self, part: MicroBatch) -> Tensor:
        """Return the value before each token of a part, `[rows, tokens]`."""
        return self._outputs(part).mean(-1)

    def _outputs(self, part: MicroBatch) -> Tensor:
        """Return the heads' values, `[rows, tokens, heads]`."""
        trunk = self._policy if self.network.trunk is None else self.network
        with torch.set_grad_enabled(self.network.trunk is not None and torch.is_grad_enabled()):
            states = hidden_states(trunk, part.ids[:, :-1], part.prefix)
        values: Tensor = self.network.head(states.to(self.network.head.weight.dtype))
        return values

    def _own(self, part: MicroBatch) -> Tensor:
        """Return the values of the head that each row trains, `[rows, tokens]`."""
        outputs = self._outputs(part)
        if self.config.heads == 1:
            return outputs[..., 0]
        return outputs.gather(-1, part.streams["critic head"].long()[..., None])[..., 0]

    def _heads(self, sample: Sample) -> dict[str, Array]:
        heads = self.config.heads
        if heads == 1:
            return {}
        trial = sample.key.rpartition("#")[2].partition(" ")[0]  # copies have a suffix
        number = (int(trial) if trial.isdigit() else zlib.crc32(sample.key.encode())) % heads
        return {"critic head": np.full(len(sample.ids), float(number))}

    def update(self, examples: Sequence[Example]) -> dict[str, float]:
        """Train the values on the examples' returns.

        Returns:
            The loss of the last step, and the share of the returns' variance that the values
            explained before the update.

        Raises:
            ValueError: If an example has no returns.
            LossNotFinite: If the loss is not finite.
        """
        if any(example.returns is None for example in examples):
            raise ValueError("the critic needs returns, which this estimator does not compute")
        before = self._evaluated([example.sample for example in examples], self._own)
        examples = [
            replace(e, old_values=v, streams=self._heads(e.sample))
            for e, v in zip(examples, before, strict=True)
        ]
        metrics = {"critic/explained": _explained(examples)}
        for _ in range(self.config.epochs):
            for part in self._ranks.cuts(examples, self.config.minibatches):
                metrics["critic/loss"] = self._step(part)
        self.updates += 1
        return metrics

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return {
            "updates": self.updates,
            "network": self.network.state_dict(),
            "optimisers": self.optimisers.state(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Restore a checkpoint's state."""
        self.updates = int(state["updates"])
        self.network.load_state_dict(state["network"])
        self.optimisers.load(state["optimisers"])

    def loss(self, part: MicroBatch, tokens: float) -> Tensor:
        """Return a part's share of the loss, a mean over `tokens` trained tokens."""
        assert part.returns is not None and part.old_values is not None
        clip = self.config.clip or math.inf
        errors = value_loss(self._own(part), part.old_values, part.returns, part.mask, clip)
        return errors.sum() / max(tokens, 1.0)

    def _step(self, examples: Sequence[Example]) -> float:
        parts = self._parts(examples)
        device = self.network.head.weight.device
        counts = torch.zeros(1, dtype=torch.float64, device=device)
        (tokens,) = self._ranks.summed(counts + sum((part.mask > 0).sum() for part in parts))
        self.optimisers.zero()
        total = 0.0
        for part in parts:
            loss = self.loss(part, tokens)
            if not bool(torch.isfinite(loss)):
                self.optimisers.zero()
                raise LossNotFinite(
                    f"the critic's loss is {float(loss.detach())} after {self.updates} updates; "
                    "lower its learning rate"
                )
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimisers.collect()
            total += float(loss.detach())
        self._ranks.sum_gradients(self.optimisers.parameters())
        self.optimisers.step()
        return self._ranks.summed_metrics({"loss": total})["loss"]

    def _parts(self, examples: Sequence[Example]) -> list[MicroBatch]:
        weight = self.network.head.weight
        return parts_of(examples, self._budget, weight.device, weight.dtype)


class _Values(nn.Module):
    """The critic's output layer, and its trunk if it has one; values start at 0."""

    def __init__(self, policy: Any, copied: bool, heads: int) -> None:
        super().__init__()
        inputs = policy.get_input_embeddings().weight
        self.trunk = copy.deepcopy(policy.get_decoder()) if copied else None
        if self.trunk is not None:
            self.trunk.requires_grad_(True)
        dtype = torch.promote_types(inputs.dtype, torch.float32)
        self.head = nn.Linear(inputs.shape[1], heads, device=inputs.device, dtype=dtype)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def get_decoder(self) -> Any:
        """Return the trunk, under the name of a language model's method."""
        return self.trunk


def _explained(examples: Sequence[Example]) -> float:
    """Return the share of the returns' variance explained by the values; 0 without variance."""
    if not examples:
        return 0.0
    returns, values = [], []
    for example in examples:
        sampled = example.sample.sampled
        assert example.returns is not None and example.old_values is not None
        returns.append(example.returns[sampled])
        values.append(example.old_values[sampled])
    targets, predictions = np.concatenate(returns), np.concatenate(values)
    variance = float(targets.var())
    return 1.0 - float((targets - predictions).var()) / variance if variance > 0 else 0.0
