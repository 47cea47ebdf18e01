"""The result of a template: a phone, a request, the expected result, and scripts that test both."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, ClassVar

import numpy as np

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.world.kit.words import wordings
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.system.plan import PhoneEdit, PhonePlan
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level, Split

__all__ = [
    "GuiAnswer",
    "GuiDraft",
    "GuiRequest",
    "GuiScene",
    "GuiTemplate",
    "PhoneScript",
    "UserFact",
    "row_added",
    "row_changed",
    "row_removed",
    "rows_together",
]

PhoneScript = Callable[[PhonePilot], Script]
"""A script, given the pilot that reads the screen for it."""

_SCALES: Mapping[Level, int] = {"tiny": 1, "easy": 2, "medium": 3, "hard": 4}


@dataclass(frozen=True)
class GuiAnswer:
    """The expected report."""

    status: str = "complete"
    data: tuple[Any, ...] | None = None
    """Expected values of the answer, in the order asked; None if nothing was asked for."""

    record: str = ""
    """Name or number of the blocking entry, if the task is infeasible."""

    ordered: bool = True


@dataclass(frozen=True)
class UserFact:
    """A fact that the user knows but has not stated."""

    words: tuple[str, ...]
    """A question must contain one of these words."""

    text: str
    """The user's answer."""


@dataclass(frozen=True)
class GuiRequest:
    """One of several consecutive requests.

    The agent reports on each with `status`; the answer is the next request, and the report on the
    last one ends the episode.
    """

    text: str
    answer: GuiAnswer = GuiAnswer()
    edits: tuple[PhoneEdit, ...] = ()
    """Other people's changes right before the request is shown; `NOW` stands for the time."""

    notices: tuple[Mapping[str, Any], ...] = ()
    """Notifications that come with the edits, one for each message."""

    part: Mapping[str, Any] = field(default_factory=dict)
    """The expected changes that show that this request was carried out."""

    then: Mapping[str, Any] | None = None
    """Changes required when this request is reported; `part` by default. Required where a
    later request undoes something."""

    whole: bool = False
    """Whether nothing but `then` may have changed when this request is reported."""


@dataclass(frozen=True)
class GuiDraft:
    """A drawn task."""

    plan: PhonePlan
    instruction: str
    solve: PhoneScript
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Expected changes by table, made with `row_added`, `row_changed` and `row_removed`."""

    answer: GuiAnswer = GuiAnswer()
    facts: tuple[UserFact, ...] = ()
    alternatives: Mapping[str, PhoneScript] = field(default_factory=dict)
    mutants: Mapping[str, PhoneScript] = field(default_factory=dict)
    turns: int = 30
    parts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Parts of `changes` that are scored as separate terms, for partial credit on long tasks."""

    brief: bool = False
    """Whether the screen is listed without headings, for the smallest tasks."""

    thought: Callable[[str], str] | None = None
    """Grounds for the oracle's next action, quoted from the screen."""

    requests: tuple[GuiRequest, ...] = ()
    """The requests of a shift; `instruction` then only introduces them, `answer` is not used."""


@dataclass
class GuiScene:
    """Inputs of a template's draw.

    Attributes:
        rng: The draw's generator.
        level: Level of the task.
        split: Its split.
        language: Language of phone and instruction.
        feasible: Which of two twins to draw: the one that can be done, or its infeasible sibling.
            Both must read alike and draw the same numbers up to the deciding fact.
        seed: Seed of the phone's content; several tasks share one.
    """

    rng: np.random.Generator
    level: Level
    split: Split
    language: Language
    feasible: bool
    seed: int

    def plan(self, **settings: Any) -> PhonePlan:
        """Return a plan of a phone; settings are those of `PhonePlan`, such as `front`."""
        start = f"2026-0{1 + self.seed % 6}-{10 + self.seed % 17}T{8 + self.seed % 3:02d}:30:00"
        scale = _SCALES[self.level]
        return PhonePlan(self.seed, self.split, self.language, scale, start, **settings)

    def rows(self, plan: PhonePlan, table: str) -> list[PhoneRow]:
        """Return the rows of a table as they are at the start, such as `notes.notes`."""
        return list(plan.table(table).values())

    def next_key(self, plan: PhonePlan, table: str) -> int:
        """Return the number that the first new row will get."""
        return max((key for key in plan.table(table) if isinstance(key, int)), default=0) + 1

    def today(self, plan: PhonePlan) -> date:
        """Return the date on which a plan starts."""
        return date.fromisoformat(plan.start[:10])

    def day(self, plan: PhonePlan, offset: int) -> str:
        """Return the day `offset` days after the start, `YYYY-MM-DD`."""
        return (self.today(plan) + timedelta(days=offset)).isoformat()

    def pick(self, items: Sequence[Any]) -> Any:
        """Draw one of the items."""
        return items[int(self.rng.integers(len(items)))]

    def sample(self, items: Sequence[Any], count: int) -> list[Any]:
        """Draw several distinct items."""
        return [items[int(i)] for i in self.rng.permutation(len(items))[:count]]

    def number(self, low: int, high: int) -> int:
        """Draw an integer from `low` to `high`, inclusive."""
        return int(self.rng.integers(low, high + 1))

    def say(self, en: str, zh: str) -> str:
        """Return the text in the task's language."""
        return zh if self.language == "zh" else en

    def word(self, app: str, key: str) -> str:
        """Return the first wording of a label, for requests; looks may word it differently."""
        return wordings(app, key, self.language)[0]

    def day_words(self, day: str) -> str:
        """Format a day as requests do."""
        at = date.fromisoformat(day)
        return self.say(f"{at.day} {at:%B %Y}", f"{at.year}年{at.month}月{at.day}日")


class GuiTemplate(ABC):
    """One kind of task."""

    name: ClassVar[str]
    levels: ClassVar[tuple[Level, ...]]
    apps: ClassVar[tuple[str, ...]]
    """The apps whose state decides."""

    twins: ClassVar[bool] = False
    """Whether one task of each pair is infeasible."""

    bilingual: ClassVar[bool] = True
    """Whether a quarter of the tasks are Chinese."""

    @abstractmethod
    def draw(self, scene: GuiScene) -> GuiDraft | None:
        """Draw a task; None if this phone allows none, after which another draw follows."""


def row_added(table: str, *rows: Mapping[str, Any]) -> dict[str, Any]:
    """Expect new rows; give every column but `id` and the volatile ones.

    A value may be a matcher: `{"any": true}`, `{"one_of": [...]}`, or `{"words": [...]}` for a text
    that must contain all of them. `{"row": {...}}` matches the key of a new row with these columns,
    in the table that the column refers to.
    """
    return {table: {"added": [dict(row) for row in rows]}}


def row_changed(table: str, key: Any, **columns: Any) -> dict[str, Any]:
    """Expect a row with these new values and no other change."""
    return {table: {"changed": [[key, columns]]}}


def row_removed(table: str, *keys: Any) -> dict[str, Any]:
    """Expect rows to be removed."""
    return {table: {"removed": list(keys)}}


def rows_together(*changes: Mapping[str, Any]) -> dict[str, Any]:
    """Combine expected changes."""
    combined: dict[str, Any] = {}
    for change in changes:
        for table, kinds in change.items():
            place = combined.setdefault(table, {})
            for kind, items in kinds.items():
                place[kind] = [*place.get(kind, ()), *items]
    return combined
