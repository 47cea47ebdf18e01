"""DBBench, part of AgentBench: one small table per task; questions, inserts and updates.

The 300 standard tasks ship with the package. As published, each line of `standard.jsonl` contains
the description, the label and the table with its rows. All columns are text, as in the original.

For a question, the label is the ground truth, not its gold query: every third gold query is invalid
SQL. For a write, the label is a MySQL statement; `replay` translates it, and `UNREPRODUCED` lists
where the result still differs from the published hash of the table.
"""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hexathlon.tasks.errors import MissingData
from hexathlon.tasks.sql.data import shipped_lines
from hexathlon.tasks.sql.loaders.gold import hardness, tokens, translated
from hexathlon.tasks.sql.loaders.loaded import LoadedQuestion, LoadedQuestions, safe_template
from hexathlon.tasks.sql.loaders.spider import json_list
from hexathlon.tasks.task import Check, Level, Split

__all__ = ["UNREPRODUCED", "DBBenchSource", "replay", "source", "table_of"]

UNREPRODUCED: Mapping[int, str] = {
    225: "the published hash belongs to no table that the statement can leave",
}
"""Tasks, by position in the file, whose published hash the replayed statement does not
reproduce."""

_NOTE = {
    "answer": (
        "Every column holds text. Hand in the answer as a list of values, one for each row and "
        "column of the result."
    ),
    "database": "Every column holds text. Change the table and hand in the database.",
}
_LEVELS: dict[str, Level] = {"easy": "tiny", "medium": "easy", "hard": "medium", "extra": "hard"}


class DBBenchSource(LoadedQuestions):
    """DBBench's standard tasks: the shipped ones, or those of a given directory."""

    name = "dbbench"
    folder = "dbbench"

    def read(self, split: Split) -> Sequence[LoadedQuestion]:
        """Return the test split, 300 tasks, or the dev split, `dev.jsonl` of the directory.

        Without a given directory, the dev split is HEXATHLON_DATA/dbbench/dev.jsonl.
        """
        if split == "test":
            return [_item(entry, index) for index, entry in enumerate(self._entries())]
        file = self._dev_file()
        if split == "dev" and file is not None:
            return [_item(entry, index) for index, entry in enumerate(json_list(file))]
        return []

    def data_files(self) -> Sequence[str]:
        """Return the pattern of the shipped tasks, unless a directory was given."""
        return () if self._root is not None else ("tasks/sql/data/dbbench.jsonl.gz",)

    def contents(self) -> Sequence[bytes]:
        """Return the directory's task file, and the file of the dev split if there is one."""
        file = self._dev_file()
        own = [] if self._root is None else [json.dumps(self._entries(), sort_keys=True).encode()]
        return [*own, *([] if file is None else [file.read_bytes()])]

    def _dev_file(self) -> Path | None:
        try:
            file = self.root / "dev.jsonl"
        except MissingData:
            return None
        return file if file.is_file() else None

    def _entries(self) -> list[dict[str, Any]]:
        if self._root is not None:
            return json_list(self._root / "standard.jsonl")
        return [json.loads(line) for line in shipped_lines("dbbench.jsonl.gz")]


def table_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry's table: text cells, and case-insensitive text columns as in MySQL."""
    info = entry["table"]["table_info"]
    return {
        "name": entry["table"]["table_name"],
        "columns": [[column["name"], "TEXT COLLATE NOCASE"] for column in info["columns"]],
        "rows": [[None if v is None else str(v) for v in row] for row in info["rows"]],
    }


def replay(entry: Mapping[str, Any]) -> list[str]:
    """Return the label of a write task as SQLite statements."""
    table = table_of(entry)
    statements = [translated(statement, [table["name"]]) for statement in entry["label"]]
    return [_respelt(statement, table) for statement in statements]


def _respelt(statement: str, table: Mapping[str, Any]) -> str:
    """Respell literals after WHERE as in the table, if they differ only in accents, as in MySQL."""
    head, where, condition = statement.partition(" WHERE ")
    cells = {_folded(cell): cell for row in table["rows"] for cell in row if cell is not None}
    present = {cell.lower() for row in table["rows"] for cell in row if cell is not None}
    for word in tokens(condition):
        text = word[1:-1].replace("''", "'")
        known = cells.get(_folded(text))
        if word[0] == "'" and known is not None and text.lower() not in present:
            condition = condition.replace(word, "'" + known.replace("'", "''") + "'")
    return head + where + condition


def _folded(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in parts if not unicodedata.combining(letter)).lower()


def _item(entry: Mapping[str, Any], index: int) -> LoadedQuestion:
    kind = str(entry["type"][0])
    writes = kind in ("INSERT", "UPDATE", "DELETE")
    table = table_of(entry)
    submit: Any = "database" if writes else "answer"
    gold = replay(entry) if writes else [str(value) for value in entry["label"]]
    query = str(entry.get("sql", {}).get("query", "")) or gold[0]
    return LoadedQuestion(
        template=safe_template(kind.lower().replace("-", "_")),
        level="easy" if writes else _LEVELS[hardness(query)],
        index=index,
        instruction=f"{entry['description']}\n\n{entry['add_description']}\n{_NOTE[submit]}",
        database={"kind": "tables", "tables": [table]},
        submit=submit,
        checks=_write_checks(entry, index, gold) if writes else _answer_checks(entry),
        gold=tuple(gold),
    )


def _write_checks(
    entry: Mapping[str, Any], index: int, statements: Sequence[str]
) -> tuple[Check, ...]:
    own: dict[str, Any] = {"statements": list(statements)}
    published = str(entry.get("answer_md5", ""))[3:-4]
    if published and index not in UNREPRODUCED:
        own = {"hash": published}
    return (
        Check(name="dbbench", params=own),
        Check(name="sql_write", params={"statements": list(statements)}, headline=False),
    )


def _answer_checks(entry: Mapping[str, Any]) -> tuple[Check, ...]:
    label = {"label": list(entry["label"])}
    return (
        Check(name="dbbench", params=label),
        Check(name="sql_answer", params=label, headline=False),
    )


def source() -> DBBenchSource:
    """Create the source of the shipped tasks."""
    return DBBenchSource()
