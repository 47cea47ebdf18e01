"""Tasks on the calendar: series, rooms, and time spent with somebody."""

from datetime import timedelta
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
    together,
)
from hexathlon.tasks.web.templates.planner import (
    Planner,
    book,
    cancel,
    change,
    keys_of,
    later,
    minutes,
)

__all__ = ["TEMPLATES"]


class ChangeSeries(WebTemplate):
    """Change a recurring event: once, or from a given day."""

    name: ClassVar[str] = "calendar_series"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a series, the day from which its time changes, and (medium) a cancelled day."""
        agenda = Planner(scene, scene.plan("calendar"))
        title = scene.pick(
            ("Stand-up|站会", "Reading hour|阅读时间", "Shift change|交接班", "Coaching|辅导")
        ).split("|")[scene.language == "zh"]
        guests = scene.sample(agenda.people[1:], 3)
        start = agenda.workdays(1, 5)[int(scene.rng.integers(5))]
        numbers = []
        for week in range(6):
            day = start + timedelta(days=7 * week)
            numbers.append(agenda.add(title, day, "10:00", "10:45", people=guests, series=91))
        near = agenda.add(title, start + timedelta(days=1), "10:00", "10:45", people=guests)
        place = int(scene.rng.integers(2, 5))
        since = start + timedelta(days=7 * place)
        goal = scene.pick(("09:15", "11:30", "13:00", "14:15"))
        off = numbers[place - 1]
        off_day = start + timedelta(days=7 * (place - 1))
        medium = scene.level == "medium"
        gone = (
            scene.say(f" Cancel the one on {off_day} only.", f"只取消{off_day}那一次。")
            if medium
            else ""
        )
        instruction = scene.say(
            f'From {since} on, the recurring event "{title}" begins at {goal}; length and '
            "everything "
            f"else stay, also the events before that day.{gone}",
            f"自{since}起，重复活动“{title}”改为{goal}开始，时长和其他不变，此前的各次也不变。"
            f"{gone}",
        )
        end = later(goal, 45)

        def solver(first: int, scope: str, drop: str) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from change(pilot, first, begin=goal, end=end, scope=scope)
                if drop:
                    yield from cancel(pilot, off, drop)
                yield from pilot.finish()

            return solve

        def one_by_one(pilot: Pilot) -> Script:
            if medium:
                yield from cancel(pilot, off, "this")
            for number in numbers[place:]:
                yield from change(pilot, number, begin=goal, end=end, scope="this")
            yield from pilot.finish()

        parts = [
            changed(
                "calendar",
                "events",
                number,
                start=f"{start + timedelta(days=7 * k)} {goal}",
                finish=f"{start + timedelta(days=7 * k)} {end}",
            )
            for k, number in enumerate(numbers)
            if k >= place
        ]
        if medium:
            parts.append(changed("calendar", "events", off, status="cancelled"))
        drop = "this" if medium else ""
        return WebDraft(
            agenda.plan,
            instruction,
            solver(numbers[place], "following", drop),
            changes=together(*parts),
            alternatives={"one_by_one": one_by_one},
            mutants={
                "all": solver(numbers[place], "all", drop),
                "only_one": solver(numbers[place], "this", drop),
                "single": solver(near, "", ""),
                "from_before": solver(numbers[place - 1], "following", ""),
            },
            turns=60,
        )


class BookRoom(WebTemplate):
    """Book a room for a meeting; in the twin it is taken."""

    name: ClassVar[str] = "calendar_book_room"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")
    twins: ClassVar[bool] = True

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a room that fits, a day, and a booking that does or does not overlap."""
        agenda = Planner(scene, scene.plan("calendar"))
        medium = scene.level == "medium"
        size = int(scene.rng.integers(3, 6))
        rooms = [room for room in agenda.rooms if room["capacity"] >= size]
        day = scene.pick(agenda.workdays(2, 7))
        begin = scene.pick(("09:30", "10:00", "10:30", "14:00", "14:30", "15:00"))
        end = later(begin, 60)
        rooms = [room for room in rooms if agenda.fits(room, day, begin, end, size)]
        if len(rooms) < 2:
            return None
        room, spare = scene.sample(rooms, 2)
        guests = scene.sample(agenda.people[1:], size - 1)
        holder = next(each for each in agenda.people[1:] if each not in guests)
        around = later(begin, -120), later(begin, 120)
        agenda.clear(day, *around, [f"room {room['code']}", f"room {spare['code']}"])
        title = scene.say("Kick-off", "启动会")
        taken = later(begin, -90) if scene.feasible else later(begin, -30)
        blocker = agenda.add(
            scene.say("Interview", "面试"),
            day,
            taken,
            later(taken, 60),
            room=room["code"],
            organiser=holder,
            people=[],
        )
        beside = agenda.add(
            scene.say("Interview", "面试"),
            day,
            later(begin, 60),
            later(begin, 120),
            room=room["code"],
            organiser=holder,
            people=[],
        )
        names = ", ".join(person.name for person in guests)
        if medium:
            end = later(begin, 60)
            half = later(begin, 30)
            ask_en, ask_zh = f"the hour that has {half} in its middle", f"以{half}为正中的一小时"
        else:
            ask_en, ask_zh = f"{begin} to {end}", f"{begin}至{end}"
        instruction = scene.say(
            f'Enter the meeting "{title}" on {day}, {ask_en}, in the room {room["name"]}, with '
            f"{names}. "
            "If the room is taken then, enter nothing and report the number of the event that "
            "holds it.",
            f"在日历中新建会议“{title}”：{day}，{ask_zh}，会议室{room['name']}，与会者{names}。"
            "如果届时会议室已被占用，就不要新建，并报告占用它的活动编号。",
        )

        def do(place: str, count: int = 9) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from book(
                    pilot,
                    title,
                    day,
                    begin,
                    end,
                    room=place,
                    people=[person.name for person in guests[:count]],
                )
                yield from pilot.finish()

            return solve

        def report(number: int, tries: bool = False) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("calendar", f"/rooms/{room['code']}?day={day}")
                if tries:
                    yield from book(
                        pilot,
                        title,
                        day,
                        begin,
                        end,
                        room=room["name"],
                        people=[person.name for person in guests],
                    )
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", str(number))

            return solve

        def look_first(pilot: Pilot) -> Script:
            yield from pilot.goto("calendar", f"/rooms/{room['code']}?day={day}")
            yield from do(room["name"])(pilot)

        if not scene.feasible:
            return WebDraft(
                agenda.plan,
                instruction,
                report(blocker),
                answer=ExpectedAnswer("ACTION_NOT_ALLOWED_ERROR", record=str(blocker)),
                evidence=(rf"calendar\.hexathlon\.test/(rooms/{room['code']}|events/new|free)",),
                alternatives={"tries": report(blocker, tries=True)},
                mutants={
                    "other_room": do(spare["name"]),
                    "wrong_record": report(beside),
                    "no_room": do(""),
                },
            )
        return WebDraft(
            agenda.plan,
            instruction,
            do(room["name"]),
            changes=agenda.expected(title, day, begin, end, room=room["code"], people=guests),
            alternatives={"look_first": look_first},
            mutants={
                "other_room": do(spare["name"]),
                "one_missing": do(room["name"], size - 2),
                "refuses": report(blocker),
            },
        )


