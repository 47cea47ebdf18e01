"""Column drawing: one function per kind of distribution, each from arrays of uniform numbers.

Only exact operations are used (sums in order, square roots, divisions, floors), so that a
population is identical on every processor. Every amount is a multiple of a quarter, so that sums
are exact in any order of addition.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hexathlon.tasks.sql.pools import pool_size
from hexathlon.tasks.sql.schema import Column
from hexathlon.tasks.task import Split

Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

REMARKS = (
    "called back", "checked twice", "first visit", "follow up", "handed over", "late entry",
    "needs a signature", "no answer", "on request", "paper copy filed", "see previous note",
    "settled by phone", "special terms", "to be confirmed", "transferred", "urgent",
)  # fmt: skip


@dataclass
class DrawnColumn:
    """The raw values of one column: indices, days, counts or quarters, by kind of distribution."""

    raw: Integers
    null: Mask | None = None


@dataclass
class Sheet:
    """A table under construction: its size, its raw columns and its parents' sheets."""

    rows: int
    rng: np.random.Generator
    fixed: np.random.Generator
    """Seeded by the world only: its draws are the same in every population."""
    split: Split
    today: int
    """Day number of the schema's current date."""
    parents: Mapping[str, "Sheet"]
    """The sheets of previously drawn tables by name; a self-reference finds its own sheet here."""
    links: Mapping[str, str]
    """Foreign-key column -> name of the referenced table."""
    drawn: dict[str, DrawnColumn] = field(default_factory=dict)


Draw = Callable[[Column, Sheet], DrawnColumn]


def zipf(uniform: NDArray[np.float64], size: int, skew: float) -> Integers:
    """Draw ranks below `size` with weight 1/(rank+1)^skew; skew is a multiple of a half."""
    rank = np.arange(1, size + 1, dtype=np.float64)
    power = np.ones(size)
    for _ in range(int(skew)):
        power = power * rank
    if skew % 1:
        power = power * np.sqrt(rank)
    edges = np.cumsum(1.0 / power)
    ranks = np.searchsorted(edges, uniform * edges[-1], side="right")
    return np.asarray(np.minimum(ranks, size - 1), dtype=np.int64)


def draw(column: Column, sheet: Sheet) -> DrawnColumn:
    """Draw one column; drivers and earlier dates of the same row must already be drawn."""
    drawn = _DRAWS[column.law.kind](column, sheet)
    rate = column.law.null_rate
    if rate and column.law.kind not in ("self_reference",):
        null = sheet.rng.random(sheet.rows) < rate
        drawn.null = null if drawn.null is None else drawn.null | null
    return drawn


def _key(column: Column, sheet: Sheet) -> DrawnColumn:
    return DrawnColumn(np.arange(sheet.rows, dtype=np.int64) + int(column.law.low))


def _reference(column: Column, sheet: Sheet) -> DrawnColumn:
    parents = sheet.parents[sheet.links[column.name]].rows
    idle = int(np.ceil(parents * column.law.barren)) if parents >= 3 else 0
    active = sheet.rng.permutation(parents)[: max(1, parents - idle)]
    ranks = zipf(sheet.rng.random(sheet.rows), len(active), column.law.skew)
    return DrawnColumn(active[ranks].astype(np.int64))


