"""Our own questions about the Chinook database, which ships with the package.

Each question has two independent queries that agree on the database and on its variants; the
variants are the hidden databases of the strict rule, which is the headline.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.tasks.sql.data import chinook_questions
from hexathlon.tasks.sql.loaders.loaded import LoadedQuestion, LoadedQuestions
from hexathlon.tasks.task import Check, Split

__all__ = ["HIDDEN", "ChinookSource", "source"]

HIDDEN = 3
"""Number of variants of the database on which an answer must also be correct."""


class ChinookSource(LoadedQuestions):
    """Questions about Chinook, all in the test split."""

    name = "chinook"

    def read(self, split: Split) -> Sequence[LoadedQuestion]:
        """Return the questions in file order."""
        if split != "test":
            return []
        return [_item(entry, index) for index, entry in enumerate(chinook_questions())]

    def data_files(self) -> Sequence[str]:
        """Return the patterns of the database and the questions."""
        return ("tasks/sql/data/chinook.sqlite.gz", "tasks/sql/data/chinook.toml")

    def contents(self) -> Sequence[bytes]:
        """Return nothing: no user files are read."""
        return []


def _item(entry: Mapping[str, Any], index: int) -> LoadedQuestion:
    gold = entry["query"]
    ordered = bool(entry.get("ordered", False))
    strict = {"gold": gold, "ordered": ordered}
    hidden = [
        {"kind": "shipped", "name": "chinook", "variant": variant}
        for variant in range(1, HIDDEN + 1)
    ]
    return LoadedQuestion(
        template=entry["topic"],
        level=entry["level"],
        index=index,
        instruction=entry["text"],
        database={"kind": "shipped", "name": "chinook"},
        submit="sql",
        checks=(
            Check(name="sql_result", params=strict),
            Check(name="spider", params={"gold": gold}, headline=False),
            Check(name="bird_ex", params={"gold": gold}, headline=False),
        ),
        gold=(gold,),
        alternatives={"second": entry["second"]},
        mutants={f"wrong_{place}": sql for place, sql in enumerate(entry["wrong"], 1)},
        extra={"hidden": hidden},
    )


def source() -> ChinookSource:
    """Create the source of the shipped questions."""
    return ChinookSource()
