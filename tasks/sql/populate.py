"""Population of a schema: table sizes, drawing order and final values.

Tables are drawn parents first and column by column, as whole arrays; `populate_dirt` then corrupts
the columns that the schema marks as dirty. The same (schema, seed, size) gives the same rows
everywhere.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache
from math import fsum

import numpy as np

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.sql.pools import pool_name
from hexathlon.tasks.sql.populate_bounds import Bounds, Constant, convert_to_bounds, move_to_bounds
from hexathlon.tasks.sql.populate_columns import REMARKS, DrawnColumn, Sheet, draw, zipf
from hexathlon.tasks.sql.populate_dirt import orphaned, spoil
from hexathlon.tasks.sql.schema import Column, Row, Schema, Table, Value
from hexathlon.tasks.task import Split

SIZES = {"tiny": 30, "small": 300, "medium": 3_000, "large": 30_000, "huge": 1_000_000}
"""Sizes by name; a size is the total number of rows of all event tables."""

DUPLICATES = 0.08
"""Share of an entity's rows that are duplicated, if the table has duplicates."""

_EPOCH_SPAN = 9_000
_ENTITY_FACTOR = 2.4


def row_counts(tables: tuple[Table, ...], size: int) -> dict[str, int]:
    """Return each table's row count before duplicates; link tables may end up slightly smaller."""
    # math.fsum, because Python 3.12 changed the result of the plain sum of floats
    real = [table for table in tables if not table.decoy]
    events = fsum(table.weight for table in real if table.scale == "event")
    return {table.name: _count(table, size, events) for table in real}


def _count(table: Table, size: int, events: float) -> int:
    for column in table.columns:
        if column.law.kind == "listed_name":
            return len(column.values)
    if table.scale == "event":
        return max(3, round(size * table.weight / events))
    if table.scale == "side":
        return 5 + len(table.name) * 7 % 23
    return max(5, round(_ENTITY_FACTOR * table.weight * float(np.sqrt(size))))


def populate(
    schema: Schema,
    tables: tuple[Table, ...],
    split: Split,
    population_seed: int,
    size: int,
    bounds: Bounds = (),
) -> dict[str, list[Row]]:
    """Return the rows of `tables` (parents before children, no decoys) as stored in the database.

    Args:
        schema: Provides the world's name and current date.
        tables: The tables to fill.
        split: Selects the part of the name pools.
        population_seed: A different seed gives other rows from the same distributions.
        size: Rows of all event tables together.
        bounds: Values that a share of these columns' rows gets.
    """
    today = date.fromisoformat(schema.today).toordinal()
    counts = row_counts(tables, size)
    sheets: dict[str, Sheet] = {}
    rows: dict[str, list[Row]] = {}
    days = _days(today)
    wanted = {(item.table, item.column): item.values for item in bounds}
    for table in tables:
        if table.decoy:
            continue
        sheet = _sheet(
            schema, table, split, population_seed, counts[table.name], today, sheets, wanted
        )
        rows[table.name] = _rows(table, sheet, days, wanted)
    return rows


def _sheet(
    schema: Schema, table: Table, split: Split, population_seed: int, count: int, today: int,
    sheets: dict[str, Sheet], bounds: Mapping[tuple[str, str], Sequence[Constant]],
) -> Sheet:  # fmt: skip
    links = {c.name: c.references[0] for c in table.columns if c.references is not None}
    sheet = Sheet(
        rows=count,
        rng=generator_for("sql-rows", schema.name, table.name, population_seed),
        fixed=generator_for("sql-fixed", schema.name, table.name),
        split=split, today=today, parents=sheets, links=links,
    )  # fmt: skip
    sheets[table.name] = sheet
    columns = table.columns
    if len(table.primary_key) == 2:
        _draw_pairs(table, sheet)
        columns = columns[2:]
    for column in columns:
        sheet.drawn[column.name] = draw(column, sheet)
        if (table.name, column.name) in bounds:
            rng = generator_for("sql-bounds", schema.name, table.name, column.name, population_seed)
            move_to_bounds(column, sheet, bounds[table.name, column.name], rng)
    return sheet


