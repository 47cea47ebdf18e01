"""The result of a template: a world, a request, the expected result, and scripts that test both."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, ClassVar

import numpy as np

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level, Split
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.world.network import Edit, WorldPlan, initial_blobs, people_of
from hexathlon.tasks.web.world.people import Person
from hexathlon.tasks.web.world.store import SiteStore

__all__ = [
    "DayRequest",
    "ExpectedAnswer",
    "Solver",
    "WebDraft",
    "WebScene",
    "WebTemplate",
    "added",
    "changed",
    "removed",
    "together",
]

Solver = Callable[[Pilot], Script]
"""A script, given the pilot that reads the screen for it."""

_SCALES: Mapping[Level, int] = {"tiny": 1, "easy": 2, "medium": 3, "hard": 4}


@dataclass(frozen=True)
class ExpectedAnswer:
    """The expected typed answer."""

    status: str = "SUCCESS"
    data: tuple[Any, ...] | None = None
    """Expected values in the order asked; None if nothing was asked for."""

    record: str = ""
    """Id of the blocking record, if the task is infeasible."""

    ordered: bool = True


@dataclass(frozen=True)
class DayRequest:
    """One of several consecutive requests.

    The agent reports on each with `finish` or `report_infeasible`; the answer to a report is the
    next request, and the report on the last one ends the episode.
    """

    text: str
    answer: ExpectedAnswer = ExpectedAnswer()
    edits: tuple[Edit, ...] = ()
    """Changes by other people right before the request is shown; `NOW` stands for the time."""

    part: Mapping[str, Any] = field(default_factory=dict)
    """The expected changes that show that this request was carried out."""

    records: tuple[Any, ...] = ()
    """The values that the `records` of the draft have when the agent reports on this request."""


@dataclass(frozen=True)
class WebDraft:
    """A drawn task."""

    plan: WorldPlan
    instruction: str
    solve: Solver
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Expected changes by site and table, made with `added`, `changed` and `removed`."""

    answer: ExpectedAnswer = ExpectedAnswer()
    evidence: tuple[str, ...] = ()
    """Regular expressions of URLs, each of which must have been opened with success."""

    alternatives: Mapping[str, Solver] = field(default_factory=dict)
    mutants: Mapping[str, Solver] = field(default_factory=dict)
    turns: int = 40
    parts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Parts of `changes` that are scored as separate terms, for partial credit on long tasks."""

    brief: bool = False
    """Whether pages are shown in the brief view: content only, numbers after names."""

    thought: Callable[[str], str] | None = None
    """Grounds for the oracle's next action, quoted from the screen."""

    requests: tuple[DayRequest, ...] = ()
    """The requests of a shift; `instruction` then only introduces them, `answer` is not used."""

    records: tuple[tuple[str, str, str, Any, str], ...] = ()
    """Records of a shift whose values are checked at every report: site, table, key column, key and
    column."""


@dataclass
class WebScene:
    """Inputs of a template's draw.

    Attributes:
        rng: The draw's generator.
        level: Level of the task.
        split: Its split.
        language: Language of sites and instruction.
        feasible: Which of two twins to draw: the feasible one, or its infeasible sibling.
            Both must read alike and draw the same numbers up to the deciding fact.
        seed: Seed of the world; several tasks share one.
    """

    rng: np.random.Generator
    level: Level
    split: Split
    language: Language
    feasible: bool
    seed: int

    def demanding(self) -> bool:
        """Draw whether a task has its harder form: always at hard, half of the time at medium."""
        return self.level == "hard" or (self.level == "medium" and bool(self.rng.random() < 0.5))

    def plan(self, *sites: str, **settings: Any) -> WorldPlan:
        """Return a plan of these sites, the first of which is open at the start."""
        start = f"2026-0{1 + self.seed % 6}-{10 + self.seed % 17}T09:00:00"
        return WorldPlan(sites, self.seed, self.split, self.language, self.scale, start, **settings)

    @property
    def scale(self) -> int:
        """Size of the sites' content, 1 to 4."""
        return _SCALES[self.level]

    def store(self, plan: WorldPlan, site: str) -> SiteStore:
        """Return a copy of a site's initial state, including edits, for queries and trials."""
        return SiteStore(dict(initial_blobs(plan))[site])

    def people(self, plan: WorldPlan) -> tuple[Person, ...]:
        """Return the people of a plan; the first is the user."""
        return people_of(plan)

    def today(self, plan: WorldPlan) -> date:
        """Return the date on which a plan starts."""
        return date.fromisoformat(plan.start[:10])

    def pick(self, items: Sequence[Any]) -> Any:
        """Draw one of the items."""
        return items[int(self.rng.integers(len(items)))]

    def sample(self, items: Sequence[Any], count: int) -> list[Any]:
        """Draw several distinct items."""
        return [items[int(i)] for i in self.rng.permutation(len(items))[:count]]

    def say(self, en: str, zh: str) -> str:
        """Return the text in the task's language."""
        return zh if self.language == "zh" else en

    def ask(self, plan: WorldPlan, en: str, zh: str) -> str:
        """Return a request that depends on the date, and states the date."""
        day = self.today(plan)
        return self.say(
            f"Today is {day.day} {day:%B %Y}. {en}",
            f"今天是{day.year}年{day.month}月{day.day}日。{zh}",
        )


class WebTemplate(ABC):
    """One kind of task."""

    name: ClassVar[str]
    levels: ClassVar[tuple[Level, ...]]
    twins: ClassVar[bool] = False
    """Whether one task of each pair is infeasible."""

    refusal: ClassVar[str] = "ACTION_NOT_ALLOWED_ERROR"
    """Status of the infeasible twin; a request without it is given a sentence that names it."""

    bilingual: ClassVar[bool] = True
    """Whether a quarter of the tasks are Chinese."""

    @abstractmethod
    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a task, or None if this world has none; another draw follows."""


def added(site: str, table: str, *rows: Mapping[str, Any]) -> dict[str, Any]:
    """Expect new rows; give every column that is not volatile.

    A value may be a matcher: `{"any": true}`, `{"one_of": [...]}`, or `{"words": [...]}` for a text
    that must contain all of them.
    """
    return {site: {table: {"added": [dict(row) for row in rows]}}}


def changed(site: str, table: str, key: Any, **columns: Any) -> dict[str, Any]:
    """Expect a row, named by its first column, with these new values and no other change."""
    return {site: {table: {"changed": [[key, columns]]}}}


def removed(site: str, table: str, *keys: Any) -> dict[str, Any]:
    """Expect rows, named by their first column, to be removed."""
    return {site: {table: {"removed": list(keys)}}}


def together(*changes: Mapping[str, Any]) -> dict[str, Any]:
    """Combine expected changes."""
    combined: dict[str, Any] = {}
    for change in changes:
        for site, tables in change.items():
            for table, kinds in tables.items():
                place = combined.setdefault(site, {}).setdefault(table, {})
                for kind, items in kinds.items():
                    place[kind] = [*place.get(kind, ()), *items]
    return combined
