"""Hard tasks on the calendar: a room that closes, and a new rule with exceptions."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import (
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
    changed,
    together,
)
from hexathlon.tasks.web.templates.planner import (
    Planner,
    cancel,
    change,
    keys_of,
    later,
)
from hexathlon.tasks.web.world.store import StoreRow

__all__ = ["TEMPLATES"]


class RoomClosure(WebTemplate):
    """Move the user's meetings out of a room that closes; cancel them if no other room fits."""

    name: ClassVar[str] = "calendar_room_closure"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a closure with a correction, the user's meetings, and bookings of other rooms."""
        agenda = Planner(scene, scene.plan("calendar"))
        room = max(agenda.rooms, key=lambda each: (each["capacity"], each["code"]))
        days = agenda.workdays(2, 9)
        announced, first, last, later_end = days[1], days[2], days[5], days[6]
        agenda.drop(
            [
                event["id"]
                for event in agenda.events
                if event["room"] == room["code"] and event["organiser"] == agenda.me.login
            ]
        )
        agenda.insert(
            "_rules",
            name="9-closure",
            title=scene.say("Works", "施工"),
            body=scene.say(
                f"The room {room['name']} is closed for painting from {announced} to {last}, both "
                "days included. Notes on the page of a room are newer than this page.",
                f"会议室{room['name']}因粉刷于{announced}至{last}关闭（含首尾两日）。会议室页面上"
                "的说"
                "明比本页更新。",
            ),
        )
        agenda.run(
            "UPDATE _rooms SET rule = ?, days = '12345', opens = '08:00', closes = '18:00' "
            "WHERE code = ?",
            scene.say(
                f"The painters come one day later than announced, on {first}; they also "
                f"need one working day more, up to {later_end}.",
                f"粉刷推迟一天，{first}开始，并多需一个工作日，至{later_end}为止。",
            ),
            room["code"],
        )
        own: list[tuple[int, date, str, str, int]] = []
        times = [(day, hour) for day in days for hour in (9, 10, 11, 13, 14, 15, 16)]
        inside = [each for each in times if first <= each[0] <= later_end]
        outside = [each for each in times if each not in inside]
        slots = scene.sample(inside, 8) + scene.sample(outside, 3) + [(announced, 12)]
        full = {slots[0], slots[1]}
        for day, hour in scene.sample(slots, len(slots)):
            begin, end = f"{hour:02d}:00", f"{hour:02d}:45"
            guests = scene.sample(agenda.people[1:], int(scene.rng.integers(2, 7)))
            agenda.clear(day, begin, end, [f"room {room['code']}", agenda.me.login])
            title = scene.pick(("Workshop|研讨", "Tender|招标", "Review|评审", "Briefing|简报"))
            number = agenda.add(
                title.split("|")[scene.language == "zh"],
                day,
                begin,
                end,
                room=room["code"],
                people=guests,
            )
            own.append((number, day, begin, end, len(guests) + 1))
            for each in agenda.rooms:  # Every suitable room is booked by others.
                free = not agenda.busy(f"room {each['code']}", day, begin, end)
                fits = agenda.fits(each, day, begin, end, len(guests) + 1)
                if (day, hour) in full and each is not room and free and fits:
                    agenda.add(
                        scene.say("Exam", "考试"),
                        day,
                        begin,
                        later(begin, 30),
                        room=each["code"],
                        organiser=scene.pick(agenda.people[1:]),
                    )
        fates: dict[int, StoreRow | None] = {}
        for number, day, begin, end, size in own:
            if not first <= day <= later_end:
                continue
            rooms = [
                each
                for each in agenda.rooms
                if each["code"] != room["code"]
                and agenda.fits(each, day, begin, end, size)
                and not agenda.busy(f"room {each['code']}", day, begin, end)
            ]
            rooms.sort(key=lambda each: int(each["capacity"]))
            if len(rooms) > 1 and rooms[0]["capacity"] == rooms[1]["capacity"]:
                return None
            fates[number] = rooms[0] if rooms else None
        world = scene.store(agenda.plan, "calendar")
        for number, place in fates.items():
            best = world.rows(
                "SELECT r.code FROM _rooms r JOIN events e ON e.id = ? WHERE r.code != e.room "
                "AND r.capacity > "
                "(length(e.people) - length(replace(e.people, ',', '')) + 1) AND r.opens <= "
                "substr(e.start, 12) AND "
                "r.closes >= substr(e.finish, 12) AND instr(r.days, strftime('%w', e.start)) "
                "AND NOT EXISTS (SELECT 1 "
                "FROM events o WHERE o.room = r.code AND o.status = 'planned' AND o.start < "
                "e.finish AND o.finish > e.start) "
                "ORDER BY r.capacity LIMIT 1",
                (number,),
            )
            if [row["code"] for row in best] != ([place["code"]] if place else []):
                return None
        moved = [number for number, place in fates.items() if place]
        gone = [number for number, place in fates.items() if not place]
        if not 4 <= len(moved) <= 8 or not 1 <= len(gone) <= 4:
            return None
        instruction = scene.say(
            f"The room {room['name']} is going to be closed; rules and room page tell when. For "
            "every meeting that you organise there in that time: put it, at its time, into the "
            "smallest room that has enough seats, may be used and is free then. Where there is "
            "none, cancel the meeting. Change nothing else.",
            f"会议室{room['name']}将关闭，时间见规则页和会议室页。您在此期间组织的、安排在该会议"
            "室的每个会议：时间不变，改到届时可用且空闲、座位足够的最小会议室；如果没有，就取消"
            "该会议。其他都不要改。",
        )
        names = {each["code"]: each["name"] for each in agenda.rooms}
        spare = [number for number, day, *_ in own if day == announced]

        def solver(targets: dict[int, Any]) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("calendar", "/rules")
                yield from pilot.goto("calendar", f"/rooms/{room['code']}?day={first}")
                for number, place in targets.items():
                    if place is None:
                        yield from cancel(pilot, number)
                    else:
                        yield from change(pilot, number, room=names[place["code"]])
                yield from pilot.finish()

            return solve

        early = {**fates, **dict.fromkeys(spare)}
        return WebDraft(
            agenda.plan,
            instruction,
            solver(fates),
            changes=together(
                *(
                    changed(
                        "calendar",
                        "events",
                        number,
                        **({"room": place["code"]} if place else {"status": "cancelled"}),
                    )
                    for number, place in fates.items()
                )
            ),
            evidence=(rf"calendar\.hexathlon\.test/rooms/{room['code']}",),
            alternatives={"backwards": solver(dict(reversed(fates.items())))},
            mutants={
                "announced_day": solver(early),
                "one_missed": solver(dict(list(fates.items())[1:])),
                "all_cancelled": solver(dict.fromkeys(fates)),
            },
            turns=75,
        )


