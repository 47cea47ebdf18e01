"""Tasks on the calendar: invitations that may overlap events, and the first time that suits all."""

from collections.abc import Sequence
from datetime import date, timedelta
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
from hexathlon.tasks.web.templates.planner import (
    Planner,
    answer,
    book,
    clock,
    keys_of,
    later,
    minutes,
)
from hexathlon.tasks.web.world.people import Person
from hexathlon.tasks.web.world.store import StoreRow

__all__ = ["TEMPLATES"]


class AcceptUnlessBusy(WebTemplate):
    """Accept an invitation unless it overlaps an event; in the twin it does."""

    name: ClassVar[str] = "calendar_accept_unless_busy"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")
    twins: ClassVar[bool] = True

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw an invitation and events of the user that touch or overlap it."""
        agenda = Planner(scene, scene.plan("calendar"))
        host, guest = scene.sample(agenda.people[1:], 2)
        day = scene.pick(agenda.workdays(2, 6))
        begin = scene.pick(("10:00", "11:30", "14:00"))
        end = later(begin, 60)
        agenda.clear(day, later(begin, -120), later(end, 120), [agenda.me.login])
        title = scene.pick(
            ("Works council|职工会", "Tender talk|招标商谈", "Site visit|现场考察")
        ).split("|")[scene.language == "zh"]
        number = agenda.add(title, day, begin, end, organiser=host, people=[agenda.me, guest])
        things = [scene.say("Working session", "工作讨论"), scene.say("Telephone call", "电话会")]
        travel = 15 if scene.level == "medium" else 0
        near, far = (10, 15) if travel else (-15, 0)
        at = later(end, far if scene.feasible else near)
        blocker = agenda.add(things[0], day, at, later(at, 45), people=[guest])
        at = later(begin, -60 - travel)
        before = agenda.add(things[1], day, at, later(at, 60), organiser=guest, people=[agenda.me])
        rule_en, rule_zh = "overlaps it", "与之重叠"
        if travel:
            rule_en = "overlaps it or is less than 15 minutes away from it"
            rule_zh = "与之重叠或间隔不足15分钟"
        instruction = scene.say(
            f'Accept the invitation "{title}" on {day}, unless one of your other events '
            f"{rule_en}. In that case do not answer it, and report the number of that other "
            "event.",
            f"接受{day}的邀请“{title}”；但如果您有另一活动{rule_zh}，就不要答复，并报告那个活动的"
            "编号。",
        )
        gap = [
            event
            for event in agenda.events
            if event["id"] != number
            and agenda.me.login in keys_of(event)
            and event["start"][:10] == day.isoformat()
            and minutes(event["start"][11:]) < minutes(end) + travel
            and minutes(event["finish"][11:]) > minutes(begin) - travel
        ]
        if (len(gap) == 0) != scene.feasible or len(gap) > 1:
            return None

        def do(event: int, what: str, look: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if look:
                    yield from pilot.goto("calendar", f"/week?day={day}")
                yield from answer(pilot, event, what)
                yield from pilot.finish()

            return solve

        def report(event: int, where: str = "week") -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("calendar", f"/{where}?day={day}&since={day}")
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", str(event))

            return solve

        if scene.feasible:
            return WebDraft(
                agenda.plan,
                instruction,
                do(number, "yes"),
                changes=added(
                    "calendar",
                    "answers",
                    {"event": number, "person": agenda.me.login, "answer": "yes", "remark": ""},
                ),
                alternatives={"straight": do(number, "yes", look=False)},
                mutants={
                    "declines": do(number, "no"),
                    "refuses": report(blocker),
                    "maybe": do(number, "maybe"),
                },
                turns=25,
            )
        return WebDraft(
            agenda.plan,
            instruction,
            report(blocker),
            answer=ExpectedAnswer("ACTION_NOT_ALLOWED_ERROR", record=str(blocker)),
            evidence=(r"calendar\.hexathlon\.test/(list|week|free)",),
            alternatives={"by_list": report(blocker, "list")},
            mutants={
                "accepts": do(number, "yes"),
                "wrong_record": report(before),
                "own_number": report(number),
            },
            turns=25,
        )


class FirstSlot(WebTemplate):
    """Book the first time when everybody is available in their working hours, with a room."""

    name: ClassVar[str] = "calendar_first_slot"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw people of several time zones, a span of days and a length."""
        agenda = Planner(scene, scene.plan("calendar"))
        hard = scene.demanding()
        home = agenda.colleagues[agenda.me.login]
        near = [
            person
            for person in agenda.people[1:]
            if abs(agenda.colleagues[person.login]["zone"] - home["zone"]) <= 120
        ]
        guests = scene.sample(near, 4 if hard else 2)
        west, city = agenda.colleagues[guests[0].login], scene.say("Ponta Delgada", "蓬塔德尔加达")
        west.update(zone=home["zone"] - 60, city=city, starts="09:00", ends="17:00")
        agenda.run(
            "UPDATE _colleagues SET zone = ?, city = ?, starts = '09:00', ends = '17:00' "
            "WHERE login = ?",
            west["zone"],
            city,
            guests[0].login,
        )
        length = 60 if hard else int(scene.pick((60, 90)))
        days = agenda.workdays(1, 6 if hard else 4)
        # At nine on the first day everybody is free, but it is too early for one of them.
        agenda.clear(days[0], "09:00", "10:30", [agenda.me.login, *(each.login for each in guests)])
        for day in days[: 3 if hard else 1]:
            agenda.add(
                scene.say("Focus time", "专注时间"),
                day,
                "13:00",
                "16:30",
                organiser=scene.pick(guests),
            )
        size = len(guests) + 1 + (int(scene.rng.integers(1, 4)) if hard else 0)
        roomless = _slot(agenda, guests, days, length, 0)
        # The rooms are taken at the first time at which everybody is free.
        if hard and roomless is not None:
            holder = scene.pick([each for each in agenda.people[1:] if each not in guests])
            on, at, _ = roomless
            for each in agenda.rooms:
                if agenda.fits(each, on, at, later(at, length), size):
                    agenda.add(
                        scene.say("Exam", "考试"),
                        on,
                        later(at, 15),
                        later(at, length + 30),
                        room=each["code"],
                        organiser=holder,
                    )
        right = _slot(agenda, guests, days, length, size if hard else 0)
        zoneless = _slot(agenda, guests, days, length, size if hard else 0, zones=False)
        if right is None or right == zoneless or (hard and roomless and roomless[:2] == right[:2]):
            return None
        if right[:2] != _slot_by_sql(scene, agenda, guests, days, length, size if hard else 0):
            return None
        day, begin, room = right
        end = later(begin, length)
        title = scene.say("Steering group", "指导小组会")
        names = ", ".join(person.name for person in guests)
        extra_en = (
            f" Book the smallest room that has seats for {size} people "
            f"({size - len(guests) - 1} visitors come along) "
            "and may be used and is free then."
            if hard
            else " It needs no room."
        )
        extra_zh = (
            f"预订届时可用且空闲、能坐{size}人（另有{size - len(guests) - 1}位访客）的最小会议室。"
            if hard
            else "不需要会议室。"
        )
        instruction = scene.say(
            f'Enter the meeting "{title}" with {names} at the first time from {days[0]} to '
            f"{days[-1]} (working days) that starts on the hour or half hour and at which all "
            f"of you are free for {length} minutes within the working hours of each of you, "
            f"yours included.{extra_en}",
            f"在{days[0]}至{days[-1]}的工作日中，找出第一个整点或半点开始、您与{names}都空闲"
            f"{length}分钟且均在各自（包括您）工作时间内的时段，新建会议“{title}”。{extra_zh}",
        )

        def do(slot: tuple[date, str, StoreRow | None] | None, *, look: bool = False) -> Solver:
            def solve(pilot: Pilot) -> Script:
                on, at, place = slot or (days[-1], "16:00", None)
                if look:
                    yield from pilot.goto("calendar", "/people")
                    who = "&".join(f"who={each.login}" for each in (agenda.me, *guests))
                    for each in days[: days.index(on) + 1]:
                        yield from pilot.goto("calendar", f"/free?day={each}&{who}")
                yield from book(
                    pilot,
                    title,
                    on,
                    at,
                    later(at, length),
                    room=place["name"] if place else "",
                    people=[person.name for person in guests],
                )
                yield from pilot.finish()

            return solve

        mutants = {
            "no_zones": do(zoneless),
            "half_hour_later": do((day, later(begin, 30), room)),
            "one_day_later": do((day + timedelta(days=1), begin, room)),
        }
        if hard:
            mutants["no_room"] = do((day, begin, None))
        return WebDraft(
            agenda.plan,
            instruction,
            do(right, look=True),
            changes=agenda.expected(
                title, day, begin, end, room=room["code"] if room else "", people=guests
            ),
            alternatives={"straight": do(right)},
            mutants=mutants,
            turns=45 if hard else 35,
        )


