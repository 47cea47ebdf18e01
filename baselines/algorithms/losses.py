"""Surrogate losses: the loss of each sampled token, before averaging.

Tensors are `[sequences, tokens]`, padded on the right, with sampled tokens marked by `mask`.
With l the current, o the proximal (start of the update) and b the behaviour (as sampled)
log-probability, the ratio is rho = exp(l - o). Entries outside the mask are 0.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from hexathlon.baselines.algorithms.registry import Registry

__all__ = [
    "SURROGATES",
    "Surrogate",
    "TokenBatch",
    "TokenLoss",
    "chunk_mean",
    "cispo",
    "gspo",
    "ipa",
    "ppo",
    "reinforce",
    "sequence_mean",
    "sft",
    "topr",
    "value_loss",
]

_FAR = 20.0
"""Bound of log-ratios, so that a broken sampler gives a large loss instead of infinity."""


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """Inputs of a loss, each `[sequences, tokens]`."""

    current: Tensor
    """Log-probability under the trained parameters; carries the gradient."""

    proximal: Tensor
    """Log-probability under the parameters at the start of the update."""

    behaviour: Tensor
    """Log-probability when sampled."""

    advantage: Tensor
    mask: Tensor
    """1 where a token was sampled and is trained."""

    turn: Tensor = field(default_factory=lambda: torch.zeros(0, dtype=torch.long))
    """Number of each token's turn, -1 outside; only chunk-wise losses read it."""

    reference: Tensor | None = None
    """Log-probability under a reference policy."""

    streams: Mapping[str, Tensor] = field(default_factory=dict)
    """Further values by name, from the estimator or a token rule."""

    def stream(self, name: str) -> Tensor:
        """Return a stream; 0 where the recipe has no part that computes it."""
        values = self.streams.get(name)
        return torch.zeros_like(self.mask) if values is None else values

    def log_ratio(self) -> Tensor:
        """Return l - o, 0 outside the mask."""
        return ((self.current - self.proximal) * self.mask).clamp(-_FAR, _FAR)


class TokenLoss(NamedTuple):
    """A surrogate's value for each token."""

    values: Tensor
    """`[sequences, tokens]`, 0 outside the mask."""

    clipped: Tensor
    """1 where the bounds removed the gradient."""


Surrogate = Callable[..., TokenLoss]
"""Maps a batch and the bounds of the ratio to a loss per token."""


SURROGATES: Registry[Surrogate] = Registry("surrogate loss")


def sequence_mean(values: Tensor, mask: Tensor) -> Tensor:
    """Average each sequence over its mask, `[sequences, tokens]` to `[sequences, 1]`."""
    return (values * mask).sum(-1, keepdim=True) / mask.sum(-1, keepdim=True).clamp(min=1.0)


def chunk_mean(values: Tensor, mask: Tensor, turn: Tensor) -> Tensor:
    """Average over each turn's sampled tokens; every token gets its turn's mean."""
    if turn.shape != mask.shape:
        raise ValueError(f"expected turns of shape {tuple(mask.shape)}, got {tuple(turn.shape)}")
    slots = (turn + 1).clamp(min=0)
    width = int(slots.max()) + 1
    sums = torch.zeros(len(mask), width, dtype=values.dtype).to(values.device)
    counts = torch.zeros_like(sums)
    sums = sums.scatter_add(1, slots, values * mask)
    counts = counts.scatter_add(1, slots, mask.to(values.dtype))
    return (sums / counts.clamp(min=1.0)).gather(1, slots) * mask


def _clip(ratio: Tensor, batch: TokenBatch, bounds: tuple[float, float], dual: float) -> TokenLoss:
    plain = -batch.advantage * ratio
    held = -batch.advantage * ratio.clamp(*bounds)
    values = torch.maximum(plain, held)
    clipped = held > plain
    if dual > 0:
        ceiling = -batch.advantage * dual
        beyond = (batch.advantage < 0) & (values > ceiling)
        values, clipped = torch.where(beyond, ceiling, values), clipped | beyond
    return TokenLoss(values * batch.mask, clipped.to(values.dtype) * batch.mask)