class NewRule(WebTemplate):
    """Cancel the meetings of a week that break a new rule, except those that it exempts."""

    name: ClassVar[str] = "calendar_new_rule"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a rule with exceptions, and the user's meetings on both sides of every limit."""
        agenda = Planner(scene, scene.plan("calendar"))
        zh = scene.language == "zh"
        week = [
            day
            for day in agenda.workdays(0, 12)
            if day.isocalendar()[1] == (agenda.today + timedelta(days=7)).isocalendar()[1]
        ]
        if len(week) != 5:
            return None
        exempt = scene.pick(sorted({row["department"] for row in agenda.colleagues.values()}))
        visit = scene.say("Customer visit", "客户来访")
        body = scene.say(
            "From next Monday on, who organises a meeting sees to it that\nno part of it lies "
            "between 12:00 and 13:00 of the organiser's day,\n"
            "no part of it lies after 15:00 on a Friday,\nand nobody has to attend outside the "
            "working hours of the place of work.\n"
            f"Meetings with the title {visit} may lie anywhere. Meetings with somebody from "
            f"{exempt} may lie in the lunch hour; the other points hold for them, too.",
            "自下周一起，会议组织者须保证：\n会议不占用组织者当地12:00至13:00，\n周五15:00之后不"
            "开会，\n不要求任何人在其所在地工作时间之外参会。\n"
            f"标题为“{visit}”的会议不受限制。有{exempt}部门人员参加的会议可占用午间时段，但仍须遵"
            "守其他各条。",
        )
        agenda.insert(
            "_rules", name="8-new", title=scene.say("New from next week", "下周起的新规"), body=body
        )
        insiders = [
            person
            for person in agenda.people[1:]
            if agenda.colleagues[person.login]["department"] == exempt
        ]
        others = [person for person in agenda.people[1:] if person not in insiders]
        if len(insiders) < 2 or len(others) < 8:
            return None
        titles = [
            each.split("|")[zh]
            for each in (
                "Sync|碰头会",
                "Draft talk|草案讨论",
                "Numbers|数据核对",
                "Plan B|备选方案",
            )
        ]
        mine = [
            event["id"]
            for event in agenda.events
            if event["organiser"] == agenda.me.login
            and week[0].isoformat() <= event["start"][:10] <= week[-1].isoformat()
        ]
        agenda.drop(mine)
        specs = [
            ("11:30", 30),
            ("11:45", 30),
            ("12:30", 60),
            ("13:00", 30),
            ("12:15", 30),
            ("09:00", 60),
            ("16:30", 30),
            ("10:00", 45),
            ("14:30", 60),
            ("15:00", 45),
            ("09:30", 30),
            ("13:30", 60),
        ]
        for place, (begin, length) in enumerate(specs):
            day = week[4] if place in (8, 9) else scene.pick(week)
            crowd = scene.sample(others, 2) + (
                scene.sample(insiders, 1) if scene.rng.random() < 0.35 else []
            )
            title = visit if scene.rng.random() < 0.15 else scene.pick(titles)
            agenda.add(title, day, begin, later(begin, length), people=crowd)
        own = [
            event
            for event in agenda.events
            if event["organiser"] == agenda.me.login
            and week[0].isoformat() <= event["start"][:10] <= week[-1].isoformat()
        ]
        world = scene.store(agenda.plan, "calendar")

        def breaks(event: StoreRow, *, zones: bool = True, exceptions: bool = True) -> bool:
            begin, end = event["start"][11:], event["finish"][11:]
            people = keys_of(event) - {f"room {event['room']}"}
            if exceptions and event["title"] == visit:
                return False
            lunch = begin < "13:00" and end > "12:00"
            kin = any(agenda.colleagues[each]["department"] == exempt for each in people)
            if lunch and not (exceptions and kin):
                return True
            if event["start"][:10] == week[4].isoformat() and end > "15:00":
                return True
            return zones and not all(agenda.working(each, begin, end) for each in people)

        gone = [event["id"] for event in own if breaks(event)]
        by_sql = world.rows(
            "SELECT e.id FROM events e WHERE e.organiser = ? AND e.status = 'planned' AND "
            "date(e.start) BETWEEN ? AND ? AND "
            "e.title != ? AND ((substr(e.start, 12) < '13:00' AND substr(e.finish, 12) > "
            "'12:00' AND NOT EXISTS (SELECT 1 FROM "
            "_colleagues c WHERE (', ' || e.people || ', ' || e.organiser || ',' LIKE '%, ' || "
            "c.login || ',%') AND c.department = ?)) "
            "OR (strftime('%w', e.start) = '5' AND substr(e.finish, 12) > '15:00') OR EXISTS "
            "(SELECT 1 FROM _colleagues c, "
            "(SELECT zone AS own FROM _colleagues WHERE login = ?) WHERE ', ' || e.people || ', "
            "' || e.organiser || ',' LIKE '%, ' || c.login || ',%' "
            "AND (time(e.start, (c.zone - own) || ' minutes') < c.starts OR datetime(e.finish, "
            "(c.zone - own) || ' minutes') > "
            "datetime(date(e.start) || ' ' || c.ends)))) ORDER BY e.id",
            (
                agenda.me.login,
                week[0].isoformat(),
                week[4].isoformat(),
                visit,
                exempt,
                agenda.me.login,
            ),
        )
        if sorted(gone) != [row["id"] for row in by_sql] or not 5 <= len(gone) <= 9:
            return None
        zoneless = [event["id"] for event in own if breaks(event, zones=False)]
        strict = [event["id"] for event in own if breaks(event, exceptions=False)]
        if zoneless == gone or strict == gone:
            return None
        instruction = scene.say(
            f"The page of rules has a new rule for next week ({week[0]} to {week[4]}). Cancel "
            "those of the meetings that you organise in that week which break it, single ones "
            "of recurring meetings too, and leave everything else as it is.",
            f"规则页有一条下周（{week[0]}至{week[4]}）起的新规。请取消您下周组织的、违反新规的会"
            "议（重复会议只取消那一次），其他都不要动。",
        )
        recurring = {event["id"] for event in own if event["series"]}

        def solver(numbers: Sequence[int]) -> Solver:
            def solve(pilot: Pilot) -> Script:
                for path in ("/rules", "/people", f"/list?since={week[0]}&until={week[4]}"):
                    yield from pilot.goto("calendar", path)
                for number in numbers:
                    yield from cancel(pilot, number, "this" if number in recurring else "")
                yield from pilot.finish()

            return solve

        return WebDraft(
            agenda.plan,
            instruction,
            solver(gone),
            changes=together(
                *(changed("calendar", "events", each, status="cancelled") for each in gone)
            ),
            evidence=(r"calendar\.hexathlon\.test/rules$",),
            alternatives={"backwards": solver(gone[::-1])},
            mutants={
                "no_zones": solver(zoneless),
                "no_exceptions": solver(strict),
                "one_missed": solver(gone[1:]),
            },
            turns=75,
        )


TEMPLATES: tuple[WebTemplate, ...] = (RoomClosure(), NewRule())
