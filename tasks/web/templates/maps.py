"""Tasks on the maps site: lists, opening hours, reviews, tables and upkeep."""

from datetime import date, datetime, timedelta
from typing import ClassVar

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
from hexathlon.tasks.web.world.network import WorldPlan
from hexathlon.tasks.web.world.sites.maps.pricing import hours_on
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["NOTICE_SQL", "TEMPLATES", "book_table", "place_evidence", "today_of", "unique_places"]

NOTICE_SQL = "INSERT INTO notices (id, place, date, opens, closes, text) VALUES (?, ?, ?, ?, ?, ?)"


def today_of(plan: WorldPlan) -> date:
    """Return the day on which a task begins."""
    return datetime.fromisoformat(plan.start).date()


def place_evidence(*numbers: int) -> tuple[str, ...]:
    """Expect the pages of places to have been opened."""
    return tuple(rf"maps\.hexathlon\.test/places/{number}(/|\?|$)" for number in numbers)


def unique_places(store: SiteStore, category: str = "") -> list[StoreRow]:
    """Return places with unique names."""
    where = "category = ? AND" if category else ""
    values = (category,) if category else ()
    return store.rows(
        f"SELECT * FROM places WHERE {where} closed = 0 GROUP BY name HAVING count(*) = 1 "
        "ORDER BY id",
        values,
    )