@SURROGATES.register("ppo")
def ppo(batch: TokenBatch, bounds: tuple[float, float], *, dual: float = 0.0) -> TokenLoss:
    """max(-A rho, -A clip(rho)) (Schulman et al. 2017, equation 7).

    Args:
        batch: The sampled tokens.
        bounds: Lowest and highest ratio.
        dual: Ceiling c of the ratio where the advantage is negative (Ye et al. 2020, dual clip);
            0 sets none.
    """
    return _clip(batch.log_ratio().exp(), batch, bounds, dual)


@SURROGATES.register("gspo")
def gspo(batch: TokenBatch, bounds: tuple[float, float], *, per_token: bool = False) -> TokenLoss:
    """As PPO with the sequence's geometric mean ratio (Zheng et al. 2025, GSPO).

    Args:
        batch: The sampled tokens.
        bounds: Lowest and highest ratio, close to 1.
        per_token: Let each token's gradient flow through its own log-probability (GSPO-token); the
            result is the same where the advantage is constant in a sequence.
    """
    mean = sequence_mean(batch.log_ratio(), batch.mask)
    if per_token:
        mean = mean.detach() + batch.current - batch.current.detach()
    return _clip(mean.exp().expand_as(batch.mask), batch, bounds, 0.0)


@SURROGATES.register("ipa")
def ipa(batch: TokenBatch, bounds: tuple[float, float]) -> TokenLoss:
    """Log-likelihood of positives; negatives weighted by the chunk ratio cut at 1 (after IPA).

    The ratio of a chunk is the geometric mean over a turn's tokens.
    """
    ratio = chunk_mean(batch.log_ratio(), batch.mask, batch.turn).exp().detach()
    weight = torch.where(batch.advantage > 0, torch.ones_like(ratio), ratio.clamp(0.0, 1.0))
    values = -weight * batch.advantage * batch.current * batch.mask
    return TokenLoss(values, torch.zeros_like(values))


@SURROGATES.register("topr")
def topr(batch: TokenBatch, bounds: tuple[float, float]) -> TokenLoss:
    """Positives as plain log-likelihood, negatives weighted by min(exp(l - b), 1) (TOPR)."""
    ratio = ((batch.current - batch.behaviour) * batch.mask).clamp(-_FAR, _FAR).exp().detach()
    weight = torch.where(batch.advantage > 0, torch.ones_like(ratio), ratio.clamp(0.0, 1.0))
    values = -weight * batch.advantage * batch.current * batch.mask
    return TokenLoss(values, torch.zeros_like(values))


@SURROGATES.register("cispo")
def cispo(batch: TokenBatch, bounds: tuple[float, float]) -> TokenLoss:
    """-sg(clip(rho)) A l: the weight is clipped, no token's gradient is (MiniMax-M1, CISPO).

    Bounds are ratios; a lower bound of 0 clips from above only.
    """
    ratio = batch.log_ratio().exp().detach()
    weight = ratio.clamp(*bounds)
    values = -weight * batch.advantage * batch.current * batch.mask
    return TokenLoss(values, (weight != ratio).to(values.dtype) * batch.mask)


@SURROGATES.register("reinforce")
def reinforce(batch: TokenBatch, bounds: tuple[float, float]) -> TokenLoss:
    """-A l: the score function, without a ratio (Williams 1992)."""
    values = -batch.advantage * batch.current * batch.mask
    return TokenLoss(values, torch.zeros_like(values))


@SURROGATES.register("sft")
def sft(batch: TokenBatch, bounds: tuple[float, float]) -> TokenLoss:
    """Negative log-likelihood of the sampled tokens, whatever their reward."""
    values = -batch.current * batch.mask
    return TokenLoss(values, torch.zeros_like(values))


def value_loss(
    values: Tensor, old_values: Tensor, returns: Tensor, mask: Tensor, clip: float
) -> Tensor:
    """Return the critic's clipped squared error per token (Schulman et al. 2017's code).

    0.5 max((V - R)^2, (clip(V, V_old - clip, V_old + clip) - R)^2).
    """
    held = torch.maximum(torch.minimum(values, old_values + clip), old_values - clip)
    return 0.5 * torch.maximum((values - returns) ** 2, (held - returns) ** 2) * mask
