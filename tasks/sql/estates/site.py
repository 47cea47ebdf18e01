"""The database of a company: core tables, dead copies of them, and tables that no task needs.

The image without a task's rows is cached by company; a task's tables are then replaced in it.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import lru_cache
from operator import itemgetter
from typing import Any

import numpy as np

from hexathlon.tasks.cache.values import stored
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.sql.estates.clauses import register
from hexathlon.tasks.sql.estates.layout import FIELDS, VIEWS, EstateLayout, layout_of, type_of
from hexathlon.tasks.sql.estates.papers import shared_rows
from hexathlon.tasks.sql.estates.rows import dead_copy_of, draw_rows
from hexathlon.tasks.sql.estates.spec import EstateSpec, draw_spec, split_of
from hexathlon.tasks.sql.naming import KEYWORDS, abbreviate
from hexathlon.tasks.sql.schema import Row
from hexathlon.tasks.sql.world.images import ByteCache

__all__ = ["base_image", "filled"]

_SIZES = (84, 96, 110, 124, 138, 152, 170, 190)
"""Numbers of tables from which that of a company is drawn."""
_PADS = 89
_bases = ByteCache(48 * 1024 * 1024)

_NEW_AREAS = {
    "fin": ("ap document", "ap item", "dunning head", "dunning item", "gl posting", "cost center",
            "budget line", "asset", "bank statement", "accrual", "intercompany clearing",
            "tax report", "payment run", "credit limit", "provision"),
    "sls": ("quotation head", "quotation item", "order head", "order item", "proforma invoice",
            "price list", "discount scheme", "forecast", "target", "rebate agreement",
            "invoice item", "commission", "return request"),
    "log": ("carrier", "tour", "pick list", "stock level", "stock movement", "warehouse",
            "inventory count", "packing unit", "delivery item", "customs file", "freight rate"),
    "svc": ("ticket", "ticket history", "service level", "asset registry", "visit plan",
            "agreement item", "warranty claim", "fee schedule", "termination reason"),
    "crm": ("lead", "campaign", "contact person", "activity", "opportunity", "survey answer",
            "customer note", "segment rule"),
    "hrm": ("employee", "absence", "position", "training", "payroll item", "travel expense"),
    "pur": ("supplier", "purchase order head", "purchase order item", "supplier rating",
            "goods receipt", "contract framework"),
    "bi": ("revenue month", "churn month", "otd week", "customer snapshot", "margin month",
           "overdue snapshot", "recurring fee snapshot", "delivery quality", "kpi target"),
    "sys": ("job log", "interface queue", "user account", "role assignment", "audit trail",
            "number range", "print queue", "migration log"),
}  # fmt: skip
_OLD_AREAS = {"AR": 5, "VT": 4, "LF": 4, "KB": 4, "MM": 5, "FI": 6, "ST": 4}
"""Tables by module of the first system."""
_BOUGHT_AREAS = (
    "SalesLines",
    "Quotes",
    "QuoteLines",
    "PriceBook",
    "StockItems",
    "StockMoves",
    "Vendors",
    "VendorVouchers",
    "VendorPayments",
    "Ledger",
    "LedgerEntries",
    "Employees",
    "TimeSheets",
    "ServiceCalls",
    "Routes",
    "Drivers",
    "Depots",
    "DebtorAgeing",
    "CreditLimits",
    "BankLines",
    "VoucherAudit",
    "DeletedVouchers",
    "RecurringProfiles",
    "PeriodLocks",
    "Users",
)
_WORDS = (
    "amount net", "amount gross", "tax amount", "currency", "document date", "due date",
    "posting date", "entry date", "valid from", "valid to", "status", "customer id", "region",
    "district", "segment", "quantity", "unit", "price", "discount", "cost center", "company code",
    "reference", "description", "created by", "created on", "changed by", "changed on", "source",
    "version", "flag 1", "flag 2", "remark", "priority", "period", "fiscal year", "order number",
    "invoice number", "delivery date", "promised date", "contract number", "end date",
    "notice date", "monthly fee", "carrier", "warehouse", "item number", "product group",
    "employee id", "language", "channel", "batch", "rate", "percentage", "limit", "balance",
)  # fmt: skip


@lru_cache(maxsize=64)
def _order_of(company: str, role: str) -> tuple[int, ...]:
    """Return the order in which a table has its own columns and its padding."""
    layout = layout_of(company)
    width = len(FIELDS[role]) + len(layout.padding.get(role, ()))
    rng = generator_for("sql-estate-columns", company, role)
    return (0, *(1 + rng.permutation(width - 1)).tolist())


def _columns(layout: EstateLayout, role: str) -> list[tuple[str, str]]:
    own = [(layout.columns[role][field], type_of(role, field)) for field in FIELDS[role]]
    own += [(name, "TEXT") for name in layout.padding.get(role, ())]
    return [own[place] for place in _order_of(layout.company, role)]


@lru_cache(maxsize=64)
def _pads(company: str, role: str) -> tuple[tuple[str | None, ...], ...]:
    """Return rows of padding, which are used in turn."""
    rng = generator_for("sql-estate-padding", company, role)
    columns = [_pad(rng) for _ in layout_of(company).padding.get(role, ())]
    return tuple(zip(*columns, strict=True)) if columns else ((),) * _PADS


def _pad(rng: np.random.Generator) -> list[str | None]:
    kind, codes = int(rng.integers(5)), rng.integers(1, 1_000, size=_PADS).tolist()
    match kind:
        case 0:
            return [None] * _PADS
        case 1:
            return [f"{code % 4 * 100 + 1000}" for code in codes]
        case 2:
            return [f"{code / 4:.2f}" for code in codes]
        case 3:
            return [f"202{code % 4}-{code % 12 + 1:02d}-{code % 27 + 1:02d}" for code in codes]
        case _:
            return [("A", "B", "", "X1", "N")[code % 5] for code in codes]


def _padded(layout: EstateLayout, role: str, rows: Sequence[Row]) -> Iterator[Row]:
    order = _order_of(layout.company, role)
    if len(order) == 1:
        yield from rows
        return
    arrange, pads = itemgetter(*order), _pads(layout.company, role)
    for place, row in enumerate(rows):
        yield arrange((*row, *pads[place % _PADS]))


def filled(spec: EstateSpec, layout: EstateLayout, rows: dict[str, list[Row]]) -> bytes:
    """Return the database of a task, with its rows in place of those of the company."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(base_image(spec.company))
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("BEGIN")
        every = {**rows, **shared_rows(spec, layout), "reg": register(spec, layout)}
        for role, own in every.items():
            _replace(connection, layout, role, own)
        connection.execute("COMMIT")
        return connection.serialize()


