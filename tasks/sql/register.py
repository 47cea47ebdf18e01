"""A register of entries that block figures: only its rows tell whether a question is blocked.

There are always entries in force. Of two entries, one concerns a column that the question uses, and
the other a column that it does not use. What decides is which of the two was ended by a release or
an annulment further down. The question and everything else are the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TypeVar

import numpy as np

from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.walk import all_names, scans
from hexathlon.tasks.sql.schema import Schema, Table
from hexathlon.tasks.sql.supplement import AddedDocument, AddedTable, Obstacle, Supplement
from hexathlon.tasks.sql.templates.drawing import Unbindable
from hexathlon.tasks.task import Level

__all__ = ["register"]

_TABLES = ("figure_locks", "data_register", "reporting_holds", "quality_log")
_DOCUMENTS = ("register_of_entries", "entries_in_force", "when_no_figure_is_given")
_LETTERS = "BEKNQTVX"
_LOCKS = ("hold", "lock", "embargo")
_LOSSES = ("corrupt", "lost", "overwritten")
_ENDS = ("released", "lifted", "closed")
_VOIDS = ("annulled", "void", "revoked")
_REASONS = ("not_permitted", "missing_data")
_WHOLE_TABLE = 0.25
"""Share of entries, above level tiny, that concern all columns of a table."""
_COLUMNS = (
    ("entry_no", "TEXT"), ("entered_on", "TEXT"), ("kind", "TEXT"), ("table_name", "TEXT"),
    ("column_name", "TEXT"), ("refers_to", "TEXT"),
)  # fmt: skip
_SPOKEN = (
    "category", "status", "flag", "amount", "quantity", "rating", "year", "date", "text", "name",
    "code",
)  # fmt: skip
"""Roles of the columns that an entry may name."""
RegisterPlace = tuple[str, str | None]
"""A table, and a column or None for all of its columns."""
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of one register."""

    table: str
    kinds: tuple[str, str]
    end: str
    void: str


def register(
    schema: Schema, program: Relation, level: Level, rng: np.random.Generator, blocked: bool
) -> Supplement:
    """Return a register in which an entry on a used column is in force, or one on another.

    Both cases take the same draws and differ in one reference between rows.

    Raises:
        Unbindable: If the program uses every column or no column that can be named.
    """

    def pick(items: Sequence[Item]) -> Item:
        if not items:
            raise Unbindable
        return items[int(rng.integers(len(items)))]

    used, free = _places(schema, program)
    tables = sorted({scan.table for scan in scans(program)})
    target: RegisterPlace = pick(used)
    if rng.random() < _WHOLE_TABLE and level != "tiny":
        target = (pick(tables), None)
    near = [place for place in free if place[0] in tables]
    other: RegisterPlace = pick(near if near and rng.random() < 0.5 else free)
    others: list[RegisterPlace] = [pick(free) for _ in range(int(rng.integers(2, 5)))]
    ended = int(rng.integers(1, len(others)))
    words = _Words(
        _unused(schema, pick(_TABLES)), (pick(_LOCKS), pick(_LOSSES)), pick(_ENDS), pick(_VOIDS)
    )
    entries = [target, other, *others]
    order = [int(place) for place in rng.permutation(len(entries))]
    kinds = [int(rng.integers(2)) for _ in entries]
    letter, first = pick(list(_LETTERS)), int(rng.integers(1000, 6000))
    steps = np.cumsum(rng.integers(1, 60, 2 * len(entries) + 1)).tolist()
    numbers = [f"{letter}-{first + int(step)}" for step in steps]
    own = {place: numbers[at] for at, place in enumerate(order)}
    deep = level in ("medium", "hard") and rng.random() < 0.5
    over = [own[2 + place] for place in range(ended)]
    follow = _followers(own, over, words, deep, blocked, numbers[len(entries) :], rng)
    lines = [
        (number, words.kinds[kinds[place]], *entries[place], None)
        for place, number in sorted(own.items(), key=lambda item: numbers.index(item[1]))
    ]
    last = date.fromisoformat(schema.today) - timedelta(days=int(rng.integers(3, 30)))
    rows = tuple(
        (number, (last - timedelta(days=7 * (len(lines) + len(follow) - at))).isoformat(), *rest)
        for at, (number, *rest) in enumerate([*lines, *follow])
    )
    document = AddedDocument(
        pick(_DOCUMENTS), "Figures that must not be given", schema.today[:4] + "-01-02",
        _rules(words),
    )  # fmt: skip
    obstacle = Obstacle(_REASONS[kinds[0]], (own[0],)) if blocked else None
    return Supplement(
        (document,), (AddedTable(words.table, _COLUMNS, rows),), obstacle,
        tuple(number for number in numbers[: len(rows)] if not blocked or number != own[0]),
    )  # fmt: skip


