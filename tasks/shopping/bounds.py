"""Other numbers for a bound: "at most 2.5 kg" excludes the same goods as "at most 2.2 kg".

A request that repeats the target's own number can be found by that number. Goods have few values
along a scale, so every number between the target's and the next one excludes the same goods.
"""

import math
import re
from collections.abc import Sequence

import hexathlon.tasks.catalogue.columns as at
from hexathlon.tasks.catalogue.constraint import Constraint
from hexathlon.tasks.catalogue.grammar import Category

__all__ = ["equal_bounds", "restated"]

_STEPS = (5, 2, 1)


def equal_bounds(constraint: Constraint, category: Category) -> tuple[str, ...]:
    """Return round numbers that bound the same goods, without the constraint's own; may be empty.

    Only delivery times, return periods and numeric scales have any.
    """
    scale = _scale(constraint, category)
    if scale is None or constraint.op == "==":
        return ()
    own = float(constraint.value)
    if constraint.op == ">=":
        below = [number for number in scale if number < own]
        return _between(max(below), own) if below else ()
    above = [number for number in scale if number > own]
    return _between(own, min(above)) if above else ()


def restated(phrase: str, constraint: Constraint, number: str) -> str:
    """Return a phrase of the constraint with another number in place of its own.

    >>> restated("arrives within 4 days", Constraint("shipping", "days", "<=", 4), "6")
    'arrives within 6 days'
    """
    return re.sub(rf"(?<![\d.]){re.escape(str(constraint.value))}(?![\d.])", number, phrase)


def _scale(constraint: Constraint, category: Category) -> Sequence[float] | None:
    if constraint.kind == "shipping":
        return at.DELIVERY_DAYS
    if constraint.kind == "returns":
        return at.RETURN_DAYS
    item = category.by_name.get(constraint.name)
    if item is None or item.place == "option":
        return None
    try:
        return [float(value.slug) for value in item.values]
    except ValueError:
        return None


def _between(low: float, high: float) -> tuple[str, ...]:
    """Return the multiples of the largest round step that lie strictly between two numbers.

    >>> _between(3000, 5000), _between(1.4, 2.2), _between(2, 4), _between(13, 14)
    (('3500', '4000', '4500'), ('1.6', '1.8', '2'), ('3',), ())
    """
    finest = 0 if low == int(low) and high == int(high) else -1
    for power in range(math.floor(math.log10(high - low)), finest - 1, -1):
        for digit in _STEPS:
            step = round(digit * 10.0**power, 6)
            first = math.floor(low / step) + 1
            found = [round(k * step, 6) for k in range(first, math.ceil(high / step))]
            inside = [f"{number:.6g}" for number in found if low < number < high]
            if len(inside) >= 3 or (inside and step <= 10.0**finest):
                return tuple(inside)
    return ()
