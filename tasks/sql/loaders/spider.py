"""Spider: question files such as `dev.json`, and one SQLite file per database.

Files as published: `dev.json`, `train_spider.json` with `train_others.json`, `test.json` contain
lists of {"db_id", "question", "query"}; databases are at `database/ID/ID.sqlite` (`test_database`
for the test split). The headline is Spider's test-suite rule; the strict rule is reported beside
it.
"""

import json
from collections.abc import Sequence
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
from hexathlon.tasks.task import Split

__all__ = ["SpiderSource", "json_list", "source"]

_FILES: dict[Split, tuple[str, ...]] = {
    "train": ("train_spider.json", "train_others.json"),
    "dev": ("dev.json",),
    "test": ("test.json",),
}


class SpiderSource(LoadedQuestions):
    """Spider's questions with their databases."""

    name = "spider"
    folder = "spider"

    def read(self, split: Split) -> Sequence[LoadedQuestion]:
        """Return the questions of a split, in file order."""
        files = [self.root / name for name in _FILES.get(split, ())]
        if not self.root.is_dir():
            raise MissingData(f"there is no folder {self.root} with Spider's files")
        entries = [entry for file in files if file.is_file() for entry in json_list(file)]
        return [self._item(entry, index, split) for index, entry in enumerate(entries)]

    def contents(self) -> Sequence[bytes]:
        """Return the question files and all databases."""
        names = [name for files in _FILES.values() for name in files]
        paths = [self.root / name for name in names if (self.root / name).is_file()]
        return [path.read_bytes() for path in [*paths, *sorted(self.root.glob("*/*/*.sqlite"))]]

    def _item(self, entry: dict[str, Any], index: int, split: Split) -> LoadedQuestion:
        name, gold = entry["db_id"], entry["query"]
        folder = "test_database" if split == "test" else "database"
        if not (self.root / folder).is_dir():
            folder = "database"
        place = f"{folder}/{name}/{name}.sqlite"
        return LoadedQuestion(
            template=safe_template(name), level=level_of(gold), index=index,
            instruction=entry["question"],
            database={"kind": "file", "path": self.place(place)}, submit="sql",
            checks=read_check("spider", gold, "bird_ex", ordered=is_ordered(gold)), gold=(gold,),
        )  # fmt: skip

    def place(self, name: str) -> str:
        """Return a file's path for a task: relative to HEXATHLON_DATA if it is inside."""
        return f"{self.folder}/{name}" if self._root is None else str(self._root / name)


def json_list(file: Path) -> list[dict[str, Any]]:
    """Return the entries of a JSON list, or of a JSON Lines file.

    Raises:
        MissingData: If the file does not exist or has neither format.
    """
    if not file.is_file():
        raise MissingData(f"there is no file {file}")
    text = file.read_text(encoding="utf-8")
    try:
        if file.suffix == ".jsonl":
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        entries = json.loads(text)
    except json.JSONDecodeError as error:
        raise MissingData(f"{file} is not JSON: {error}") from error
    if not isinstance(entries, list):
        raise MissingData(f"{file} is not a list: expected a list of objects")
    return entries


def source() -> SpiderSource:
    """Create the source that reads HEXATHLON_DATA/spider."""
    return SpiderSource()
