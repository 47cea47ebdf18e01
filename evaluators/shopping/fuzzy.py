"""`token_set_ratio` as defined by the fuzzy-matching packages, on the standard library alone.

Definition: both texts become sets of words; the common words, and those of only one text, are
sorted and joined; the ratio is the best of three comparisons by insertions and deletions
(2 x longest common subsequence over the total length), times 100, rounded.
"""

import re

from hexathlon.evaluators.subsequence import common_length

__all__ = ["token_set_ratio"]

_OTHER = re.compile(r"[^a-z0-9]")


def token_set_ratio(first: str, second: str) -> int:
    """Return the similarity of two texts as sets of words, 0 to 100.

    >>> token_set_ratio("machine washable", "Washable, by machine"), token_set_ratio("a", "")
    (100, 0)
    """
    a, b = _tokens(first), _tokens(second)
    if not a or not b:
        return 0
    shared = " ".join(sorted(a & b))
    left, right = " ".join(sorted(a - b)), " ".join(sorted(b - a))
    if shared and not (left and right):
        return 100
    gap = 1 if shared else 0
    whole_left, whole_right = len(shared) + gap + len(left), len(shared) + gap + len(right)
    distance = len(left) + len(right) - 2 * common_length(left, right)
    best = 1 - distance / (whole_left + whole_right)
    if shared:
        for whole, extra in ((whole_left, left), (whole_right, right)):
            best = max(best, 1 - (gap + len(extra)) / (len(shared) + whole))
    return round(100 * best)


def _tokens(text: str) -> set[str]:
    # The packages drop non-ASCII characters before anything else.
    ascii_only = text.encode("ascii", "ignore").decode().lower()
    return set(_OTHER.sub(" ", ascii_only).split())
