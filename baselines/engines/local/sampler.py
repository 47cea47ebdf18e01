"""Drawing tokens: each row by its own numbers, whatever else is in the batch."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from hexathlon.baselines.tokens.requests import TokenSampling

__all__ = ["Draws", "RowSampling", "sample"]


class Draws:
    """The uniform numbers of one request, in order; a function of its seed alone.

    Args:
        seed: The request's seed.
        count: How many it may need.
        skip: How many were taken before.
    """

    def __init__(self, seed: int, count: int, skip: int = 0) -> None:
        generator = np.random.Generator(np.random.Philox(key=seed % 2**64))
        self._numbers: Iterator[float] = iter(generator.random(skip + count)[skip:].tolist())

    def take(self) -> float:
        """Return the next number in [0, 1)."""
        return next(self._numbers)


class RowSampling(NamedTuple):
    """Settings of the rows as tensors, `[rows, 1]`; rebuilt when the rows change."""

    temperature: Tensor
    greedy: Tensor
    top_p: Tensor | None
    """None where no row cuts by probability."""

    top_k: Tensor | None
    """None where no row cuts by rank."""

    all_greedy: bool
    plain: bool
    """Whether every row draws at temperature 1 from all tokens."""

    @staticmethod
    def of(settings: list[TokenSampling], device: torch.device) -> "RowSampling":
        """Gather the settings of rows."""

        def column(values: list[float]) -> Tensor:
            return torch.tensor(values, dtype=torch.float32, device=device)[:, None]

        temperatures = [one.temperature for one in settings]
        top_p, top_k = [one.top_p for one in settings], [one.top_k for one in settings]
        cut_p, cut_k = min(top_p) < 1, max(top_k) > 0
        return RowSampling(
            temperature=column([t or 1.0 for t in temperatures]),
            greedy=column([float(t == 0) for t in temperatures]) > 0,
            top_p=column(top_p) if cut_p else None,
            top_k=column([float(k) for k in top_k]).long() if cut_k else None,
            all_greedy=max(temperatures) == 0,
            plain=set(temperatures) == {1.0} and not cut_p and not cut_k,
        )


def _cut(logits: Tensor, rows: RowSampling) -> Tensor:
    """Put minus infinity on the tokens that a row may not draw."""
    ordered, order = logits.sort(-1, descending=True)
    rank = torch.arange(logits.shape[-1], device=logits.device)
    gone = torch.zeros_like(ordered, dtype=torch.bool)
    if rows.top_k is not None:
        gone |= (rows.top_k > 0) & (rank >= rows.top_k)
    if rows.top_p is not None:
        ordered = ordered.masked_fill(gone, float("-inf"))
        share = ordered.softmax(-1)
        gone |= (share.cumsum(-1) - share) >= rows.top_p
        gone[:, 0] = False
    return logits.masked_fill(torch.zeros_like(gone).scatter(-1, order, gone), float("-inf"))


def sample(logits: Tensor, rows: RowSampling, numbers: Tensor) -> tuple[Tensor, Tensor]:
    """Draw a token for each row by inverting the distribution function.

    Args:
        logits: `[rows, vocabulary]`.
        rows: Settings.
        numbers: `[rows, 1]` uniform numbers.

    Returns:
        Token ids and their log-probabilities, `[rows]` each. Of a greedy row it is the
        log-probability at temperature 1.
    """
    logits = logits.float()
    if not rows.plain:
        logits = logits / rows.temperature
        if rows.top_p is not None or rows.top_k is not None:
            logits = _cut(logits, rows)
    log_probabilities = logits.log_softmax(-1)
    if rows.all_greedy:
        chosen = logits.argmax(-1, keepdim=True)
    else:
        reached = log_probabilities.exp().double().cumsum(-1)
        target = numbers.double() * reached[:, -1:]
        chosen = torch.searchsorted(reached, target, right=True)
        chosen = chosen.clamp(max=logits.shape[-1] - 1)
        if bool(rows.greedy.any()):
            chosen = torch.where(rows.greedy, logits.argmax(-1, keepdim=True), chosen)
    return chosen[:, 0], log_probabilities.gather(-1, chosen)[:, 0]