_Follower = tuple[str, str, None, None, str]


def _followers(
    own: dict[int, str], over: list[str], words: _Words, deep: bool, blocked: bool,
    numbers: list[str], rng: np.random.Generator,
) -> list[_Follower]:  # fmt: skip
    """Return the rows that end entries; entry 0 stays in force if `blocked`, else entry 1."""
    first, second = (int(place) for place in rng.permutation(2))
    if not deep:
        lines = [(words.end, number) for number in over]
        lines.insert(int(rng.integers(len(lines) + 1)), (words.end, own[1 if blocked else 0]))
    else:
        lines = [(words.end, number) for number in (own[first], own[second], *over)]
        void = numbers[(first, second).index(0 if blocked else 1)]
        lines.append((words.void, void))
    return [
        (numbers[at], kind, None, None, reference) for at, (kind, reference) in enumerate(lines)
    ]


def _rules(words: _Words) -> str:
    lock, loss = words.kinds
    return (
        f"The table {words.table} lists columns that figures must not use. An entry of kind "
        f"'{lock}' forbids the use of its column. An entry of kind '{loss}' says that the values "
        "of its column were destroyed, so that figures based on them would be wrong. An entry "
        "without a column covers every column of its table. A figure uses a column if it shows "
        "it, computes with it, or selects, groups or sorts rows by it, directly or through a "
        f"definition.\n\nAn entry of kind '{words.end}' ends the entry that it refers to, which "
        f"then no longer applies. An entry of kind '{words.void}' cancels the entry that it refers "
        "to, as if it had never been made.\n\nIf an entry in force covers anything that a request "
        "uses, do not answer the request, not even in part. Report it as impossible with the "
        f"number of that entry: as not_permitted for '{lock}', as missing_data for '{loss}'. "
        "Answer all other requests as usual."
    )


def _places(schema: Schema, program: Relation) -> tuple[list[RegisterPlace], list[RegisterPlace]]:
    """Return the nameable columns that a program uses, and those that it does not."""
    aliases = {scan.alias: schema.table(scan.table) for scan in scans(program)}
    read = {
        (aliases[alias].name, column)
        for name in all_names(program)
        for alias, _, column in [name.partition(".")]
        if column and alias in aliases
    }
    used: list[RegisterPlace] = []
    free: list[RegisterPlace] = []
    for table, column in _nameable(schema):
        (used if (table.name, column) in read else free).append((table.name, column))
    return used, [place for place in free if place not in read and not _partner(schema, place)]


def _nameable(schema: Schema) -> Iterator[tuple[Table, str]]:
    for table in schema.asked():
        for column in table.columns:
            if column.role in _SPOKEN and column.name != table.natural_key:
                yield table, column.name


def _partner(schema: Schema, place: RegisterPlace) -> bool:
    """Whether another column's values are read together with this one."""
    return any(
        column.dirt is not None and column.dirt.partner == place[1]
        for column in schema.table(place[0]).columns
    )


def _unused(schema: Schema, name: str) -> str:
    taken = {table.name.lower() for table in schema.tables}
    return name if name not in taken else f"{name}_list"
