"""From samples to padded tensors: what is trained, in parts that fit a budget of tokens."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from hexathlon.baselines.algorithms.samples import Array, Sample

__all__ = ["Example", "Part", "parts_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A sample with the streams that an algorithm gave it, all `[tokens]`."""

    sample: Sample
    advantage: Array
    weight: Array
    """How much each token's policy term counts; tokens at 0 are not trained and not counted."""

    returns: Array | None = None
    """Targets of the critic."""

    proximal: Array | None = None
    """Log-probability at the start of the update; None takes the current one."""

    reference: Array | None = None
    old_values: Array | None = None
    """The critic's values at the start of the update."""


@dataclass(frozen=True, slots=True)
class Part:
    """Examples that go through the model together, `[rows, tokens]`, padded on the right.

    Column t speaks of token t + 1, which the model predicts from the tokens up to t.
    """

    ids: Tensor
    """`[rows, tokens + 1]`."""

    mask: Tensor
    """1 on trained tokens."""

    observed: Tensor
    advantage: Tensor
    weight: Tensor
    behaviour: Tensor
    turn: Tensor
    version: Tensor
    """Policy version that drew each token; -1 where none did or none is known."""

    proximal: Tensor | None
    reference: Tensor | None
    returns: Tensor | None
    old_values: Tensor | None
    rows: tuple[int, ...]
    """Numbers of the examples among those given."""


def parts_of(
    examples: Sequence[Example], budget: int, device: torch.device, dtype: torch.dtype
) -> list[Part]:
    """Sort examples by length and cut them into parts of at most `budget` tokens with padding.

    An example longer than the budget is a part of its own.
    """
    order = sorted(range(len(examples)), key=lambda n: len(examples[n].sample.ids))
    parts: list[list[int]] = []
    for number in order:
        length = len(examples[number].sample.ids)
        if parts and (len(parts[-1]) + 1) * length <= budget:
            parts[-1].append(number)
        else:
            parts.append([number])
    return [_part(examples, rows, device, dtype) for rows in parts]


def _part(
    examples: Sequence[Example], rows: list[int], device: torch.device, dtype: torch.dtype
) -> Part:
    chosen = [examples[number] for number in rows]
    width = max(len(one.sample.ids) for one in chosen)

    def padded(arrays: Sequence[np.ndarray], fill: float = 0.0) -> np.ndarray:
        block = np.full((len(arrays), width), fill)
        for row, array in zip(block, arrays, strict=True):
            row[: len(array)] = array
        return block

    def shifted(arrays: Sequence[np.ndarray], fill: float = 0.0) -> Tensor:
        return torch.as_tensor(padded(arrays, fill)[:, 1:], dtype=dtype, device=device)

    def optional(name: str) -> Tensor | None:
        arrays = [getattr(one, name) for one in chosen]
        return None if any(array is None for array in arrays) else shifted(arrays)

    trained = [one.sample.sampled & (one.weight != 0) for one in chosen]
    ids = torch.as_tensor(padded([one.sample.ids for one in chosen]), device=device).long()
    return Part(
        ids=ids,
        mask=shifted(trained),
        observed=shifted([one.sample.observed for one in chosen]),
        advantage=shifted([one.advantage for one in chosen]),
        weight=shifted([one.weight for one in chosen]),
        behaviour=shifted([one.sample.behaviour for one in chosen]),
        turn=shifted([one.sample.turn for one in chosen], -1).long(),
        version=shifted([_versions(one.sample) for one in chosen], -1).long(),
        proximal=optional("proximal"),
        reference=optional("reference"),
        returns=optional("returns"),
        old_values=optional("old_values"),
        rows=tuple(rows),
    )


def _versions(sample: Sample) -> np.ndarray:
    return np.full(len(sample.ids), -1) if sample.version is None else sample.version
