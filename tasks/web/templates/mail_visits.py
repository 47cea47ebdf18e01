"""A hard task across mail and calendar: a visit that is partly cancelled."""

from collections.abc import Sequence
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
from hexathlon.tasks.web.templates.mailbox import Mailbox, compose
from hexathlon.tasks.web.templates.planner import (
    Planner,
    cancel,
    change,
    later,
)
from hexathlon.tasks.web.world.store import StoreRow

__all__ = ["TEMPLATES"]


class VisitCancelled(WebTemplate):
    """Follow emails that cancel part of a visit, and inform exactly the people affected."""

    name: ClassVar[str] = "mail_calendar_visit"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a visit in several events, what the guest writes, and similar events."""
        base = scene.plan("mail", "calendar")
        box, agenda = Mailbox(scene, base), Planner(scene, base)
        zh = scene.language == "zh"
        outside = box.outsiders(2)
        if len(outside) < 2:
            return None
        guest, near = outside
        day, second = agenda.workdays(3, 4)[0], agenda.workdays(8, 1)[0]
        parts = [
            each.split("|")[zh]
            for each in (
                "tour|参观",
                "presentation|演示",
                "lunch|午餐",
                "contract talk|合同商谈",
                "closing|总结",
            )
        ]
        times = ("09:30", "11:00", "12:15", "14:00", "16:00")
        rooms = sorted(
            (each for each in agenda.rooms if each["capacity"] >= 6),
            key=lambda each: int(each["capacity"]),
        )
        if len(rooms) < 3:
            return None
        for each in rooms:
            agenda.run(
                "UPDATE _rooms SET opens = '08:00', closes = '18:00', days = '12345' WHERE code "
                "= ?",
                each["code"],
            )
            each.update(opens="08:00", closes="18:00", days="12345")
        agenda.clear(
            day, "08:00", "18:00", [agenda.me.login, *(f"room {each['code']}" for each in rooms)]
        )
        pool = scene.sample(agenda.people[1:], 9)
        crowds = [[*scene.sample(pool, 3)] for _ in parts]
        numbers = []
        for place, (part, at) in enumerate(zip(parts, times, strict=True)):
            title = scene.say(f"{guest['company']}: {part}", f"{guest['company']}：{part}")
            numbers.append(
                agenda.add(
                    title,
                    day,
                    at,
                    later(at, 60),
                    people=crowds[place],
                    room=rooms[0]["code"] if place != 2 else "",
                )
            )
        agenda.add(
            scene.say(f"{guest['company']}: review", f"{guest['company']}：回顾"),
            second,
            "14:00",
            "15:00",
            people=scene.sample(pool, 3),
        )
        agenda.add(
            scene.say(f"{near['company']}: closing", f"{near['company']}：总结"),
            day,
            "17:00",
            "17:45",
            people=scene.sample(pool, 3),
        )
        hour = scene.pick((30, 60))
        at = later("11:00", hour)
        # The presentation moves; its own room is taken then, and so is the next larger one.
        holder = next(each for each in agenda.people[1:] if each not in pool)
        for each in rooms[:2]:
            agenda.add(
                scene.say("Exam", "考试"),
                day,
                later(at, 30 if each is rooms[0] else -15),
                later(at, 75),
                room=each["code"],
                organiser=holder,
            )
        thread = box.add(
            guest,
            scene.say(f"Our visit on {day}", f"我们{day}的来访"),
            scene.say(
                f"I am sorry, we have to call off our whole visit on {day}.",
                f"很抱歉，我们不得不取消{day}的整个来访。",
            ),
            box.ago(days=3),
        )
        box.add(
            guest,
            scene.say(f"Re: Our visit on {day}", f"回复：我们{day}的来访"),
            scene.say(
                "Good news: we can come after all, but must leave at one o'clock. Whatever starts "
                f"later than that is off. Could the presentation start {hour} minutes later than "
                "planned?",
                "好消息：我们还是能来，但一点必须离开，之后开始的各项取消。演示能否比原计划晚"
                f"{hour}分钟开始？",
            ),
            box.ago(days=2),
            thread=thread,
        )
        box.add(
            guest,
            scene.say("One more thing", "还有一事"),
            scene.say(
                "We bring our own food, so the lunch with you does not take place either. "
                "Everything else is as I wrote.",
                "我们自带餐食，所以午餐也取消，其他如前信所述。",
            ),
            box.ago(days=1),
        )
        box.add(
            near,
            scene.say(f"Visit on {day}", f"{day}的来访"),
            scene.say("We look forward to the closing meeting.", "期待总结会。"),
            box.ago(days=1.5),
        )
        gone = [numbers[2], numbers[3], numbers[4]]
        told = {each for place in (2, 3, 4) for each in crowds[place]}
        size = 4
        fitting = [
            each
            for each in sorted(agenda.rooms, key=lambda each: int(each["capacity"]))
            if agenda.fits(each, day, at, later(at, 60), size)
            and not any(
                event["id"] != numbers[1]
                and event["room"] == each["code"]
                and event["status"] == "planned"
                and event["start"] < f"{day} {later(at, 60)}"
                and event["finish"] > f"{day} {at}"
                for event in agenda.events
            )
        ]
        if not fitting or told == {each for crowd in crowds for each in crowd}:
            return None
        plan = base.with_edits([*box.edits, *agenda.edits])
        goal = fitting[0]
        best = scene.store(plan, "calendar").value(
            "SELECT code FROM _rooms r WHERE capacity >= 4 AND opens <= ? AND closes >= ? AND "
            "instr(days, ?) AND NOT EXISTS "
            "(SELECT 1 FROM events WHERE room = r.code AND id != ? AND status = 'planned' AND "
            "start < ? AND finish > ?) ORDER BY capacity",
            (
                at,
                later(at, 60),
                str(day.isoweekday()),
                numbers[1],
                f"{day} {later(at, 60)}",
                f"{day} {at}",
            ),
        )
        if best != goal["code"]:
            return None
        note = scene.say(
            f"{guest['company']}, {day}: this part is off.",
            f"{guest['company']}，{day}：该部分取消。",
        )
        instruction = scene.say(
            f"{guest['name']} of {guest['company']} has written about the visit on {day}. Bring "
            "your calendar in line with the latest state: cancel what is off, and move what "
            "moves (same length). What moves gets the smallest room that has enough seats, may "
            "be used and is free then. "
            "Then write one message to exactly the colleagues who attend at least one of the "
            f'cancelled events (field for recipients), with the subject "{guest["company"]}" '
            f"and exactly this text: {note}",
            f"{guest['company']}的{guest['name']}来信谈到{day}的来访。请按最新情况更新您的日历："
            "取消的活动予以取消，改时间的予以移动（时长不变），并为移动的活动换到届时可用且空闲"
            "、座位足够的最小会议室。"
            "然后给至少参加一项被取消活动的同事（且仅给他们，写在收件人栏）发一封邮件，主题"
            f"“{guest['company']}”，正文只写：{note}",
        )
        everybody = {each for crowd in crowds for each in crowd}

        def solver(
            off: Sequence[int], to: Any, place: StoreRow = goal, *, mail_first: bool = False
        ) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("mail", f"/search?q=from:{guest['email']}")
                yield from pilot.goto("mail", f"/threads/{thread}")
                addresses = sorted(each.email for each in to)
                if mail_first:
                    yield from compose(pilot, addresses, guest["company"], note)
                yield from change(
                    pilot, numbers[1], begin=at, end=later(at, 60), room=place["name"]
                )
                for number in off:
                    yield from cancel(pilot, number)
                if not mail_first:
                    yield from compose(pilot, addresses, guest["company"], note)
                yield from pilot.finish()

            return solve

        columns = {"start": f"{day} {at}", "finish": f"{day} {later(at, 60)}", "room": goal["code"]}
        if goal["code"] == rooms[0]["code"]:
            columns.pop("room")
        return WebDraft(
            plan,
            instruction,
            solver(gone, told),
            changes=together(
                changed("calendar", "events", numbers[1], **columns),
                *(changed("calendar", "events", each, status="cancelled") for each in gone),
                box.expected(
                    box.sent([each.email for each in told], note, subject=guest["company"])
                ),
            ),
            evidence=(rf"mail\.hexathlon\.test/threads/{thread}$",),
            alternatives={"mail_first": solver(gone[::-1], told, mail_first=True)},
            mutants={
                "lunch_kept": solver(gone[1:], told),
                "all_told": solver(gone, everybody),
                "all_off": solver([*gone, numbers[0]], told),
                "largest_room": solver(gone, told, rooms[-1]),
            },
            turns=60,
        )


TEMPLATES: tuple[WebTemplate, ...] = (VisitCancelled(),)
