"""Shared parts of calendar templates: events added to a world, expected events, and steps."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any

from hexathlon.tasks.source import Script
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import WebScene, added
from hexathlon.tasks.web.world.network import Edit, WorldPlan
from hexathlon.tasks.web.world.people import Person
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["Planner", "answer", "book", "cancel", "change", "labels", "pick_day"]


@dataclass
class Planner:
    """The calendar of a task: its initial content, and what the task adds."""

    scene: WebScene
    base: WorldPlan
    edits: list[Edit] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.store: SiteStore = self.scene.store(self.base, "calendar")
        self.people: tuple[Person, ...] = self.scene.people(self.base)
        self.me = self.people[0]
        self.today = date.fromisoformat(self.base.start[:10])
        self.rooms = self.store.rows("SELECT * FROM _rooms ORDER BY code")
        self.colleagues = {
            row["login"]: row for row in self.store.rows("SELECT * FROM _colleagues ORDER BY login")
        }
        self.events = self.store.rows("SELECT * FROM events ORDER BY start, id")
        self._taken = {event["id"] for event in self.events}
        self._top = max(self._taken, default=300)

    @property
    def plan(self) -> WorldPlan:
        """The plan with everything added so far."""
        return self.base.with_edits(self.edits)

    def workdays(self, first: int, count: int) -> list[date]:
        """Return working days; the first is `first` working days after today."""
        days, day = list[date](), self.today
        while len(days) < first + count:
            day += timedelta(days=1)
            if day.weekday() < 5:
                days.append(day)
        return days[first:]

    def add(
        self,
        title: str,
        day: date,
        begin: str,
        end: str,
        *,
        room: str = "",
        organiser: Person | None = None,
        people: Sequence[Person] = (),
        note: str = "",
        series: int = 0,
    ) -> int:
        """Add an event; return its number."""
        number = self._free_number()
        row = {
            "id": number,
            "title": title,
            "start": f"{day} {begin}",
            "finish": f"{day} {end}",
            "room": room,
            "organiser": (organiser or self.me).login,
            "people": logins(people),
            "note": note,
            "status": "planned",
            "series": series,
        }
        self.insert("events", **row)
        self.events.append(row)
        return number

    def insert(self, table: str, **values: Any) -> None:
        """Add a row to a table of the site."""
        marks = ", ".join("?" * len(values))
        sql = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})"
        self.edits.append(("calendar", sql, tuple(values.values())))

    def run(self, sql: str, *values: Any) -> None:
        """Add another change."""
        self.edits.append(("calendar", sql, values))

    def drop(self, numbers: Collection[int]) -> None:
        """Remove events from the initial content."""
        for number in sorted(numbers):
            self.run("DELETE FROM answers WHERE event = ?", number)
            self.run("DELETE FROM events WHERE id = ?", number)
        self.events = [event for event in self.events if event["id"] not in numbers]

    def clear(self, day: date, begin: str, end: str, keys: Collection[str]) -> None:
        """Remove events at a time that concern somebody or a room, given as `room CODE`."""
        hit = [
            event["id"]
            for event in self.events
            if overlaps(event, day, begin, end) and keys_of(event) & set(keys)
        ]
        self.drop(hit)

    def busy(self, key: str, day: date, begin: str, end: str) -> bool:
        """Whether somebody, or a room given as `room CODE`, is busy at a time."""
        return any(
            overlaps(event, day, begin, end) and key in keys_of(event) for event in self.events
        )

    def working(self, login: str, begin: str, end: str) -> bool:
        """Whether a time of the user's zone lies within a colleague's working hours."""
        row, own = self.colleagues[login], self.colleagues[self.me.login]
        shift = row["zone"] - own["zone"]
        first, last = minutes(begin) + int(shift), minutes(end) + int(shift)
        return first >= minutes(row["starts"]) and last <= minutes(row["ends"])

    def fits(self, room: StoreRow, day: date, begin: str, end: str, size: int) -> bool:
        """Whether a room's rules allow an event."""
        return bool(
            room["capacity"] >= size
            and room["opens"] <= begin
            and end <= room["closes"]
            and str(day.isoweekday()) in room["days"]
        )

    def expected(
        self,
        title: str,
        day: date,
        begin: str,
        end: str,
        *,
        room: str = "",
        people: Sequence[Person] = (),
        note: str = "",
    ) -> dict[str, Any]:
        """Expect a new event of the user."""
        return added(
            "calendar",
            "events",
            {
                "title": title,
                "start": f"{day} {begin}",
                "finish": f"{day} {end}",
                "room": room,
                "organiser": self.me.login,
                "people": logins(people),
                "note": note,
                "status": "planned",
            },
        )

    def _free_number(self) -> int:
        while True:
            number = int(self.scene.rng.integers(201, self._top + 80))
            if number not in self._taken:
                self._taken.add(number)
                return number


