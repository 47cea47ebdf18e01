"""The loss functions of the Tinker API, summed over tokens.

https://tinker-docs.thinkingmachines.ai/losses. `rho` is the ratio of the policy's probability of a
token to the sampler's.
"""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

__all__ = ["LOSSES", "LossFunction", "UnknownLoss"]

LossFunction = Callable[[Tensor, Mapping[str, Tensor], Mapping[str, float]], Tensor]
"""Maps log-probabilities `[tokens]`, the datum's inputs and the configuration to a loss per
token."""


class UnknownLoss(ValueError):
    """The service has no such loss function."""


def _cross_entropy(
    log_probabilities: Tensor, inputs: Mapping[str, Tensor], config: Mapping[str, float]
) -> Tensor:
    return -log_probabilities * inputs["weights"]


def _importance_sampling(
    log_probabilities: Tensor, inputs: Mapping[str, Tensor], config: Mapping[str, float]
) -> Tensor:
    return -_ratio(log_probabilities, inputs) * inputs["advantages"]


def _ppo(
    log_probabilities: Tensor, inputs: Mapping[str, Tensor], config: Mapping[str, float]
) -> Tensor:
    ratio, advantages = _ratio(log_probabilities, inputs), inputs["advantages"]
    return -torch.minimum(ratio * advantages, _clipped(ratio, config) * advantages)


def _cispo(
    log_probabilities: Tensor, inputs: Mapping[str, Tensor], config: Mapping[str, float]
) -> Tensor:
    ratio = _clipped(_ratio(log_probabilities, inputs), config).detach()
    return -ratio * log_probabilities * inputs["advantages"]


def _dro(
    log_probabilities: Tensor, inputs: Mapping[str, Tensor], config: Mapping[str, float]
) -> Tensor:
    distance = log_probabilities - inputs["logprobs"]
    penalty = 0.5 * config.get("beta", 0.05) * distance.square()
    return -(log_probabilities * inputs["advantages"] - penalty)


def _gspo(
    log_probabilities: Tensor, inputs: Mapping[str, Tensor], config: Mapping[str, float]
) -> Tensor:
    """Sequence ratio with a gradient per token (Zheng et al. 2025, eq. 14).

    The thresholds are those of the paper's experiments by default; the API states none.
    """
    mask, advantages = inputs["sequence_ratio_mask"], inputs["advantages"]
    distance = log_probabilities - inputs["logprobs"]
    sequence = ((distance * mask).sum() / mask.sum().clamp(min=1.0)).exp().detach()
    ratio = sequence * (log_probabilities - log_probabilities.detach()).exp()
    low = config.get("clip_low_threshold", 1.0 - 3e-4)
    clipped = ratio.clamp(low, config.get("clip_high_threshold", 1.0 + 4e-4))
    return -torch.minimum(ratio * advantages, clipped * advantages) * mask


def _ratio(log_probabilities: Tensor, inputs: Mapping[str, Tensor]) -> Tensor:
    return (log_probabilities - inputs["logprobs"]).exp()


def _clipped(ratio: Tensor, config: Mapping[str, float]) -> Tensor:
    """Clip to thresholds that are ratios themselves, as in the API: 0.8 and 1.2 by default."""
    low = config.get("clip_low_threshold", 0.8)
    return ratio.clamp(low, config.get("clip_high_threshold", 1.2))


LOSSES: dict[str, LossFunction] = {
    "cross_entropy": _cross_entropy,
    "importance_sampling": _importance_sampling,
    "ppo": _ppo,
    "cispo": _cispo,
    "dro": _dro,
    "gspo": _gspo,
}
"""By name. The API also declares `stable_reinforce`, without a documented formula; `custom` losses
are computed by the client."""
