"""Random token batches in double precision, for comparison of our losses with other libraries'."""

import torch

from hexathlon.baselines.algorithms.aggregation import AGGREGATIONS, count
from hexathlon.baselines.algorithms.losses import SURROGATES, TokenBatch


def token_batch(seed: int, *, rows: int = 6, tokens: int = 9, holes: bool = True) -> TokenBatch:
    """Return rows of unequal length, with gaps for observations, and advantages by row."""
    draw = torch.Generator().manual_seed(seed)

    def noise(scale: float) -> torch.Tensor:
        return scale * torch.randn(rows, tokens, generator=draw, dtype=torch.float64)

    lengths = torch.randint(2, tokens + 1, (rows, 1), generator=draw)
    mask = (torch.arange(tokens) < lengths).double()
    if holes:
        mask[:, 3] = 0.0
    current = -noise(1.0).abs() - 0.05
    return TokenBatch(
        current=current.requires_grad_(),
        proximal=current.detach() + noise(0.3),
        behaviour=current.detach() + noise(0.4),
        advantage=noise(1.0)[:, :1].expand(rows, tokens).contiguous(),
        mask=mask,
        turn=torch.zeros(rows, tokens, dtype=torch.long),
        reference=current.detach() + noise(0.5),
    )


def ours(
    batch: TokenBatch,
    surrogate: str,
    bounds: tuple[float, float],
    rule: str,
    weight: torch.Tensor | float = 1.0,
    length: int = 0,
    **parameters: float | bool,
) -> torch.Tensor:
    """Return the loss of one surrogate under one averaging rule."""
    fixed = {"length": length} if length else {}
    scale = AGGREGATIONS[rule](batch.mask, count(batch.mask), **fixed)
    return (SURROGATES[surrogate](batch, bounds, **parameters).values * weight * scale).sum()


def same_value_and_gradient(one: torch.Tensor, other: torch.Tensor, batch: TokenBatch) -> None:
    """Check that two losses of the same batch agree to rounding."""
    assert float(one) == float(one)
    torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-9)
    first, second = (
        torch.autograd.grad(loss, batch.current, retain_graph=True)[0] for loss in (one, other)
    )
    assert float(first.abs().max()) > 0
    torch.testing.assert_close(first, second, rtol=1e-6, atol=1e-9)
