"""Hard tasks on the maps site: the cheapest room, the fastest trains."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import ClassVar, NamedTuple

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import (
    ExpectedAnswer,
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
    added,
)
from hexathlon.tasks.web.templates.maps import today_of
from hexathlon.tasks.web.world.sites.maps.graph import minutes_from
from hexathlon.tasks.web.world.sites.maps.pricing import (
    free_nights,
    nights_of,
    stay_cents,
    tax_cents,
)
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["TEMPLATES", "book_room", "book_train", "minutes_of_clock", "room_row", "train_row"]

_TRIES = 8
"""Number of draws in a world before a new world is used."""


class _Wishes(NamedTuple):
    """Requirements for a room."""

    start: str
    finish: str
    guests: int
    corner: int
    """Corner of the place that must be near."""

    minutes: int
    hard: bool


def book_room(
    pilot: Pilot, rate: int, wishes: tuple[str, str, int], *, extra: bool = False
) -> Script:
    """Book a rate, without the preselected insurance unless `extra`."""
    start, finish, guests = wishes
    yield from pilot.goto(
        "maps", f"/rates/{rate}/book?arrival={start}&departure={finish}&guests={guests}"
    )
    if not extra:
        yield from pilot.click("checkbox")
    yield from pilot.click("button", pilot.words("maps", "book_now"))


def room_row(
    person: str, rate: StoreRow, wishes: tuple[str, str, int], cents: int
) -> dict[str, object]:
    """Return the expected booking."""
    return {"person": person, "kind": "room", "ref": rate["id"], "start": wishes[0],
            "finish": wishes[1], "guests": wishes[2], "cents": cents, "terms": rate["terms"],
            "insured": 0, "status": "active"}  # fmt: skip


def book_train(
    pilot: Pilot, train: int, day: date, *, extra: bool = False, guests: int = 1
) -> Script:
    """Buy a ticket, without the preselected insurance unless `extra`."""
    yield from pilot.goto("maps", f"/trains/{train}/book?date={day}")
    if guests != 1:
        yield from pilot.fill(pilot.words("maps", "guests"), str(guests), role="spinbutton")
    if not extra:
        yield from pilot.click("checkbox")
    yield from pilot.click("button", pilot.words("maps", "book_now"))


def train_row(person: str, train: StoreRow, day: date, guests: int = 1) -> dict[str, object]:
    """Return the expected booking."""
    return {"person": person, "kind": "train", "ref": train["id"],
            "start": f"{day} {train['departs']}", "finish": f"{day} {train['arrives']}",
            "guests": guests, "cents": train["cents"] * guests,
            "terms": "open" if train["flexible"] else "fixed", "insured": 0,
            "status": "active"}  # fmt: skip


class CheapestRoom(WebTemplate):
    """Book the cheapest room that meets every wish; in the twin it exceeds the limit."""

    name: ClassVar[str] = "maps_cheapest_room"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)
    twins: ClassVar[bool] = True
    refusal: ClassVar[str] = "NOT_FOUND_ERROR"

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw dates, a party and a place nearby; each wish excludes a cheaper room."""
        plan = scene.plan("maps")
        store = scene.store(plan, "maps")
        person = scene.people(plan)[0].login
        hard = scene.demanding()
        first = today_of(plan) + timedelta(days=int(scene.rng.integers(8, 30)))
        nights = int(scene.rng.integers(2, 4))
        museum = scene.pick(
            store.rows(
                "SELECT * FROM places WHERE category = 'museum' AND "
                "closed = 0 GROUP BY name HAVING count(*) = 1"
            )
        )
        wishes = _Wishes(first.isoformat(), (first + timedelta(days=nights)).isoformat(),
                         int(scene.rng.integers(1, 3)), museum["corner"],
                         int(scene.rng.integers(13, 22)), hard)  # fmt: skip
        walks = minutes_from(store, museum["corner"], "walk")
        best = _rooms(store, wishes, walks, person)
        if len(best) < 2 or best[1][0] - best[0][0] < 1_500:
            return None
        limit = (best[0][0] + best[1][0]) // 200
        rate = best[0][1]
        count = len(nights_of(wishes.start, wishes.finish))
        if not scene.feasible:
            more = (best[1][0] - best[0][0]) * 3 // 4 // count
            edits = [("maps", "UPDATE rates SET cents = cents + ?, weekend = weekend + ? WHERE id = ?",
                      (more, more, rate["id"]))]  # fmt: skip
            plan = plan.with_edits(edits)
            store = scene.store(plan, "maps")
            best = _rooms(store, wishes, walks, person)
            rate = best[0][1]
        total = best[0][0]
        again = _cheapest_by_sql(store, wishes, walks, person)
        if again != rate["id"] or (total <= limit * 100) != scene.feasible:
            return None
        kinds = ("breakfast", "terms", "tax", *(("stars", "near", "nights") if hard else ()))
        wrong = {kind: _rooms(store, wishes, walks, person, kind)[0] for kind in kinds}
        wrong = {kind: each for kind, each in wrong.items() if each[1]["id"] != rate["id"]}
        if len(wrong) < (3 if hard else 1):
            return None
        near_en = (
            f', within {wishes.minutes} minutes on foot of "{museum["name"]}", in a hotel '
            "with an average of at least 3.0 stars"
            if hard
            else ""
        )
        near_zh = (
            f"、步行{wishes.minutes}分钟内可到“{museum['name']}”、酒店平均不低于3.0星"
            if hard
            else ""
        )
        instruction = scene.say(
            f"Book the cheapest room for {wishes.guests} from {wishes.start} to {wishes.finish} "
            "that includes breakfast and can be cancelled free of charge until the day "
            f"before{near_en}. Cheapest means the price for the whole stay with city tax. No "
            f"extras. If even that room costs more than {limit}.00 EUR in this sense, book nothing "
            "and report its number (such as R-7).",
            f"请为{wishes.guests}人预订{wishes.start}至{wishes.finish}最便宜的客房：须含早餐、可免费取消至前一日"
            f"{near_zh}。最便宜指全程价格加城市税的总额最低。不要任何附加项。"
            f"如果按此计算最便宜的客房也超过{limit}.00欧元，则不要预订，并报告其编号（如 R-7）。",
        )
        evidence = (
            rf"maps\.hexathlon\.test/(places/{rate['place']}/rooms|rates/{rate['id']}/book)",
        )
        stay = (wishes.start, wishes.finish, wishes.guests)
        query = f"arrival={stay[0]}&departure={stay[1]}&guests={stay[2]}"

        def look(pilot: Pilot) -> Script:
            yield from pilot.goto("maps", "/help")
            for page in (1, 2, 3):
                yield from pilot.goto("maps", f"/stays?district=&{query}&page={page}")
            for _, each in best[:4]:
                yield from pilot.goto("maps", f"/places/{each['place']}/rooms?{query}")
                yield from pilot.goto(
                    "maps", f"/directions?from={each['place']}&to={museum['id']}&mode=walk"
                )

        def solver(number: int, *, extra: bool = False) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from look(pilot)
                yield from book_room(pilot, number, stay, extra=extra)
                yield from pilot.finish()

            return solve

        def report(number: int) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from look(pilot)
                yield from pilot.refuse("NOT_FOUND_ERROR", f"R-{number}")

            return solve

        def direct(pilot: Pilot) -> Script:
            yield from pilot.goto("maps", f"/places/{rate['place']}/rooms?{query}")
            if scene.feasible:
                yield from book_room(pilot, rate["id"], stay)
                yield from pilot.finish()
            else:
                yield from pilot.refuse("NOT_FOUND_ERROR", f"R-{rate['id']}")

        mutants = {f"without_{kind}": solver(each[1]["id"]) for kind, each in wrong.items()}
        mutants["insured"] = solver(rate["id"], extra=True)
        mutants["second"] = solver(best[1][1]["id"])
        if not scene.feasible:
            return WebDraft(
                plan, instruction, report(rate["id"]), evidence=evidence,
                answer=ExpectedAnswer("NOT_FOUND_ERROR", record=f"R-{rate['id']}"),
                alternatives={"direct": direct},
                mutants={**mutants, "books": solver(rate["id"]),
                         "other_record": report(best[1][1]["id"])},
                turns=80 if hard else 50,
            )  # fmt: skip
        tier = store.value("SELECT tier FROM members WHERE login = ?", (person,))
        cents = stay_cents(rate, stay[0], stay[1], tier)
        return WebDraft(
            plan, instruction, solver(rate["id"]), evidence=evidence,
            changes=added("maps", "bookings", room_row(person, rate, stay, cents)),
            alternatives={"direct": direct},
            mutants={**mutants, "refuses": report(rate["id"])}, turns=80 if hard else 50,
        )  # fmt: skip


