"""Shared code of the loaders: a fixed list of items per split as a task source.

A loader only parses its format into `LoadedQuestion`s. Ids are positions in the source's file, so
they are stable; `address` cycles through the templates, so that any prefix covers all of them.
"""

import hashlib
import os
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hexathlon.tasks.errors import MissingData, UnknownTask
from hexathlon.tasks.public_data import data_folder
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.source import Script, TaskAddress, TaskSource, parse_address
from hexathlon.tasks.sql.loaders.gold import hardness
from hexathlon.tasks.sql.tools import SubmitKind, sql_tools
from hexathlon.tasks.task import Check, Level, Limits, Split, Task
from hexathlon.tasks.tool_calls import tool_call

__all__ = ["LoadedQuestion", "LoadedQuestions", "read_check", "safe_template"]

_MOST_NAMED = 5
"""Maximum number of missing databases named in an error."""


@dataclass(frozen=True)
class LoadedQuestion:
    """A task of a public data set."""

    template: str
    level: Level
    index: int
    instruction: str
    database: Mapping[str, Any]
    submit: SubmitKind
    checks: tuple[Check, ...]
    gold: tuple[str, ...] = ()
    """Statements that solve it; for answers, the values of the answer."""
    alternatives: Mapping[str, str] = field(default_factory=dict)
    mutants: Mapping[str, str] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Additional parameters of the task."""


class LoadedQuestions(TaskSource):
    """A public data set: finite, with its published splits."""

    family = "sql"
    version = "3"
    folder = ""
    """The data set's directory inside HEXATHLON_DATA."""

    def __init__(self, root: Path | None = None) -> None:
        self._root = root
        self._items: dict[Split, dict[tuple[str, str, int], LoadedQuestion]] = {}
        self._data: str | None = None

    @abstractmethod
    def read(self, split: Split) -> Sequence[LoadedQuestion]:
        """Read the items of a split; empty if the data set has no such split.

        Raises:
            MissingData: If the files do not exist.
        """

    @property
    def root(self) -> Path:
        """The data set's directory: the given one, else by name in HEXATHLON_DATA."""
        if self._root is not None:
            return self._root
        return data_folder(f"{self.folder}/") / self.folder

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """Return the number of tasks, of all levels or of one."""
        return len(self._order(split, level))

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the id of the task at `index`, cycling through the templates."""
        item = self._order(split, level)[index]
        return str(TaskAddress(self.name, item.template, item.level, split, item.index))

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build the task with this id.

        Raises:
            UnknownTask: If the data set has no such task.
        """
        item, address = self._find(task_id), parse_address(task_id)
        return Task(
            id=task_id, family=self.family, generator=self.name, version=self.version,
            level=item.level, split=address.split, seed=derive_seed("sql-loaded", task_id),
            instruction=item.instruction,
            params={
                "backend": "sqlite", "database": dict(item.database), "user": None,
                "mode": "write" if item.submit == "database" else "read",
                "documents": dict(item.documents), **item.extra,
            },
            tools=sql_tools(item.submit, documents=bool(item.documents), impossible=False),
            limits=Limits(turns=20), checks=item.checks,
            canary=f"hexathlon-{self.name}-{derive_seed('sql-loaded-canary', task_id):016x}",
        )  # fmt: skip

    def oracle(self, task: Task) -> Script:
        """Replay the gold statements, or submit the published answer."""
        item = self._find(task.id)
        return _replay(item.submit, item.gold)

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """Return alternative correct queries, if the data set has any."""
        return {name: _hand_in(sql) for name, sql in self._find(task.id).alternatives.items()}

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Return near misses, if the data set has any."""
        return {name: _hand_in(sql) for name, sql in self._find(task.id).mutants.items()}

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Return trivial agents: an empty result, a frequent number, a whole table, no change."""
        submit = self._find(task.id).submit
        dump = {"dump": _dump(submit)}
        if submit == "database":
            return dump | {"majority": _replay(submit, ()), "untouched": _replay(submit, ())}
        if submit == "answer":
            return dump | {"empty": _replay(submit, ()), "majority": _replay(submit, ("1",))}
        nothing, three = "SELECT NULL WHERE 1 = 0", "SELECT 3"
        return dump | {"empty": _hand_in(nothing), "majority": _hand_in(three)}

    def fingerprint(self) -> str:
        """Return the SHA-256 of the loaders' code and the files read."""
        digest = hashlib.sha256(super().fingerprint().encode())
        for content in self.contents():
            digest.update(hashlib.sha256(content).digest())
        return digest.hexdigest()

    @abstractmethod
    def contents(self) -> Sequence[bytes]:
        """Return the files that determine the tasks, in a fixed order."""

    def _held(self, split: Split) -> dict[tuple[str, str, int], LoadedQuestion]:
        data = os.environ.get("HEXATHLON_DATA")
        if data != self._data:  # items cached from another directory are not this data set
            self._items.clear()
            self._data = data
        if split not in self._items:
            items = self.read(split)
            self._require_databases(split, items)
            self._items[split] = {(i.template, i.level, i.index): i for i in items}
            self.__dict__.pop("_orders", None)
        return self._items[split]

    def absent_databases(self, questions: Sequence[LoadedQuestion]) -> dict[str, int]:
        """Return the number of questions by the path of their database, if it has no file.

        Paths are as in the tasks: below HEXATHLON_DATA unless they are absolute.
        """
        counts = Counter(
            str(one.database["path"]) for one in questions if one.database["kind"] == "file"
        )
        base = self.root.parent if counts else Path()
        return {path: count for path, count in counts.items() if not (base / path).is_file()}

    def _require_databases(self, split: Split, questions: Sequence[LoadedQuestion]) -> None:
        absent = self.absent_databases(questions)
        if absent:
            first = ", ".join(sorted(absent)[:_MOST_NAMED])
            more = f" and {len(absent) - _MOST_NAMED} more" if len(absent) > _MOST_NAMED else ""
            raise MissingData(
                f"{self.name}: {sum(absent.values()):,} of {len(questions):,} {split} questions "
                f"need databases without a file: {first}{more}; add the files, or remove the "
                f"questions (`hexathlon data check {self.name}` lists them)"
            )

    @cached_property
    def _orders(self) -> dict[tuple[Split, Level | None], list[LoadedQuestion]]:
        return {}

    def _order(self, split: Split, level: Level | None) -> list[LoadedQuestion]:
        items = self._held(split)
        if (split, level) not in self._orders:
            chosen = [item for item in items.values() if level in (None, item.level)]
            self._orders[split, level] = _round(chosen)
        return self._orders[split, level]

    def _find(self, task_id: str) -> LoadedQuestion:
        address = parse_address(task_id)
        key = (address.template, address.level, address.index)
        item = self._held(address.split).get(key) if address.source == self.name else None
        if item is None or str(address) != task_id:
            raise UnknownTask(task_id, f"{self.name} has no such task")
        return item


