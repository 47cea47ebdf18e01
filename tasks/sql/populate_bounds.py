"""Rows at the bounds of a query: values exactly at a constant, just below it and just above it.

A population rarely has a row exactly at a bound such as `>= 2250`, so a query that is off by one
usually gives the same answer. A population with `bounds` gives such values to a share of a column's
rows. They respect the column's law: its range, unique values, and dates that follow other dates.
"""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

import numpy as np

from hexathlon.tasks.sql.populate_columns import Integers, Mask, Sheet
from hexathlon.tasks.sql.schema import Column, Value

__all__ = [
    "BOUNDED_LAWS",
    "Bounds",
    "ColumnBounds",
    "Constant",
    "convert_to_bounds",
    "move_to_bounds",
]

Constant = int | float | str
"""A number, a category, or a date as a string, `YYYY-MM-DD`."""


class ColumnBounds(NamedTuple):
    """Canonical values that rows of one column are moved to."""

    table: str
    column: str
    values: tuple[Constant, ...]


Bounds = tuple[ColumnBounds, ...]

BOUNDED_LAWS = frozenset(
    {"amount", "unique_amount", "quantity", "rating", "year", "date", "category", "status"}
)
"""Kinds of distribution whose values can be bounds."""

_SHARES = (0.1, 0.3, 0.6, 0.9)
"""Shares of a column's rows that are moved to a bound; each column of a population draws one."""


def move_to_bounds(
    column: Column, sheet: Sheet, values: Sequence[Constant], rng: np.random.Generator
) -> None:
    """Give some rows of a drawn column one of the values, where the column's law allows it.

    Columns whose rows have their own units are left to `convert_to_bounds`.
    """
    options = _raw_values(column, sheet, values)
    if not len(options):
        return
    drawn = sheet.drawn[column.name]
    if column.unique:
        missing = np.setdiff1d(options, drawn.raw)
        places = rng.permutation(np.flatnonzero(~np.isin(drawn.raw, options)))[: len(missing)]
        drawn.raw[places] = missing[: len(places)]
        return
    chosen = options[rng.integers(len(options), size=sheet.rows)]
    moved = (rng.random(sheet.rows) < _share(rng)) & _allowed(column, sheet, chosen)
    drawn.raw = np.where(moved, chosen, drawn.raw)


def _raw_values(column: Column, sheet: Sheet, values: Sequence[Constant]) -> Integers:
    """Return the values within the column's range, as indices, days, counts or quarters."""
    law = column.law
    own_units = column.dirt is not None and column.dirt.kind == "row_units"
    if law.kind not in BOUNDED_LAWS or own_units:
        return np.zeros(0, dtype=np.int64)
    if law.kind in ("category", "status"):
        low, high = 0, len(column.values) - 1
        raw = [column.values.index(value) for value in values if value in column.values]
    elif law.kind == "date":
        low, high = sheet.today - int(law.high), sheet.today
        raw = [date.fromisoformat(value).toordinal() for value in values if isinstance(value, str)]
    else:
        scale = 4 if law.kind in ("amount", "unique_amount") else 1
        low, high = round(law.low * scale), round(law.high * scale)
        scaled = [value * scale for value in values if not isinstance(value, str)]
        raw = [round(value) for value in scaled if value == round(value)]
    return np.array(sorted({value for value in raw if low <= value <= high}), dtype=np.int64)


def convert_to_bounds(
    column: Column, values: list[Value], units: list[Value], wanted: Sequence[Constant],
    rng: np.random.Generator,
) -> None:  # fmt: skip
    """Give some rows with their own units one of the values, in the smaller unit.

    In the larger unit, most values would not be whole.

    Args:
        column: A column of dirt `row_units`.
        values: Its stored values, changed in place.
        units: The units of the same rows, changed in place.
        wanted: Canonical values, which are in the smaller unit.
        rng: The generator.
    """
    assert column.dirt is not None
    (_, factor), (small, _) = column.dirt.mapping
    low, high = column.law.low * int(factor), column.law.high * int(factor)
    options = [v for v in wanted if not isinstance(v, str) and low <= v <= high]
    for row in np.flatnonzero(rng.random(len(values)) < _share(rng)) if options else ():
        if values[row] is not None:
            values[row] = float(options[int(rng.integers(len(options)))])
            units[row] = small


def _share(rng: np.random.Generator) -> float:
    return _SHARES[int(rng.integers(len(_SHARES)))]


def _allowed(column: Column, sheet: Sheet, chosen: Integers) -> Mask:
    """Return where a date would not precede the date that it must follow."""
    if column.law.after is None:
        return np.ones(sheet.rows, dtype=np.bool_)
    earlier, parent_date = column.law.after
    first = sheet.drawn[earlier]
    if not parent_date:
        return chosen >= first.raw
    dates = sheet.parents[sheet.links[earlier]].drawn[parent_date]
    return chosen >= dates.raw[first.raw]
