"""Pages that make and change events: new, edit, move, cancel, answer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get, post
from hexathlon.tasks.web.world.sites.calendar.booking import (
    SCOPES,
    Booking,
    attendees_of,
    check,
    occurrences,
    read_booking,
    repeated,
    stamp,
)
from hexathlon.tasks.web.world.sites.calendar.pages import day_of, names_of, rooms_of
from hexathlon.tasks.web.world.store import StoreRow
from hexathlon.tasks.web.world.ui import FormField

__all__ = ["CalendarEvents"]

_ANSWERS = ("yes", "no", "maybe")


class CalendarEvents:
    """Handlers of pages that change events."""

    @get("/events/new")
    def new(self, call: Call) -> WebResponse:
        """Show the form for a new event."""
        values = {"day": day_of(call).isoformat(), "begin": call.arg("begin"), "end": ""}
        return _new_form(call, values, {})

    @post("/events/new")
    def create(self, call: Call) -> WebResponse:
        """Create an event, or a series of them."""
        booking = read_booking(call, call.login)
        if booking.values["repeat"] and not booking.values["until"]:
            booking.problems["until"] = call.words("required")
        if not booking.problems:
            assert booking.start is not None and booking.finish is not None
            times = repeated(
                booking.start, booking.finish, booking.values["repeat"], booking.values["until"]
            )
            size = 1 + len(booking.people)
            for start, finish in times:
                problem = check(call, booking.values["room"], start, finish, size, set())
                if problem:
                    booking.problems["room"] = problem
                    break
        if booking.problems:
            return _new_form(call, booking.values, booking.problems)
        series = 0
        if len(times) > 1:
            series = 1 + (call.store.value("SELECT max(series) FROM events") or 0)
        number = 0
        for start, finish in times:
            columns = {**booking.columns(), "start": stamp(start), "finish": stamp(finish)}
            made = call.store.insert("events", **columns, organiser=call.login, series=series)
            number = number or made
        return call.redirect(f"/events/{number}", call.words("created_note"))

    @get("/events/{number:int}")
    def event(self, call: Call, number: int) -> WebResponse:
        """Show an event."""
        row = _visible(call, number)
        return _event_page(call, row, None) if row else call.not_found()

    @post("/events/{number:int}/edit")
    def edit(self, call: Call, number: int) -> WebResponse:
        """Change an event, or those of its series that the scope names."""
        row = _visible(call, number)
        if row is None:
            return call.not_found()
        if row["organiser"] != call.login or row["status"] != "planned":
            return call.forbidden(call.words("not_yours"))
        booking = read_booking(call, call.login)
        if not booking.problems:
            assert booking.start is not None and booking.finish is not None
            problem = _change(call, row, call.arg("scope"), booking.columns())
            if problem:
                booking.problems["room"] = problem
        if booking.problems:
            return _event_page(call, row, booking)
        return call.redirect(f"/events/{number}", call.words("saved"))

    @post("/events/{number:int}/cancel")
    def cancel_event(self, call: Call, number: int) -> WebResponse:
        """Cancel an event, or those of its series that the scope names."""
        row = _visible(call, number)
        if row is None:
            return call.not_found()
        if row["organiser"] != call.login:
            return call.forbidden(call.words("not_yours"))
        for each in occurrences(call, row, call.arg("scope")):
            call.store.execute("UPDATE events SET status = 'cancelled' WHERE id = ?", (each["id"],))
        return call.redirect(f"/events/{number}", call.words("cancelled_note"))

    @post("/events/{number:int}/answer")
    def answer(self, call: Call, number: int) -> WebResponse:
        """Answer an invitation."""
        row = _visible(call, number)
        answer = call.arg("answer")
        if row is None or call.login not in attendees_of(row):
            return call.not_found()
        if answer not in _ANSWERS:
            return call.redirect(f"/events/{number}", call.words("required"), "error")
        known = call.store.value(
            "SELECT id FROM answers WHERE event = ? AND person = ?", (number, call.login)
        )
        if known is None:
            call.store.insert(
                "answers", event=number, person=call.login, answer=answer, remark=call.arg("remark")
            )
        else:
            call.store.execute(
                "UPDATE answers SET answer = ?, remark = ? WHERE id = ?",
                (answer, call.arg("remark"), known),
            )
        return call.redirect(f"/events/{number}", call.words("answered"))

    @post("/events/move")
    def move(self, call: Call) -> WebResponse:
        """Move an event to the slot that it was dropped on."""
        row = _visible(call, call.number("item"))
        try:
            start = datetime.fromisoformat(call.arg("to"))
        except ValueError:
            return call.not_found()
        back = f"/week?day={start.date().isoformat()}"
        if row is None or row["organiser"] != call.login:
            return call.redirect(back, call.words("not_yours"), "error")
        old = datetime.fromisoformat(row["start"])
        if start < call.clock.now or old < call.clock.now:
            return call.redirect(back, call.words("in_past"), "error")
        finish = start + (datetime.fromisoformat(row["finish"]) - old)
        columns = {
            "start": stamp(start),
            "finish": stamp(finish),
            "room": row["room"],
            "people": row["people"],
        }
        problem = _change(call, row, "this", columns)
        if problem:
            return call.redirect(back, problem, "error")
        return call.redirect(back, call.words("moved", title=row["title"]))


def _visible(call: Call, number: int) -> StoreRow | None:
    """Return an event that the person organises or attends."""
    row = call.store.row("SELECT * FROM events WHERE id = ?", (number,))
    if row is None or call.login not in {row["organiser"], *attendees_of(row)}:
        return None
    return row


def _change(call: Call, row: StoreRow, scope: str, columns: Mapping[str, str]) -> str:
    """Change events; return what forbids it, and change nothing then."""
    start = datetime.fromisoformat(columns["start"])
    length = datetime.fromisoformat(columns["finish"]) - start
    shift = start - datetime.fromisoformat(row["start"])
    concerned = occurrences(call, row, scope)
    ignore = {each["id"] for each in concerned}
    size = 1 + len(attendees_of(columns))
    times: dict[int, tuple[datetime, datetime]] = {}
    for each in concerned:
        begin = datetime.fromisoformat(each["start"])
        days = timedelta(days=(start.date() - datetime.fromisoformat(row["start"]).date()).days)
        new = (
            begin + shift
            if each["id"] == row["id"]
            else datetime.combine((begin + days).date(), start.time())
        )
        times[each["id"]] = new, new + length
        problem = check(call, columns["room"], new, new + length, size, ignore)
        if problem:
            return problem
    for number, (begin, end) in times.items():
        changes = {**columns, "start": stamp(begin), "finish": stamp(end)}
        names = ", ".join(f"{name} = ?" for name in changes)
        call.store.execute(f"UPDATE events SET {names} WHERE id = ?", (*changes.values(), number))
    return ""


def _event_page(call: Call, row: StoreRow, booking: Booking | None) -> WebResponse:
    names, words = names_of(call), call.words
    mine = row["organiser"] == call.login
    people = attendees_of(row)
    values: Mapping[str, Any] = {
        "title": row["title"],
        "day": row["start"][:10],
        "begin": row["start"][11:],
        "end": row["finish"][11:],
        "room": row["room"],
        "note": row["note"],
        "people": ", ".join(names[each] for each in people),
    }
    problems: Mapping[str, str] = {}
    if booking is not None:
        values, problems = booking.values, booking.problems
    fields = _fields(call, values, problems, "date")
    scope = FormField(
        "scope",
        words("scope"),
        "radio",
        "this",
        [(each, words(f"scope_{each}")) for each in SCOPES],
    )
    if row["series"]:
        fields.append(scope)
    answers = {
        each["person"]: each
        for each in call.store.rows("SELECT * FROM answers WHERE event = ?", (row["id"],))
    }
    own = answers.get(call.login)
    reply = [
        FormField(
            "answer",
            words("your_answer"),
            "radio",
            own["answer"] if own else "",
            [(each, words(f"answer_{each}")) for each in _ANSWERS],
        ),
        FormField("remark", words("remark"), "text", own["remark"] if own else ""),
    ]
    return call.page(
        "event.html",
        422 if problems else 200,
        event=row,
        names=names,
        people=people,
        answers=answers,
        rooms=rooms_of(call),
        fields=fields,
        mine=mine,
        reply=reply,
        scopes=[scope] if row["series"] else [],
    )


def _new_form(call: Call, values: Mapping[str, str], problems: Mapping[str, str]) -> WebResponse:
    words = call.words
    fields = _fields(call, values, problems, "picker")
    fields += [
        FormField(
            "repeat",
            words("repeat"),
            "select",
            values.get("repeat", ""),
            [(each, words(f"repeat_{each or 'never'}")) for each in ("", "weekly", "fortnightly")],
        ),
        FormField(
            "until",
            words("repeat_until"),
            "date",
            values.get("until", ""),
            error=problems.get("until", ""),
        ),
    ]
    return call.page("new.html", 422 if problems else 200, fields=fields)


def _fields(
    call: Call, values: Mapping[str, Any], problems: Mapping[str, str], day: str
) -> list[FormField]:
    words = call.words
    rooms: Sequence[tuple[str, str]] = [("", words("no_room_chosen")), *rooms_of(call).items()]
    kept = {
        name: values.get(name, "")
        for name in ("title", "day", "begin", "end", "room", "people", "note")
    }
    fields = [
        FormField("title", words("title"), "text", kept["title"]),
        FormField("day", words("day"), day, kept["day"]),
        FormField("begin", words("begin"), "text", kept["begin"], help=words("time_help")),
        FormField("end", words("end"), "text", kept["end"]),
        FormField("room", words("room"), "select", kept["room"], rooms),
        FormField("people", words("attendees"), "text", kept["people"], help=words("people_help")),
        FormField("note", words("note"), "textarea", kept["note"]),
    ]
    if call.look.order % 2:
        fields.insert(4, fields.pop(5))
    return [_with_problem(each, problems) for each in fields]


def _with_problem(field: FormField, problems: Mapping[str, str]) -> FormField:
    return replace(field, error=problems.get(field.name, ""))
