"""Handlers of stays, tables and tickets, and of the person's bookings."""

from datetime import date, timedelta
from urllib.parse import urlencode

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get, post
from hexathlon.tasks.web.world.sites.maps.pricing import (
    DISCOUNTS,
    INSURANCE,
    cancel_deadline,
    free_nights,
    hours_on,
    stay_cents,
    tax_cents,
)
from hexathlon.tasks.web.world.sites.maps.travel import day_of
from hexathlon.tasks.web.world.sites.maps.vocabulary import DISTRICTS, label_of
from hexathlon.tasks.web.world.store import SiteStore, StoreRow
from hexathlon.tasks.web.world.ui import FormField, Pager

__all__ = ["Bookings"]

_PER_PAGE = 8
_MAX_NIGHTS = 21


class Bookings:
    """Handlers of everything that is booked."""

    @get("/stays")
    def stays(self, call: Call) -> WebResponse:
        """List hotels; with dates, only those with a free room, and their lowest price."""
        words = call.words
        dates = _stay_dates(call)
        district = call.arg("district")
        guests = max(1, call.number("guests", 1))
        rows = call.store.rows(
            "SELECT p.*, (SELECT avg(stars) FROM reviews r WHERE r.place = p.id) AS stars FROM "
            "places p WHERE category = 'hotel' AND (? = '' OR district = ?) ORDER BY name, id",
            (district, district),
        )
        lines = []
        for row in rows:
            offers = _offers(call, row["id"], *dates, guests) if dates else []
            if offers or not dates:
                lines.append((row, min((cents for _, cents in offers), default=None)))
        pages = max(1, -(-len(lines) // _PER_PAGE))
        page = min(max(1, call.number("page", 1)), pages)
        names = ("district", "arrival", "departure", "guests")
        query = urlencode([(name, call.arg(name)) for name in names])
        fields = [
            FormField("district", words("district"), "select", district,
                      [("", words("all")), *((each, label_of(each, call.language))
                                             for each in DISTRICTS)]),
            *_date_fields(call), FormField("guests", words("guests"), "number", guests),
        ]  # fmt: skip
        return call.page(
            "stays.html",
            fields=fields,
            query=query,
            label=label_of,
            lines=lines[(page - 1) * _PER_PAGE : page * _PER_PAGE],
            pager=Pager(page, pages, len(lines), f"/stays?{query}&"),
        )

    @get("/places/{number:int}/rooms")
    def rooms(self, call: Call, number: int) -> WebResponse:
        """Show the rates of a hotel; with dates, the price of the stay."""
        place = _place(call.store, number, "hotel")
        if place is None:
            return call.not_found()
        dates = _stay_dates(call)
        guests = max(1, call.number("guests", 1))
        rates = call.store.rows("SELECT * FROM rates WHERE place = ? ORDER BY id", (number,))
        prices = {
            rate["id"]: cents
            for rate, cents in (_offers(call, number, *dates, guests) if dates else [])
        }
        fields = [*_date_fields(call), FormField("guests", call.words("guests"), "number", guests)]
        given = [(name, call.arg(name)) for name in ("arrival", "departure")]
        query = urlencode([*given, ("guests", guests)])
        return call.page("rooms.html", place=place, rates=rates, prices=prices, fields=fields,
                         dates=dates, query=query, label=label_of)  # fmt: skip

    @get("/rates/{number:int}/book")
    def book_room_form(self, call: Call, number: int) -> WebResponse:
        """Show the price and conditions of a stay before it is booked."""
        return self._room_page(call, number, "", 200)

    @post("/rates/{number:int}/book")
    def book_room(self, call: Call, number: int) -> WebResponse:
        """Book a stay."""
        rate = call.store.row("SELECT * FROM rates WHERE id = ?", (number,))
        dates = _stay_dates(call)
        guests = call.number("guests")
        if rate is None or dates is None:
            return call.not_found()
        offers = {each["id"]: cents for each, cents in _offers(call, rate["place"], *dates, guests)}
        if number not in offers:
            return self._room_page(call, number, call.words("not_free"), 422)
        insured = int(call.arg("insurance") == "1")
        booking = call.store.insert(
            "bookings", person=call.login, kind="room", ref=number, start=dates[0],
            finish=dates[1], guests=guests, cents=offers[number] + INSURANCE * insured,
            terms=rate["terms"], insured=insured, status="active", made=call.clock.stamp,
        )  # fmt: skip
        return call.redirect(f"/bookings/{booking}", call.words("booked"))

    @get("/places/{number:int}/tables")
    def tables(self, call: Call, number: int) -> WebResponse:
        """Show the free tables of a restaurant on a day."""
        place = _place(call.store, number, "restaurant")
        if place is None:
            return call.not_found()
        day, guests = day_of(call, "date"), max(1, call.number("guests", 2))
        words = call.words
        fields = [
            FormField("date", words("date"), "picker", call.arg("date")),
            FormField("guests", words("guests"), "number", guests),
        ]
        slots = _free_tables(call.store, place, day, guests) if day else []
        return call.page(
            "tables.html", place=place, fields=fields, day=day, guests=guests, slots=slots
        )

    @post("/slots/{number:int}/book")
    def book_table(self, call: Call, number: int) -> WebResponse:
        """Book a table."""
        slot = call.store.row("SELECT * FROM slots WHERE id = ?", (number,))
        day, guests = day_of(call, "date"), call.number("guests")
        if slot is None or day is None or day < call.clock.today:
            return call.not_found()
        place = _place(call.store, slot["place"], "restaurant")
        free = [] if place is None else _free_tables(call.store, place, day, guests)
        if guests < 1 or all(each["id"] != number for each in free):
            return call.redirect(
                f"/places/{slot['place']}/tables?date={day}&guests={guests}",
                call.words("not_free"),
                "error",
            )
        at = f"{day} {slot['time']}"
        booking = call.store.insert(
            "bookings", person=call.login, kind="table", ref=number, start=at, finish=at,
            guests=guests, cents=0, terms="table", insured=0, status="active",
            made=call.clock.stamp,
        )  # fmt: skip
        return call.redirect(f"/bookings/{booking}", call.words("booked"))

    @get("/trains/{number:int}/book")
    def book_train_form(self, call: Call, number: int) -> WebResponse:
        """Show a ticket before it is bought."""
        train, day = _train(call, number), day_of(call, "date")
        if train is None or day is None:
            return call.not_found()
        fields = [
            FormField("guests", call.words("guests"), "number", call.number("guests", 1)),
            _insurance(call),
        ]
        return call.page(
            "ticket.html",
            train=train,
            day=day,
            fields=fields,
            terms=label_of("open" if train["flexible"] else "fixed", call.language),
        )

    @post("/trains/{number:int}/book")
    def book_train(self, call: Call, number: int) -> WebResponse:
        """Buy a ticket."""
        train, day = _train(call, number), day_of(call, "date")
        guests = call.number("guests")
        if train is None or day is None or day < call.clock.today or not 1 <= guests <= 9:
            return call.not_found()
        insured = int(call.arg("insurance") == "1")
        booking = call.store.insert(
            "bookings", person=call.login, kind="train", ref=number,
            start=f"{day} {train['departs']}", finish=f"{day} {train['arrives']}", guests=guests,
            cents=train["cents"] * guests + INSURANCE * insured,
            terms="open" if train["flexible"] else "fixed", insured=insured, status="active",
            made=call.clock.stamp,
        )  # fmt: skip
        return call.redirect(f"/bookings/{booking}", call.words("booked"))

    @get("/bookings")
    def bookings(self, call: Call) -> WebResponse:
        """List the person's bookings, the next ones first."""
        rows = call.store.rows(
            "SELECT * FROM bookings WHERE person = ? ORDER BY start DESC, id", (call.login,)
        )
        pages = max(1, -(-len(rows) // _PER_PAGE))
        page = min(max(1, call.number("page", 1)), pages)
        shown = rows[(page - 1) * _PER_PAGE : page * _PER_PAGE]
        member = call.store.row("SELECT * FROM members WHERE login = ?", (call.login,))
        return call.page(
            "bookings.html",
            label=label_of,
            member=member,
            bookings=[(row, _what(call, row)) for row in shown],
            pager=Pager(page, pages, len(rows), "/bookings?"),
        )

    @get("/bookings/{number:int}")
    def booking(self, call: Call, number: int) -> WebResponse:
        """Show a booking."""
        row = _own(call, number)
        if row is None:
            return call.not_found()
        return call.page(
            "booking.html",
            booking=row,
            what=_what(call, row),
            label=label_of,
            terms=label_of(row["terms"], call.language),
            coming=row["start"] > call.clock.stamp,
        )

    @post("/bookings/{number:int}/cancel")
    def cancel(self, call: Call, number: int) -> WebResponse:
        """Cancel a booking; the fee is charged without confirmation."""
        row = _own(call, number)
        if row is None or row["status"] != "active" or row["start"] <= call.clock.stamp:
            return call.not_found()
        deadline = cancel_deadline(row)
        free = deadline is not None and call.clock.now <= deadline
        call.store.execute("UPDATE bookings SET status = 'cancelled' WHERE id = ?", (number,))
        text = (
            call.words("cancelled_free")
            if free
            else call.words("cancelled_fee", amount=call.ui.money(row["cents"]))
        )
        return call.redirect(f"/bookings/{number}", text, "success" if free else "warning")

    def _room_page(self, call: Call, number: int, problem: str, status: int) -> WebResponse:
        rate = call.store.row("SELECT * FROM rates WHERE id = ?", (number,))
        dates = _stay_dates(call)
        if rate is None or dates is None:
            return call.not_found()
        place = _place(call.store, rate["place"], "hotel")
        assert place is not None
        guests = max(1, call.number("guests", 1))
        cents = stay_cents(rate, *dates, _tier(call))
        return call.page(
            "book_room.html", status, rate=rate, place=place, dates=dates, guests=guests,
            cents=cents, tax=tax_cents(place, *dates, guests), problem=problem,
            terms=label_of(rate["terms"], call.language), room=label_of(rate["room"], call.language),
            fields=[_insurance(call)],
        )  # fmt: skip


def _insurance(call: Call) -> FormField:
    """A preselected extra, as on real booking sites."""
    label = call.words("insurance", amount=call.ui.money(INSURANCE))
    return FormField("insurance", label, "checkbox", True)


def _tier(call: Call) -> str:
    tier = call.store.value("SELECT tier FROM members WHERE login = ?", (call.login,))
    return tier if tier in DISCOUNTS else "blue"


def _stay_dates(call: Call) -> tuple[str, str] | None:
    start, finish = day_of(call, "arrival"), day_of(call, "departure")
    if start is None or finish is None or start < call.clock.today:
        return None
    if not timedelta(0) < finish - start <= timedelta(days=_MAX_NIGHTS):
        return None
    return start.isoformat(), finish.isoformat()


def _date_fields(call: Call) -> list[FormField]:
    return [
        FormField("arrival", call.words("arrival"), "picker", call.arg("arrival")),
        FormField("departure", call.words("departure"), "picker", call.arg("departure")),
    ]


def _offers(
    call: Call, place: int, start: str, finish: str, guests: int
) -> list[tuple[StoreRow, int]]:
    """Return the rates of a hotel that can be booked, with their prices."""
    nights = (date.fromisoformat(finish) - date.fromisoformat(start)).days
    rows = call.store.rows(
        "SELECT * FROM rates WHERE place = ? AND guests >= ? AND nights <= ? ORDER BY id",
        (place, guests, nights),
    )
    tier = _tier(call)
    return [
        (rate, stay_cents(rate, start, finish, tier))
        for rate in rows
        if free_nights(call.store, rate["id"], start, finish)
    ]


def _free_tables(store: SiteStore, place: StoreRow, day: date, guests: int) -> list[StoreRow]:
    """Return the tables that are large enough, in opening hours and not booked."""
    hours = hours_on(store, place["id"], day)
    slots = store.rows(
        "SELECT * FROM slots WHERE place = ? AND seats >= ? ORDER BY time, id",
        (place["id"], guests),
    )
    taken = {
        row["ref"]
        for row in store.rows(
            "SELECT ref FROM bookings WHERE kind = 'table' AND status = 'active' AND start LIKE ?",
            (f"{day}%",),
        )
    }
    return [
        slot
        for slot in slots
        if slot["id"] not in taken
        and not place["closed"]
        and any(opens <= slot["time"] and slot["time"] < closes for opens, closes in hours)
    ]


def _place(store: SiteStore, number: int, category: str) -> StoreRow | None:
    return store.row("SELECT * FROM places WHERE id = ? AND category = ?", (number, category))


def _train(call: Call, number: int) -> StoreRow | None:
    day = day_of(call, "date")
    row = call.store.row("SELECT * FROM trains WHERE id = ?", (number,))
    return row if row and day and str(day.weekday()) in row["days"] else None


def _own(call: Call, number: int) -> StoreRow | None:
    return call.store.row(
        "SELECT * FROM bookings WHERE id = ? AND person = ?", (number, call.login)
    )


def _what(call: Call, booking: StoreRow) -> str:
    """Name what is booked."""
    if booking["kind"] == "train":
        row = call.store.row("SELECT * FROM trains WHERE id = ?", (booking["ref"],))
        return f"{row['number']} {row['origin']} – {row['target']}" if row else "–"
    table = "rates" if booking["kind"] == "room" else "slots"
    name = call.store.value(
        f"SELECT p.name FROM places p JOIN {table} t ON t.place = p.id WHERE t.id = ?",
        (booking["ref"],),
    )
    return str(name or "–")
