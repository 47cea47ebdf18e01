"""Key-value store: keys and values of many sequences in one block of memory per layer.

Active sequences occupy the first rows, so that a step reads a contiguous slice; a sequence that
becomes idle is swapped with the last active one.
"""

from typing import ClassVar, Self

import torch
from torch import Tensor

__all__ = ["KeyValueStore", "padded"]


def padded(count: int, block: int) -> int:
    """Return a count rounded up to a multiple of a block."""
    return -(-count // block) * block


class KeyValueStore:
    """Rows of keys and values, `[rows, heads, length, width]` per layer.

    Args:
        layers: Number of layers.
        rows: Number of sequences.
        heads: Number of key-value heads.
        length: Number of positions per row.
        width: Size of a head.
        dtype: Type of the entries.
        device: Device of the store.
    """

    block: ClassVar[int] = 1
    """Positions that lie together: the length is a multiple of it, and whole blocks are copied."""

    def __init__(
        self,
        layers: int,
        rows: int,
        heads: int,
        length: int,
        width: int,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        shape = (rows, heads, padded(length, self.block), width)
        self._keys = [torch.zeros(shape, dtype=dtype, device=device) for _ in range(layers)]
        self._values = [torch.zeros(shape, dtype=dtype, device=device) for _ in range(layers)]
        self._row = torch.arange(rows, device=device)
        self._head = torch.arange(heads, device=device)

    @property
    def rows(self) -> int:
        """Number of sequences."""
        return self._keys[0].shape[0]

    @property
    def length(self) -> int:
        """Number of positions per row."""
        return self._keys[0].shape[2]

    def places(self, first: int, positions: Tensor) -> Tensor:
        """Return the flat indices of entries, which are the same in every layer.

        Args:
            first: Index of the first of consecutive rows.
            positions: `[rows, tokens]`.

        Returns:
            Indices for `write`, `[rows * tokens * heads]`.
        """
        _, heads, length, _ = self._keys[0].shape
        row = self._row[first : first + len(positions), None, None]
        return ((row * heads + self._head) * length + positions[:, :, None]).flatten()

    def write(self, layer: int, places: Tensor, key: Tensor, value: Tensor) -> None:
        """Write new entries of a layer, `[rows, tokens, heads, width]`."""
        for block, entries in ((self._keys[layer], key), (self._values[layer], value)):
            width = block.shape[-1]
            block.view(-1, width).index_copy_(0, places, entries.reshape(-1, width))

    def read(self, layer: int, first: int, rows: int, length: int) -> tuple[Tensor, Tensor]:
        """Return keys and values of consecutive rows as views, `[rows, heads, length, width]`."""
        last = first + rows
        keys, values = self._keys[layer], self._values[layer]
        return keys[first:last, :, :length], values[first:last, :, :length]

    def copy(self, source: int, target: int, length: int) -> None:
        """Copy the first positions of a row to another one."""
        length = padded(length, self.block)
        for block in (*self._keys, *self._values):
            block[target, :, :length] = block[source, :, :length]

    def swap(self, first: int, second: int, length: int) -> None:
        """Swap the first positions of two rows."""
        if first == second:
            return
        length = padded(length, self.block)
        for block in (*self._keys, *self._values):
            kept = block[first, :, :length].clone()
            block[first, :, :length] = block[second, :, :length]
            block[second, :, :length] = kept

    def grown(self, rows: int, length: int) -> Self:
        """Return a store of at least this size with the same contents."""
        old = self._keys[0]
        grown = type(self)(
            len(self._keys),
            max(rows, self.rows),
            old.shape[1],
            max(length, self.length),
            old.shape[3],
            old.dtype,
            old.device,
        )
        pairs = zip((*self._keys, *self._values), (*grown._keys, *grown._values), strict=True)
        for source, target in pairs:
            target[: self.rows, :, : self.length] = source
        return grown
