"""The longest common subsequence of two sequences."""

from collections.abc import Hashable, Sequence

__all__ = ["common_length"]


def common_length(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Return the length of the longest common subsequence, by bits (Hyyrö 2004).

    >>> common_length("abcd", "xbydz"), common_length(["a", "b"], ["b", "a"])
    (2, 1)
    """
    places: dict[Hashable, int] = {}
    for position, item in enumerate(first):
        places[item] = places.get(item, 0) | 1 << position
    full = (1 << len(first)) - 1
    row = full
    for item in second:
        match = row & places.get(item, 0)
        row = ((row + match) | (row - match)) & full
    return len(first) - row.bit_count()
