"""Rules of booking: reading of forms, rules of rooms, conflicts, and recurring events."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from hexathlon.tasks.web.world.site import Call
from hexathlon.tasks.web.world.store import StoreRow

__all__ = [
    "Booking",
    "SCOPES",
    "attendees_of",
    "check",
    "occurrences",
    "read_booking",
    "room_problem",
]

SCOPES = ("this", "following", "all")
"""The events of a series that a change applies to."""


@dataclass
class Booking:
    """An event as entered in a form."""

    values: dict[str, str]
    """The input, for showing the form again."""

    start: datetime | None = None
    finish: datetime | None = None
    people: list[str] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)

    def columns(self) -> dict[str, str]:
        """Return the columns of the event's row."""
        assert self.start is not None and self.finish is not None
        return {
            "title": self.values["title"],
            "start": stamp(self.start),
            "finish": stamp(self.finish),
            "room": self.values["room"],
            "people": ", ".join(self.people),
            "note": self.values["note"],
        }


def stamp(moment: datetime) -> str:
    """Write a time as it is stored."""
    return moment.strftime("%Y-%m-%d %H:%M")


def attendees_of(event: Mapping[str, Any]) -> list[str]:
    """Return the accounts of an event's attendees, without the organiser."""
    return [each.strip() for each in str(event["people"]).split(",") if each.strip()]


def read_booking(call: Call, organiser: str) -> Booking:
    """Read the event form and check its fields one by one."""
    names = ("title", "day", "begin", "end", "room", "people", "note", "repeat", "until")
    booking = Booking({name: call.arg(name) for name in names})
    values, problems = booking.values, booking.problems
    for name in ("title", "day", "begin", "end"):
        if not values[name]:
            problems[name] = call.words("required")
    booking.start = _moment(values["day"], values["begin"])
    booking.finish = _moment(values["day"], values["end"])
    for name, moment in (("begin", booking.start), ("end", booking.finish)):
        if moment is None:
            problems.setdefault(name, call.words("bad_time"))
    if booking.start and booking.finish and booking.finish <= booking.start:
        problems["end"] = call.words("ends_before")
    if booking.start and booking.start < call.clock.now:
        problems["day"] = call.words("in_past")
    booking.people, problem = _people(call, values["people"], organiser)
    if problem:
        problems["people"] = problem
    return booking


def check(
    call: Call, room: str, start: datetime, finish: datetime, size: int, ignore: set[int]
) -> str:
    """Return what forbids an event in a room at a time; empty if nothing does.

    Args:
        call: The request.
        room: Code of the room; without one everything is allowed.
        start: Start of the event.
        finish: Its end.
        size: Number of people, including the organiser.
        ignore: Events that do not count as conflicts.
    """
    if not room:
        return ""
    row = call.store.row("SELECT * FROM _rooms WHERE code = ?", (room,))
    if row is None:
        return call.words("no_room")
    return room_problem(call, row, start, finish, size) or _conflict(
        call, row, start, finish, ignore
    )


def room_problem(call: Call, room: StoreRow, start: datetime, finish: datetime, size: int) -> str:
    """Return which rule of a room an event breaks; empty if none."""
    if size > room["capacity"]:
        return call.words("too_many", room=room["name"], count=room["capacity"])
    inside = room["opens"] <= f"{start:%H:%M}" and f"{finish:%H:%M}" <= room["closes"]
    if not inside or str(start.isoweekday()) not in room["days"]:
        return call.words(
            "room_closed", room=room["name"], opens=room["opens"], closes=room["closes"]
        )
    return ""


def _conflict(
    call: Call, room: StoreRow, start: datetime, finish: datetime, ignore: set[int]
) -> str:
    rows = call.store.rows(
        "SELECT id, title, start, finish FROM events WHERE room = ? AND status = 'planned' AND "
        "start < ? AND finish > ? ORDER BY start",
        (room["code"], stamp(finish), stamp(start)),
    )
    for row in rows:
        if row["id"] not in ignore:
            return call.words(
                "room_taken",
                room=room["name"],
                number=row["id"],
                title=row["title"],
                begin=row["start"][11:],
                end=row["finish"][11:],
                day=call.date(row["start"][:10]),
            )
    return ""


def occurrences(call: Call, event: StoreRow, scope: str) -> list[StoreRow]:
    """Return the events of a series that a change concerns, without those that are over."""
    if not event["series"] or scope not in ("following", "all"):
        return [event]
    since = event["start"] if scope == "following" else stamp(call.clock.now)
    return call.store.rows(
        "SELECT * FROM events WHERE series = ? AND status = 'planned' AND start >= ? "
        "ORDER BY start",
        (event["series"], since),
    )


def repeated(
    start: datetime, finish: datetime, repeat: str, until: str
) -> list[tuple[datetime, datetime]]:
    """Return the times of a recurring event; the first alone if it is not one."""
    step = {"weekly": 7, "fortnightly": 14}.get(repeat)
    last = _day(until)
    if step is None or last is None:
        return [(start, finish)]
    times: list[tuple[datetime, datetime]] = []
    while start.date() <= last and len(times) < 60:
        times.append((start, finish))
        start, finish = start + timedelta(days=step), finish + timedelta(days=step)
    return times


def _moment(day: str, time: str) -> datetime | None:
    match = re.fullmatch(r"(\d{1,2}):(\d{2})", time)
    whole = _day(day)
    if whole is None or match is None or int(match[1]) > 23 or int(match[2]) > 59:
        return None
    return datetime(whole.year, whole.month, whole.day, int(match[1]), int(match[2]))


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _people(call: Call, text: str, organiser: str) -> tuple[list[str], str]:
    """Read a list of names or accounts; return the accounts, sorted, and any problem."""
    found: set[str] = set()
    for part in re.split(r"[,;，；、\n]", text):
        part = part.strip()
        if not part:
            continue
        rows = call.store.rows(
            "SELECT login FROM _accounts WHERE login = ? OR name = ?", (part.lower(), part)
        )
        if len(rows) != 1:
            return [], call.words("unknown_person", name=part)
        found.add(rows[0]["login"])
    return sorted(found - {organiser}), ""
