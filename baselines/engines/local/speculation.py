"""Speculative decoding: guessed tokens are checked in one pass, with the same tokens as without.

A drafter proposes the next tokens of a sequence, one pass of the model computes the distributions
after each of them, and each is sampled with the number that the request's draws have for its place.
A proposed token stays if it is the one sampled; the first that differs is replaced by the sampled
one, and the rest is dropped. For a drafter that proposes one token with certainty, this accepts
with probability p(token), as the rejection rule min(1, p/q) of speculative sampling does (Leviathan
et al. 2023), and moreover the outcome is, draw by draw, that of plain sampling.

The drafter follows the policy: it remembers which token came after the last few in what the engine
read and sampled most recently (the model-free drafter of TLT, Hu et al. 2025). Whether and how far
to speculate is decided by measured costs, after EfficientRollout: a pass over k proposed tokens
yields (1 - a^(k+1)) / (1 - a) tokens on average, where a is the share accepted.
"""

from collections.abc import Sequence
from itertools import islice

__all__ = ["NgramDrafter", "Pace"]

_ORDERS = (4, 3, 2)
"""Numbers of preceding tokens that are looked up, the longest first."""

_ENTRIES = 1 << 18
"""Contexts after which the older half of a drafter's memory is dropped."""

_STEP = 0.1
"""Weight of a new measurement in a moving average."""

_REVIEW = 50
"""Every so many passes, a length that is not the best is tried, to measure it again."""


class NgramDrafter:
    """Proposes the tokens that most recently followed the same few tokens.

    Args:
        entries: Number of contexts remembered at least; at most twice as many.
    """

    def __init__(self, entries: int = _ENTRIES) -> None:
        self._entries = entries
        self._recent: dict[tuple[int, ...], int] = {}
        self._older: dict[tuple[int, ...], int] = {}

    def observe(self, ids: Sequence[int], start: int = 0) -> None:
        """Remember the tokens of a sequence from position `start` on."""
        for order in _ORDERS:
            for end in range(max(start, order), len(ids)):
                self._recent[tuple(ids[end - order : end])] = ids[end]
        if len(self._recent) > self._entries:
            self._older, self._recent = self._recent, {}

    def propose(self, ids: Sequence[int], count: int) -> list[int]:
        """Return at most `count` tokens that may continue a sequence."""
        context = list(ids[-_ORDERS[0] :])
        proposed: list[int] = []
        while len(proposed) < count:
            token = self._next(context)
            if token is None:
                break
            proposed.append(token)
            context = [*context[1 - _ORDERS[0] :], token]
        return proposed

    def _next(self, context: list[int]) -> int | None:
        for order in _ORDERS:
            key = tuple(context[-order:])
            token = self._recent.get(key, self._older.get(key))
            if token is not None:
                return token
        return None


class Pace:
    """Chooses how many tokens to propose, from measured costs and the share accepted.

    Args:
        longest: Maximum number of tokens to propose.
    """

    def __init__(self, longest: int) -> None:
        self.lengths = [0, *(k for k in (1, 2, 3, 5, 7, 11, 15) if k < longest), longest]
        self.accepted = 0.5
        """Moving average of the share of proposed tokens that is accepted."""

        self._seconds: dict[tuple[int, int], float] = {}
        self._passes = 0

    def choose(self, rows: int) -> int:
        """Return the number of tokens to propose for each of `rows` sequences; 0 for none."""
        self._passes += 1
        bucket = rows.bit_length()
        unknown = [k for k in self.lengths if (bucket, k) not in self._seconds]
        if unknown:
            return unknown[0]
        if self._passes % _REVIEW == 0:
            return next(islice(self.lengths, self._passes // _REVIEW % len(self.lengths), None))
        return max(self.lengths, key=lambda k: self.tokens(k) / self._seconds[bucket, k])

    def tokens(self, length: int) -> float:
        """Return the expected number of tokens of a pass that proposes `length` tokens."""
        a = min(self.accepted, 0.999)
        return (1 - a ** (length + 1)) / (1 - a)

    def measured(self, rows: int, length: int, seconds: float) -> None:
        """Note what a pass took."""
        key = rows.bit_length(), length
        before = self._seconds.get(key, seconds)
        self._seconds[key] = before + _STEP * (seconds - before)

    def judged(self, accepted: int, rejected: int) -> None:
        """Note how many tokens of a pass were accepted before the first that was not."""
        for share in (*(1.0,) * accepted, *(0.0,) * rejected):
            self.accepted += _STEP / 2 * (share - self.accepted)
