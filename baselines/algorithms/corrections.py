"""Corrections for a sampler that differs from the learner: weights w = exp(o - b) and masks.

o is the learner's log-probability at the start of the update, b the engine's when it sampled
(another kernel, another precision, or an older policy). The weights carry no gradient. Averages
count tokens before any correction, so that dropping some does not inflate the rest.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from hexathlon.baselines.algorithms.losses import TokenBatch, chunk_mean, sequence_mean
from hexathlon.baselines.algorithms.registry import Registry

__all__ = [
    "CORRECTIONS",
    "Correction",
    "chunk_band",
    "dppo_tv",
    "icepop",
    "interpolated_proximal",
    "none",
    "tis",
]

_FAR = 20.0


Correction = Callable[..., Tensor]
"""Maps a batch to a weight per token."""


CORRECTIONS: Registry[Correction] = Registry("correction")


def _mismatch(batch: TokenBatch, level: str) -> Tensor:
    """Return w by token, by sequence (product) or by the sequence's geometric mean."""
    gap = ((batch.proximal - batch.behaviour) * batch.mask).detach()
    if level == "sequence":
        gap = gap.sum(-1, keepdim=True).expand_as(gap)
    elif level == "geometric":
        gap = sequence_mean(gap, batch.mask).expand_as(gap)
    elif level == "chunk":
        gap = chunk_mean(gap, batch.mask, batch.turn)
    elif level != "token":
        raise ValueError(f"expected level token, sequence, geometric or chunk, got {level!r}")
    return gap.clamp(-_FAR, _FAR).exp()


@CORRECTIONS.register("none")
def none(batch: TokenBatch) -> Tensor:
    """Weight 1 for every token."""
    return torch.ones_like(batch.mask)


@CORRECTIONS.register("tis")
def tis(batch: TokenBatch, *, cap: float = 2.0, level: str = "token") -> Tensor:
    """min(w, cap): truncated importance sampling (Yao et al. 2025).

    With an infinite cap it is the uncapped ratio of decoupled PPO (Hilton et al. 2022, AReaL).
    """
    return _mismatch(batch, level).clamp(max=cap)


@CORRECTIONS.register("icepop")
def icepop(
    batch: TokenBatch, *, low: float = 0.5, high: float = 2.0, level: str = "token"
) -> Tensor:
    """Weight w inside [low, high], 0 outside (IcePop)."""
    weight = _mismatch(batch, level)
    return torch.where((weight >= low) & (weight <= high), weight, torch.zeros_like(weight))


@CORRECTIONS.register("mask")
def mask(
    batch: TokenBatch, *, low: float = 0.5, high: float = 2.0, level: str = "sequence"
) -> Tensor:
    """Weight 1 where w is inside [low, high], 0 outside."""
    weight = _mismatch(batch, level)
    return ((weight >= low) & (weight <= high)).to(weight.dtype)


@CORRECTIONS.register("chunk_band")
def chunk_band(batch: TokenBatch, *, low: float = 0.5, high: float = 2.0) -> Tensor:
    """Drop whole turns whose geometric mean of w is outside a band (after IPA)."""
    weight = _mismatch(batch, "chunk")
    return ((weight >= low) & (weight <= high)).to(weight.dtype)


@CORRECTIONS.register("dppo_tv")
def dppo_tv(batch: TokenBatch, *, low: float = 0.2, high: float = 0.2) -> Tensor:
    """Drop tokens whose probability, not ratio, has changed too much already (DPPO-TV).

    Positives with exp(l) - exp(b) > high and negatives with exp(l) - exp(b) < -low.
    """
    change = batch.current.detach().exp() - batch.behaviour.exp()
    far = ((batch.advantage > 0) & (change > high)) | ((batch.advantage < 0) & (change < -low))
    return torch.where(far, torch.zeros_like(batch.mask), torch.ones_like(batch.mask))


def interpolated_proximal(
    current: Tensor, behaviour: Tensor, version: Tensor, learner_version: int
) -> Tensor:
    """Return A-3PO's approximation of the proximal log-probabilities, without a forward pass.

    o = b + a (sg(l) - b) with a = (v_proximal - v_behaviour) / (v_current - v_behaviour), where the
    proximal version is the one at the start of the update and the current version the next one.
    Tokens sampled by the learner's own version get o = b.

    Args:
        current: `[sequences, tokens]` l.
        behaviour: b.
        version: Policy version that sampled each token; -1 where none did.
        learner_version: The version at the start of the update.
    """
    behind = (learner_version - version).clamp(min=0).to(current.dtype)
    share = torch.where(version >= 0, behind / (behind + 1.0), torch.zeros_like(behind))
    return behaviour + share * (current.detach() - behaviour)
