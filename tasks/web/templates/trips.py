"""Hard tasks across two sites: trips within a budget sheet, reports from the tracker, capacity."""

from datetime import timedelta
from typing import ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import (
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
    added,
    together,
)
from hexathlon.tasks.web.templates.maps import today_of
from hexathlon.tasks.web.templates.maps_trips import book_room, book_train, room_row, train_row
from hexathlon.tasks.web.templates.sheet_pages import (
    new_cells,
    open_sheet,
    row_edits,
    set_row,
    view_sheet,
)
from hexathlon.tasks.web.world.network import Edit
from hexathlon.tasks.web.world.sites.maps.pricing import (
    free_nights,
    nights_of,
    stay_cents,
    tax_cents,
)
from hexathlon.tasks.web.world.sites.maps.vocabulary import label_of as place_label
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["TEMPLATES", "UNRESOLVED"]

_TRIES = 8
"""Number of draws in a world before a new world is used."""


UNRESOLVED = "status NOT IN ('done', 'rejected')"


class BookTrip(WebTemplate):
    """Book a trip under the rules of a sheet and enter its costs."""

    name: ClassVar[str] = "trips_book"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a trip among similar ones, with limits for room and train."""
        drafts = (self._drawn(scene) for _ in range(_TRIES))
        return next((draft for draft in drafts if draft is not None), None)

    def _drawn(self, scene: WebScene) -> WebDraft | None:
        plan = scene.plan("sheets", "maps")
        books, city = scene.store(plan, "sheets"), scene.store(plan, "maps")
        sheet, rules = (
            open_sheet(books, "Trips=差旅", name, scene.language) for name in ("Trips", "Rules")
        )
        if sheet is None or rules is None:
            return None
        user = scene.people(plan)[0]
        head = scene.people(plan)[2].name
        first = today_of(plan) + timedelta(days=int(scene.rng.integers(9, 28)))
        nights = int(scene.rng.integers(2, 4))
        stay = (first.isoformat(), (first + timedelta(days=nights)).isoformat(), 1)
        cities = [row["origin"] for row in city.rows("SELECT DISTINCT origin FROM trains")]
        origin, target = scene.sample(cities, 2)
        district = scene.pick([row["district"] for row in city.rows(
            "SELECT DISTINCT district FROM places WHERE category = 'hotel' ORDER BY district")])  # fmt: skip
        cap = int(scene.rng.integers(90, 150)) * 100
        older = cap - 2_500
        rooms = _rooms(city, user.login, stay, district, cap)
        trains = _trains(city, origin, target, str(first.weekday()), before="13:00", flexible=True)
        if len(rooms) < 2 or len(trains) < 2:
            return None
        rate, train = rooms[0], trains[0]
        loose = {
            "cap": _rooms(city, user.login, stay, district, 10**9),
            "breakfast": _rooms(city, user.login, stay, district, cap, breakfast=False),
            "old_cap": _rooms(city, user.login, stay, district, older),
            "district": _rooms(city, user.login, stay, "", cap),
        }
        wrong_rooms = {
            kind: each[0] for kind, each in loose.items() if each and each[0]["id"] != rate["id"]
        }
        any_train = _trains(
            city, origin, target, str(first.weekday()), before="13:00", flexible=False
        )
        any_time = _trains(
            city, origin, target, str(first.weekday()), before="23:59", flexible=True
        )
        if not any_train or not any_time:
            return None
        wrong_trains = {
            kind: each[0]
            for kind, each in (("fixed", any_train), ("late", any_time))
            if each[0]["id"] != train["id"]
        }
        if not wrong_trains or len(wrong_rooms) < 2:
            return None
        tier = city.value("SELECT tier FROM members WHERE login = ?", (user.login,))
        room_cents = stay_cents(rate, stay[0], stay[1], tier)
        if len(rooms) > 1 and stay_cents(rooms[1], stay[0], stay[1], tier) == room_cents:
            return None
        total = (train["cents"] + room_cents + tax_cents(rate, *stay)) / 100
        place = city.row("SELECT * FROM places WHERE id = ?", (rate["place"],))
        assert place is not None
        say = scene.say
        purpose = say(
            f"{origin} – {target}, from {stay[0]}, hotel {nights} nights, "
            f"{place_label(district, scene.language)}",
            f"{origin} – {target}，{stay[0]}起，酒店{nights}晚，"
            f"{place_label(district, scene.language)}",
        )
        other = say(
            f"{target} – {origin}, from {stay[0]}, hotel {nights} nights, any district",
            f"{target} – {origin}，{stay[0]}起，酒店{nights}晚，不限城区",
        )
        number = 310 + int(scene.rng.integers(80))
        people = scene.people(plan)
        lines = [
            (f"T-{number}", people[4].name, other, 900),
            (f"T-{number + 1}", user.name, purpose, 900),
            (f"T-{number + 2}", user.name, other, 700),
        ]
        edits: list[Edit] = []
        for row, line in enumerate(lines, 2):
            edits += row_edits(sheet.id, row, line)
        year = int(plan.start[:4])
        policy = _trip_rules(scene, year, head, people[6].name, older, cap)
        for row, text in enumerate(policy, 2):
            edits += row_edits(rules.id, row, (row - 1, *text))
        plan = plan.with_edits(edits)
        instruction = scene.say(
            f'Book the trip T-{number + 1} of the workbook "{sheet.book}" for me, by the '
            "workbook's rules: first a train ticket, then a room (check-in on the day of the train), "
            "no extras. Then enter in its row the total cost as spent (train, room and city tax, in "
            "EUR with two decimals) and the two booking numbers, train first, as "
            "B-1, B-2 with the right numbers.",
            f"请按工作簿的规定，为我预订“{sheet.book}”中的差旅 T-{number + 1}：先订一张火车票，再订一间客房（乘车当日入住），"
            "不要附加项。然后在该行的“已用”填入总费用（火车、客房和城市税，欧元，两位小数），"
            "在“预订号”填入两个预订号，火车在前，写成 B-1, B-2 的形式（换成实际编号）。",
        )
        last = int(city.value("SELECT max(id) FROM bookings"))

        def solver(
            ticket: StoreRow,
            room: StoreRow,
            amount: float,
            *,
            extra: bool = False,
            row: int = 3,
            swapped: bool = False,
        ) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from view_sheet(pilot, rules.id)
                yield from view_sheet(pilot, sheet.id)
                yield from pilot.goto("maps", f"/trains?from={origin}&to={target}&date={stay[0]}")
                query = f"district={district}&arrival={stay[0]}&departure={stay[1]}&guests=1"
                yield from pilot.goto("maps", f"/stays?{query}")
                yield from pilot.goto("maps", f"/places/{room['place']}/rooms?{query}")
                yield from book_train(pilot, ticket["id"], first)
                yield from book_room(pilot, room["id"], stay, extra=extra)
                numbers = [last + 1, last + 2][:: -1 if swapped else 1]
                text = ", ".join(f"B-{each}" for each in numbers)
                yield from set_row(
                    pilot, sheet.id, row, {f"E{row}": f"{amount:.2f}", f"F{row}": text}
                )
                yield from pilot.finish()

            return solve

        def sheet_last(pilot: Pilot) -> Script:
            yield from book_train(pilot, train["id"], first)
            yield from book_room(pilot, rate["id"], stay)
            yield from pilot.goto("sheets", f"/sheets/{sheet.id}")
            yield from set_row(
                pilot, sheet.id, 3, {"F3": f"B-{last + 1}, B-{last + 2}", "E3": f"{total:.2f}"}
            )
            yield from pilot.finish()

        tax = tax_cents(rate, *stay) / 100
        return WebDraft(
            plan, instruction, solver(train, rate, total),
            changes=together(
                added("maps", "bookings", train_row(user.login, train, first),
                      room_row(user.login, rate, stay, room_cents)),
                new_cells(sheet.id, {"E3": f"{total:.2f}", "F3": f"B-{last + 1}, B-{last + 2}"}),
            ),
            alternatives={"sheet_last": sheet_last},
            mutants={
                **{f"room_{kind}": solver(train, room, total) for kind, room in
                   wrong_rooms.items()},
                **{f"train_{kind}": solver(each, rate, total)
                   for kind, each in wrong_trains.items()},
                "without_tax": solver(train, rate, total - tax),
                "insured": solver(train, rate, total, extra=True),
                "wrong_row": solver(train, rate, total, row=4),
                "swapped": solver(train, rate, total, swapped=True),
            },
            turns=60,
        )  # fmt: skip


def _trip_rules(
    scene: WebScene, year: int, head: str, other: str, older: int, cap: int
) -> list[tuple[str, str, str]]:
    """Return date, who decided, and text of the rules for trips."""
    say = scene.say
    room = say(
        "Rooms: at most {} EUR per night on average, without city tax.",
        "客房：平均每晚不超过{}欧元，不含城市税。",
    )
    return [
        (f"{year - 1}-02-01", head, room.format(older // 100)),
        (f"{year}-01-05", head, room.format(cap // 100)),
        (f"{year - 1}-02-01", head, say(
            "Of all rooms that are allowed, take the one with the highest average of stars for its "
            "hotel; of equal ones the cheapest. Breakfast must be included, and the room must be "
            "in the district that the trip names, if it names one.",
            "在允许的客房中选择酒店平均星级最高的；相同则选最便宜的。须含早餐；差旅指定城区的，须在该城区。")),
        (f"{year - 1}-02-01", head, say(
            "Trains: a direct train that arrives by 13:00 with a flexible fare; of these the "
            "cheapest.", "火车：选13:00之前（含）到达的直达弹性票，其中最便宜的。")),
        (f"{year}-01-10", other, say("Rooms: any price if the hotel has four stars on average.",
                                     "客房：酒店平均四星以上则不限价。")),
        (f"{year - 1}-02-01", head, say(
            f"Only entries decided by {head} are in force; of two on the same matter, the newer.",
            f"仅{head}决定的条目有效；同一事项以较新者为准。")),
    ]  # fmt: skip


def _rooms(
    store: SiteStore,
    login: str,
    stay: tuple[str, str, int],
    district: str,
    cap: int,
    *,
    breakfast: bool = True,
) -> list[StoreRow]:
    """Return the rooms that the rules allow, the best first."""
    tier = store.value("SELECT tier FROM members WHERE login = ?", (login,))
    nights = len(nights_of(stay[0], stay[1]))
    rows = store.rows(
        "SELECT r.*, p.tax, p.district, (SELECT avg(stars) FROM reviews v WHERE v.place = p.id) AS "
        "stars FROM rates r JOIN places p ON p.id = r.place WHERE r.nights <= ? AND r.guests >= ?",
        (nights, stay[2]),
    )
    found = [
        row
        for row in rows
        if (not district or row["district"] == district)
        and (row["breakfast"] or not breakfast)
        and free_nights(store, row["id"], stay[0], stay[1])
        and stay_cents(row, stay[0], stay[1], tier) <= cap * nights
    ]
    return sorted(
        found, key=lambda row: (-round(row["stars"], 6), stay_cents(row, stay[0], stay[1], tier))
    )


def _trains(
    store: SiteStore, origin: str, target: str, weekday: str, *, before: str, flexible: bool
) -> list[StoreRow]:
    """Return direct trains, the cheapest first; empty if two cost the same."""
    rows = store.rows(
        "SELECT * FROM trains WHERE origin = ? AND target = ? AND instr(days, ?) > 0 AND "
        "arrives <= ? AND flexible >= ? ORDER BY cents, id",
        (origin, target, weekday, before, int(flexible)),
    )
    return [] if len(rows) > 1 and rows[0]["cents"] == rows[1]["cents"] else rows


TEMPLATES: tuple[WebTemplate, ...] = (BookTrip(),)