def _rooms(
    store: SiteStore, wishes: _Wishes, walks: Mapping[int, int], person: str, without: str = ""
) -> list[tuple[int, StoreRow]]:
    """Return cost with tax and rate of the rooms that meet the wishes, the cheapest first."""
    tier = store.value("SELECT tier FROM members WHERE login = ?", (person,))
    nights = len(nights_of(wishes.start, wishes.finish))
    found = []
    for row in store.rows(
        "SELECT r.*, p.tax, p.corner, (SELECT avg(stars) FROM reviews v WHERE "
        "v.place = p.id) AS stars FROM rates r JOIN places p ON p.id = r.place"
    ):
        if row["guests"] < wishes.guests or (row["nights"] > nights and without != "nights"):
            continue
        if not row["breakfast"] and without != "breakfast":
            continue
        if row["terms"] != "flex" and without != "terms":
            continue
        if not free_nights(store, row["id"], wishes.start, wishes.finish):
            continue
        if wishes.hard and row["stars"] < 3 and without != "stars":
            continue
        if wishes.hard and walks.get(row["corner"], 999) > wishes.minutes and without != "near":
            continue
        cost = stay_cents(row, wishes.start, wishes.finish, tier)
        if without != "tax":
            cost += tax_cents(row, wishes.start, wishes.finish, wishes.guests)
        found.append((cost, row))
    return sorted(found, key=lambda each: (each[0], each[1]["id"]))