def _slot(
    agenda: Planner,
    guests: Sequence[Person],
    days: Sequence[date],
    length: int,
    size: int,
    *,
    zones: bool = True,
) -> tuple[date, str, StoreRow | None] | None:
    """Return the first day, time and room that suit everybody; without a room if `size` is 0."""
    everybody = [agenda.me, *guests]
    for day in days:
        for start in range(7 * 60, 20 * 60, 30):
            begin, end = clock(start), clock(start + length)
            if zones:
                works = all(agenda.working(each.login, begin, end) for each in everybody)
            else:
                works = agenda.working(agenda.me.login, begin, end)
            if not works or any(agenda.busy(each.login, day, begin, end) for each in everybody):
                continue
            if not size:
                return day, begin, None
            rooms = [
                room
                for room in agenda.rooms
                if agenda.fits(room, day, begin, end, size)
                and not agenda.busy(f"room {room['code']}", day, begin, end)
            ]
            if rooms:
                return day, begin, min(rooms, key=lambda room: int(room["capacity"]))
    return None


def _slot_by_sql(
    scene: WebScene,
    agenda: Planner,
    guests: Sequence[Person],
    days: Sequence[date],
    length: int,
    size: int,
) -> tuple[date, str] | None:
    """Find the first slot independently, by queries, in each person's time zone."""
    world = scene.store(agenda.plan, "calendar")
    mine = world.value("SELECT zone FROM _colleagues WHERE login = ?", (agenda.me.login,))
    logins = [agenda.me.login, *(person.login for person in guests)]
    for day in days:
        for start in range(14, 40):
            begin, end = clock(30 * start), clock(30 * start + length)
            out = world.value(
                "SELECT count(*) FROM _colleagues WHERE login IN "
                f"({', '.join('?' * len(logins))}) AND "
                "(? + zone - ? < substr(starts, 1, 2) * 60 + substr(starts, 4) OR "
                "? + zone - ? > substr(ends, 1, 2) * 60 + substr(ends, 4))",
                (*logins, 30 * start, mine, 30 * start + length, mine),
            )
            span = (f"{day} {end}", f"{day} {begin}")
            busy = "start < ? AND finish > ? AND status = 'planned'"
            hit = sum(
                world.value(
                    f"SELECT count(*) FROM events WHERE {busy} AND (organiser = ? OR ', ' || "
                    "people "
                    "|| ',' LIKE ?)",
                    (*span, login, f"%, {login},%"),
                )
                for login in logins
            )
            if out or hit:
                continue
            if not size or world.value(
                "SELECT count(*) FROM _rooms r WHERE capacity >= ? AND opens <= ? AND closes >= "
                "? AND "
                "instr(days, ?) AND NOT EXISTS (SELECT 1 FROM events WHERE room = r.code AND "
                f"{busy})",
                (size, begin, end, str(day.isoweekday()), *span),
            ):
                return day, begin
    return None


TEMPLATES: tuple[WebTemplate, ...] = (AcceptUnlessBusy(), FirstSlot())
