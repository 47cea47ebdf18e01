"""Records changed by a request, with their values before and after."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hexathlon.tasks.source import Script
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import WebScene, changed
from hexathlon.tasks.web.world.network import Edit, WorldPlan
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["ShiftBench", "RecordJob", "JobTarget", "best_text", "in_order", "listed",
           "new_first", "number_of", "pages_of_list"]  # fmt: skip

Values = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class JobTarget:
    """One record of a job."""

    key: Any
    """Its key, the first column of its table."""

    label: str
    """Its number or name, as pages show it."""

    before: Values
    """Its values in the morning."""

    values: tuple[Values, ...]
    """Values that requests may set: one for each wish of the job, then one that others may set."""

    trait: str = ""
    """A property, in words, that can identify a part of the records."""

    weight: int = 0
    """An initial quantity by which a subset can be chosen: an amount, a level, a stock."""


@dataclass(frozen=True, eq=False)
class RecordJob:
    """A change of several records that one request asks for."""

    site: str
    table: str
    noun: str
    """Noun for its records."""

    group: str
    """The common property of all its records, in words, such as `issues of the project KES`."""

    wishes: tuple[str, ...]
    """Wordings of the request, one for each value of the targets except the last."""

    mends: tuple[str, ...]
    """The same values, as worded in a correction."""

    targets: tuple[JobTarget, ...]
    find: Callable[[Pilot], Script]
    """Looks the records up in lists."""

    write: Callable[[Pilot, JobTarget, Values], Script]
    """Gives one record values."""

    cost: int = 3
    """Actions of one `write`."""

    looks: int = 1
    """Actions of `find`."""

    opening: Callable[[Pilot, JobTarget], Script] | None = None
    """Opens a record by its name in a list, in two actions, if lists do not show its number."""

    key_column: str = "id"
    limit: Callable[[int], str] | None = None
    """Wording for the records with the largest total weight within a bound."""

    shown_in: str = ""
    """The list of `find`, if it shows the records' values; jobs that share it have the same name."""

    @property
    def column(self) -> str:
        """The column of its table that holds the values."""
        return next(iter(self.targets[0].before))

    @property
    def field(self) -> tuple[str, str, str]:
        """Site, table and column of the values."""
        return self.site, self.table, self.column

    @property
    def search_cost(self) -> int:
        """Actions of `search`."""
        return self.looks + (0 if self.opening is None else 2 * len(self.targets))

    def search(self, pilot: Pilot) -> Script:
        """Look the records up in lists, and on their own pages if lists do not show numbers."""
        yield from self.find(pilot)
        if self.opening is not None:
            for target in self.targets:
                yield from self.opening(pilot, target)

    @property
    def keys(self) -> frozenset[tuple[str, str, str]]:
        """Site, table and key of every record."""
        return frozenset((self.site, self.table, str(each.key)) for each in self.targets)

    def effect(self, target: JobTarget, values: Values) -> dict[str, Any]:
        """Return the expected change if a record ends with these values; empty if unchanged."""
        if values == target.before:
            return {}
        return changed(self.site, self.table, target.key, **values)

    def share(self, target: JobTarget, values: Values) -> dict[str, Any]:
        """Return what partial credit requires if a record ends with these values."""
        if values != target.before:
            return self.effect(target, values)
        return {self.site: {self.table: {"kept": [[target.key, dict(values)]]}}}

    def edits(self, target: JobTarget, values: Values) -> list[Edit]:
        """Return statements that give a record these values."""
        columns = ", ".join(f"{name} = ?" for name in values)
        sql = f"UPDATE {self.table} SET {columns} WHERE {self.key_column} = ?"
        return [(self.site, sql, (*values.values(), target.key))]


@dataclass
class ShiftBench:
    """Source of jobs: the scene, a plan, and the sites' initial content.

    Attributes:
        scene: Source of the shift's draws.
        plan: Its sites.
        edits: Changes to the initial content made so far.
        taken: Records of earlier jobs, by site, table and key.
        groups: Groups, by site, that no further job may touch.
    """

    scene: WebScene
    plan: WorldPlan
    edits: list[Edit] = field(default_factory=list)
    taken: set[tuple[str, str, str]] = field(default_factory=set)
    groups: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._stores: dict[str, SiteStore] = {}

    @cached_property
    def today(self) -> str:
        """The date of the shift, in ISO format."""
        return self.plan.start[:10]

    def rows(self, site: str, sql: str, values: Sequence[Any] = ()) -> list[StoreRow]:
        """Query the initial content of a site, with the edits made so far."""
        if site not in self._stores:
            self._stores[site] = self.scene.store(self.plan, site)
        return self._stores[site].rows(sql, values)

    def edit(self, site: str, sql: str, *values: Any) -> None:
        """Change the initial content."""
        self.rows(site, "SELECT 1")
        self._stores[site].execute(sql, values)
        self.edits.append((site, sql, values))

    def free(self, site: str, table: str, keys: Collection[Any]) -> bool:
        """Whether no earlier job has one of these records."""
        return not any((site, table, str(key)) in self.taken for key in keys)

    def clusters(
        self, rows: Sequence[StoreRow], columns: Sequence[str], sizes: range
    ) -> list[list[StoreRow]]:
        """Group rows by columns; return groups of these sizes in random order."""
        groups: dict[tuple[Any, ...], list[StoreRow]] = {}
        for row in rows:
            groups.setdefault(tuple(row[name] for name in columns), []).append(row)
        fitting = [group for group in groups.values() if len(group) in sizes]
        return self.scene.sample(fitting, len(fitting))

    def say(self, en: str, zh: str) -> str:
        """Return the text in the task's language."""
        return self.scene.say(en, zh)


def number_of(label: str) -> int:
    """Return the digits of a label as a number, such as 2001 for K2001."""
    return int("".join(filter(str.isdigit, label)) or 0)


def in_order(labels: Iterable[str]) -> list[str] | None:
    """Return labels in ascending order; None if numbers and letters order them differently."""
    numbers = sorted(labels, key=number_of)
    plain = all(each.startswith("#") for each in numbers)
    return numbers if plain or numbers == sorted(numbers) else None


def listed(bench: ShiftBench, labels: Sequence[str]) -> str:
    """Join labels as in a sentence."""
    *first, last = labels
    if not first:
        return last
    between = bench.say(", ", "、")
    return between.join(first) + bench.say(" and ", "和") + last


def pages_of_list(count: int, per_page: int) -> range:
    """Return the numbers of the pages of a list."""
    return range(1, max(1, -(-count // per_page)) + 1)


def new_first(values: Sequence[Any], held: Collection[Any], count: int = 4) -> list[Any]:
    """Return some values, preferring those that no record has yet."""
    return sorted(values, key=lambda each: each in held)[:count]


def best_text(bench: ShiftBench, what: tuple[str, str], bound: tuple[str, str]) -> str:
    """State that a request covers only the records whose total comes closest to a bound."""
    return bench.say(
        f" But only those of them whose {what[0]} together come as close as possible to {bound[0]} "
        "without exceeding it; only one choice does.",
        f"但仅限其中{what[1]}之和最接近而不超过{bound[1]}的那一组（只有一组符合）。",
    )
