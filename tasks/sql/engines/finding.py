"""Acceptance of drawn questions, and their databases."""

import importlib
import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import cast

from hexathlon.tasks.errors import GenerationExhausted
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.sql.engines.question import (
    EngineDraw,
    EngineQuestion,
    QuestionTable,
    StoredTables,
)
from hexathlon.tasks.sql.schema import Row
from hexathlon.tasks.sql.screening import same_answer
from hexathlon.tasks.sql.world.backends.base import QueryLimits, SqlError
from hexathlon.tasks.sql.world.backends.sqlite import open_sqlite
from hexathlon.tasks.sql.world.images import ByteCache, mark_typed, quoted
from hexathlon.tasks.task import Level, Split

__all__ = ["BUDGETS", "TEMPLATES", "Accepted", "engine_image", "find", "hidden_of", "question_of"]

TEMPLATES = {
    "dialect_billing": "hexathlon.tasks.sql.engines.billing",
    "dialect_zones": "hexathlon.tasks.sql.engines.zones",
    "dialect_payloads": "hexathlon.tasks.sql.engines.payloads",
    "dialect_quantiles": "hexathlon.tasks.sql.engines.quantiles",
    "dialect_frames": "hexathlon.tasks.sql.engines.frames",
    "dialect_listings": "hexathlon.tasks.sql.engines.listings",
    "dialect_codes": "hexathlon.tasks.sql.engines.codes",
    "dialect_stakes": "hexathlon.tasks.sql.engines.stakes",
    "budget_latest": "hexathlon.tasks.sql.engines.latest",
    "budget_overlap": "hexathlon.tasks.sql.engines.overlap",
    "budget_asof": "hexathlon.tasks.sql.engines.asof",
    "budget_reach": "hexathlon.tasks.sql.engines.reach",
    "budget_pairs": "hexathlon.tasks.sql.engines.pairs",
}
"""The module of each template; its function `draw` returns the question of an `EngineDraw`."""
BUDGETS = tuple(name for name in TEMPLATES if name.startswith("budget_"))

_ATTEMPTS = 40
_MOST_ROWS = 60
_SCREENING = QueryLimits(seconds=60.0, exact=True, rows=10_000)
_images = ByteCache(24 * 1024 * 1024)


@dataclass(frozen=True)
class Accepted:
    """A question whose databases distinguish it from its near misses."""

    drawn: EngineDraw
    question: EngineQuestion


@lru_cache(maxsize=64)
def question_of(drawn: EngineDraw) -> EngineQuestion:
    """Return the question of a draw.

    Raises:
        GenerationExhausted: If the draw has none.
    """
    made: EngineQuestion = importlib.import_module(TEMPLATES[drawn.template]).draw(drawn)
    return made


@lru_cache(maxsize=128)
def find(template: str, level: Level, split: Split, seed: int) -> Accepted:
    """Return the first accepted attempt.

    Raises:
        GenerationExhausted: If none is.
    """
    reasons = []
    for attempt in range(_ATTEMPTS):
        try:
            return accepted(EngineDraw(template, level, split, seed, attempt))
        except GenerationExhausted as error:
            reasons.append(str(error))
    raise GenerationExhausted(f"{template}: no instance in {_ATTEMPTS} attempts: {reasons}")


def hidden_of(template: str) -> int:
    """Return the number of hidden databases: three, or two where they are large."""
    return 2 if template in BUDGETS else 3


