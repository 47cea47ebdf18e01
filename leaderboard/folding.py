r"""Folding of repeated lines in chunks of records, before they are compressed.

Observations of long trials repeat whole screens of text, farther apart than the 32 kB in which
deflate finds repeats. A chunk is cut at its escaped newlines (``\n`` in JSON); runs of lines that
occurred before become references: the byte 1, which JSON cannot contain, the distance in lines, and
the number of lines. ``static/pack.js`` unfolds them as well.
"""

from __future__ import annotations

import numpy as np

__all__ = ["FOLDED", "fold", "unfold"]

FOLDED = b"\x02"
"""First byte of a folded chunk; no chunk of records begins with it."""
_REFERENCE = b"\x01"
_CUT = b"\\n"
_PAIR = np.frombuffer(_CUT, np.uint16)[0]
_SHORTEST = 12
"""Bytes that a reference must replace to be worth it."""


def fold(chunk: bytes) -> bytes:
    """Return the chunk with references for repeated lines, or unchanged if it has few lines."""
    if _cuts(chunk) * 200 <= len(chunk) or _REFERENCE in chunk or chunk[:1] == FOLDED:
        return chunk
    lines = chunk.split(_CUT)
    last: dict[bytes, int] = {}
    folded, at, size = [], 0, len(lines)
    while at < size:
        line = lines[at]
        earlier = last.get(line)
        end, length = at, 0
        if earlier is not None:
            shift = at - earlier
            while end < size and lines[end] == lines[end - shift]:
                length += len(lines[end]) + 2
                end += 1
        if length >= _SHORTEST:
            folded.append(b"\x01%d,%d" % (shift, end - at))
        else:
            end = at + 1
            folded.append(line)
        for place in range(at, end):
            last[lines[place]] = place
        at = end
    return FOLDED + _CUT.join(folded)


def _cuts(chunk: bytes) -> int:
    """Count escaped newlines as pairs of bytes, ten times as fast as ``bytes.count``."""
    pairs = [
        np.frombuffer(chunk, _PAIR.dtype, (len(chunk) - first) // 2, first)
        for first in (0, 1)
        if len(chunk) >= first + 2
    ]
    return sum(int(np.count_nonzero(found == _PAIR)) for found in pairs)


def unfold(chunk: bytes, longest: int = 1 << 28) -> bytes:
    """Return the chunk that was folded; others unchanged.

    Raises:
        ValueError: If a reference leads nowhere, or the result is longer than ``longest`` bytes.
    """
    if chunk[:1] != FOLDED:
        return chunk
    lines: list[bytes] = []
    size = 0
    for part in chunk[1:].split(_CUT):
        if part[:1] == _REFERENCE:
            shift, _, number = part[1:].partition(b",")
            if not (shift.isdigit() and number.isdigit() and 0 < int(shift) <= len(lines)):
                raise ValueError("a reference in a data file leads nowhere")
            start = len(lines) - int(shift)
            for place in range(start, start + min(int(number), longest)):
                lines.append(lines[place])
                size += len(lines[place]) + len(_CUT)
                if size > longest:
                    raise ValueError("a data file is too long")
        else:
            lines.append(part)
            size += len(part) + len(_CUT)
    return _CUT.join(lines)
