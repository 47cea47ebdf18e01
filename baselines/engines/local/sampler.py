"""Token sampling in which each row has its own random numbers, independent of the batch."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from hexathlon.baselines.tokens.requests import EntropyScale, TokenSampling

__all__ = ["Draws", "RowSampling", "entropies", "sample"]


class Draws:
    """The sequence of uniform random numbers of one request, determined by its seed.

    Args:
        seed: The request's seed.
        count: Maximum number of draws.
        skip: Number of draws to skip.
    """

    def __init__(self, seed: int, count: int, skip: int = 0) -> None:
        generator = np.random.Generator(np.random.Philox(key=seed % 2**64))
        self._numbers: list[float] = generator.random(skip + count)[skip:].tolist()
        self._taken = 0

    def take(self) -> float:
        """Return the next number in [0, 1)."""
        self._taken += 1
        return self._numbers[self._taken - 1]

    def ahead(self, count: int) -> list[float]:
        """Return the next numbers, as many as `count` or as are left, without taking them."""
        return self._numbers[self._taken : self._taken + count]


class RowSampling(NamedTuple):
    """Sampling parameters of the rows as tensors, `[rows, 1]`; rebuilt when the rows change."""

    temperature: Tensor
    greedy: Tensor
    top_p: Tensor | None
    """None if no row uses top-p."""

    top_k: Tensor | None
    """None if no row uses top-k."""

    all_greedy: bool
    plain: bool
    """Whether every row samples at temperature 1 from all tokens."""

    heat: Tensor | None = None
    """None if no row's temperature depends on the entropy."""

    scale: EntropyScale | None = None

    @staticmethod
    def of(
        settings: list[TokenSampling], device: torch.device, scale: EntropyScale | None = None
    ) -> "RowSampling":
        """Return the parameters of rows as tensors.

        Args:
            settings: Those of each row.
            device: The tensors' device.
            scale: Scale of the rows whose temperature depends on the entropy.
        """

        def column(values: list[float]) -> Tensor:
            return torch.tensor(values, dtype=torch.float32, device=device)[:, None]

        temperatures = [row.temperature for row in settings]
        top_p, top_k = [row.top_p for row in settings], [row.top_k for row in settings]
        uses_p, uses_k = min(top_p) < 1, max(top_k) > 0
        heats = [row.heat for row in settings]
        heated = scale is not None and max(heats) > 0
        return RowSampling(
            temperature=column([t or 1.0 for t in temperatures]),
            greedy=column([float(t == 0) for t in temperatures]) > 0,
            top_p=column(top_p) if uses_p else None,
            top_k=column([float(k) for k in top_k]).long() if uses_k else None,
            all_greedy=max(temperatures) == 0,
            plain=set(temperatures) == {1.0} and not uses_p and not uses_k and not heated,
            heat=column(heats) if heated else None,
            scale=scale,
        )

    def repeated(self, times: int) -> "RowSampling":
        """Return the parameters with each row repeated."""

        def several(column: Tensor | None) -> Tensor | None:
            return None if column is None else column.repeat_interleave(times, 0)

        return self._replace(
            temperature=self.temperature.repeat_interleave(times, 0),
            greedy=self.greedy.repeat_interleave(times, 0),
            top_p=several(self.top_p),
            top_k=several(self.top_k),
            heat=several(self.heat),
        )


def _truncated(logits: Tensor, rows: RowSampling) -> Tensor:
    """Set the logits of tokens outside top-k and top-p to minus infinity."""
    ordered, order = logits.sort(-1, descending=True)
    rank = torch.arange(logits.shape[-1], device=logits.device)
    excluded = torch.zeros_like(ordered, dtype=torch.bool)
    if rows.top_k is not None:
        excluded |= (rows.top_k > 0) & (rank >= rows.top_k)
    if rows.top_p is not None:
        ordered = ordered.masked_fill(excluded, float("-inf"))
        share = ordered.softmax(-1)
        excluded |= (share.cumsum(-1) - share) >= rows.top_p
        excluded[:, 0] = False
    mask = torch.zeros_like(excluded).scatter(-1, order, excluded)
    return logits.masked_fill(mask, float("-inf"))


def _temperature(logits: Tensor, rows: RowSampling) -> Tensor:
    """Return each row's temperature, `[rows, 1]`, by the entropy where a row has heat."""
    if rows.heat is None or rows.scale is None:
        return rows.temperature
    lowest, median, highest = rows.scale
    centred = entropies(logits).clamp(min=1e-6).log() - median
    place = torch.where(
        centred > 0, centred / max(highest - median, 1e-9), centred / max(median - lowest, 1e-9)
    ).clamp(-1.0, 1.0)
    return rows.temperature * (1.0 + rows.heat * place[:, None])


def sample(logits: Tensor, rows: RowSampling, numbers: Tensor) -> tuple[Tensor, Tensor]:
    """Sample a token for each row by inverting the cumulative distribution function.

    Args:
        logits: `[rows, vocabulary]`.
        rows: Sampling parameters.
        numbers: `[rows, 1]`, uniform random numbers.

    Returns:
        Token ids and their log-probabilities, `[rows]` each; for greedy rows, the log-probability
        at temperature 1.
    """
    logits = logits.float()
    if not rows.plain:
        logits = logits / _temperature(logits, rows)
        if rows.top_p is not None or rows.top_k is not None:
            logits = _truncated(logits, rows)
    log_probabilities = logits.log_softmax(-1)
    if rows.all_greedy:
        chosen = logits.argmax(-1, keepdim=True)
    else:
        cumulative = log_probabilities.exp().double().cumsum(-1)
        target = numbers.double() * cumulative[:, -1:]
        chosen = torch.searchsorted(cumulative, target, right=True)
        chosen = chosen.clamp(max=logits.shape[-1] - 1)
        if bool(rows.greedy.any()):
            chosen = torch.where(rows.greedy, logits.argmax(-1, keepdim=True), chosen)
    return chosen[:, 0], log_probabilities.gather(-1, chosen)[:, 0]


def entropies(logits: Tensor) -> Tensor:
    """Return the entropy of each row's distribution at temperature 1, in nats, `[rows]`.

    Args:
        logits: `[rows, vocabulary]`.
    """
    log_probabilities = logits.float().log_softmax(-1)
    return -(log_probabilities.exp() * log_probabilities).sum(-1)