def _self_reference(column: Column, sheet: Sheet) -> DrawnColumn:
    above = np.maximum(1, np.arange(sheet.rows) * 2 // 5)
    raw = np.floor(sheet.rng.random(sheet.rows) * above).astype(np.int64)
    null = sheet.rng.random(sheet.rows) < column.law.null_rate
    null[:1] = True
    return DrawnColumn(raw, null)


def _category(column: Column, sheet: Sheet) -> DrawnColumn:
    order = sheet.fixed.permutation(len(column.values))
    ranks = zipf(sheet.rng.random(sheet.rows), len(order), column.law.skew)
    return DrawnColumn(order[ranks].astype(np.int64))


def _flag(column: Column, sheet: Sheet) -> DrawnColumn:
    return DrawnColumn((sheet.rng.random(sheet.rows) < column.law.low).astype(np.int64))


def _soft_delete(column: Column, sheet: Sheet) -> DrawnColumn:
    """Draw deletion flags: at least one set and, with two rows or more, at least one unset."""
    drawn = _flag(column, sheet)
    first, second = sheet.rng.permutation(max(2, sheet.rows))[:2] % sheet.rows
    drawn.raw[second] = 0
    drawn.raw[first] = 1
    return drawn


def _rating(column: Column, sheet: Sheet) -> DrawnColumn:
    edges = np.array([0.08, 0.2, 0.42, 0.75, 1.0])
    tilt = 0.7 + 0.3 * _pull(column, sheet)
    raw = np.searchsorted(edges, sheet.rng.random(sheet.rows) * tilt, side="right") + 1
    return DrawnColumn(np.minimum(raw, 5).astype(np.int64))


def _amount(column: Column, sheet: Sheet) -> DrawnColumn:
    low, high = round(column.law.low * 4), round(column.law.high * 4)
    return DrawnColumn(_spread(column, sheet, low, high))


def _unique_amount(column: Column, sheet: Sheet) -> DrawnColumn:
    low, high = round(column.law.low * 4), round(column.law.high * 4)
    steps = max(high - low, 2 * sheet.rows)  # often millions, so sampled without being materialised
    return DrawnColumn(
        low + sheet.rng.choice(steps, size=sheet.rows, replace=False).astype(np.int64)
    )


def _quantity(column: Column, sheet: Sheet) -> DrawnColumn:
    return DrawnColumn(_spread(column, sheet, int(column.law.low), int(column.law.high)))


def _spread(column: Column, sheet: Sheet, low: int, high: int) -> Integers:
    uniform = sheet.rng.random(sheet.rows)
    steps = (high - low + 1) * _pull(column, sheet)
    return low + np.floor(uniform * np.sqrt(uniform) * steps).astype(np.int64)


def _pull(column: Column, sheet: Sheet) -> NDArray[np.float64]:
    """Return a factor from 0.4 to 1 that depends on the column's driver; 1 without a driver."""
    if column.law.driver is None:
        return np.ones(sheet.rows)
    return (sheet.drawn[column.law.driver].raw * 7 % 4 + 2) / 5.0


def _date(column: Column, sheet: Sheet) -> DrawnColumn:
    uniform, span = sheet.rng.random(sheet.rows), int(column.law.high)
    raw = sheet.today - np.floor(uniform * span).astype(np.int64)
    if column.law.after is None:
        return DrawnColumn(raw)
    earlier, parent_date = column.law.after
    first = sheet.drawn[earlier]
    if not parent_date:
        later = first.raw + np.floor(uniform * span).astype(np.int64)
        null = later > sheet.today
        if first.null is not None:
            null = null | first.null
        return DrawnColumn(np.minimum(later, sheet.today), null if column.nullable else None)
    return DrawnColumn(_after_parent(column, sheet, raw, uniform))


def _after_parent(
    column: Column, sheet: Sheet, raw: Integers, uniform: NDArray[np.float64]
) -> Integers:
    earlier, parent_date = column.law.after or ("", "")
    link = sheet.drawn[earlier]
    dates = sheet.parents[sheet.links[earlier]].drawn[parent_date]
    start = dates.raw[link.raw]
    later = start + np.floor(uniform * (sheet.today - start + 1)).astype(np.int64)
    unknown = np.zeros(sheet.rows, dtype=np.bool_)
    if link.null is not None:
        unknown |= link.null
    if dates.null is not None:
        unknown |= dates.null[link.raw]
    return np.where(unknown, raw, np.minimum(later, sheet.today))


def _year(column: Column, sheet: Sheet) -> DrawnColumn:
    return DrawnColumn(
        sheet.rng.integers(int(column.law.low), int(column.law.high) + 1, sheet.rows)
    )


def _code(column: Column, sheet: Sheet) -> DrawnColumn:
    return DrawnColumn(
        sheet.rng.permutation(3 * sheet.rows + 7)[: sheet.rows].astype(np.int64) + 11
    )


def _listed_name(column: Column, sheet: Sheet) -> DrawnColumn:
    return DrawnColumn(np.arange(sheet.rows, dtype=np.int64))


def _name(column: Column, sheet: Sheet) -> DrawnColumn:
    """Return the first names of a world-specific order, reassigned in each population."""
    size = pool_size(column.law.pool, sheet.split)
    order = sheet.fixed.permutation(size).astype(np.int64)
    beyond = np.arange(size, max(size, sheet.rows), dtype=np.int64)
    first = np.concatenate([order, beyond])[: sheet.rows]
    return DrawnColumn(first[sheet.rng.permutation(sheet.rows)])


def _nothing(column: Column, sheet: Sheet) -> DrawnColumn:
    """Return a placeholder for a unit column, which is filled with the column it belongs to."""
    return DrawnColumn(np.zeros(sheet.rows, dtype=np.int64))


def _text(column: Column, sheet: Sheet) -> DrawnColumn:
    return DrawnColumn(zipf(sheet.rng.random(sheet.rows), len(REMARKS), 0.5))


_DRAWS: dict[str, Draw] = {
    "key": _key, "reference": _reference, "self_reference": _self_reference,
    "category": _category, "status": _category, "flag": _flag, "soft_delete": _soft_delete,
    "rating": _rating, "amount": _amount, "unique_amount": _unique_amount,
    "quantity": _quantity, "date": _date, "year": _year, "code": _code,
    "listed_name": _listed_name, "name": _name, "text": _text,
    "none": _nothing,
}  # fmt: skip
