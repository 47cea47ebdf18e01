"""From samples to padded tensors: what is trained, in parts that fit a budget of tokens."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from hexathlon.baselines.algorithms.samples import Array, Sample

__all__ = ["Example", "MicroBatch", "SharedPrefix", "parts_of", "shared_prefix"]

_WORTH = 0.1
"""Share of a part's tokens that has to be saved for a beginning to be read apart."""


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
class SharedPrefix:
    """A beginning that several rows have in common, so that it is computed once."""

    length: int
    rows: Tensor
    """One row for each different beginning."""

    index: Tensor
    """`[rows]`, which of these a row begins with."""


@dataclass(frozen=True, slots=True)
class MicroBatch:
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

    prefix: SharedPrefix | None = None


def parts_of(
    examples: Sequence[Example], budget: int, device: torch.device, dtype: torch.dtype
) -> list[MicroBatch]:
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
) -> MicroBatch:
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
    return MicroBatch(
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
        prefix=_on(shared_prefix([one.sample.ids for one in chosen]), device),
    )


def shared_prefix(rows: Sequence[np.ndarray]) -> tuple[int, list[int], list[int]] | None:
    """Find the length at which computing equal beginnings once saves most tokens.

    With rows in lexicographic order, neighbours that agree in p tokens or more save p tokens each.

    Returns:
        The length, one row for each different beginning and which of them each row has; None where
        little would be saved.
    """
    limit = min(len(row) for row in rows) - 2  # something is left, and the last is never read
    if len(rows) < 2 or limit < 1:
        return None
    begins = np.stack([row[:limit] for row in rows])
    order = np.lexsort(begins.T[::-1])
    differ = begins[order[1:]] != begins[order[:-1]]
    common = np.where(differ.any(axis=1), differ.argmax(axis=1), limit)
    saved, length = max((int(p * (common >= p).sum()), int(p)) for p in set(common.tolist()))
    if saved < _WORTH * len(rows) * max(len(row) for row in rows):
        return None
    kinds = np.concatenate([[0], np.cumsum(common < length)])
    index = np.empty(len(rows), dtype=np.int64)
    index[order] = kinds
    firsts = [int(order[np.argmax(kinds == kind)]) for kind in range(int(kinds[-1]) + 1)]
    return length, firsts, [int(kind) for kind in index]


def _on(
    found: tuple[int, list[int], list[int]] | None, device: torch.device
) -> SharedPrefix | None:
    if found is None:
        return None
    length, rows, index = found
    return SharedPrefix(
        length, torch.tensor(rows, device=device), torch.tensor(index, device=device)
    )


def _versions(sample: Sample) -> np.ndarray:
    return np.full(len(sample.ids), -1) if sample.version is None else sample.version