class HoursWith(WebTemplate):
    """Add up the time spent in meetings with somebody."""

    name: ClassVar[str] = "calendar_hours"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a colleague and a span of days."""
        agenda = Planner(scene, scene.plan("calendar"))
        person, other = scene.sample(agenda.people[1:], 2)
        days = agenda.workdays(0, 9)
        first, last = days[0], days[-1]
        for day in scene.sample(days, 5):
            begin = scene.pick(("08:30", "12:00", "16:00"))
            keys = [agenda.me.login, person.login]
            agenda.clear(day, begin, later(begin, 75), keys)
            agenda.add(
                scene.say("Working session", "工作讨论"),
                day,
                begin,
                later(begin, scene.pick((45, 60, 75))),
                organiser=scene.pick((agenda.me, person, other)),
                people=[agenda.me, person, other],
            )
        both = {agenda.me.login, person.login}
        total, count = 0, 0
        for event in agenda.events:
            if (
                both <= keys_of(event)
                and first.isoformat() <= event["start"][:10] <= last.isoformat()
            ):
                total += minutes(event["finish"][11:]) - minutes(event["start"][11:])
                count += 1
        world = scene.store(agenda.plan, "calendar")
        like = "(organiser = ? OR ', ' || people || ',' LIKE ?)"
        by_sql = world.value(
            "SELECT sum((julianday(finish) - julianday(start)) * 1440) FROM events WHERE "
            f"{like} AND {like} "
            "AND status = 'planned' AND date(start) BETWEEN ? AND ?",
            (
                agenda.me.login,
                f"%, {agenda.me.login},%",
                person.login,
                f"%, {person.login},%",
                first.isoformat(),
                last.isoformat(),
            ),
        )
        alone = sum(
            minutes(e["finish"][11:]) - minutes(e["start"][11:])
            for e in agenda.events
            if agenda.me.login in keys_of(e)
            and first.isoformat() <= e["start"][:10] <= last.isoformat()
        )
        if round(by_sql or 0) != total or count < 4 or alone == total:
            return None
        instruction = scene.say(
            f"How much time do you and {person.name} spend together in planned meetings from "
            f"{first} to {last}, both days included? Answer with two whole numbers: the number "
            "of meetings, and the minutes in all.",
            f"{first}至{last}（含首尾两日），您与{person.name}共同参加的会议有多长时间？请回答两"
            "个整数：会议次数、总分钟数。",
        )

        def solver(values: list[int], look: bool = True, where: str = "") -> Solver:
            def solve(pilot: Pilot) -> Script:
                if look:
                    yield from pilot.goto(
                        "calendar",
                        where or f"/list?since={first}&until={last}&person={person.login}",
                    )
                yield from pilot.finish("RETRIEVE", values)

            return solve

        return WebDraft(
            agenda.plan,
            instruction,
            solver([count, total]),
            answer=ExpectedAnswer(data=(count, total)),
            evidence=(r"calendar\.hexathlon\.test/(list\?|week\?day=)",),
            alternatives={"by_week": solver([count, total], where=f"/week?day={first}")},
            mutants={
                "not_looked": solver([count, total], look=False),
                "alone": solver([count, alone]),
                "one_more": solver([count + 1, total]),
            },
            turns=25,
        )


TEMPLATES: tuple[WebTemplate, ...] = (ChangeSeries(), BookRoom(), HoursWith())
