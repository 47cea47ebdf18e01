"""One update's whole loss, put together from the parts that a recipe names."""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from torch import Tensor

from hexathlon.baselines.algorithms.aggregation import AGGREGATIONS, Totals
from hexathlon.baselines.algorithms.corrections import CORRECTIONS
from hexathlon.baselines.algorithms.divergences import DIVERGENCES
from hexathlon.baselines.algorithms.losses import SURROGATES, TokenBatch

__all__ = ["LossParts", "Objective", "StepTotals"]


class StepTotals(NamedTuple):
    """Counts over one optimiser step; each stream has its own denominator."""

    policy: Totals
    observed: float = 0.0
    """Environment tokens under the cross-entropy."""


class LossParts(NamedTuple):
    """A part of the step's loss and what is worth logging, all sums that add up over parts."""

    loss: Tensor
    metrics: dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class Objective:
    """The named parts of a loss with their parameters."""

    surrogate: str = "ppo"
    surrogate_parameters: dict[str, Any] = field(default_factory=dict)
    correction: str = "none"
    correction_parameters: dict[str, Any] = field(default_factory=dict)
    proximal: Literal["start", "behaviour", "interpolated"] = "start"
    """What the ratio is to: the policy at the start of the update, computed anew; the sampler's
    own log-probabilities (bypass); or a point between that and the policy by the tokens' age
    (A-3PO), for which no forward pass is needed."""

    aggregation: str = "token_mean"
    aggregation_parameters: dict[str, Any] = field(default_factory=dict)
    divergence: str = "k3"
    beta: float = 0.0
    """Weight of the divergence from the reference; 0 does without a reference."""

    observation_weight: float = 0.0
    """Weight of the cross-entropy on environment tokens (ECHO)."""

    entropy_weight: float = 0.0
    """Weight of the entropy bonus."""

    def check(self) -> None:
        """Raise UnknownPart where a name or a parameter does not exist."""
        SURROGATES.resolve(self.surrogate, self.surrogate_parameters)
        CORRECTIONS.resolve(self.correction, self.correction_parameters)
        AGGREGATIONS.resolve(self.aggregation, self.aggregation_parameters)
        DIVERGENCES.resolve(self.divergence, {})

    def __call__(
        self,
        batch: TokenBatch,
        weight: Tensor,
        bounds: tuple[float, float],
        totals: StepTotals,
        *,
        observed: Tensor | None = None,
        entropy: Tensor | None = None,
    ) -> LossParts:
        """Return one part's share of the step's loss.

        Args:
            batch: The part's tokens.
            weight: `[sequences, tokens]`, how much each token's policy term counts.
            bounds: Of the ratio.
            totals: Counts over the whole step.
            observed: 1 on environment tokens; `batch.current` holds their log-probabilities too.
            entropy: Entropy of the policy at each token.
        """
        scale = AGGREGATIONS[self.aggregation](
            batch.mask, totals.policy, **self.aggregation_parameters
        )
        corrected = CORRECTIONS[self.correction](batch, **self.correction_parameters)
        found = SURROGATES[self.surrogate](batch, bounds, **self.surrogate_parameters)
        policy = (found.values * corrected * weight * scale).sum()
        loss, tokens = policy, max(totals.policy.tokens, 1.0)
        metrics = {
            "loss/policy": policy,
            "clipped": found.clipped.sum() / tokens,
            "dropped": ((corrected == 0) * batch.mask).sum() / tokens,
            "ratio_gap": batch.log_ratio().abs().sum() / tokens,
        }
        if self.surrogate != "sft":
            # Between learner and engine; rounding alone where the policy has not moved yet.
            apart = (batch.current - batch.behaviour) * batch.mask
            metrics["sampler_gap"] = apart.abs().sum() / tokens
        if self.beta > 0:
            penalty = (DIVERGENCES[self.divergence](batch) * weight * scale).sum()
            loss = loss + self.beta * penalty
            metrics["loss/divergence"] = penalty
        if self.observation_weight > 0 and observed is not None:
            surprise = -(batch.current * observed).sum() / max(totals.observed, 1.0)
            loss = loss + self.observation_weight * surprise
            metrics["loss/observation"] = surprise
        if entropy is not None:
            mean = (entropy * batch.mask).sum() / tokens
            loss = loss - self.entropy_weight * mean if self.entropy_weight else loss
            metrics["entropy"] = mean
        return LossParts(loss, {name: value.detach() for name, value in metrics.items()})
