"""Batches: samples as padded tensors, in parts that fit a budget of tokens."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from hexathlon.baselines.algorithms.samples import Array, Mask, Sample

__all__ = ["Example", "MicroBatch", "SharedPrefix", "idle_part", "parts_of", "shared_prefix",
           "token_values"]  # fmt: skip

_WORTHWHILE = 0.1
"""Minimum share of a part's tokens that computing a prefix separately must save."""


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A sample with its streams from the algorithm, all `[tokens]`."""

    sample: Sample
    advantage: Array
    weight: Array
    """Weight of each token's policy term; tokens with 0 are neither trained nor counted."""

    returns: Array | None = None
    """Targets of the critic."""

    proximal: Array | None = None
    """Log-probability at the start of the update; None uses the current one."""

    reference: Array | None = None
    old_values: Array | None = None
    """The critic's values at the start of the update."""

    counted: Mask | None = None
    """Sampled tokens that averages count, trained or withheld; None counts the trained ones."""

    streams: Mapping[str, Array] = field(default_factory=dict)
    """Further values by name, the same names in all examples of an update."""


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """Prefixes shared by several rows, computed once each."""

    length: int
    rows: Tensor
    """`[prefixes]`, a row for each distinct prefix."""

    index: Tensor
    """`[rows]`, the number of each row's prefix among these."""


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """Examples of one forward pass, `[rows, tokens]`, padded on the right.

    Column t is about token t + 1, which the model predicts from the tokens up to t.
    """

    ids: Tensor
    """`[rows, tokens + 1]`."""

    mask: Tensor
    """1 on trained tokens."""

    counted: Tensor
    """1 on tokens that averages count."""

    observed: Tensor
    advantage: Tensor
    weight: Tensor
    behaviour: Tensor
    turn: Tensor
    version: Tensor
    """Policy version that sampled each token; -1 where none did or it is unknown."""

    proximal: Tensor | None
    reference: Tensor | None
    returns: Tensor | None
    old_values: Tensor | None
    rows: tuple[int, ...]
    """Indices of the examples among those passed to `parts_of`."""

    prefix: SharedPrefix | None = None
    lengths: Tensor | None = None
    """`[rows]`, inputs of each row, where rows are computed as one without padding."""

    streams: Mapping[str, Tensor] = field(default_factory=dict)
    """Those of the examples; empty in an idle part."""


def parts_of(
    examples: Sequence[Example],
    budget: int,
    device: torch.device,
    dtype: torch.dtype,
    *,
    packed: bool = False,
    prefixes: bool = True,
) -> list[MicroBatch]:
    """Sort examples by length and cut them into parts of at most `budget` tokens.

    An example longer than the budget forms a part alone.

    Args:
        examples: The examples.
        budget: Largest number of tokens of a part: with padding, or without if it is packed.
        device: Device of the tensors.
        dtype: Type of the streams.
        packed: Whether the rows of a part are computed as one, without padding.
        prefixes: Whether prefixes shared by rows are computed once; never where they are packed.
    """
    order = sorted(range(len(examples)), key=lambda n: len(examples[n].sample.ids))
    parts: list[list[int]] = []
    tokens = 0
    for number in order:
        length = len(examples[number].sample.ids)
        needed = tokens + length if packed or not parts else (len(parts[-1]) + 1) * length
        if parts and needed <= budget:
            parts[-1].append(number)
            tokens += length
        else:
            parts.append([number])
            tokens = length
    return [_part(examples, rows, device, dtype, packed, prefixes and not packed) for rows in parts]


def token_values(
    samples: Sequence[Sample],
    parts: Sequence[MicroBatch],
    evaluate: Callable[[MicroBatch], Tensor],
) -> list[Array]:
    """Return values of tokens without gradients, `[tokens]` per sample; 0 for first tokens.

    Args:
        samples: The samples.
        parts: The same, cut into parts.
        evaluate: Maps a part to the values of all tokens but the first, `[rows, tokens]`.
    """
    values: list[Array] = [np.zeros(len(sample.ids)) for sample in samples]
    with torch.no_grad():
        for part in parts:
            rows = evaluate(part).double().cpu().numpy()
            for row, number in zip(rows, part.rows, strict=False):  # an idle part has no examples
                values[number][1:] = row[: len(values[number]) - 1]
    return values