class SavePlace(WebTemplate):
    """Save a place in a list."""

    name: ClassVar[str] = "maps_save_place"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a place that is not yet in the list."""
        plan = scene.plan("maps")
        store = scene.store(plan, "maps")
        lists = store.rows("SELECT * FROM lists ORDER BY id")
        chosen, other_list = scene.sample(lists, 2)
        held = {row["place"] for row in store.rows("SELECT place FROM saved")}
        free = [row for row in unique_places(store) if row["id"] not in held]
        if len(free) < 2:
            return None
        place, other = scene.sample(free, 2)
        instruction = scene.say(
            f'Save the place "{place["name"]}" in the list "{chosen["name"]}".',
            f"把地点“{place['name']}”收藏到列表“{chosen['name']}”。",
        )

        def solver(number: int, *names: str) -> Solver:
            def solve(pilot: Pilot) -> Script:
                for name in names:
                    yield from pilot.goto("maps", f"/places/{number}")
                    yield from pilot.select(pilot.words("maps", "list"), name)
                    yield from pilot.click("button", pilot.words("maps", "save_place"))
                yield from pilot.finish()

            return solve

        def by_search(pilot: Pilot) -> Script:
            yield from pilot.look()
            yield from pilot.fill(pilot.words("maps", "search"), place["name"])
            yield from pilot.click("button", pilot.words("maps", "filter"))
            yield from pilot.click("link", place["name"])
            yield from pilot.select(pilot.words("maps", "list"), chosen["name"])
            yield from pilot.click("button", pilot.words("maps", "save_place"))
            yield from pilot.finish()

        return WebDraft(
            plan,
            instruction,
            solver(place["id"], chosen["name"]),
            changes=added(
                "maps", "saved", {"list": chosen["id"], "place": place["id"], "note": ""}
            ),
            alternatives={"by_search": by_search},
            mutants={
                "wrong_place": solver(other["id"], chosen["name"]),
                "wrong_list": solver(place["id"], other_list["name"]),
                "both_lists": solver(place["id"], chosen["name"], other_list["name"]),
            },
            turns=20,
        )


class ClosingTime(WebTemplate):
    """State when a place closes on a day for which there may be a notice."""

    name: ClassVar[str] = "maps_closing_time"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a place and a day; at the easy level a notice changes the hours."""
        plan = scene.plan("maps")
        store = scene.store(plan, "maps")
        place = scene.pick(unique_places(store, scene.pick(("museum", "library", "cafe"))))
        day = today_of(plan) + timedelta(days=int(scene.rng.integers(2, 9)))
        usual = hours_on(store, place["id"], day)
        if len(usual) != 1:
            return None
        hour = int(usual[0][1][:2])
        # Drawn, so that no single time is right for many tasks.
        hour -= int(scene.rng.integers(0, 4))
        closes = f"{hour:02d}:{15 * int(scene.rng.integers(4)):02d}"
        if scene.level == "tiny":
            sql = "UPDATE hours SET closes = ? WHERE place = ? AND weekday = ?"
            plan = plan.with_edits([("maps", sql, (closes, place["id"], day.weekday()))])
        else:
            text = scene.say("Staff meeting", "内部会议")
            far = (day + timedelta(days=7)).isoformat()
            plan = plan.with_edits([
                ("maps", NOTICE_SQL, (70, place["id"], far, usual[0][0], f"{hour - 1:02d}:10", text)),
                ("maps", NOTICE_SQL, (71, place["id"], day.isoformat(), usual[0][0], closes, text)),
            ])  # fmt: skip
        instruction = scene.say(
            f'At what time does "{place["name"]}" close on {day}? Answer with the time as HH:MM.',
            f"“{place['name']}”在{day}几点关门？请回答时间（HH:MM）。",
        )

        def solver(answer: str, *, look: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if look:
                    yield from pilot.goto("maps", f"/places/{place['id']}")
                else:
                    yield from pilot.look()
                yield from pilot.finish("RETRIEVE", [answer])

            return solve

        def by_search(pilot: Pilot) -> Script:
            yield from pilot.goto("maps", f"/places?q={place['name'].replace(' ', '+')}")
            yield from pilot.click("link", place["name"])
            yield from pilot.finish("RETRIEVE", [closes])

        return WebDraft(
            plan, instruction, solver(closes), answer=ExpectedAnswer(data=(closes,)),
            evidence=place_evidence(place["id"]), alternatives={"by_search": by_search},
            mutants={"an_hour_later": solver(f"{int(closes[:2]) + 1}{closes[2:]}"),
                     "opening": solver(usual[0][0]), "unseen": solver(closes, look=False)},
            turns=20,
        )  # fmt: skip


class WriteReview(WebTemplate):
    """Write a review with stars and a text."""

    name: ClassVar[str] = "maps_review"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a place, a number of stars and a text."""
        plan = scene.plan("maps")
        places = unique_places(scene.store(plan, "maps"))
        place, other = scene.sample(places, 2)
        stars = int(scene.rng.integers(1, 6))
        text = scene.say(
            scene.pick(("Quick and friendly.", "Too loud for us.", "The view is worth it.")),
            scene.pick(("又快又友好。", "对我们来说太吵了。", "景色值得一看。")),
        )
        instruction = scene.say(
            f'Review "{place["name"]}" with {stars} of 5 stars and the text "{text}"',
            f"给“{place['name']}”写评价：{stars}星（满分5星），内容为“{text}”",
        )
        person = scene.people(plan)[0].name

        def solver(number: int, given: int, body: str) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("maps", f"/places/{number}/reviews")
                yield from pilot.select(pilot.words("maps", "stars"), str(given))
                yield from pilot.fill(pilot.words("maps", "your_review"), body)
                yield from pilot.click("button", pilot.words("maps", "send_review"))
                yield from pilot.finish()

            return solve

        def from_place(pilot: Pilot) -> Script:
            yield from pilot.goto("maps", f"/places/{place['id']}")
            yield from pilot.click("link", pilot.words("maps", "reviews"))
            yield from pilot.fill(pilot.words("maps", "your_review"), text)
            yield from pilot.select(pilot.words("maps", "stars"), str(stars))
            yield from pilot.click("button", pilot.words("maps", "send_review"))
            yield from pilot.finish()

        return WebDraft(
            plan, instruction, solver(place["id"], stars, text),
            changes=added("maps", "reviews", {"place": place["id"], "author": person,
                                              "stars": stars, "body": text}),
            alternatives={"from_place": from_place},
            mutants={"wrong_place": solver(other["id"], stars, text),
                     "wrong_stars": solver(place["id"], stars % 5 + 1, text),
                     "wrong_text": solver(place["id"], stars, text[:-4])},
            turns=20,
        )  # fmt: skip


def book_table(pilot: Pilot, place: int, day: date, guests: int, time: str) -> Script:
    """Book a table from the page of free tables."""
    yield from pilot.goto("maps", f"/places/{place}/tables?date={day}&guests={guests}")
    names = [name.format(time=time) for name in pilot.words("maps", "book_at")]
    yield from pilot.click("button", names)
    yield from pilot.click("button", pilot.words("maps", "book_now"))


class BookTable(WebTemplate):
    """Book a table; in the twin a notice closes the restaurant on that day."""

    name: ClassVar[str] = "maps_book_table"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")
    twins: ClassVar[bool] = True

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a restaurant, a day, a time and a party."""
        plan = scene.plan("maps")
        store = scene.store(plan, "maps")
        places = unique_places(store, "restaurant")
        place, other = scene.sample(places, 2)
        day = today_of(plan) + timedelta(days=int(scene.rng.integers(3, 12)))
        slots = [
            row
            for row in store.rows(
                "SELECT * FROM slots WHERE place = ? AND seats >= 3 ORDER BY time", (place["id"],)
            )
            if any(
                opens <= row["time"] < closes for opens, closes in hours_on(store, place["id"], day)
            )
        ]
        theirs = store.rows("SELECT * FROM slots WHERE place = ? AND seats >= 3", (other["id"],))
        hours, near = hours_on(store, place["id"], day), day + timedelta(days=1)
        if len(slots) < 2 or not hours or not hours_on(store, place["id"], near) or not theirs:
            return None
        slot, second = scene.sample(slots, 2)
        guests = int(scene.rng.integers(2, min(slot["seats"], second["seats"]) + 1))
        text = scene.say("Closed for a private party", "包场，不对外营业")
        other_text = scene.say("Renovation", "装修")
        shut = near if scene.feasible else day
        before, notice, after = (80 + int(i) for i in scene.rng.permutation(300)[:3])
        # The notice closes the next day, or the day itself.
        plan = plan.with_edits([
            ("maps", NOTICE_SQL, (before, place["id"], (day - timedelta(days=7)).isoformat(), "", "",
                               other_text)),
            ("maps", NOTICE_SQL, (notice, place["id"], shut.isoformat(), "", "", text)),
            ("maps", NOTICE_SQL, (after, place["id"], (day + timedelta(days=7)).isoformat(), "", "",
                               other_text)),
        ])  # fmt: skip
        instruction = scene.say(
            f'Book a table for {guests} at "{place["name"]}" on {day} at {slot["time"]}. If the '
            "restaurant does not open on that day, book nothing and report the number of the "
            "notice that says so (such as N-7).",
            f"在“{place['name']}”预订{day} {slot['time']}、{guests}人的餐位。"
            "如果餐厅当天不营业，则不要预订，并报告相应公告的编号（如 N-7）。",
        )
        person = scene.people(plan)[0].login

        def solver(number: int, when: date, count: int, time: str) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("maps", f"/places/{number}")
                yield from book_table(pilot, number, when, count, time)
                yield from pilot.finish()

            return solve

        def report(record: str) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("maps", f"/places/{place['id']}")
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", record)

            return solve

        def by_picker(pilot: Pilot) -> Script:
            yield from pilot.goto("maps", f"/places/{place['id']}/tables")
            yield from pilot.click("button", pilot.words("maps", "choose_date"))
            if day.month != today_of(plan).month:
                yield from pilot.click("button", pilot.words("maps", "next"))
            yield from pilot.click("button", str(day.day))
            yield from pilot.fill(pilot.words("maps", "guests"), str(guests), role="spinbutton")
            yield from pilot.click("button", pilot.words("maps", "show"))
            if not scene.feasible:
                yield from pilot.goto("maps", f"/places/{place['id']}")
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", f"N-{notice}")
                return
            yield from book_table(pilot, place["id"], day, guests, slot["time"])
            yield from pilot.finish()

        mutants = {
            "wrong_record": report(f"N-{before}"),
            "finishes": _finish,
            "next_week": solver(place["id"], day + timedelta(days=14), guests, slot["time"]),
        }
        evidence = place_evidence(place["id"])
        if not scene.feasible:
            return WebDraft(
                plan,
                instruction,
                report(f"N-{notice}"),
                evidence=evidence,
                answer=ExpectedAnswer("ACTION_NOT_ALLOWED_ERROR", record=f"N-{notice}"),
                alternatives={"by_picker": by_picker},
                mutants=mutants,
                turns=24,
            )
        at = f"{day} {slot['time']}"
        return WebDraft(
            plan, instruction, solver(place["id"], day, guests, slot["time"]), evidence=evidence,
            changes=added("maps", "bookings", {
                "person": person, "kind": "table", "ref": slot["id"], "start": at, "finish": at,
                "guests": guests, "cents": 0, "terms": "table", "insured": 0,
                "status": "active"}),
            alternatives={"by_picker": by_picker},
            mutants={**mutants, "refuses": report(f"N-{notice}"),
                     "wrong_time": solver(place["id"], day, guests, second["time"]),
                     "wrong_party": solver(place["id"], day, guests - 1, slot["time"])},
            turns=24,
        )  # fmt: skip


def _finish(pilot: Pilot) -> Script:
    yield from pilot.look()
    yield from pilot.finish()


TEMPLATES: tuple[WebTemplate, ...] = (SavePlace(), ClosingTime(), WriteReview(), BookTable())
