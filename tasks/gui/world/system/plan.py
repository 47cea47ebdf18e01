"""A phone as data: the seed of its content, edits to it, and scheduled events.

The content of an app is drawn when it is first used and shared by all phones of the same seed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Self

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.gui.world.apps.table import app_named
from hexathlon.tasks.gui.world.phone.app import ContentDraws
from hexathlon.tasks.gui.world.phone.core import PhoneTable
from hexathlon.tasks.gui.world.phone.quirks import AppQuirk
from hexathlon.tasks.task import Split

__all__ = ["PhoneEdit", "PhonePlan", "TimedEvent"]

PhoneEdit = tuple[str, str, Any]
"""Table, `put` or `drop`, and a row or a key; a row is merged into the one with its `id`."""


@dataclass(frozen=True, slots=True)
class TimedEvent:
    """An event that happens by itself after a number of the agent's actions."""

    after: int
    edits: tuple[PhoneEdit, ...] = ()
    notice: Mapping[str, Any] | None = None
    """A notification: `app`, `title` and `text`, and optionally `screen` and `params`."""

    call: Mapping[str, Any] | None = None
    """An incoming call: `name` and `number`."""


@dataclass(frozen=True, slots=True)
class PhonePlan:
    """The content of a phone at the start."""

    seed: int
    split: Split
    language: Language
    scale: int
    start: str
    """Date and time, `YYYY-MM-DDTHH:MM:SS`."""

    edits: tuple[PhoneEdit, ...] = ()
    events: tuple[TimedEvent, ...] = ()
    front: tuple[str, str, Mapping[str, Any]] | None = None
    """App, screen and parameters that are open at the start; the launcher if None."""

    coming: tuple[PhoneEdit, ...] = ()
    """Other people's changes when later requests arrive."""

    quirks: tuple[AppQuirk, ...] = ()
    """Faults of apps that nobody announces."""

    def with_edits(self, edits: Sequence[PhoneEdit]) -> Self:
        """Return the plan with more edits."""
        return replace(self, edits=(*self.edits, *edits))

    def taken_keys(self) -> dict[str, int]:
        """Return the highest number, by table, of the rows that others will add or change."""
        taken: dict[str, int] = {}
        for table, kind, value in (*self.coming, *(e for each in self.events for e in each.edits)):
            if kind == "put" and isinstance(value["id"], int):
                taken[table] = max(taken.get(table, 0), value["id"])
        return taken

    def first_tables(self, app: str) -> dict[str, PhoneTable]:
        """Return the initial tables of an app, by full name, with the plan's edits."""
        tables = dict(_content(app, self.seed, self.split, self.language, self.scale, self.start))
        for name in {each for each, _, _ in self.edits if each.partition(".")[0] == app}:
            tables[name] = self._edited(tables[name], name)
        return tables

    def table(self, name: str) -> PhoneTable:
        """Return one table as it is at the start."""
        app = name.partition(".")[0]
        tables = _content(app, self.seed, self.split, self.language, self.scale, self.start)
        return self._edited(tables[name], name)

    def _edited(self, table: PhoneTable, name: str) -> PhoneTable:
        """Return a table with the plan's edits to it; itself if there are none."""
        edits = [(kind, value) for each, kind, value in self.edits if each == name]
        if not edits:
            return table
        copy = dict(table)
        for kind, value in edits:
            if kind == "put":
                copy[value["id"]] = {**copy.get(value["id"], {}), **value}
            elif kind == "drop":
                copy.pop(value, None)
            else:
                raise ValueError(f"an edit must be 'put' or 'drop', got {kind!r}")
        return copy

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        return {
            "seed": self.seed, "split": self.split, "language": self.language,
            "scale": self.scale, "start": self.start, "edits": [list(edit) for edit in self.edits],
            "events": [
                {"after": event.after, "edits": [list(edit) for edit in event.edits],
                 "notice": event.notice, "call": event.call}
                for event in self.events
            ],
            "front": None if self.front is None else list(self.front),
            **({"quirks": [each.to_json() for each in self.quirks]} if self.quirks else {}),
        }  # fmt: skip

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild a plan from its JSON form."""
        events = tuple(
            TimedEvent(event["after"], _edits(event["edits"]), event["notice"], event["call"])
            for event in data["events"]
        )
        front = data["front"]
        return cls(
            data["seed"], data["split"], data["language"], data["scale"], data["start"],
            _edits(data["edits"]), events,
            None if front is None else (front[0], front[1], front[2]),
            quirks=tuple(map(AppQuirk.from_json, data.get("quirks", ()))),
        )  # fmt: skip


def _edits(data: Sequence[Sequence[Any]]) -> tuple[PhoneEdit, ...]:
    return tuple((table, kind, value) for table, kind, value in data)


@lru_cache(maxsize=512)
def _content(
    app: str, seed: int, split: Split, language: Language, scale: int, start: str
) -> Mapping[str, PhoneTable]:
    """Draw the initial content of an app; a pure function, whose rows are never modified."""
    if app == "system":
        return {"system.notices": {}}

    def others(table: str) -> PhoneTable:
        return _content(table.partition(".")[0], seed, split, language, scale, start)[table]

    chosen = app_named(app)
    draws = ContentDraws(app, seed, split, language, scale, datetime.fromisoformat(start), others)
    draws.tables = {f"{app}.{name}": {} for name in chosen.tables}
    chosen.seed(draws)
    return dict(draws.tables)
