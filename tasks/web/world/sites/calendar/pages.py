"""Read-only pages of the calendar: week, list, rooms, people, free time, rules."""

from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get
from hexathlon.tasks.web.world.sites.calendar.booking import attendees_of
from hexathlon.tasks.web.world.store import StoreRow
from hexathlon.tasks.web.world.ui import FormField, Pager

__all__ = ["CalendarPages", "day_of", "mine", "names_of", "rooms_of"]

_PER_PAGE = 20
_HOURS = range(8, 18)
MINE = "(organiser = :me OR ', ' || people || ',' LIKE '%, ' || :me || ',%')"
"""Condition: the person organises or attends the event."""


class CalendarPages:
    """Handlers of read-only pages."""

    @get("/")
    def start(self, call: Call) -> WebResponse:
        """Redirect to the week."""
        return call.redirect("/week")

    @get("/week")
    def week(self, call: Call) -> WebResponse:
        """Show the user's week as a grid of hours."""
        day = day_of(call)
        monday = day - timedelta(days=day.weekday())
        events = mine(call, monday, monday + timedelta(days=5))
        cells: dict[tuple[str, int], list[StoreRow]] = {}
        for event in events:
            hour = min(max(int(event["start"][11:13]), _HOURS[0]), _HOURS[-1])
            cells.setdefault((event["start"][:10], hour), []).append(event)
        days = [monday + timedelta(days=k) for k in range(5)]
        return call.page(
            "week.html",
            days=[(each, call.words(f"weekday_{each.isoweekday()}")) for each in days],
            hours=_HOURS,
            cells=cells,
            before=monday - timedelta(days=7),
            after=monday + timedelta(days=7),
            rooms=rooms_of(call),
            field=FormField("day", call.words("day"), "date", day.isoformat()),
        )

    @get("/list")
    def listing(self, call: Call) -> WebResponse:
        """List the user's events, filtered."""
        since, until = call.arg("since") or call.clock.today.isoformat(), call.arg("until")
        text, room, person = call.arg("q"), call.arg("room"), call.arg("person")
        where = [MINE, "status = 'planned'", "date(start) >= :since"]
        values: dict[str, Any] = {
            "me": call.login,
            "since": since,
            "until": until,
            "room": room,
            "text": f"%{text}%",
            "person": person,
        }
        if until:
            where.append("date(start) <= :until")
        if text:
            where.append("(title LIKE :text OR note LIKE :text)")
        if room:
            where.append("room = :room")
        if person:
            where.append(MINE.replace(":me", ":person"))
        condition = " AND ".join(where)
        total = call.store.value(f"SELECT count(*) FROM events WHERE {condition}", values)
        pages = max(1, -(-total // _PER_PAGE))
        page = min(max(1, call.number("page", 1)), pages)
        rows = call.store.rows(
            f"SELECT * FROM events WHERE {condition} ORDER BY start, id LIMIT {_PER_PAGE} "
            f"OFFSET {(page - 1) * _PER_PAGE}",
            values,
        )
        words, every = call.words, ("", call.words("all"))
        fields = [
            FormField("q", words("search"), "text", text),
            FormField("since", words("since"), "date", since),
            FormField("until", words("until"), "date", until),
            FormField("room", words("room"), "select", room, [every, *rooms_of(call).items()]),
            FormField("person", words("person"), "select", person, [every, *_people(call)]),
        ]
        query = urlencode(
            {"q": text, "since": since, "until": until, "room": room, "person": person}
        )
        return call.page(
            "list.html",
            events=rows,
            fields=fields,
            rooms=rooms_of(call),
            names=names_of(call),
            pager=Pager(page, pages, total, f"/list?{query}&"),
        )

    @get("/invitations")
    def invitations(self, call: Call) -> WebResponse:
        """List upcoming invitations that the person has not answered."""
        rows = call.store.rows(
            f"SELECT * FROM events e WHERE {MINE} AND organiser != :me AND status = 'planned' AND "
            "start >= :now AND NOT EXISTS (SELECT 1 FROM answers a WHERE a.event = e.id AND "
            "a.person = :me) ORDER BY start, id LIMIT 60",
            {"me": call.login, "now": call.clock.stamp[:16]},
        )
        return call.page(
            "invitations.html", events=rows, names=names_of(call), rooms=rooms_of(call)
        )

    @get("/rooms")
    def rooms(self, call: Call) -> WebResponse:
        """List rooms."""
        rows = call.store.rows("SELECT * FROM _rooms ORDER BY name")
        return call.page("rooms.html", rooms=rows, days=_days)

    @get("/rooms/{code}")
    def room(self, call: Call, code: str) -> WebResponse:
        """Show a room, its rules, and its bookings in a week."""
        row = call.store.row("SELECT * FROM _rooms WHERE code = ?", (code,))
        if row is None:
            return call.not_found()
        day = day_of(call)
        monday = day - timedelta(days=day.weekday())
        bookings = call.store.rows(
            "SELECT * FROM events WHERE room = ? AND status = 'planned' AND date(start) >= ? AND "
            "date(start) < ? ORDER BY start",
            (code, monday.isoformat(), (monday + timedelta(days=7)).isoformat()),
        )
        return call.page(
            "room.html",
            room=row,
            bookings=bookings,
            names=names_of(call),
            days=_days,
            monday=monday,
            before=monday - timedelta(days=7),
            after=monday + timedelta(days=7),
            field=FormField("day", call.words("day"), "date", day.isoformat()),
        )

    @get("/people")
    def people(self, call: Call) -> WebResponse:
        """List colleagues with their time zones and working hours."""
        rows = call.store.rows(
            "SELECT c.*, a.name FROM _colleagues c JOIN _accounts a ON a.login = c.login "
            "ORDER BY a.name"
        )
        return call.page("people.html", people=rows)

    @get("/people/{login}")
    def colleague(self, call: Call, login: str) -> WebResponse:
        """Show a colleague."""
        row = call.store.row(
            "SELECT c.*, a.name, a.email FROM _colleagues c JOIN _accounts a ON a.login = c.login "
            "WHERE c.login = ?",
            (login,),
        )
        return call.page("colleague.html", colleague=row) if row else call.not_found()

    @get("/free")
    def free(self, call: Call) -> WebResponse:
        """Show when people and rooms are busy on a day."""
        day = day_of(call)
        names, rooms = names_of(call), rooms_of(call)
        chosen = [each for each in call.args("who") if each in names]
        busy: dict[str, list[str]] = {}
        for event in call.store.rows(
            "SELECT * FROM events WHERE status = 'planned' AND date(start) = ? ORDER BY start",
            (day.isoformat(),),
        ):
            span = f"{event['start'][11:]}–{event['finish'][11:]}"
            for person in {event["organiser"], *attendees_of(event)}:
                busy.setdefault(person, []).append(span)
            busy.setdefault(f"room {event['room']}", []).append(f"{span} #{event['id']}")
        return call.page(
            "free.html",
            day=day,
            chosen=chosen,
            names=names,
            rooms=rooms,
            busy=busy,
            everybody=_people(call),
            field=FormField("day", call.words("day"), "date", day.isoformat()),
        )

    @get("/rules")
    def rules(self, call: Call) -> WebResponse:
        """Show the rules on meetings, working hours and rooms."""
        return call.page("rules.html", rules=call.store.rows("SELECT * FROM _rules ORDER BY name"))


def day_of(call: Call) -> date:
    """Return the requested day; today by default."""
    try:
        day = date.fromisoformat(call.arg("day"))
    except ValueError:
        return call.clock.today
    return day if 1970 <= day.year <= 2100 else call.clock.today


def mine(call: Call, since: date, until: date) -> list[StoreRow]:
    """Return the user's planned events from one day up to, but excluding, another."""
    return call.store.rows(
        f"SELECT * FROM events WHERE {MINE} AND status = 'planned' AND date(start) >= :since AND "
        "date(start) < :until ORDER BY start, id",
        {"me": call.login, "since": since.isoformat(), "until": until.isoformat()},
    )


def names_of(call: Call) -> dict[str, str]:
    """Return everybody's name by account."""
    return {
        row["login"]: row["name"] for row in call.store.rows("SELECT login, name FROM _accounts")
    }


def rooms_of(call: Call) -> dict[str, str]:
    """Return the names of rooms by code."""
    rows = call.store.rows("SELECT code, name FROM _rooms ORDER BY name")
    return {row["code"]: row["name"] for row in rows}


def _people(call: Call) -> list[tuple[str, str]]:
    return sorted(names_of(call).items(), key=lambda item: item[1])


def _days(call: Call, days: str) -> str:
    return ", ".join(call.words(f"weekday_{each}") for each in days)
