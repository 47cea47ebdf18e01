"""Dirty values: the fault of a column, and two independent ways to clean it.

A `Dirt` describes the fault as data: a kind and its parameters. From these follow a SQL expression
for the canonical value and, independently, an equivalent Python function. `populate_dirt` applies
the fault to rows.
"""

from dataclasses import dataclass
from typing import Literal

DirtKind = Literal[
    "case_padding", "codes", "two_date_formats", "currency_text", "missing_spellings", "row_units",
    "orphans",
]  # fmt: skip
Value = int | float | str | None

MISSING = ("", "N/A")
"""Spellings equivalent to NULL in a column of kind `missing_spellings`."""


@dataclass(frozen=True, slots=True)
class Dirt:
    """A fault of one column."""

    kind: DirtKind
    note: str
    """The rule in English, as a data dictionary would phrase it."""
    stated: bool = True
    """Whether the data dictionary states it; otherwise it must be discovered in the rows."""
    rate: float = 0.3
    """Share of affected rows."""
    mapping: tuple[tuple[str, str | int], ...] = ()
    """For `codes`: spelling (lower case) -> canonical value; for `row_units`: unit -> factor."""
    partner: str | None = None
    """`row_units`: the column with the row's unit."""

    def sql(self, alias: str, reference: str) -> str:
        """Return SQL for the canonical value of `reference`, a column of the table `alias`."""
        match self.kind:
            case "case_padding":
                return f"LOWER(TRIM({reference}))"
            case "codes":
                return _case(f"LOWER(TRIM({reference}))", self.mapping)
            case "two_date_formats":
                return (
                    f"CASE WHEN {reference} LIKE '__/__/____' "
                    f"THEN SUBSTR({reference}, 7, 4) || '-' || SUBSTR({reference}, 4, 2) || '-' "
                    f"|| SUBSTR({reference}, 1, 2) "
                    f"ELSE {reference} END"
                )
            case "currency_text":
                bare = f"REPLACE(REPLACE({reference}, '$', ''), ',', '')"
                return f"CAST({bare} AS DOUBLE PRECISION)"
            case "missing_spellings":
                return f"NULLIF(NULLIF({reference}, ''), 'N/A')"
            case "row_units":
                factor = _case(f"{alias}.{self.partner}", self.mapping)
                return f"({reference} * {factor})"
            case "orphans":
                return reference


def clean(dirt: Dirt, value: Value, partner: Value = None) -> Value:
    """Return the canonical value of `value`; `partner` is the value of the partner column."""
    if value is None or dirt.kind == "orphans":
        return value
    if dirt.kind == "row_units":
        return _scaled(value, dict(dirt.mapping).get(str(partner)))
    text = str(value)
    match dirt.kind:
        case "case_padding":
            return text.strip(" ").lower()
        case "codes":
            return dict(dirt.mapping).get(text.strip(" ").lower())
        case "two_date_formats":
            day, _, rest = text.partition("/")
            month, _, year = rest.partition("/")
            return f"{year}-{month}-{day}" if year else text
        case "currency_text":
            return float(text.replace("$", "").replace(",", ""))
        case _:
            return None if text in MISSING else text


def _scaled(value: Value, factor: str | int | None) -> Value:
    if factor is None or isinstance(value, str) or value is None:
        return None
    return value * int(factor)


def _case(subject: str, mapping: tuple[tuple[str, str | int], ...]) -> str:
    arms = " ".join(f"WHEN '{key}' THEN {_literal(value)}" for key, value in mapping)
    return f"CASE {subject} {arms} END"


def _literal(value: str | int) -> str:
    return str(value) if isinstance(value, int) else f"'{value}'"
