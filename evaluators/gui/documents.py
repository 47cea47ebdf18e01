"""Documents of desktop programs as data: the content of a file, independent of its encoding.

Kinds: `text`, `page` (of a notebook), `cells` (of a workbook), `accounts` (a household's books),
`tables` (a database), `image` and `folder`. A document that cannot be read is None, which equals no
expected value. Independent of which document is right.
"""

import gzip
import hashlib
import io
import math
import re
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any
from xml.etree import ElementTree

from hexathlon.evaluators.gui.formulas import evaluate

__all__ = ["KINDS", "kind_of", "same"]

_GNUMERIC = "{http://www.gnumeric.org/v10.dtd}"
_MOST_BYTES = 8_000_000
_MOST_PIXELS = 25_000_000
_MOST_VALUES = 8_000_000
"""Size of a database's rows, at most: characters and bytes, and one for each value."""

_MOST_FORMULAS = 500
"""Formulas of a workbook, at most."""

_LARGEST_SHEET = 1 << 20
"""Rows and columns of a sheet, at most."""


def kind_of(path: str) -> str:
    """Return the kind of a document by its name."""
    ending = path.rpartition(".")[2].lower()
    return {"gnumeric": "cells", "xhb": "accounts", "png": "image", "db": "tables",
            "sqlite": "tables"}.get(ending, "text")  # fmt: skip


def same(one: Any, other: Any) -> bool:
    """Whether two documents have the same content; numbers may differ by rounding."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other) and one is not None


def _text(data: bytes) -> str:
    """Return a text without its final line break."""
    return data.decode("utf-8").removesuffix("\n")


def _page(data: bytes) -> str:
    """Return a notebook page without header, outer spaces and the date line."""
    text = data.decode("utf-8")
    if text.startswith("Content-Type:"):
        text = text.partition("\n\n")[2]
    return re.sub(r"^Created .*\n\n?", "", text.strip(), count=1, flags=re.MULTILINE).strip()


def _cells(data: bytes) -> dict[str, dict[str, Any]]:
    """Return the cells of each sheet by address, formulas as their values."""
    if data[:2] == b"\x1f\x8b":
        data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(_MOST_BYTES)
    root = ElementTree.fromstring(data)
    sheets = {}
    formulas = 0
    for sheet in root.iter(f"{_GNUMERIC}Sheet"):
        name = sheet.findtext(f"{_GNUMERIC}Name") or ""
        raw = {}
        shared: dict[str, tuple[str, int, int]] = {}
        for cell in sheet.iter(f"{_GNUMERIC}Cell"):
            row, column = int(cell.attrib["Row"]), int(cell.attrib["Col"])
            text = cell.text or ""
            number = cell.attrib.get("ExprID")
            if number is not None and text:
                shared[number] = (text, row, column)
            elif number is not None:
                text = "=shared"  # our documents share no formulas between cells
            raw[_address(row, column)] = (text, cell.attrib.get("ValueType"))
        formulas += sum(text.startswith("=") for text, _ in raw.values())
        if formulas > _MOST_FORMULAS:
            raise ValueError("too many formulas")
        plain = {at: _typed(*value) for at, value in raw.items() if not value[0].startswith("=")}
        for at, (text, _) in raw.items():
            if text.startswith("="):
                plain[at] = evaluate(text, plain)
        sheets[name] = plain
    return sheets


def _typed(text: str, kind: str | None) -> Any:
    if kind in ("30", "40"):
        return float(text)
    return text == "TRUE" if kind == "20" else text


def _address(row: int, column: int) -> str:
    if not (0 <= row < _LARGEST_SHEET and 0 <= column < _LARGEST_SHEET):
        raise ValueError(f"no sheet has a cell in row {row} and column {column}")
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row + 1}"


def _accounts(data: bytes) -> dict[str, Any]:
    """Return accounts, payees, categories and operations of a household's books, by name."""
    root = ElementTree.fromstring(data)
    names = {
        tag: {each.attrib["key"]: each.attrib.get("name", "") for each in root.iter(tag)}
        for tag in ("account", "pay", "cat")
    }
    operations = []
    for each in root.iter("ope"):
        fields = each.attrib
        operations.append([
            int(fields["date"]),
            round(float(fields["amount"]), 2),
            names["account"].get(fields.get("account", ""), ""),
            names["pay"].get(fields.get("payee", ""), ""),
            names["cat"].get(fields.get("category", ""), ""),
            fields.get("wording", ""),
        ])  # fmt: skip
    return {
        "accounts": sorted(names["account"].values()),
        "payees": sorted(names["pay"].values()),
        "categories": sorted(names["cat"].values()),
        "operations": sorted(operations, key=repr),
    }


def _tables(data: bytes) -> dict[str, list[list[Any]]]:
    """Return the rows of every table, sorted."""
    if not data:  # an empty file is a database without tables
        return {}
    with sqlite3.connect(":memory:") as database:
        database.deserialize(data)
        names = [row[0] for row in database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )]  # fmt: skip
        tables, room = {}, _MOST_VALUES
        for name in sorted(names):
            rows = []
            for row in _stored(database, name):
                room -= sum(len(value) if isinstance(value, str | bytes) else 0 for value in row)
                room -= len(row)
                if room < 0:  # a made-up schema may give the same rows to many tables
                    raise ValueError("the database has too many rows")
                rows.append([_plain(value) for value in row])
            tables[name] = sorted(rows, key=repr)
        return tables


def _stored(database: sqlite3.Connection, table: str) -> sqlite3.Cursor:
    """Return the rows of a table, none of whose columns may be computed when it is read."""
    columns = list(database.execute(f"PRAGMA table_xinfo({_quoted(table)})"))
    if any(hidden for *_, hidden in columns):
        raise ValueError(f"{table} has columns that are not stored")
    return database.execute(f"SELECT * FROM {_quoted(table)}")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _plain(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value


def _image(data: bytes) -> dict[str, Any]:
    """Return the size and a digest of the pixels in RGB."""
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        if image.width * image.height > _MOST_PIXELS:
            raise ValueError("the image is too large")
        pixels = image.convert("RGB")
        digest = hashlib.sha256(pixels.tobytes()).hexdigest()
        return {"size": list(pixels.size), "sha256": digest}


_READERS: dict[str, Callable[[bytes], Any]] = {
    "text": _text, "page": _page, "cells": _cells, "accounts": _accounts, "tables": _tables,
    "image": _image,
}  # fmt: skip


def _reader(kind: str) -> Callable[[bytes], Any]:
    def read(data: bytes) -> Any:
        try:
            return _READERS[kind](data)
        except Exception:  # agents may write any bytes, and decoders raise many kinds of errors
            return None

    return read


KINDS: dict[str, Callable[[bytes], Any]] = {kind: _reader(kind) for kind in _READERS}
"""Kind → its reader, which returns None for data of another kind."""