def accepted(drawn: EngineDraw) -> Accepted:
    """Screen one attempt on all of its databases.

    Raises:
        GenerationExhausted: If two derivations differ, a near miss makes no difference, the
            answer has few or many rows, or the expected statement takes over half of the steps.
    """
    made = question_of(drawn)
    texts, budget = made.texts["sqlite"], made.steps
    left = dict(texts.wrong)
    for number in range(hidden_of(drawn.template) + 1):
        drawn_rows = made.populate(population_seed(drawn, number), number == 0)
        bench = _Bench(_image_with(drawn, number, drawn_rows))
        expected = made.by_hand(drawn_rows)
        if not 2 <= len(expected) <= _MOST_ROWS:
            raise GenerationExhausted(f"an answer of {len(expected)} rows")
        try:
            rows, steps = bench.run(texts.gold, budget)
        except SqlError as error:
            raise GenerationExhausted(f"the expected statement fails: {error.message}") from error
        if not same_answer(rows, expected, ordered=False):
            raise GenerationExhausted("the two derivations differ")
        if 2 * steps > (budget or 0):
            raise GenerationExhausted(f"the expected statement takes {steps} steps")
        for name, sql in texts.others.items():
            if not bench.agrees(sql, budget, expected):
                raise GenerationExhausted(f"the alternative {name} differs")
        for name in list(left):
            if not bench.agrees(left[name], budget, expected):
                del left[name]
    if left:
        raise GenerationExhausted(f"{', '.join(left)} changes nothing")
    return Accepted(drawn, made)


class _Bench:
    """One database during screening: locked, to count work, and unlocked, which is faster."""

    def __init__(self, image: bytes) -> None:
        self._locked = open_sqlite(image, purpose="screening", counted=True)
        self._plain = sqlite3.connect(":memory:")
        self._plain.deserialize(image)

    def __del__(self) -> None:
        self._plain.close()

    def run(self, sql: str, budget: int | None) -> tuple[list[Row], int]:
        """Return rows and steps; a statement that goes over the budget is stopped."""
        if budget is None:
            return self._plain.execute(sql).fetchall(), 0
        result = self._locked.run(sql, replace(_SCREENING, steps=budget))
        return cast("list[Row]", result.rows), result.steps

    def agrees(self, sql: str, budget: int | None, expected: list[Row]) -> bool:
        """Whether a statement gives the expected rows within the budget, if there is one."""
        try:
            rows, _ = self.run(sql, budget)
        except (SqlError, sqlite3.Error):
            return False
        return same_answer(rows, expected, ordered=False)


def population_seed(drawn: EngineDraw, number: int) -> int:
    """Return the seed of a database's rows; number 0 is the visible one."""
    return derive_seed("sql-engine-population", drawn.template, drawn.seed, drawn.attempt, number)


def engine_image(drawn: EngineDraw, number: int) -> bytes:
    """Return a database of a question: number 0 is the visible one. Recent ones are cached."""
    return _image_with(drawn, number, None)


def _image_with(drawn: EngineDraw, number: int, rows: StoredTables | None) -> bytes:
    made = question_of(drawn)

    def image() -> bytes:
        own = rows or made.populate(population_seed(drawn, number), number == 0)
        return typed_image(made.tables, own)

    return _images.get((drawn, number), image)


def typed_image(tables: tuple[QuestionTable, ...], rows: StoredTables) -> bytes:
    """Return tables with rows as a typed image."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        mark_typed(connection)
        connection.execute("BEGIN")
        for table in tables:
            own = table.columns[0][0]
            keyed = not any(columns[0] == own for columns in table.indexes)
            lines = [
                f"{quoted(name)} {kind}" + (" PRIMARY KEY" if keyed and name == own else "")
                for name, kind in table.columns
            ]
            connection.execute(f"CREATE TABLE {quoted(table.name)} ({', '.join(lines)})")
            marks = ", ".join("?" * len(table.columns))
            connection.executemany(
                f"INSERT INTO {quoted(table.name)} VALUES ({marks})", rows[table.name]
            )
            for place, columns in enumerate(table.indexes):
                connection.execute(
                    f"CREATE INDEX {quoted(f'{table.name}_{place + 1}')} ON {quoted(table.name)} "
                    f"({', '.join(map(quoted, columns))})"
                )
        connection.execute("COMMIT")
        return connection.serialize()
