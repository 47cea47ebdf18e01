"""BIRD: questions with evidence, large databases, a CSV description of each table.

Files as published: `dev.json` (or `mini_dev_sqlite.json`) and `train.json` contain lists of
{"db_id", "question", "evidence", "SQL", "difficulty"}. Databases are at
`dev_databases/ID/ID.sqlite`, beside `database_description/*.csv`, which become documents.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from hexathlon.tasks.errors import MissingData
from hexathlon.tasks.sql.loaders.gold import is_ordered
from hexathlon.tasks.sql.loaders.loaded import (
    LoadedQuestion,
    LoadedQuestions,
    level_of,
    read_check,
    safe_template,
)  # fmt: skip
from hexathlon.tasks.sql.loaders.spider import json_list
from hexathlon.tasks.task import Split

__all__ = ["BirdSource", "source"]

_FILES: dict[Split, tuple[str, ...]] = {
    "train": ("train.json",),
    "dev": ("dev.json", "mini_dev_sqlite.json"),
}
_FOLDERS: dict[Split, tuple[str, ...]] = {
    "train": ("train_databases", "databases"),
    "dev": ("dev_databases", "databases"),
}


class BirdSource(LoadedQuestions):
    """BIRD's questions with their evidence."""

    name = "bird"
    folder = "bird"

    def read(self, split: Split) -> Sequence[LoadedQuestion]:
        """Return the questions of a split, from the first of its files that exists."""
        if not self.root.is_dir():
            raise MissingData(f"there is no folder {self.root} with BIRD's files")
        files = [self.root / name for name in _FILES.get(split, ())]
        found = next((file for file in files if file.is_file()), None)
        entries = json_list(found) if found else []
        return [self._item(entry, index, split) for index, entry in enumerate(entries)]

    def contents(self) -> Sequence[bytes]:
        """Return the question files; the huge databases are identified by name and size."""
        names = [name for files in _FILES.values() for name in files]
        files = [(self.root / name).read_bytes() for name in names if (self.root / name).is_file()]
        sizes = [
            f"{path.name} {path.stat().st_size}".encode()
            for path in sorted(self.root.glob("*/*/*.sqlite"))
        ]
        return [*files, *sizes]

    def _item(self, entry: dict[str, Any], index: int, split: Split) -> LoadedQuestion:
        name, gold = entry["db_id"], entry["SQL"]
        folder = self._folder(split, name)
        evidence = str(entry.get("evidence") or "").strip()
        hint = f"\n\nEvidence: {evidence}" if evidence else ""
        path = f"{folder}/{name}/{name}.sqlite"
        return LoadedQuestion(
            template=safe_template(name), level=level_of(gold, entry.get("difficulty")),
            index=index, instruction=entry["question"] + hint,
            database={
                "kind": "file",
                "path": f"{self.folder}/{path}" if self._root is None else str(self.root / path),
            },
            submit="sql", gold=(gold,),
            checks=read_check(
                "bird_ex", gold, "bird_soft_f1", "bird_rves", ordered=is_ordered(gold)
            ),
            documents=_descriptions(self.root / folder / name / "database_description"),
        )  # fmt: skip

    def _folder(self, split: Split, name: str) -> str:
        folders = _FOLDERS[split]
        return next((f for f in folders if (self.root / f / name).is_dir()), folders[0])


@lru_cache(maxsize=128)
def _descriptions(folder: Path) -> Mapping[str, str]:
    """Return one document per CSV file, with a line for each described column."""
    if not folder.is_dir():
        return {}
    return {file.stem: _description(file) for file in sorted(folder.glob("*.csv"))}


def _description(file: Path) -> str:
    text = file.read_bytes().decode("utf-8-sig", "replace")
    lines = []
    for row in csv.DictReader(io.StringIO(text)):
        cells = {str(key).strip(): str(value or "").strip() for key, value in row.items() if key}
        column = cells.pop("original_column_name", "")
        known = ((key.replace("_", " "), value) for key, value in cells.items() if value)
        said = "; ".join(f"{key}: {value}" for key, value in known)
        lines.append(f"{column}: {said}" if said else column)
    return "\n".join(lines)


def source() -> BirdSource:
    """Create the source that reads HEXATHLON_DATA/bird."""
    return BirdSource()
