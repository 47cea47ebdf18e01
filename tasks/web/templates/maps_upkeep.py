"""Tasks on the maps site: upkeep of lists and bookings."""

from collections.abc import Mapping
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
    changed,
    removed,
    together,
)
from hexathlon.tasks.web.templates.maps import NOTICE_SQL, today_of, unique_places
from hexathlon.tasks.web.world.network import Edit
from hexathlon.tasks.web.world.sites.maps.graph import minutes_from
from hexathlon.tasks.web.world.sites.maps.pricing import cancel_deadline, hours_on
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["TEMPLATES"]


class CleanList(WebTemplate):
    """Remove the places of a list that fail one of several tests, with an exception."""

    name: ClassVar[str] = "maps_clean_list"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a list whose places pass or fail each test."""
        plan = scene.plan("maps")
        hard = scene.demanding()
        store = scene.store(plan, "maps")
        rows = store.rows("SELECT * FROM places WHERE category <> 'hotel' ORDER BY id")
        hotel = scene.pick(unique_places(store, "hotel"))
        day = today_of(plan) + timedelta(days=int(scene.rng.integers(4, 9)))
        limit = int(scene.rng.integers(8, 15))
        walks = minutes_from(store, hotel["corner"], "walk")
        sound = [
            row
            for row in scene.sample(rows, 60)
            if not _fails(store, row["id"], walks, day, limit, hard=True, without=("pharmacy",))
        ]
        shops = [row for row in sound if row["category"] == "pharmacy"]
        plain = [row for row in sound if row["category"] != "pharmacy"]
        far = [row for row in scene.sample(rows, 30) if row not in sound and not row["closed"]]
        if len(plain) < 6 or not shops or len(far) < 3:
            return None
        chosen = [*plain[:5], shops[0], *far[:2], plain[5]] if hard else [*plain[:4], *far[:2]]
        listed = scene.sample(chosen, len(chosen))
        holder = scene.people(plan)[0].login
        edits: list[Edit] = [
            ("maps", "INSERT INTO lists (id, owner, name) VALUES (?, ?, ?)",
             (60, holder, scene.say("Company visit", "公司参访"))),
            *(("maps", "INSERT INTO saved (id, list, place, note) VALUES (?, 60, ?, '')",
               (600 + i, row["id"])) for i, row in enumerate(listed)),
            ("maps", "UPDATE places SET closed = 1 WHERE id = ?", (chosen[0]["id"],)),
            ("maps", NOTICE_SQL, (90, chosen[1]["id"], day.isoformat(), "", "",
                               scene.say("Stocktaking", "盘点"))),
            ("maps", NOTICE_SQL, (91, chosen[2]["id"], (day + timedelta(days=1)).isoformat(), "", "",
                               scene.say("Stocktaking", "盘点"))),
        ]  # fmt: skip
        if hard:
            edits.append(("maps", NOTICE_SQL, (92, shops[0]["id"], day.isoformat(), "", "",
                                            scene.say("Moving shelves", "货架调整"))))  # fmt: skip
            insert = (
                "INSERT INTO reviews (place, author, stars, body, created) VALUES (?, ?, 1, ?, ?)"
            )
            edits += [("maps", insert, (plain[4]["id"], scene.people(plan)[3 + i].name,
                                        scene.say("Rude and slow.", "态度差，又慢。"),
                                        f"{today_of(plan) - timedelta(days=3 + i)} 12:00:00"))
                      for i in range(14)]  # fmt: skip
        plan = plan.with_edits(edits)
        store = scene.store(plan, "maps")

        def failing(*without: str) -> frozenset[int]:
            return frozenset(
                600 + i
                for i, row in enumerate(listed)
                if _fails(store, row["id"], walks, day, limit, hard=hard, without=without)
            )

        right = failing()
        kinds = ("gone", "notice", "far", *(("stars", "pharmacy") if hard else ()))
        wrong = {kind: failing(kind) for kind in kinds}
        if any(value == right for value in wrong.values()) or not 2 <= len(right) <= 6:
            return None
        if len(chosen) - len(right) < 2:
            return None
        name = scene.say("Company visit", "公司参访")
        extra_en = (
            ", or that has three or more reviews and fewer than 3.0 stars on average; but keep "
            "pharmacies as long as they are not permanently closed"
            if hard
            else ""
        )
        extra_zh = (
            "，或有三条及以上评价且平均低于3.0星；但药店只要没有永久停业就保留" if hard else ""
        )
        instruction = scene.say(
            f'Go through the saved list "{name}" for a visit on {day}. Remove every place that is '
            f"permanently closed, that does not open at all on that day, that is more than {limit} "
            f'minutes on foot from "{hotel["name"]}"{extra_en}. Change nothing else.',
            f"为{day}的参访检查收藏列表“{name}”。请移除永久停业的、当天完全不营业的、"
            f"从“{hotel['name']}”步行超过{limit}分钟的地点{extra_zh}。不要改动其他内容。",
        )

        def solver(items: frozenset[int], *, checks: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if checks:
                    for row in chosen[:4]:
                        yield from pilot.goto("maps", f"/places/{row['id']}")
                        yield from pilot.goto("maps", _way(hotel["id"], row["id"]))
                yield from pilot.goto("maps", "/lists/60")
                for item in sorted(items):
                    place = listed[item - 600]
                    left = [
                        row["name"]
                        for i, row in enumerate(listed)
                        if 600 + i not in items or 600 + i >= item
                    ]
                    at = left.index(place["name"])
                    yield from pilot.click("button", pilot.words("maps", "remove"), nth=at)
                    yield from pilot.click("button", pilot.words("maps", "remove"))
                yield from pilot.finish()

            return solve

        return WebDraft(
            plan,
            instruction,
            solver(right),
            changes=removed("maps", "saved", *sorted(right)),
            alternatives={"straight": solver(right, checks=False)},
            mutants={
                **{f"without_{kind}": solver(value, checks=False) for kind, value in wrong.items()},
                "all_kept": solver(frozenset(), checks=False),
            },
            turns=80 if hard else 50,
        )


def _way(start: int, goal: int, mode: str = "walk") -> str:
    return f"/directions?from={start}&to={goal}&mode={mode}"


def _fails(
    store: SiteStore, place: int, walks: Mapping[int, int], day: date, limit: int, *, hard: bool,
    without: tuple[str, ...],
) -> bool:  # fmt: skip
    """Whether a place is to be removed, leaving some tests out."""
    row = store.row(
        "SELECT p.*, (SELECT avg(stars) FROM reviews r WHERE r.place = p.id) AS stars, "
        "(SELECT count(*) FROM reviews r WHERE r.place = p.id) AS count FROM places p "
        "WHERE id = ?",
        (place,),
    )
    assert row is not None
    if row["closed"] and "gone" not in without:
        return True
    if hard and row["category"] == "pharmacy" and "pharmacy" not in without:
        return False
    hours = hours_on(store, place, day)
    if "notice" in without:
        hours = [("", "")] * store.value(
            "SELECT count(*) FROM hours WHERE place = ? AND weekday = ?", (place, day.weekday())
        )
    if not hours:
        return True
    minutes = walks.get(row["corner"])
    if (minutes is None or minutes > limit) and "far" not in without:
        return True
    return hard and "stars" not in without and row["count"] >= 3 and row["stars"] < 3


class CancelTrip(WebTemplate):
    """Cancel the bookings of some days that can still be cancelled free of charge."""

    name: ClassVar[str] = "maps_cancel_free"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw bookings on either side of every deadline."""
        plan = scene.plan("maps")
        store = scene.store(plan, "maps")
        start = datetime.fromisoformat(plan.start)
        today = start.date()
        person = scene.people(plan)[0].login
        rates = store.rows("SELECT * FROM rates ORDER BY id")
        trains = store.rows("SELECT * FROM trains ORDER BY id")
        hard = scene.demanding()
        # Kind, days ahead, terms, insured, status.
        specs = [
            ("room", 1, "flex", 0, "active"),
            ("room", 4, "semi", 0, "active"),
            ("room", 5, "semi", 0, "active"),
            ("room", 6, "fixed", 0, "active"),
            ("train", 2, "open", 0, "active"),
            ("train", 7, "fixed", 0, "active"),
            ("room", 9, "flex", 0, "active"),
        ]
        if hard:
            specs += [
                ("room", 2, "fixed", 1, "active"),
                ("room", 3, "fixed", 1, "active"),
                ("train", 6, "fixed", 1, "active"),
                ("room", 3, "flex", 0, "cancelled"),
                ("train", 9, "open", 0, "active"),
            ]
        order = [specs[int(i)] for i in scene.rng.permutation(len(specs))]
        edits: list[Edit] = []
        rows: list[StoreRow] = []
        for number, (kind, ahead, terms, insured, status) in enumerate(order, 301):
            day = (today + timedelta(days=ahead)).isoformat()
            subject = scene.pick(rates if kind == "room" else trains)
            first = day if kind == "room" else f"{day} {subject['departs']}"
            last = (
                (today + timedelta(days=ahead + 2)).isoformat()
                if kind == "room"
                else f"{day} {subject['arrives']}"
            )
            cents = int(scene.rng.integers(30, 400)) * 50
            row = {"id": number, "person": person, "kind": kind, "ref": subject["id"],
                   "start": first, "finish": last, "guests": 1, "cents": cents, "terms": terms,
                   "insured": insured, "status": status,
                   "made": (start - timedelta(days=12)).isoformat(" ")}  # fmt: skip
            rows.append(row)
            marks = ", ".join("?" * len(row))
            edits.append(
                (
                    "maps",
                    f"INSERT INTO bookings ({', '.join(row)}) VALUES ({marks})",
                    tuple(row.values()),
                )
            )
        plan = plan.with_edits(edits)
        last_day = today + timedelta(days=7)
        inside = [
            row
            for row in rows
            if row["status"] == "active"
            and today.isoformat() <= row["start"][:10] <= last_day.isoformat()
        ]
        free = [row for row in inside if (cancel_deadline(row) or datetime.min) >= start]
        by_days = {"flex": 1, "semi": 5, "open": 0}
        again = [
            row
            for row in inside
            if (date.fromisoformat(row["start"][:10]) - today).days
            >= min(by_days.get(row["terms"], 99), 3 if row["insured"] else 99)
        ]
        if {row["id"] for row in free} != {row["id"] for row in again}:
            return None
        due = sum(row["cents"] for row in inside if row not in free)
        answer = f"{due / 100:.2f}"
        instruction = scene.say(
            f"You cannot travel from {today} to {last_day} (both included). Cancel every booking "
            "that begins in these days and can still be cancelled free of charge; leave all "
            "others as they are. Answer with the total price, with two decimals, of the bookings "
            "of these days that stay.",
            f"您在{today}至{last_day}（含首尾）无法出行。请取消所有在这些天开始、且仍可免费取消的预订，其他保持不变。"
            "请回答这些天中保留下来的预订的总价（两位小数）。",
        )

        def solver(chosen: list[StoreRow], value: str, *, backwards: bool = False) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("maps", "/help")
                yield from pilot.goto("maps", "/bookings")
                yield from pilot.goto("maps", "/bookings?page=2")
                for row in reversed(chosen) if backwards else chosen:
                    yield from pilot.goto("maps", f"/bookings/{row['id']}")
                    for _ in range(2):
                        yield from pilot.click("button", pilot.words("maps", "cancel_booking"))
                yield from pilot.finish("MUTATE", [value])

            return solve

        paid = [row for row in inside if row not in free]
        later = [row for row in rows if row not in inside and row["status"] == "active"]
        mutants = {
            "one_with_fee": solver([*free, paid[0]], answer),
            "one_missing": solver(free[:-1], answer),
            "one_later": solver([*free, later[0]], answer),
            "wrong_total": solver(free, f"{(due + sum(r['cents'] for r in later)) / 100:.2f}"),
        }
        if hard:
            covered = next(row for row in free if row["insured"])
            mutants["insurance_ignored"] = solver(
                [row for row in free if row is not covered], answer
            )
        return WebDraft(
            plan,
            instruction,
            solver(free, answer),
            changes=together(
                *(changed("maps", "bookings", row["id"], status="cancelled") for row in free)
            ),
            answer=ExpectedAnswer(data=(answer,)),
            evidence=(r"maps\.hexathlon\.test/bookings",),
            alternatives={"backwards": solver(free, answer, backwards=True)},
            mutants=mutants,
            turns=60,
        )


TEMPLATES: tuple[WebTemplate, ...] = (CleanList(), CancelTrip())
