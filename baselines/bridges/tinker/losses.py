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
}
"""By name. The API also declares `gspo` and `stable_reinforce`, without documented formulas;
`custom` losses are computed by the client."""