def _replace(
    connection: sqlite3.Connection, layout: EstateLayout, role: str, rows: Sequence[Row]
) -> None:
    marks = ", ".join("?" * (len(FIELDS[role]) + len(layout.padding.get(role, ()))))
    padded = list(_padded(layout, role, rows))
    content = [(layout.tables[role], padded)]
    content += [
        (name, dead_copy_of(padded, place)) for place, name in enumerate(layout.dead.get(role, ()))
    ]
    for name, own in content:
        connection.execute(f"DELETE FROM {name}")
        connection.executemany(f"INSERT INTO {name} VALUES ({marks})", own)


# -- the company ---------------------------------------------------------------------------------


def base_image(company: str) -> bytes:
    """Return the database of a company without a task; recent ones are cached."""

    def made() -> bytes:
        if split_of(company) not in ("dev", "test"):
            return _based(company)
        return stored("sql estate", "sql", (company,), lambda: _based(company))

    return _bases.get(company, made)


def _based(company: str) -> bytes:
    layout = layout_of(company)
    rng = generator_for("sql-estate-site", company)
    made: list[tuple[str, list[tuple[str, str]], list[Row]]] = []
    for role in FIELDS:
        names = (layout.tables[role], *layout.dead.get(role, ()))
        made += [(name, _columns(layout, role), []) for name in names]
    taken = {name.lower() for name, _, _ in made}
    wanted = _SIZES[int(rng.integers(len(_SIZES)))] - len(made)
    others = [each for each in _others(rng) if each[0].lower() not in taken][:wanted]
    tables = [*made, *others]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("BEGIN")
        for place in rng.permutation(len(tables)).tolist():
            name, columns, rows = tables[place]
            described = ", ".join(f"{column} {kind}" for column, kind in columns)
            connection.execute(f"CREATE TABLE {name} ({described})")
            marks = ", ".join("?" * len(columns))
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
        for metric in ("revenue", "churn", "punctual"):
            spec = draw_spec(metric, company, 0, 0)
            for role, own in draw_rows(spec, layout, 0).items():
                _replace(connection, layout, role, own)
        for statement in _views(layout):
            connection.execute(statement)
        connection.execute("COMMIT")
        return connection.serialize()


