"""A hard task across mail and calendar: keep the time of a journey free after its tickets changed."""

from collections.abc import Sequence
from datetime import date
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
    changed,
    together,
)
from hexathlon.tasks.web.templates.mailbox import Mailbox, compose
from hexathlon.tasks.web.templates.planner import (
    Planner,
    answer,
    cancel,
    later,
    minutes,
)

__all__ = ["TEMPLATES"]


class Journey(WebTemplate):
    """Keep the time of a journey free after its tickets were changed twice."""

    name: ClassVar[str] = "mail_calendar_journey"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw bookings in local times, events on both sides of its ends, and people to inform."""
        base = scene.plan("mail", "calendar")
        box, agenda = Mailbox(scene, base), Planner(scene, base)
        zh = scene.language == "zh"
        outside = box.outsiders(2)
        (office,) = box.colleagues(1)
        if not outside:
            return None
        agency = outside[0]
        shift = int(scene.pick((-120, -60, 60, 120)))
        days = agenda.workdays(3, 4)
        leave, back = days[0], days[1]
        home = agenda.colleagues[agenda.me.login]["zone"]
        city = scene.pick(
            ("Norwick|诺威克", "Belmont|贝尔蒙", "Karsa|卡尔萨", "Ostrava Hills|奥斯山")
        ).split("|")[zh]
        out, inn = scene.pick(("10:00", "10:30", "11:00")), scene.pick(("12:30", "13:00", "13:30"))
        ref = f"{scene.rng.integers(100, 999)}"

        def ticket(depart: str, arrive: str, word: str) -> str:
            return scene.say(
                f"{word} {ref}\nOutward: {leave}, departure {depart} (your local time).\nReturn "
                f"from {city}: {back}, departure {arrive} ({city} time, "
                f"UTC{(home + shift) // 60:+d}), flight time two hours.",
                f"{word} {ref}\n去程：{leave}，{depart}起飞（您的当地时间）。\n自{city}返程："
                f"{back}，{arrive}起飞（{city}时间，UTC{(home + shift) // 60:+d}），飞行两小时。",
            )

        thread = box.add(
            agency,
            scene.say(f"Booking {ref}", f"预订 {ref}"),
            ticket(later(out, -60), later(inn, 90), scene.say("Booking", "预订")),
            box.ago(days=9),
        )
        middle = ticket(later(out, 30), later(inn, 90), scene.say("Change of booking", "预订变更"))
        box.add(
            agency,
            scene.say(f"Re: Booking {ref}", f"回复：预订 {ref}"),
            middle,
            box.ago(days=6),
            thread=thread,
        )
        final = box.add(
            agency,
            scene.say("Timetable change", "航班时刻变更"),
            scene.say(
                f"The airline has changed both flights of booking {ref}. This "
                "replaces all former times.\n",
                f"航空公司更改了预订{ref}的两个航班，以此为准。\n",
            )
            + ticket(out, later(inn, shift), scene.say("Booking", "预订")),
            box.ago(days=2),
        )
        box.handbook(
            "travel",
            scene.say("Travel", "差旅"),
            scene.say(
                "Who flies is away from two hours before departure until one hour after landing. "
                "Meetings that overlap with this time are not attended: own ones are cancelled, "
                "invitations are declined with the remark travel. Meetings that end just when the "
                "absence begins, or begin just when it ends, take place.",
                "乘机出差的离岗时间为起飞前两小时至落地后一小时。与之重叠的会议不参加：自己组织的"
                "取消"
                "，他人邀请的谢绝并附言“出差”。恰在离岗开始时结束或恰在离岗结束时开始的会议照常。",
            ),
            box.ago(days=50),
        )
        begin, end = later(out, -120), later(inn, 180)
        for day in (leave, back):
            agenda.clear(day, "07:00", "20:00", [agenda.me.login])
        remark = scene.say("travel", "出差")
        guests = scene.sample(agenda.people[1:], 6)
        specs: list[tuple[date, str, int, bool]] = [
            (leave, later(begin, -45), 45, True),
            (leave, later(begin, -30), 60, False),
            (leave, later(begin, 30), 45, True),
            (leave, later(begin, 90), 60, False),
            (leave, "16:00", 60, True),
            (back, "09:00", 45, False),
            (back, "10:00", 60, True),
            (back, later(end, -30), 45, False),
            (back, later(end, 15), 30, True),
            (back, later(end, 0), 15, False),
        ]
        own, invited, kept = list[int](), list[int](), list[int]()
        titles = [
            each.split("|")[zh]
            for each in (
                "Check-in|碰头会",
                "Draft talk|草案讨论",
                "Numbers|数据核对",
                "Call|电话会",
            )
        ]
        for day, at, length, mine in specs:
            finish = later(at, length)
            host = scene.pick(guests)
            number = agenda.add(
                scene.pick(titles),
                day,
                at,
                finish,
                organiser=agenda.me if mine else host,
                people=[
                    scene.pick([each for each in guests if each is not host]),
                    *([] if mine else [agenda.me]),
                ],
            )
            away = finish > begin if day == leave else at < end
            (kept if not away else own if mine else invited).append(number)
        plan = base.with_edits([*box.edits, *agenda.edits])
        world = scene.store(plan, "calendar")
        hit = world.rows(
            "SELECT id, organiser FROM events WHERE (organiser = ? OR ', ' || people || ',' "
            "LIKE ?) AND status = 'planned' "
            "AND start < ? AND finish > ? ORDER BY id",
            (agenda.me.login, f"%, {agenda.me.login},%", f"{back} {end}", f"{leave} {begin}"),
        )
        if [row["id"] for row in hit] != sorted([*own, *invited]) or minutes(end) > 20 * 60:
            return None
        text = scene.say(
            f"Away from {leave} {begin} to {back} {end}.", f"{leave} {begin}至{back} {end}不在。"
        )
        instruction = scene.say(
            f"Prepare your calendar for the journey with booking {ref} by the rules of the "
            f'office handbook on travel. Then write to {office.name}: subject "Booking '
            f'{ref}", text exactly "Away from DATE TIME to DATE TIME." with the beginning '
            'and end of the absence in your own local time, such as "Away from 2026-01-30 '
            '09:00 to 2026-01-31 14:30."',
            f"请按办公手册的差旅规定，为预订{ref}的行程调整您的日历。然后写信给{office.name}：主"
            f"题“预订 {ref}”，正文只写“日期 时间至日期 时间不在。”，为按您当地时间的离岗起止，例"
            "如“2026-01-30 09:00至2026-01-31 14:30不在。”",
        )
        subject = scene.say(f"Booking {ref}", f"预订 {ref}")

        def solver(
            mine: Sequence[int], others: Sequence[int], body: str = text, *, word: str = remark
        ) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("mail", "/handbook/travel")
                yield from pilot.goto("mail", f"/threads/{thread}")
                yield from pilot.goto("mail", f"/threads/{final}")
                for number in mine:
                    yield from cancel(pilot, number)
                for number in others:
                    yield from answer(pilot, number, "no", word)
                yield from compose(pilot, [office.email], subject, body)
                yield from pilot.finish()

            return solve

        zoneless = text.replace(end, later(end, shift)) if shift != 0 else text
        return WebDraft(
            plan,
            instruction,
            solver(own, invited),
            changes=together(
                *(changed("calendar", "events", each, status="cancelled") for each in own),
                *(
                    added(
                        "calendar",
                        "answers",
                        {
                            "event": each,
                            "person": agenda.me.login,
                            "answer": "no",
                            "remark": remark,
                        },
                    )
                    for each in invited
                ),
                box.expected(box.sent([office.email], text, subject=subject)),
            ),
            evidence=(
                rf"mail\.hexathlon\.test/threads/{final}$",
                r"mail\.hexathlon\.test/handbook/travel$",
            ),
            alternatives={"backwards": solver(own[::-1], invited[::-1])},
            mutants={
                "foreign_time": solver(own, invited, zoneless),
                "border_too": solver([*own, kept[0]], invited),
                "one_missed": solver(own[1:], invited),
                "no_remark": solver(own, invited, word=""),
            },
            turns=75,
        )


TEMPLATES: tuple[WebTemplate, ...] = (Journey(),)
