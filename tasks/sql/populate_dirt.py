"""Corruption of clean values with the faults that `dirt` can clean."""

from collections.abc import Callable, Sequence

import numpy as np

from hexathlon.tasks.sql.dirt import MISSING, Dirt
from hexathlon.tasks.sql.schema import Table, Value

DirtFunction = Callable[[list[Value], Dirt, np.random.Generator], list[Value]]


def spoil(table: Table, columns: list[list[Value]], rng: np.random.Generator) -> None:
    """Replace the lists of dirty columns with corrupted ones; `columns` is in table order."""
    names = [column.name for column in table.columns]
    for place, column in enumerate(table.columns):
        dirt = column.dirt
        if dirt is None or dirt.kind == "orphans":
            continue
        if dirt.kind == "row_units":
            units, values = _row_units(columns[place], dirt, rng)
            columns[names.index(dirt.partner or "")] = units
            columns[place] = values
        else:
            columns[place] = _FAULTS[dirt.kind](columns[place], dirt, rng)


def orphaned(keys: np.ndarray, beyond: int, rate: float, rng: np.random.Generator) -> np.ndarray:
    """Return references; a share of them, at least one, points past the last parent."""
    if not rate:
        return keys
    lost = rng.random(len(keys)) < rate
    lost[int(rng.integers(len(keys)))] = True
    return np.where(lost, beyond + 500 + np.arange(len(keys)) % 7, keys)


def _choices(
    values: Sequence[Value], ways: int, rate: float, rng: np.random.Generator
) -> list[int]:
    """Return, per row, 0 if it is left clean, else the number of its fault, up to `ways`."""
    hit = rng.random(len(values)) < rate
    way = rng.integers(1, ways + 1, len(values))
    chosen: list[int] = np.where(hit, way, 0).tolist()
    return chosen


def _case_padding(values: list[Value], dirt: Dirt, rng: np.random.Generator) -> list[Value]:
    ways: tuple[Callable[[str], str], ...] = (
        str, str.upper, str.title, lambda v: f" {v}", lambda v: f"{v.capitalize()}  ",
    )  # fmt: skip
    picked = _choices(values, 4, dirt.rate, rng)
    return [
        ways[way](value) if isinstance(value, str) else value
        for value, way in zip(values, picked, strict=True)
    ]


def _codes(values: list[Value], dirt: Dirt, rng: np.random.Generator) -> list[Value]:
    spellings: dict[Value, list[str]] = {}
    for spelling, value in dirt.mapping:
        spellings.setdefault(value, []).append(spelling)
    picked = _choices(values, 2, dirt.rate * 2, rng)
    spoilt: list[Value] = []
    for clean, way in zip(values, picked, strict=True):
        options = spellings.get(clean)
        if options is None:
            spoilt.append(clean)
        else:
            spelling = options[way % len(options)]
            spoilt.append(spelling.upper() if way else spelling)
    return spoilt


def _two_date_formats(values: list[Value], dirt: Dirt, rng: np.random.Generator) -> list[Value]:
    picked = _choices(values, 1, dirt.rate, rng)
    return [
        f"{value[8:10]}/{value[5:7]}/{value[:4]}" if way and isinstance(value, str) else value
        for value, way in zip(values, picked, strict=True)
    ]


def _currency_text(values: list[Value], dirt: Dirt, rng: np.random.Generator) -> list[Value]:
    forms = ("${:,.2f}", "{:.2f}", "{:,.2f}")
    picked = _choices(values, 2, dirt.rate * 2, rng)
    return [
        forms[way].format(value) if isinstance(value, float) else value
        for value, way in zip(values, picked, strict=True)
    ]


def _missing_spellings(values: list[Value], dirt: Dirt, rng: np.random.Generator) -> list[Value]:
    way = rng.integers(0, 3, len(values)).tolist()
    spellings = (None, *MISSING)
    return [
        spellings[form] if value is None else value for value, form in zip(values, way, strict=True)
    ]


def _row_units(
    values: list[Value], dirt: Dirt, rng: np.random.Generator
) -> tuple[list[Value], list[Value]]:
    """Return units per row and converted values; clean ones are in the mapping's first unit."""
    (large, factor), (small, _) = dirt.mapping
    picked = _choices(values, 1, dirt.rate, rng)
    units: list[Value] = [small if way else large for way in picked]
    scaled: list[Value] = [
        value * int(factor) if way and isinstance(value, int | float) else value
        for value, way in zip(values, picked, strict=True)
    ]
    return units, scaled


_FAULTS: dict[str, DirtFunction] = {
    "case_padding": _case_padding, "codes": _codes, "two_date_formats": _two_date_formats,
    "currency_text": _currency_text, "missing_spellings": _missing_spellings,
}  # fmt: skip