def _cheapest_by_sql(
    store: SiteStore, wishes: _Wishes, walks: Mapping[int, int], person: str
) -> int:
    """Return the cheapest room by a query over single nights."""
    days = ", ".join(
        f"('{night}', {int(night.weekday() in (4, 5))})"
        for night in nights_of(wishes.start, wishes.finish)
    )
    near = ", ".join(str(corner) for corner, time in walks.items() if time <= wishes.minutes)
    sql = f"""
    WITH night (day, late) AS (VALUES {days}),
    cost AS (SELECT r.id, sum(CASE WHEN n.late THEN r.weekend ELSE r.cents END) AS plain, r.member,
      count(*) AS number, p.tax FROM rates r JOIN places p ON p.id = r.place CROSS JOIN night n
      WHERE r.breakfast AND r.terms = 'flex' AND r.guests >= :guests
      AND NOT EXISTS (SELECT 1 FROM sold s WHERE s.rate = r.id AND s.date IN (SELECT day FROM night))
      AND (:any OR (p.corner IN ({near}) AND (SELECT avg(stars) FROM reviews v WHERE
        v.place = p.id) >= 3)) GROUP BY r.id HAVING r.nights <= count(*))
    SELECT id FROM cost ORDER BY plain - CASE WHEN member THEN plain * (SELECT CASE tier WHEN 'gold'
      THEN 10 WHEN 'silver' THEN 5 ELSE 0 END FROM members WHERE login = :person) / 100 ELSE 0 END
      + tax * :guests * number, id LIMIT 1"""
    return int(
        store.value(sql, {"guests": wishes.guests, "any": int(not wishes.hard), "person": person})
        or 0
    )