def logins(people: Sequence[Person]) -> str:
    """Write attendees as they are stored."""
    return ", ".join(sorted(person.login for person in people))


def keys_of(event: StoreRow) -> set[str]:
    """Return the accounts of the people of an event, and its room as `room CODE`."""
    people = {each.strip() for each in event["people"].split(",") if each.strip()}
    return {event["organiser"], *people, f"room {event['room']}"}


def overlaps(event: StoreRow, day: date, begin: str, end: str) -> bool:
    """Whether an event takes place at a time."""
    return bool(
        event["status"] == "planned"
        and event["start"] < f"{day} {end}"
        and event["finish"] > f"{day} {begin}"
    )


def minutes(clock: str) -> int:
    """Return the minutes since midnight."""
    hours, _, rest = clock.partition(":")
    return 60 * int(hours) + int(rest)


def clock(total: int) -> str:
    """Write minutes since midnight as a time."""
    return time(total // 60, total % 60).strftime("%H:%M")


def later(begin: str, length: int) -> str:
    """Return the time some minutes after another."""
    return clock(minutes(begin) + length)


def moment(event: StoreRow) -> datetime:
    """Return the start of an event."""
    return datetime.fromisoformat(event["start"])


def labels(pilot: Pilot, key: str) -> tuple[str, ...]:
    """Return every wording of a label of the calendar."""
    return pilot.words("calendar", key)


def pick_day(pilot: Pilot, day: date, shown: date) -> Script:
    """Choose a day in a date picker, which may show another month."""
    yield from pilot.click("button", labels(pilot, "choose_date"))
    while (shown.year, shown.month) != (day.year, day.month):
        onward = (day.year, day.month) > (shown.year, shown.month)
        yield from pilot.click("button", labels(pilot, "next" if onward else "previous"))
        shown = shown.replace(day=1) + timedelta(days=32 if onward else -1)
    yield from pilot.click("button", str(day.day))


def book(
    pilot: Pilot,
    title: str,
    day: date,
    begin: str,
    end: str,
    *,
    room: str = "",
    people: Sequence[str] = (),
    note: str = "",
) -> Script:
    """Create an event; people by name, the room by name."""
    yield from pilot.goto("calendar", f"/events/new?day={day}")
    yield from pilot.fill(labels(pilot, "title"), title)
    yield from pilot.fill(labels(pilot, "begin"), begin)
    yield from pilot.fill(labels(pilot, "end"), end)
    if room:
        yield from pilot.select(labels(pilot, "room"), room)
    if people:
        yield from pilot.fill(labels(pilot, "attendees"), ", ".join(people))
    if note:
        yield from pilot.fill(labels(pilot, "note"), note)
    yield from pilot.click("button", pilot.words("calendar", "save"))


def change(
    pilot: Pilot,
    number: int,
    *,
    day: date | None = None,
    begin: str = "",
    end: str = "",
    room: str | None = None,
    title: str = "",
    scope: str = "",
    people: Sequence[str] | None = None,
) -> Script:
    """Change an event."""
    yield from pilot.goto("calendar", f"/events/{number}")
    if title:
        yield from pilot.fill(labels(pilot, "title"), title)
    if day is not None:
        yield from pilot.fill(labels(pilot, "day"), day.isoformat(), role="date")
    if begin:
        yield from pilot.fill(labels(pilot, "begin"), begin)
    if end:
        yield from pilot.fill(labels(pilot, "end"), end)
    if room is not None:
        yield from pilot.select(labels(pilot, "room"), room)
    if people is not None:
        yield from pilot.fill(labels(pilot, "attendees"), ", ".join(people))
    if scope:
        yield from pilot.click("radio", labels(pilot, f"scope_{scope}"))
    yield from pilot.click("button", pilot.words("calendar", "save"))


def cancel(pilot: Pilot, number: int, scope: str = "") -> Script:
    """Cancel an event."""
    yield from pilot.goto("calendar", f"/events/{number}")
    yield from pilot.click("button", labels(pilot, "cancel_event"))
    if scope:
        yield from pilot.click("radio", labels(pilot, f"scope_{scope}"))
    yield from pilot.click("button", labels(pilot, "cancel_event"))


def answer(pilot: Pilot, number: int, what: str, remark: str = "") -> Script:
    """Answer an invitation."""
    yield from pilot.goto("calendar", f"/events/{number}")
    yield from pilot.click("radio", labels(pilot, f"answer_{what}"))
    if remark:
        yield from pilot.fill(labels(pilot, "remark"), remark)
    yield from pilot.click("button", labels(pilot, "send_answer"))