def idle_part(device: torch.device, dtype: torch.dtype) -> MicroBatch:
    """Return a part without examples, for a forward pass in which every rank must take part."""
    zeros = torch.zeros(1, 1, device=device, dtype=dtype)
    none = torch.full((1, 1), -1, device=device)
    return MicroBatch(
        ids=torch.zeros(1, 2, device=device, dtype=torch.long),
        mask=zeros,
        counted=zeros,
        observed=zeros,
        advantage=zeros,
        weight=zeros,
        behaviour=zeros,
        turn=none,
        version=none,
        proximal=None,
        reference=zeros,
        returns=zeros,
        old_values=zeros,
        rows=(),
    )


def _part(
    examples: Sequence[Example],
    rows: list[int],
    device: torch.device,
    dtype: torch.dtype,
    packed: bool,
    prefixes: bool,
) -> MicroBatch:
    chosen = [examples[number] for number in rows]
    width = max(len(example.sample.ids) for example in chosen)

    def padded(arrays: Sequence[np.ndarray], fill: float = 0.0) -> np.ndarray:
        block = np.full((len(arrays), width), fill)
        for row, array in zip(block, arrays, strict=True):
            row[: len(array)] = array
        return block

    def shifted(arrays: Sequence[np.ndarray], fill: float = 0.0) -> Tensor:
        return torch.as_tensor(padded(arrays, fill)[:, 1:], dtype=dtype, device=device)

    def optional(name: str) -> Tensor | None:
        arrays = [getattr(example, name) for example in chosen]
        return None if any(array is None for array in arrays) else shifted(arrays)

    samples = [example.sample for example in chosen]
    trained = [example.sample.sampled & (example.weight != 0) for example in chosen]
    counted = [
        mask if example.counted is None else example.sample.sampled & example.counted
        for example, mask in zip(chosen, trained, strict=True)
    ]
    # Not by way of floats, whose 53 bits cut off the pixels in a patch's id.
    ids = np.zeros((len(samples), width), dtype=np.int64)
    for row, sample in zip(ids, samples, strict=True):
        row[: len(sample.ids)] = sample.ids
    return MicroBatch(
        ids=torch.as_tensor(ids, device=device),
        mask=shifted(trained),
        counted=shifted(counted),
        observed=shifted([sample.observed for sample in samples]),
        advantage=shifted([example.advantage for example in chosen]),
        weight=shifted([example.weight for example in chosen]),
        behaviour=shifted([sample.behaviour for sample in samples]),
        turn=shifted([sample.turn for sample in samples], -1).long(),
        version=shifted([_versions(sample) for sample in samples], -1).long(),
        proximal=optional("proximal"),
        reference=optional("reference"),
        returns=optional("returns"),
        old_values=optional("old_values"),
        rows=tuple(rows),
        prefix=_on(shared_prefix([sample.ids for sample in samples]), device) if prefixes else None,
        lengths=torch.tensor([len(sample.ids) - 1 for sample in samples], device=device)
        if packed
        else None,
        streams={
            name: shifted([example.streams[name] for example in chosen])
            for name in chosen[0].streams
        },
    )


def shared_prefix(rows: Sequence[np.ndarray]) -> tuple[int, list[int], list[int]] | None:
    """Find the prefix length at which computing equal prefixes once saves the most tokens.

    With rows in lexicographic order, neighbours with p or more tokens in common save p tokens each.

    Returns:
        The length, a row for each distinct prefix, and the number of each row's prefix; None where
        little would be saved.
    """
    limit = min(len(row) for row in rows) - 2  # leaves a token to compute; the last is not an input
    if len(rows) < 2 or limit < 1:
        return None
    heads = np.stack([row[:limit] for row in rows])
    order = np.lexsort(heads.T[::-1])
    differ = heads[order[1:]] != heads[order[:-1]]
    common = np.where(differ.any(axis=1), differ.argmax(axis=1), limit)
    saved, length = max((int(p * (common >= p).sum()), int(p)) for p in set(common.tolist()))
    if saved < _WORTHWHILE * len(rows) * max(len(row) for row in rows):
        return None
    kinds = np.concatenate([[0], np.cumsum(common < length)])
    index = np.empty(len(rows), dtype=np.int64)
    index[order] = kinds
    firsts = [int(order[np.argmax(kinds == kind)]) for kind in range(int(kinds[-1]) + 1)]
    return length, firsts, [int(kind) for kind in index]


def _on(
    prefix: tuple[int, list[int], list[int]] | None, device: torch.device
) -> SharedPrefix | None:
    if prefix is None:
        return None
    length, rows, index = prefix
    return SharedPrefix(
        length, torch.tensor(rows, device=device), torch.tensor(index, device=device)
    )


def _versions(sample: Sample) -> np.ndarray:
    return np.full(len(sample.ids), -1) if sample.version is None else sample.version