def _round(items: Sequence[LoadedQuestion]) -> list[LoadedQuestion]:
    """Return the items in round-robin order over their templates, each in its own order."""
    seen: dict[str, int] = {}
    places = []
    for item in items:
        places.append((seen.get(item.template, 0), list(seen).index(item.template)
                       if item.template in seen else len(seen)))  # fmt: skip
        seen[item.template] = seen.get(item.template, 0) + 1
    return [item for _, item in sorted(zip(places, items, strict=True), key=lambda pair: pair[0])]


def read_check(own: str, gold: str, *beside: str, ordered: bool = False) -> tuple[Check, ...]:
    """Return the data set's own rule as headline, with further rules and hexathlon's strict one."""
    strict = {"gold": gold, "ordered": ordered}
    return (
        Check(name=own, params={"gold": gold}),
        *(Check(name=name, params={"gold": gold}, headline=False) for name in beside),
        Check(name="sql_result", params=strict, headline=False),
    )


def safe_template(name: str) -> str:
    """Return a database's name as the template part of an id."""
    return "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in name)


def level_of(gold: str, stated: str | None = None) -> Level:
    """Return the level of a query: as stated by the data set, else by the parts of the query."""
    levels: dict[str, Level] = {
        "easy": "tiny", "simple": "easy", "medium": "easy", "moderate": "medium",
        "hard": "medium", "extra": "hard", "challenging": "hard",
    }  # fmt: skip
    return levels[stated] if stated in levels else levels[hardness(gold)]


def _replay(submit: SubmitKind, gold: Sequence[str]) -> Script:
    if submit == "answer":
        yield tool_call("submit", answer=list(gold))
        return
    for statement in gold:
        yield tool_call("run_query", sql=statement)
    yield tool_call("submit", sql=gold[-1]) if submit == "sql" else tool_call("submit")


def _dump(submit: SubmitKind) -> Script:
    """Read the entire first table and submit all of it."""
    listing = yield tool_call("list_tables")
    first = (listing.splitlines()[1:] or [""])[0].rpartition(" (")[0]
    everything = f'SELECT * FROM "{first}"'
    shown = yield tool_call("run_query", sql=everything)
    if submit == "sql":
        yield tool_call("submit", sql=everything)
    elif submit == "answer":
        yield tool_call("submit", answer=shown.splitlines()[1:-1])
    else:
        yield tool_call("submit")


def _hand_in(sql: str) -> Script:
    yield tool_call("submit", sql=sql)
