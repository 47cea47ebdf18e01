"""Data-quality faults of a schema: the level sets how many, the seed where."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from hexathlon.tasks.sql.dirt import Dirt
from hexathlon.tasks.sql.naming import Namer
from hexathlon.tasks.sql.schema import Column, Law, Table
from hexathlon.tasks.task import Level

KINDS = {"tiny": (0, 0), "easy": (0, 1), "medium": (3, 5), "hard": (5, 8)}
"""Minimum and maximum number of kinds of faults, by level."""

_MILD = ("case_padding", "missing_spellings", "soft_deletes")
_ALL = (
    "case_padding", "codes", "two_date_formats", "currency_text", "missing_spellings",
    "row_units", "orphans", "soft_deletes", "duplicates",
)  # fmt: skip
_SMALL_UNITS = {"kg": ("g", 1000), "l": ("ml", 1000), "h": ("min", 60), "km": ("m", 1000),
                "m": ("cm", 100), "MWh": ("kWh", 1000), "t": ("kg", 1000)}  # fmt: skip


@dataclass(frozen=True)
class _Place:
    table: int
    column: int


def soil(tables: list[Table], level: Level, namer: Namer, rng: np.random.Generator) -> list[Table]:
    """Return the tables with some columns made dirty and some rows that must not be counted."""
    least, most = KINDS[level]
    kinds = _MILD if level == "easy" else _ALL
    number = least + int(rng.integers(most - least + 1))
    chosen = [kinds[int(index)] for index in rng.permutation(len(kinds))[:number]]
    soiled = list(tables)
    for kind in (kind for kind in kinds if kind in chosen):
        if kind == "soft_deletes":
            _soft_deletes(soiled, namer, rng)
        elif kind == "duplicates":
            _duplicates(soiled, rng)
        else:
            _columns(kind, soiled, namer, rng)
    return soiled


def _columns(kind: str, tables: list[Table], namer: Namer, rng: np.random.Generator) -> None:
    fits, fault = _FAULTS[kind]
    places = [
        place for place in _places(tables)
        if tables[place.table].columns[place.column].dirt is None
        and fits(tables[place.table].columns[place.column])
        and len(tables[place.table].primary_key) == 1
    ]  # fmt: skip
    for index in rng.permutation(len(places))[: 1 + int(rng.integers(3))]:
        place = places[int(index)]
        table = tables[place.table]
        spoilt = fault(table.columns[place.column], rng)
        columns = list(table.columns)
        if kind == "row_units" and spoilt.dirt is not None:
            unit = _unit_column(spoilt, table, namer)
            spoilt = replace(spoilt, dirt=replace(spoilt.dirt, partner=unit.name))
            columns.append(unit)
        columns[place.column] = spoilt
        tables[place.table] = replace(table, columns=tuple(columns))


def _places(tables: list[Table]) -> Iterator[_Place]:
    for i, table in enumerate(tables):
        for j in range(len(table.columns)):
            yield _Place(i, j)


def _case_padding(column: Column, rng: np.random.Generator) -> Column:
    note = "typed by hand, so letter case and surrounding spaces mean nothing"
    return replace(column, dirt=Dirt("case_padding", note, bool(rng.random() < 0.4)))


def _codes(column: Column, rng: np.random.Generator) -> Column:
    mapping: list[tuple[str, str | int]] = []
    used = {str(value) for value in column.values}
    parts = []
    for number, value in enumerate(column.values, 1):
        letters = _short(str(value), used)
        spellings = dict.fromkeys((str(value), letters, str(number)))
        mapping.extend((spelling, value) for spelling in spellings)
        parts.append(f"{' or '.join(s.upper() for s in list(spellings)[1:])} = {value}")
    note = f"full words mixed with codes, in upper or lower case: {', '.join(parts)}"
    return replace(column, dirt=Dirt("codes", note, mapping=tuple(mapping)))


def _short(value: str, used: set[str]) -> str:
    for length in range(1, len(value)):
        start = value[:length].strip()
        if start not in used:
            used.add(start)
            return start
    return value


def _two_date_formats(column: Column, rng: np.random.Generator) -> Column:
    note = "written YYYY-MM-DD or, from an older system, DD/MM/YYYY"
    return replace(column, dirt=Dirt("two_date_formats", note))


def _currency_text(column: Column, rng: np.random.Generator) -> Column:
    note = "text, partly with a dollar sign and thousands separators"
    stated = bool(rng.random() < 0.5)
    return replace(column, type="TEXT", unique=False, dirt=Dirt("currency_text", note, stated))


def _missing_spellings(column: Column, rng: np.random.Generator) -> Column:
    note = "NULL, an empty string and N/A all mean unknown"
    return replace(column, dirt=Dirt("missing_spellings", note, bool(rng.random() < 0.6)))


def _row_units(column: Column, rng: np.random.Generator) -> Column:
    small, factor = _SMALL_UNITS[column.unit or ""]
    note = f"each row has its own unit; 1 {column.unit} = {factor} {small}"
    mapping = ((str(column.unit), factor), (small, 1))
    stated = bool(rng.random() < 0.5)
    return replace(column, unit=small, dirt=Dirt("row_units", note, stated, mapping=mapping))


def _unit_column(measured: Column, table: Table, namer: Namer) -> Column:
    taken = {column.name.lower() for column in table.columns}
    words = f"{measured.noun} unit"
    values = tuple(unit for unit, _ in measured.dirt.mapping) if measured.dirt else ()
    return Column(namer.column(words, table.noun, taken), "TEXT", "text", words, values=values)


def _orphans(column: Column, rng: np.random.Generator) -> Column:
    note = "some rows refer to a record that no longer exists"
    law = replace(column.law, orphans=0.06)
    return replace(column, law=law, dirt=Dirt("orphans", note, bool(rng.random() < 0.3), 0.06))


def _soft_deletes(tables: list[Table], namer: Namer, rng: np.random.Generator) -> None:
    places = [i for i, t in enumerate(tables) if t.scale != "lookup" and len(t.primary_key) == 1]
    for index in rng.permutation(len(places))[: 1 + int(rng.integers(2))]:
        table = tables[places[int(index)]]
        taken = {column.name.lower() for column in table.columns}
        words = ("is deleted", "deleted flag", "removed flag")[int(rng.integers(3))]
        name = namer.column(words, table.noun, taken)
        mark = Column(name, "INTEGER", "soft_delete", "deletion mark", values=(0, 1),
                      law=Law("soft_delete", low=0.12))  # fmt: skip
        tables[places[int(index)]] = replace(
            table, columns=(*table.columns, mark), soft_delete=name
        )


def _duplicates(tables: list[Table], rng: np.random.Generator) -> None:
    places = [
        i for i, table in enumerate(tables)
        if table.scale == "entity" and table.with_role("code") and table.soft_delete is None
    ]  # fmt: skip
    if not places:
        return
    index = places[int(rng.integers(len(places)))]
    table = tables[index]
    code = table.with_role("code")[0].name
    columns = tuple(replace(c, unique=c.unique and c.role == "key") for c in table.columns)
    tables[index] = replace(table, columns=columns, natural_key=code)


_Fits = Callable[[Column], bool]
_Fault = Callable[[Column, np.random.Generator], Column]
_FAULTS: dict[str, tuple[_Fits, _Fault]] = {
    "case_padding": (lambda c: c.role in ("category", "status"), _case_padding),
    "codes": (lambda c: c.role == "category" and len(c.values) <= 5, _codes),
    "two_date_formats": (lambda c: c.role == "date", _two_date_formats),
    "currency_text": (lambda c: c.role == "amount" and c.unit == "USD", _currency_text),
    "missing_spellings": (
        lambda c: c.nullable and c.role in ("category", "text"), _missing_spellings,
    ),
    "row_units": (lambda c: c.role == "amount" and c.unit in _SMALL_UNITS, _row_units),
    "orphans": (lambda c: c.role == "foreign_key" and c.law.kind == "reference", _orphans),
}  # fmt: skip
