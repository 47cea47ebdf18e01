"""A hard task on the maps site: the shortest day."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import pairwise, permutations
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
)
from hexathlon.tasks.web.templates.maps import place_evidence, today_of
from hexathlon.tasks.web.templates.maps_trips import minutes_of_clock
from hexathlon.tasks.web.world.sites.maps.graph import minutes_from
from hexathlon.tasks.web.world.sites.maps.pricing import (
    hours_on,
)
from hexathlon.tasks.web.world.store import StoreRow

__all__ = ["TEMPLATES"]

_TRIES = 8
"""Number of draws in a world before a new world is used."""


class DayPlan(WebTemplate):
    """Order visits so that the last one ends as early as possible."""

    name: ClassVar[str] = "maps_day_plan"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw places, durations of visits and a relevant notice."""
        drafts = (self._drawn(scene) for _ in range(_TRIES))
        return next((draft for draft in drafts if draft is not None), None)

    def _drawn(self, scene: WebScene) -> WebDraft | None:
        plan = scene.plan("maps")
        store = scene.store(plan, "maps")
        count = 5 if scene.demanding() else 3
        day = today_of(plan) + timedelta(days=int(scene.rng.integers(2, 9)))
        rows = store.rows(
            "SELECT * FROM places WHERE category IN ('museum', 'gallery', 'bookshop', 'pharmacy', "
            "'library') AND closed = 0 GROUP BY name HAVING count(*) = 1 ORDER BY id"
        )
        open_rows = [row for row in rows if hours_on(store, row["id"], day)]
        hotels = store.rows(
            "SELECT * FROM places WHERE category = 'hotel' GROUP BY name HAVING "
            "count(*) = 1 ORDER BY id"
        )
        if len(open_rows) < count or not hotels:
            return None
        chosen, hotel = scene.sample(open_rows, count), scene.pick(hotels)
        stays = [int(scene.rng.integers(3, 10)) * 10 for _ in chosen]
        usual = {row["id"]: hours_on(store, row["id"], day) for row in chosen}
        text = scene.say("Guided group in the morning", "上午接待团体")
        late = int(scene.rng.integers(12, 15))
        notice = (95, chosen[0]["id"], day.isoformat(), f"{late}:00", usual[chosen[0]["id"]][-1][1],
                  text)  # fmt: skip
        if notice[3] >= notice[4]:
            return None
        plan = plan.with_edits([
            ("maps", "INSERT INTO notices (id, place, date, opens, closes, text) "
             "VALUES (?, ?, ?, ?, ?, ?)", notice)])  # fmt: skip
        store = scene.store(plan, "maps")
        hours = {row["id"]: hours_on(store, row["id"], day) for row in chosen}
        walks = {
            row["corner"]: minutes_from(store, row["corner"], "walk") for row in [*chosen, hotel]
        }
        start = 9 * 60 + 30
        ranked = _plans(chosen, stays, hours, walks, hotel["corner"], start)
        careless = _plans(chosen, stays, usual, walks, hotel["corner"], start)
        if len(ranked) < 2 or ranked[0][0] == ranked[1][0] or not careless:
            return None
        end, order = ranked[0]
        nearest = _nearest_first(chosen, walks, hotel["corner"])
        if careless[0][1] == order or nearest == order or order == tuple(range(count)):
            return None
        listed = "; ".join(
            f'"{row["name"]}" ({stay} min)'
            if scene.language == "en"
            else f"“{row['name']}”（{stay}分钟）"
            for row, stay in zip(chosen, stays, strict=True)
        )
        instruction = scene.say(
            f'On {day} I leave "{hotel["name"]}" at 09:30 on foot and visit these places, each once '
            f"and for the given time: {listed}. A visit must lie within one period of opening "
            "hours; I can wait outside. In which order does the last visit end as early as "
            "possible, and when? Take the minutes on foot from the site's directions. Answer with "
            "the names of the places in order, then the time as HH:MM.",
            f"{day} 09:30，我从“{hotel['name']}”步行出发，要参观以下地点，各一次，停留时间如括号所示：{listed}。"
            "每次参观须完整落在一个营业时段内，可以在外等候。按什么顺序，最后一次参观结束得最早？何时结束？"
            "步行时间以网站路线为准。请依次回答各地点名称，最后回答时间（HH:MM）。",
        )

        def said(plan_of: tuple[int, tuple[int, ...]]) -> list[str]:
            names = [str(chosen[i]["name"]) for i in plan_of[1]]
            return [*names, f"{plan_of[0] // 60:02}:{plan_of[0] % 60:02}"]

        def solver(answer: list[str], *, look: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if look:
                    for row in chosen:
                        yield from pilot.goto("maps", f"/places/{row['id']}")
                    for first, second in pairwise([hotel, *chosen, hotel]):
                        yield from pilot.goto(
                            "maps", f"/directions?from={first['id']}&to={second['id']}&mode=walk"
                        )
                else:
                    yield from pilot.look()
                yield from pilot.finish("RETRIEVE", answer)

            return solve

        def pages_only(pilot: Pilot) -> Script:
            for row in reversed(chosen):
                yield from pilot.goto("maps", f"/places/{row['id']}")
            yield from pilot.goto("maps", f"/directions?from={hotel['id']}&to={chosen[0]['id']}")
            yield from pilot.finish("RETRIEVE", said(ranked[0]))

        answer = said(ranked[0])
        evidence = (
            *place_evidence(*(row["id"] for row in chosen)),
            r"maps\.hexathlon\.test/directions\?",
        )
        return WebDraft(
            plan, instruction, solver(answer), answer=ExpectedAnswer(data=tuple(answer)),
            evidence=evidence, alternatives={"pages_only": pages_only},
            mutants={"second_best": solver(said(ranked[1])), "no_notice": solver(said(careless[0])),
                     "unseen": solver(answer, look=False),
                     "minute_off": solver(said((end + 1, order)))},
            turns=60,
        )  # fmt: skip


def _plans(
    chosen: Sequence[StoreRow],
    stays: Sequence[int],
    hours: Mapping[int, Sequence[tuple[str, str]]],
    walks: Mapping[int, Mapping[int, int]],
    corner: int,
    start: int,
) -> list[tuple[int, tuple[int, ...]]]:
    """Return the end and the order of every feasible plan, the earliest end first."""
    found = []
    for order in permutations(range(len(chosen))):
        now, here = start, corner
        for i in order:
            there = chosen[i]["corner"]
            now += walks[here].get(there, 9_999)
            begin = min(
                (
                    max(now, minutes_of_clock(opens))
                    for opens, closes in hours[chosen[i]["id"]]
                    if max(now, minutes_of_clock(opens)) + stays[i] <= minutes_of_clock(closes)
                ),
                default=9_999,
            )
            now, here = begin + stays[i], there
            if now > 1_440:
                break
        else:
            found.append((now, order))
    return sorted(found)


def _nearest_first(
    chosen: Sequence[StoreRow], walks: Mapping[int, Mapping[int, int]], corner: int
) -> tuple[int, ...]:
    """Return the order that always goes to the nearest place."""
    left, order, here = list(range(len(chosen))), [], corner
    while left:
        place = min(left, key=lambda i: walks[here].get(chosen[i]["corner"], 9_999))
        left.remove(place)
        order.append(place)
        here = chosen[place]["corner"]
    return tuple(order)


TEMPLATES: tuple[WebTemplate, ...] = (DayPlan(),)
