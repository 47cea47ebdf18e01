"""Search for answers that can be computed from values shown separately.

An answer may be shown in parts, shifted or scaled, so that no value equals it. The relations tried
are: one number times a constant plus a constant, and sum, difference, product, exclusive or, and
concatenation of two values.
"""

import itertools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["derivation"]

_FEWEST = 5
"""Fewer tasks may agree by chance."""

_MOSTLY = 0.9
_MOST_PATHS = 30

_Values = Sequence[str | None]
"""A value of each task as text; None where it is not shown."""


def derivation(shown: Sequence[Mapping[str, str]], truth: Sequence[str]) -> str:
    """Return how the answer of nearly every task follows from values shown; empty if it does not.

    Args:
        shown: Values shown in each task, by place, as text.
        truth: The answer of each task.
    """
    if len(truth) < _FEWEST or len(set(truth)) < min(_FEWEST, len(truth)):
        return ""
    places = sorted({place for values in shown for place in values})
    columns = {place: [values.get(place) for values in shown] for place in places}
    varying = {p: c for p, c in columns.items() if len({v for v in c if v is not None}) > 2}
    kept = dict(itertools.islice(varying.items(), _MOST_PATHS))
    for place, values in kept.items():
        if _is_affine(values, truth):
            return f"{place} times and plus constants"
    for (first, ones), (second, others) in itertools.permutations(kept.items(), 2):
        for name, combine in _PAIRS.items():
            if _agree(map(combine, ones, others), truth):
                return f"{first} {name} {second}"
    return ""


def _is_affine(values: _Values, truth: Sequence[str]) -> bool:
    """Whether most answers are the value times a constant plus a constant."""
    points = [
        (x, y)
        for x, y in zip(map(_number, values), map(_number, truth), strict=True)
        if x is not None and y is not None
    ]
    if len(points) < max(_FEWEST, _MOSTLY * len(truth)):
        return False
    return any(
        sum(line(x) == y for x, y in points) >= _MOSTLY * len(truth) for line in _lines(points)
    )


def _lines(points: Sequence[tuple[Fraction, Fraction]]) -> Iterator[Callable[[Fraction], Fraction]]:
    """Yield lines through early pairs of points; one in ten of the points may be off."""
    for (x1, y1), (x2, y2) in itertools.combinations(points[:5], 2):
        if x1 != x2 and y1 != y2:
            slope = (y2 - y1) / (x2 - x1)
            yield lambda x, slope=slope, x1=x1, y1=y1: y1 + slope * (x - x1)  # type: ignore[misc]


def _agree(computed: Iterator[str | None], truth: Sequence[str]) -> bool:
    hits = sum(a is not None and a == b for a, b in zip(computed, truth, strict=True))
    return hits >= max(_FEWEST, _MOSTLY * len(truth))


def _number(text: str | None) -> Fraction | None:
    try:
        return None if text is None else Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


def _numeric(combine: Callable[[Any, Any], Any], whole: bool = False) -> Callable[..., str | None]:
    def combined(one: str | None, other: str | None) -> str | None:
        a, b = _number(one), _number(other)
        if a is None or b is None:
            return None
        if not whole:
            return _text(combine(a, b))
        integers = a.denominator == b.denominator == 1
        return str(combine(int(a), int(b))) if integers else None

    return combined


def _joined(one: str | None, other: str | None) -> str | None:
    return None if one is None or other is None else one + other


def _text(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else str(float(number))


_PAIRS: Mapping[str, Callable[..., str | None]] = {
    "plus": _numeric(operator.add),
    "minus": _numeric(operator.sub),
    "times": _numeric(operator.mul),
    "xor": _numeric(operator.xor, whole=True),
    "followed by": _joined,
}