def _views(layout: EstateLayout) -> list[str]:
    """Return old views, whose definitions are out of date."""
    made = []
    for flow, name in VIEWS.items():
        role = f"N{flow}"
        made.append(layout(
            f"CREATE VIEW {name} AS /* as of 2021: {layout.systems['N']} only, nothing of "
            f"{layout.systems['A']}; not maintained */ SELECT @{role}.cust, "
            f"SUBSTR(@{role}.day, 1, 7) AS mth, COUNT(*) AS cnt, SUM(@{role}.val) AS total "
            f"FROM @{role} GROUP BY @{role}.cust, SUBSTR(@{role}.day, 1, 7)"
        ))  # fmt: skip
    return made


def _others(rng: np.random.Generator) -> list[tuple[str, list[tuple[str, str]], list[Row]]]:
    """Return tables that no question needs, in three conventions, in random order."""
    made: list[tuple[str, list[tuple[str, str]], list[Row]]] = []
    for area, nouns in _NEW_AREAS.items():
        for noun in nouns:
            name = "_".join((area, *map(abbreviate, noun.split())))
            made.append(_other(rng, name, "snake"))
    for module, number in _OLD_AREAS.items():
        for code in rng.permutation(np.arange(11, 99))[:number].tolist():
            made.append(_other(rng, f"{module}{code:02d}5", "upper"))
    made += [_other(rng, name, "pascal") for name in _BOUGHT_AREAS]
    endings = ("_old", "_bak2", "_2021", "_tmp", "_copy")
    copied = [made[place] for place in rng.permutation(len(made))[:50].tolist()]
    made += [
        (name + endings[place % 5], columns, rows[: len(rows) // 2])
        for place, (name, columns, rows) in enumerate(copied)
    ]
    return [made[place] for place in rng.permutation(len(made)).tolist()]


def _other(
    rng: np.random.Generator, name: str, style: str
) -> tuple[str, list[tuple[str, str]], list[Row]]:
    long = rng.random() < 0.18
    number = int(rng.integers(11, 18 if long else 42))
    words = [_WORDS[place] for place in rng.permutation(len(_WORDS))[:number].tolist()]
    columns = [(_spelt("id", style), "INTEGER")]
    for word in words:
        column = _spelt(word, style)
        if column.lower() not in KEYWORDS and column not in dict(columns):
            columns.append((column, "REAL" if "amount" in word or word == "rate" else "TEXT"))
    size = int(rng.integers(90, 600) if long else rng.integers(3, 60))
    cells: list[Any] = [list(range(1, size + 1))]
    cells += [(_pad(rng) * (size // _PADS + 1))[:size] for _ in columns[1:]]
    return name, columns, list(zip(*cells, strict=True))


def _spelt(word: str, style: str) -> str:
    if style == "pascal":
        return "".join(part.capitalize() for part in word.split())
    parts = [abbreviate(part) for part in word.split()]
    return "_".join(parts) if style == "snake" else "".join(parts)[:7].upper()
