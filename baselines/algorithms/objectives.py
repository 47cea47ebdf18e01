"""Objectives: the whole loss of an update, composed of the parts that a recipe names."""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from torch import Tensor

from hexathlon.baselines.algorithms.aggregation import Totals
from hexathlon.baselines.algorithms.catalogue import (
    AGGREGATIONS,
    CORRECTIONS,
    DIVERGENCES,
    SURROGATES,
)
from hexathlon.baselines.algorithms.losses import TokenBatch

__all__ = ["LossParts", "Objective", "StepTotals"]


class StepTotals(NamedTuple):
    """Counts over one optimiser step; each stream has its own denominator."""

    policy: Totals
    observed: float = 0.0
    """Number of observation tokens in the cross-entropy."""


class LossParts(NamedTuple):
    """One part's share of the step's loss and metrics; both are summed over parts."""

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
    """Denominator of the ratio: the policy at the start of the update, computed by the learner; the
    sampler's log-probabilities (bypass); or an interpolation of both by the tokens' age (A-3PO),
    which needs no forward pass."""

    aggregation: str = "token_mean"
    aggregation_parameters: dict[str, Any] = field(default_factory=dict)
    divergence: str = "k3"
    beta: float = 0.0
    """Weight of the divergence from the reference; 0 needs no reference."""

    observation_weight: float = 0.0
    """Weight of the cross-entropy on observation tokens (ECHO)."""

    entropy_weight: float = 0.0
    """Weight of the entropy bonus; tokens with a stream `settled` of 1 have none."""

    def check(self) -> None:
        """Check names and parameters.

        Raises:
            UnknownPart: If a name or parameter does not exist.
        """
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
            weight: `[sequences, tokens]`, weight of each token's policy term.
            bounds: Lowest and highest ratio.
            totals: Counts over the whole step.
            observed: 1 on observation tokens; `batch.current` has their log-probabilities too.
            entropy: Entropy of the policy at each token.
        """
        scale = AGGREGATIONS[self.aggregation](
            batch.mask, totals.policy, **self.aggregation_parameters
        )
        corrected = CORRECTIONS[self.correction](batch, **self.correction_parameters)
        surrogate = SURROGATES[self.surrogate](batch, bounds, **self.surrogate_parameters)
        policy = (surrogate.values * corrected * weight * scale).sum()
        loss, tokens = policy, max(totals.policy.tokens, 1.0)
        metrics = {
            "loss/policy": policy,
            "clipped": surrogate.clipped.sum() / tokens,
            "dropped": ((corrected == 0) * batch.mask).sum() / tokens,
            "ratio_gap": batch.log_ratio().abs().sum() / tokens,
        }
        if self.surrogate != "sft":
            # Learner against engine: only rounding before the first optimiser step.
            gap = (batch.current - batch.behaviour) * batch.mask
            metrics["sampler_gap"] = gap.abs().sum() / tokens
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
            if self.entropy_weight:
                bonus = (entropy * batch.mask * (1.0 - batch.stream("settled"))).sum() / tokens
                loss = loss - self.entropy_weight * bonus
            metrics["entropy"] = mean
        return LossParts(loss, {name: value.detach() for name, value in metrics.items()})
