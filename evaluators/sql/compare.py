"""Equality of two results, as pure functions of plain rows.

Two cells are equal when both are NULL, both numbers of the same value (within a relative tolerance
if one of them is not whole), both the same text, or both the same bytes. Nothing else is equal: no
trimming, no case folding, no text that looks like a number.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hexathlon.tasks.sql.world.backends.base import StoredRow, StoredValue

__all__ = ["ComparisonPolicy", "column_orders", "difference", "overlap", "same_cell"]


_ORDERS_TRIED = 5_000
_EXACT_MATCHING = 400
"""Unmatched rows up to which matching is exact; above, they are paired in sorted order."""


@dataclass(frozen=True, slots=True)
class ComparisonPolicy:
    """Definition of equal results."""

    ordered: bool = False
    """Whether the order of rows matters."""

    order_by: tuple[int, ...] | None = None
    """Columns whose sequence must agree when `ordered`; the order within ties is then free."""

    any_column_order: bool = False
    tolerance: float = 1e-9
    """Relative; applies if at least one of the two numbers is a float."""


def same_cell(gold: StoredValue, got: StoredValue, tolerance: float) -> bool:
    """Whether two cells are equal."""
    if isinstance(gold, float) or isinstance(got, float):
        if not isinstance(gold, (int, float)) or not isinstance(got, (int, float)):
            return False
        if gold == got or (gold != gold and got != got):
            return True
        return _close(gold, got, tolerance)
    # bool counts as int, as in all engines with booleans.
    return (gold.__class__ is got.__class__ or _whole(gold, got)) and gold == got


def difference(
    gold: Sequence[StoredRow], got: Sequence[StoredRow], policy: ComparisonPolicy
) -> str:
    """Return how two results differ, in one word; empty when they are equal.

    Both must have the same number of columns. The word is `rows`, `values` or `order`.
    """
    if len(gold) != len(got):
        return "rows"
    if gold == got:
        return ""
    if not policy.any_column_order or not gold:
        return _difference(gold, got, policy)
    kind = "values"
    for order in column_orders(gold, got, policy.tolerance):
        arranged = [tuple(row[column] for column in order) for row in got]
        reason = _difference(gold, arranged, policy)
        if not reason:
            return ""
        kind = reason
    return kind


def overlap(gold: Sequence[StoredRow], got: Sequence[StoredRow]) -> float:
    """Return the Dice coefficient of two multisets of rows (exact cells); 1 when both are empty."""
    total = len(gold) + len(got)
    if gold == got or not total:
        return 1.0
    common = Counter(map(_key, gold)) & Counter(map(_key, got))
    return 2 * sum(common.values()) / total


def column_orders(
    gold: Sequence[StoredRow], got: Sequence[StoredRow], tolerance: float = 0.0
) -> Iterator[tuple[int, ...]]:
    """Yield column permutations of `got` that may make it equal to `gold`.

    A column can only match one with the same multiset of values. At most 5,000 are tried.
    """
    width = len(gold[0])
    candidates = [
        [there for there in range(width) if _same_bag(gold, here, got, there, tolerance)]
        for here in range(width)
    ]
    tried = 0
    for order in _assignments(candidates, ()):
        tried += 1
        if tried > _ORDERS_TRIED:
            return
        yield order


def _assignments(candidates: list[list[int]], chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if len(chosen) == len(candidates):
        yield chosen
        return
    for column in candidates[len(chosen)]:
        if column not in chosen:
            yield from _assignments(candidates, (*chosen, column))


def _same_bag(
    gold: Sequence[StoredRow], here: int, got: Sequence[StoredRow], there: int, tolerance: float
) -> bool:
    left = [(row[here],) for row in gold]
    right = [(row[there],) for row in got]
    return not _difference(left, right, ComparisonPolicy(tolerance=tolerance))


def _difference(
    gold: Sequence[StoredRow], got: Sequence[StoredRow], policy: ComparisonPolicy
) -> str:
    tolerance = policy.tolerance
    if policy.ordered and policy.order_by is None:
        if all(map(_same_row, gold, got, [tolerance] * len(gold))):
            return ""
        return "values" if _left_over(gold, got, tolerance) else "order"
    if _left_over(gold, got, tolerance):
        return "values"
    if policy.ordered and policy.order_by is not None:
        for left, right in zip(gold, got, strict=True):
            if not all(same_cell(left[k], right[k], tolerance) for k in policy.order_by):
                return "order"
    return ""


def _left_over(gold: Sequence[StoredRow], got: Sequence[StoredRow], tolerance: float) -> bool:
    """Whether rows remain after equal ones are removed in pairs."""
    left, right = Counter(map(_key, gold)), Counter(map(_key, got))
    if left == right:
        return False
    if not tolerance:
        return True
    unmatched_gold = list((left - right).elements())
    unmatched_got = list((right - left).elements())
    groups: dict[tuple[object, ...], tuple[list[_Key], list[_Key]]] = {}
    for rows, side in ((unmatched_gold, 0), (unmatched_got, 1)):
        for row in rows:
            groups.setdefault(_shape(row), ([], []))[side].append(row)
    return not all(_matched(*sides, tolerance) for sides in groups.values())


_Key = tuple[tuple[str, StoredValue], ...]


def _key(row: StoredRow) -> _Key:
    """Return a hashable form of a row in which 1 and 1.0 are equal, but '1', b'1' and 1 are not."""
    return tuple([(_kind(cell), _KEY_OF_NAN if cell != cell else cell) for cell in row])


_KEY_OF_NAN = "nan"


def _kind(cell: StoredValue) -> str:
    if isinstance(cell, (int, float)):
        return "number"
    return "null" if cell is None else "text" if isinstance(cell, str) else "bytes"


def _shape(row: _Key) -> tuple[object, ...]:
    return tuple(kind if kind == "number" else (kind, value) for kind, value in row)


def _matched(left: list[_Key], right: list[_Key], tolerance: float) -> bool:
    """Whether the rows of two lists can be paired so that each pair is equal."""
    if len(left) != len(right):
        return False
    if len(left) > _EXACT_MATCHING:
        pairs = zip(sorted(left), sorted(right), strict=True)
        return all(_same_keys(a, b, tolerance) for a, b in pairs)
    partner: dict[int, int] = {}

    def place(row: int, seen: set[int]) -> bool:
        for candidate, other in enumerate(right):
            if candidate not in seen and _same_keys(left[row], other, tolerance):
                seen.add(candidate)
                if candidate not in partner or place(partner[candidate], seen):
                    partner[candidate] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(left)))


def _same_keys(left: _Key, right: _Key, tolerance: float) -> bool:
    return all(same_cell(a[1], b[1], tolerance) for a, b in zip(left, right, strict=True))


def _same_row(gold: StoredRow, got: StoredRow, tolerance: float) -> bool:
    return all(same_cell(a, b, tolerance) for a, b in zip(gold, got, strict=True))


def _close(left: float, right: float, tolerance: float) -> bool:
    try:
        return math.isclose(left, right, rel_tol=tolerance, abs_tol=0.0)
    except OverflowError:  # an integer beyond the range of floats
        return False


def _whole(left: StoredValue, right: StoredValue) -> bool:
    return isinstance(left, int) and isinstance(right, int)
