"""One estate task before it becomes a `Task`: rules, names, database, query and near misses."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache

from hexathlon.tasks.errors import GenerationExhausted
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.sql.estates.by_hand import answer_by_hand
from hexathlon.tasks.sql.estates.layout import EstateLayout, layout_of
from hexathlon.tasks.sql.estates.reading import mistakes, query, right_reading
from hexathlon.tasks.sql.estates.rows import draw_rows
from hexathlon.tasks.sql.estates.site import filled
from hexathlon.tasks.sql.estates.spec import EstateSpec, draw_spec
from hexathlon.tasks.sql.schema import Row
from hexathlon.tasks.sql.screening import same_answer
from hexathlon.tasks.sql.world.images import ByteCache

__all__ = [
    "HIDDEN",
    "Estate",
    "estate_image",
    "estate_of",
    "find_estate",
    "population_of",
    "slips_of",
]

HIDDEN = 3
"""Hidden databases of a task."""
_ATTEMPTS = 40
_images = ByteCache(48 * 1024 * 1024)


@dataclass(frozen=True)
class Estate:
    """A task's rules with an accepted population."""

    metric: str
    company: str
    seed: int
    attempt: int
    spec: EstateSpec
    layout: EstateLayout
    gold: str
    other: str
    ignored: Mapping[str, str]
    """Queries that ignore one twist each, all of which change the answer."""
    rows: int
    """Rows of the tables that matter."""


def find_estate(metric: str, company: str, seed: int) -> Estate:
    """Return the first accepted attempt.

    Raises:
        GenerationExhausted: If none is.
    """
    for attempt in range(_ATTEMPTS):
        try:
            return estate_of(metric, company, seed, attempt)
        except GenerationExhausted:
            continue
    raise GenerationExhausted(f"estate_{metric}: {company} has no instance in {_ATTEMPTS} attempts")


@lru_cache(maxsize=64)
def estate_of(metric: str, company: str, seed: int, attempt: int) -> Estate:
    """Make one attempt.

    Raises:
        GenerationExhausted: If a twist changes nothing, or the two derivations differ.
    """
    spec, layout = draw_spec(metric, company, seed, attempt), layout_of(company)
    rows = draw_rows(spec, layout, population_of(seed, attempt, 0))
    image = filled(spec, layout, rows)
    right = right_reading(spec)
    gold = query(spec, layout, right)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(image)
        expected = connection.execute(gold).fetchall()
        if not same_answer(expected, answer_by_hand(spec, layout, rows), ordered=False):
            raise GenerationExhausted("the two derivations differ")
        if len(expected) < 4 or any(value is None for row in expected for value in row):
            raise GenerationExhausted("an answer of few values")
        ignored: dict[str, str] = {}
        for name, (twist, reading) in mistakes(spec).items():
            if twist:
                ignored[name] = query(spec, layout, reading)
                if not _told_apart(expected, connection.execute(ignored[name]).fetchall()):
                    raise GenerationExhausted(f"{name} changes nothing")
    key = (metric, company, seed, attempt, 0)
    _images.get(key, lambda: image)
    return Estate(
        metric, company, seed, attempt, spec, layout, gold,
        query(spec, layout, replace(right, plainly=False)), ignored,
        sum(len(own) for own in rows.values()),
    )  # fmt: skip


def slips_of(made: Estate) -> dict[str, str]:
    """Return queries with mistakes that concern no twist, if any database tells them apart."""
    wrong = {
        name: query(made.spec, made.layout, reading)
        for name, (twist, reading) in mistakes(made.spec).items()
        if not twist
    }
    told: dict[str, str] = {}
    for number in range(HIDDEN + 1):
        image = estate_image(made.metric, made.company, made.seed, made.attempt, number)
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.deserialize(image)
            expected = connection.execute(made.gold).fetchall()
            for name, sql in wrong.items():
                if name not in told and _told_apart(expected, connection.execute(sql).fetchall()):
                    told[name] = sql
    return told


def population_of(seed: int, attempt: int, number: int) -> int:
    """Return the seed of a database's rows; number 0 is the visible one."""
    return derive_seed("sql-estate-population", seed, attempt, number)


def estate_image(metric: str, company: str, seed: int, attempt: int, number: int) -> bytes:
    """Return a database of a task: number 0 is the visible one. Recent ones are cached."""
    key = (metric, company, seed, attempt, number)

    def made() -> bytes:
        spec, layout = draw_spec(metric, company, seed, attempt), layout_of(company)
        return filled(spec, layout, draw_rows(spec, layout, population_of(seed, attempt, number)))

    return _images.get(key, made)


def _told_apart(expected: list[Row], found: list[Row]) -> bool:
    return not same_answer(expected, found, ordered=False, tolerance=1e-5)
