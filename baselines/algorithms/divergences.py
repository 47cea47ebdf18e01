"""Estimators of the divergence from a reference policy, per token.

d = l - f at tokens sampled from the policy. As values, k1 and k3 have the expectation
KL(policy || reference) and k2 does not. Their gradients differ: the expected gradient of k1 is 0,
that of k2 is the reverse KL's, that of k3 the forward KL's, and r k3 with a differentiated ratio r
again has the reverse KL's (Schulman 2020; the tests enumerate the gradients).
"""

from collections.abc import Callable

from torch import Tensor

from hexathlon.baselines.algorithms.losses import TokenBatch
from hexathlon.baselines.algorithms.registry import Registry

__all__ = ["DIVERGENCES", "Divergence", "k1", "k2", "k3", "r_k3"]

_FAR = 20.0


Divergence = Callable[..., Tensor]
"""Maps a batch with a reference to a penalty per token."""


DIVERGENCES: Registry[Divergence] = Registry("divergence")


def _distance(batch: TokenBatch) -> Tensor:
    if batch.reference is None:
        raise ValueError("expected log-probabilities of a reference, got none")
    return ((batch.current - batch.reference) * batch.mask).clamp(-_FAR, _FAR)


@DIVERGENCES.register("k1")
def k1(batch: TokenBatch) -> Tensor:
    """The log-ratio itself; unbiased as a value, no gradient in expectation."""
    return _distance(batch)


@DIVERGENCES.register("k2")
def k2(batch: TokenBatch) -> Tensor:
    """Half the square of the log-ratio; the right gradient, a biased value."""
    return 0.5 * _distance(batch) ** 2


@DIVERGENCES.register("k3")
def k3(batch: TokenBatch) -> Tensor:
    """exp(-d) - 1 + d; unbiased and never negative as a value."""
    distance = _distance(batch)
    return ((-distance).exp() - 1.0 + distance) * batch.mask


@DIVERGENCES.register("r_k3")
def r_k3(batch: TokenBatch) -> Tensor:
    """k3 weighted by the differentiated ratio to the sampler; unbiased, with the right gradient."""
    ratio = ((batch.current - batch.behaviour) * batch.mask).clamp(-_FAR, _FAR).exp()
    return ratio * k3(batch)
