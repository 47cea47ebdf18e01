"""The parts of a question about an engine: tables, rows, texts by dialect, and a second derivation.

A question is drawn from a seed alone. Its hidden databases have the same tables and other rows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVarTuple

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.sql.draws import ValueDraw
from hexathlon.tasks.sql.pools import pool_name
from hexathlon.tasks.sql.schema import Row
from hexathlon.tasks.task import Level, Split

__all__ = [
    "DIALECTS", "EngineDraw", "EngineQuestion", "EngineTexts", "QuestionTable", "StoredTables",
    "in_each_dialect",
]  # fmt: skip

_Ts = TypeVarTuple("_Ts")

DIALECTS = ("sqlite", "duckdb", "postgresql")

StoredTables = Mapping[str, Sequence[tuple[Any, ...]]]
"""Rows by table."""


@dataclass(frozen=True, slots=True)
class QuestionTable:
    """A table of a question's database."""

    name: str
    columns: tuple[tuple[str, str], ...]
    """Names with types. Engines with such types take DATE, TIMESTAMP and JSON as they are."""

    indexes: tuple[tuple[str, ...], ...] = ()
    """Columns of each index. The first column is the primary key unless an index begins with it."""


@dataclass(frozen=True, slots=True)
class EngineTexts:
    """Statements in one dialect."""

    gold: str
    others: Mapping[str, str]
    """Other right statements by name."""

    wrong: Mapping[str, str]
    """Near misses by name."""


def in_each_dialect(
    makers: Sequence[Callable[[*_Ts], EngineTexts]], *spec: *_Ts
) -> dict[str, EngineTexts]:
    """Return the texts by dialect; there is a function for each, in the order of `DIALECTS`."""
    return {name: make(*spec) for name, make in zip(DIALECTS, makers, strict=True)}


@dataclass(frozen=True)
class EngineQuestion:
    """A question as drawn, before its databases are screened."""

    text: str
    tables: tuple[QuestionTable, ...]
    populate: Callable[[int, bool], StoredTables]
    """Draws the rows of a population from its seed; the flag says whether it is the visible one."""

    by_hand: Callable[[StoredTables], list[Row]]
    """Derives the answer from the rows without SQL."""

    texts: Mapping[str, EngineTexts]
    """By dialect; those of SQLite are always there and give the expected answer."""

    steps: int | None = None
    """Steps of SQLite that a statement may take; None if they are not limited. A constant of the
    template, since the steps of a plan depend on SQLite's version."""


@dataclass(frozen=True)
class EngineDraw:
    """The seed of a question: the same draw gives the same question everywhere."""

    template: str
    level: Level
    split: Split
    seed: int
    attempt: int

    @property
    def hard(self) -> bool:
        """Whether the question is of level hard."""
        return self.level == "hard"

    def values(self, *parts: str | int) -> ValueDraw:
        """Return a generator of this draw's values; `parts` name what they are for."""
        return ValueDraw(
            generator_for("sql-engines", self.template, self.level, self.seed, self.attempt, *parts)
        )

    def names(self, pool: str, number: int) -> list[str]:
        """Return different names of the split's part of a pool."""
        places = self.values("names", pool).sample(range(3 * number), number)
        return [pool_name(pool, self.split, place) for place in places]