class FastestTrains(WebTemplate):
    """Buy the tickets of the fastest connection that meets budget, window and transfer time."""

    name: ClassVar[str] = "maps_fastest_trains"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw cities, a day, a window and a budget that exclude faster connections."""
        drafts = (self._drawn(scene) for _ in range(_TRIES))
        return next((draft for draft in drafts if draft is not None), None)

    def _drawn(self, scene: WebScene) -> WebDraft | None:
        plan = scene.plan("maps")
        store = scene.store(plan, "maps")
        person = scene.people(plan)[0].login
        cities = [row["origin"] for row in store.rows("SELECT DISTINCT origin FROM trains")]
        origin, target = scene.sample(cities, 2)
        day = today_of(plan) + timedelta(days=int(scene.rng.integers(3, 20)))
        trains = [
            row
            for row in store.rows("SELECT * FROM trains ORDER BY id")
            if str(day.weekday()) in row["days"]
        ]
        earliest = int(scene.rng.integers(6, 10)) * 60
        latest = earliest + int(scene.rng.integers(6, 9)) * 60
        options = _connections(trains, origin, target, earliest, latest, 10)
        tight = _connections(trains, origin, target, earliest, latest, 0)
        wide = _connections(trains, origin, target, earliest - 120, latest + 120, 10)
        hard = scene.demanding()
        prices = [_price(legs) for _, legs in options]
        place = next((i for i in range(2 if hard else 1, len(options))
                      if prices[i] < min(prices[:i]) - 100
                      and options[i][0] > options[i - 1][0]
                      and len(options[i][1]) == 2), None)  # fmt: skip
        if place is None:
            return None
        budget = prices[place] // 100 + 1
        length, legs = options[place]
        if sum(_price(each) <= budget * 100 and time <= length for time, each in options) != 1:
            return None
        quicker = {
            "tight": next((each for time, each in tight if time <= length
                           and _price(each) <= budget * 100 and each != legs), None),
            "window": next((each for time, each in wide if time <= length
                            and _price(each) <= budget * 100 and each != legs), None),
        }  # fmt: skip
        if hard and not any(quicker.values()):
            return None
        clock = [f"{minutes // 60:02}:{minutes % 60:02}" for minutes in (earliest, latest)]
        instruction = scene.say(
            f"Buy tickets for one person from {origin} to {target} on {day}: the connection with "
            f"the shortest travel time from departure to final arrival, with at most one change, "
            f"departing not before {clock[0]}, arriving by {clock[1]}, for at most {budget}.00 EUR "
            "in all. Keep to the site's advice on changing. No extras.",
            f"请购买{day}从{origin}到{target}的一人车票：从出发到最终到达用时最短、至多换乘一次、{clock[0]}以后出发、"
            f"{clock[1]}之前（含）到达、总价不超过{budget}.00欧元。请遵守网站关于换乘的建议。不要任何附加项。",
        )

        def solver(chosen: Sequence[StoreRow], *, extra: bool = False) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("maps", "/help")
                yield from pilot.goto("maps", f"/trains?from={origin}&to={target}&date={day}")
                for city in cities:
                    if city not in (origin, target):
                        yield from pilot.goto("maps", f"/trains?from={origin}&to={city}&date={day}")
                        yield from pilot.goto("maps", f"/trains?from={city}&to={target}&date={day}")
                for leg in chosen:
                    yield from book_train(pilot, leg["id"], day, extra=extra)
                yield from pilot.finish()

            return solve

        def backwards(pilot: Pilot) -> Script:
            for leg in reversed(legs):
                yield from book_train(pilot, leg["id"], day)
            yield from pilot.finish()

        mutants = {"fastest": solver(options[0][1]), "first_leg": solver(legs[:1]),
                   "insured": solver(legs, extra=True),
                   "later": solver(options[min(place + 1, len(options) - 1)][1])
                   if place + 1 < len(options) else solver(legs[1:])}  # fmt: skip
        mutants |= {kind: solver(each) for kind, each in quicker.items() if each is not None}
        return WebDraft(
            plan, instruction, solver(legs),
            changes=added("maps", "bookings", *(train_row(person, leg, day) for leg in legs)),
            alternatives={"backwards": backwards}, mutants=mutants, turns=60,
        )  # fmt: skip


def minutes_of_clock(clock: str) -> int:
    """Return a time such as 09:30 in minutes after midnight."""
    return int(clock[:2]) * 60 + int(clock[3:])


def _price(legs: Sequence[StoreRow]) -> int:
    return sum(leg["cents"] for leg in legs)


def _connections(
    trains: Sequence[StoreRow], origin: str, target: str, earliest: int, latest: int, change: int
) -> list[tuple[int, tuple[StoreRow, ...]]]:
    """Return travel time and trains of every connection with at most one change."""
    starts = [row for row in trains if row["origin"] == origin]
    ends = [row for row in trains if row["target"] == target]
    legs: list[tuple[StoreRow, ...]] = [(row,) for row in starts if row["target"] == target]
    legs += [
        (first, second)
        for first in starts
        for second in ends
        if first["target"] == second["origin"]
        and minutes_of_clock(second["departs"]) - minutes_of_clock(first["arrives"]) >= change
    ]
    found = [
        (minutes_of_clock(each[-1]["arrives"]) - minutes_of_clock(each[0]["departs"]), each)
        for each in legs
        if minutes_of_clock(each[0]["departs"]) >= earliest
        and minutes_of_clock(each[-1]["arrives"]) <= latest
    ]
    return sorted(found, key=lambda each: (each[0], _price(each[1]), each[1][0]["id"]))


TEMPLATES: tuple[WebTemplate, ...] = (CheapestRoom(), FastestTrains())