def _draw_pairs(table: Table, sheet: Sheet) -> None:
    """Draw distinct, skewed pairs of parents; the sheet shrinks to the number of pairs found."""
    left, right = table.columns[:2]
    sizes = [sheet.parents[sheet.links[column.name]].rows for column in (left, right)]
    wanted = min(sheet.rows, max(1, sizes[0] * sizes[1] * 3 // 5))
    draws = 3 * wanted + 10
    order = [sheet.rng.permutation(size) for size in sizes]
    ranks = [
        zipf(sheet.rng.random(draws), max(1, size - int(size * column.law.barren)), 0.5)
        for size, column in zip(sizes, (left, right), strict=True)
    ]
    codes = np.unique(order[0][ranks[0]] * sizes[1] + order[1][ranks[1]])
    codes = np.sort(codes[sheet.rng.permutation(len(codes))[:wanted]])
    sheet.rows = len(codes)
    sheet.drawn[left.name] = DrawnColumn((codes // sizes[1]).astype(np.int64))
    sheet.drawn[right.name] = DrawnColumn((codes % sizes[1]).astype(np.int64))


def _rows(
    table: Table, sheet: Sheet, days: np.ndarray,
    bounds: Mapping[tuple[str, str], Sequence[Constant]],
) -> list[Row]:  # fmt: skip
    picked = _duplicated(table, sheet)
    copies = len(picked)
    columns: list[list[Value]] = []
    for column in table.columns:
        values = _values(column, sheet, days)
        if copies:
            values = np.concatenate([values, _copied(column, values, picked)])
        columns.append(values.tolist())
    spoil(table, columns, sheet.rng)
    names = [column.name for column in table.columns]
    for place, column in enumerate(table.columns):
        wanted = bounds.get((table.name, column.name), ())
        if wanted and column.dirt is not None and column.dirt.kind == "row_units":
            units = columns[names.index(column.dirt.partner or "")]
            convert_to_bounds(column, columns[place], units, wanted, sheet.rng)
    return list(zip(*columns, strict=True))


def _duplicated(table: Table, sheet: Sheet) -> np.ndarray:
    if table.natural_key is None:
        return np.zeros(0, dtype=np.int64)
    return np.sort(sheet.rng.permutation(sheet.rows)[: max(1, int(sheet.rows * DUPLICATES))])


def _copied(column: Column, values: np.ndarray, picked: np.ndarray) -> np.ndarray:
    """Return the duplicates' values: their own keys, and outdated amounts."""
    if column.role == "key":
        return np.asarray(int(values[-1]) + 1 + np.arange(len(picked)))
    if column.role == "amount":
        older = [None if value is None else value + 0.25 for value in values[picked].tolist()]
        return np.array(older, dtype=object)
    return np.asarray(values[picked])


def _values(column: Column, sheet: Sheet, days: np.ndarray) -> np.ndarray:
    drawn = sheet.drawn[column.name]
    values = _spelled(column, drawn, sheet, days)
    if drawn.null is not None and drawn.null.any():
        values = values.astype(object)
        values[drawn.null] = None
    return values


def _spelled(column: Column, drawn: DrawnColumn, sheet: Sheet, days: np.ndarray) -> np.ndarray:
    raw = drawn.raw
    match column.law.kind:
        case "reference" | "self_reference":
            parent = sheet.parents[sheet.links[column.name]]
            start, law = int(parent.drawn[parent_key(parent)].raw[0]), column.law
            return orphaned(raw + start, start + parent.rows, law.orphans, sheet.rng)
        case "amount" | "unique_amount":
            return raw / 4.0
        case "date":
            return np.asarray(days[raw - (sheet.today - _EPOCH_SPAN)])
        case "category" | "status" | "listed_name":
            return np.array(column.values, dtype=object)[raw]
        case "text":
            return np.array(REMARKS, dtype=object)[raw]
        case "name":
            names = [pool_name(column.law.pool, sheet.split, int(index)) for index in raw]
            return np.array(names, dtype=object)
        case "code":
            return np.array([f"{column.law.pool}-{n:05d}" for n in raw.tolist()], dtype=object)
        case _:
            return raw


def parent_key(sheet: Sheet) -> str:
    """Return the name of a sheet's key column, which is always drawn first."""
    return next(iter(sheet.drawn))


@lru_cache(maxsize=16)
def _days(today: int) -> np.ndarray:
    first = today - _EPOCH_SPAN
    return np.array(
        [date.fromordinal(first + n).isoformat() for n in range(_EPOCH_SPAN + 1)], dtype=object
    )


def size_of(size: str | int) -> int:
    """Return the number of event rows denoted by a size.

    Raises:
        ValueError: If `size` is neither a known name nor a number from 10 to 1,000,000.
    """
    number = SIZES.get(size, 0) if isinstance(size, str) else size
    if not 10 <= number <= 1_000_000:
        raise ValueError(f"size {size!r}: expected 10..1000000 or one of {', '.join(SIZES)}")
    return number


def stale(table: Table, base: Table, rows: Mapping[str, list[Row]], world: str) -> list[Row]:
    """Return a decoy's rows: a subset of its base table's rows, with changed amounts."""
    rng = generator_for("sql-decoy", world, table.name)
    source = rows[base.name]
    keep = np.sort(rng.permutation(len(source))[: max(1, len(source) * 3 // 5)])
    amounts = [i for i, c in enumerate(table.columns) if c.type == "REAL" or c.role == "quantity"]
    copied: list[Row] = []
    for order, index in enumerate(keep.tolist()):
        values = list(source[index][: len(table.columns)])
        if order % 3 == 0:
            for place in amounts:
                value = values[place]
                values[place] = value + 3 if isinstance(value, int | float) else value
        copied.append(tuple(values))
    return copied
