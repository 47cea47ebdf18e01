"""InterCode-SQL: Spider's dev questions as an interactive game on one MySQL dump.

Files as published: `ic_spider_dev.json` contains a list of {"db", "query", "gold", "hardness"}; the
databases are a MySQL dump, `ic_spider_dbs.sql`, translated on first use. If Spider's own SQLite
files exist at `database/ID/ID.sqlite`, they are used instead.
"""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cached_property
from typing import Any

from hexathlon.tasks.errors import MissingData
from hexathlon.tasks.sql.loaders.gold import is_ordered, translated
from hexathlon.tasks.sql.loaders.loaded import (
    LoadedQuestion,
    LoadedQuestions,
    level_of,
    read_check,
    safe_template,
)  # fmt: skip
from hexathlon.tasks.sql.loaders.spider import json_list
from hexathlon.tasks.task import Split

__all__ = ["InterCodeSource", "dump_databases", "source"]

_STATEMENT = re.compile(
    r"(?:'(?:[^'\\]|''|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|[^;'\"`])+;?", re.DOTALL
)
_COMMENT = re.compile(r"/\*.*?\*/|^--[^\n]*$|^#[^\n]*$", re.DOTALL | re.MULTILINE)
_DROPPED = ("KEY", "CONSTRAINT", "FOREIGN", "UNIQUE", "INDEX", "FULLTEXT")


class InterCodeSource(LoadedQuestions):
    """InterCode-SQL's questions."""

    name = "intercode-sql"
    folder = "intercode"

    def read(self, split: Split) -> Sequence[LoadedQuestion]:
        """Return the dev questions; there is no other split."""
        if split != "dev":
            return []
        entries = json_list(self.root / "ic_spider_dev.json")
        return [self._item(entry, index) for index, entry in enumerate(entries)]

    def contents(self) -> Sequence[bytes]:
        """Return the questions, and the dump or the databases."""
        names = ("ic_spider_dev.json", "ic_spider_dbs.sql")
        paths = [self.root / name for name in names if (self.root / name).is_file()]
        return [p.read_bytes() for p in [*paths, *sorted(self.root.glob("database/*/*.sqlite"))]]

    def _item(self, entry: dict[str, Any], index: int) -> LoadedQuestion:
        name, gold = entry["db"], entry["gold"]
        return LoadedQuestion(
            template=safe_template(name), level=level_of(gold, entry.get("hardness")),
            index=index, instruction=entry["query"], database=self._database(name), submit="sql",
            checks=read_check("intercode_iou", gold, "spider", ordered=is_ordered(gold)),
            gold=(gold,),
        )  # fmt: skip

    def _database(self, name: str) -> dict[str, Any]:
        place = f"database/{name}/{name}.sqlite"
        if (self.root / place).is_file():
            path = f"{self.folder}/{place}" if self._root is None else str(self.root / place)
            return {"kind": "file", "path": path}
        if name not in self._dump:
            raise MissingData(f"neither {self.root / place} nor the dump has a database {name}")
        return {"kind": "tables", "tables": self._dump[name]}

    @cached_property
    def _dump(self) -> dict[str, list[dict[str, Any]]]:
        file = self.root / "ic_spider_dbs.sql"
        return dump_databases(file.read_text(encoding="utf-8")) if file.is_file() else {}


def dump_databases(dump: str) -> dict[str, list[dict[str, Any]]]:
    """Return the databases of a MySQL dump, each as tables with columns and rows."""
    parts: dict[str, list[str]] = {}
    current = ""
    for statement in _statements(dump):
        used = re.match(r"USE\s+`?(\w+)`?", statement, re.IGNORECASE)
        if used:
            current = used.group(1)
        elif re.match(r"(CREATE\s+TABLE|INSERT\s+INTO)\b", statement, re.IGNORECASE):
            parts.setdefault(current, []).append(statement)
    return {name: _tables(statements) for name, statements in parts.items()}


def _statements(dump: str) -> Iterator[str]:
    for match in _STATEMENT.finditer(_COMMENT.sub("", dump)):
        statement = match.group().strip().rstrip(";").strip()
        if statement:
            yield statement


def _tables(statements: Sequence[str]) -> list[dict[str, Any]]:
    """Run the statements in SQLite and read the tables back."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements:
            created = statement.upper().startswith("CREATE")
            connection.execute(_created(statement) if created else translated(statement))
        names = connection.execute("SELECT name FROM sqlite_master ORDER BY rowid").fetchall()
        return [_read(connection, name) for (name,) in names]


def _read(connection: sqlite3.Connection, name: str) -> dict[str, Any]:
    columns = [
        [row[1], f"{row[2]} COLLATE NOCASE" if row[2] == "TEXT" else row[2]]
        for row in connection.execute(f'PRAGMA table_info("{name}")')
    ]
    rows = [list(row) for row in connection.execute(f'SELECT * FROM "{name}"')]
    return {"name": name, "columns": columns, "rows": rows}


def _created(statement: str) -> str:
    """Return a MySQL table definition reduced to names and types, without keys and options."""
    head, _, rest = statement.partition("(")
    body = rest[: rest.rfind(")")]
    columns = []
    for part in _top_level(body):
        words = part.split(None, 1)
        first = words[0].strip('`"')
        if first.upper() in (*_DROPPED, "PRIMARY") and words[0][0] not in '`"':
            continue
        columns.append(f'"{first}" {_kind(words[1] if len(words) > 1 else "")}')
    return f"{head.replace('`', chr(34))} ({', '.join(columns)})"


def _top_level(body: str) -> Iterator[str]:
    depth, start, quote = 0, 0, ""
    for place, letter in enumerate(body):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"`":
            quote = letter
        depth += 0 if quote else {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0 and not quote:
            yield body[start:place].strip()
            start = place + 1
    if body[start:].strip():
        yield body[start:].strip()


def _kind(declared: str) -> str:
    word = declared.split("(")[0].split()[0].lower() if declared.split() else "text"
    if "int" in word or word in ("bool", "boolean", "year"):
        return "INTEGER"
    return "REAL" if word in ("double", "float", "decimal", "real", "numeric") else "TEXT"


def source() -> InterCodeSource:
    """Create the source that reads HEXATHLON_DATA/intercode."""
    return InterCodeSource()
