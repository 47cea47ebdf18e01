"""A hard task across mail and calendar: settle a meeting from replies that correct each other."""

from datetime import date
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
    together,
)
from hexathlon.tasks.web.templates.mailbox import Mailbox, compose
from hexathlon.tasks.web.templates.planner import (
    Planner,
    book,
    later,
)

__all__ = ["TEMPLATES"]


_Slot = tuple[date, str]


class SettleMeeting(WebTemplate):
    """Settle a meeting from replies that correct each other; in the twin its room is taken."""

    name: ClassVar[str] = "mail_calendar_settle"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)
    twins: ClassVar[bool] = True

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw six proposals, replies, a correction, an absence, and an event of the user."""
        base = scene.plan("mail", "calendar")
        box, agenda = Mailbox(scene, base), Planner(scene, base)
        guests = scene.sample(agenda.people[1:], 4)
        abroad = guests[2]
        home = agenda.colleagues[agenda.me.login]["zone"]
        shift = int(scene.pick((-120, -60, 60, 120)))
        city = scene.say("Port Lune", "月港")
        agenda.run(
            "UPDATE _colleagues SET zone = ?, city = ? WHERE login = ?",
            home + shift,
            city,
            abroad.login,
        )
        days = scene.sample(agenda.workdays(2, 8), 6)
        hours = ("11:00", "11:30", "12:00", "13:00", "13:30", "14:00")
        slots: list[_Slot] = [(day, scene.pick(hours)) for day in days]
        right, own, gone, old, left, other = slots
        room = max(agenda.rooms, key=lambda each: int(each["capacity"]))
        agenda.run(
            "UPDATE _rooms SET opens = '08:00', closes = '18:00', days = '12345' WHERE code = ?",
            room["code"],
        )
        seats = int(room["capacity"])
        for day, at in slots:
            people = [agenda.me.login, *(each.login for each in guests)]
            agenda.clear(day, later(at, -60), later(at, 120), [*people, f"room {room['code']}"])
        holder = next(each for each in agenda.people[1:] if each not in guests)
        start = right[1]
        taken = later(start, 60) if scene.feasible else later(start, 30)
        blocker = agenda.add(
            scene.say("Exam", "考试"),
            right[0],
            taken,
            later(taken, 60),
            room=room["code"],
            organiser=holder,
        )
        agenda.add(scene.say("Own work", "个人工作"), own[0], later(own[1], 30), later(own[1], 90))
        title = scene.say(
            f"Round table {scene.rng.integers(2, 40)}", f"第{scene.rng.integers(2, 40)}次圆桌会"
        )
        thread, local = 0, scene.say("my time", "我这边的时间")
        asked = "\n".join(f"{day} {at}" for day, at in sorted(slots))
        thread = box.add(
            box.me,
            title,
            scene.say(
                f"Which of these times suit you? One hour each.\n{asked}",
                f"以下哪些时间合适？每次一小时。\n{asked}",
            ),
            box.ago(days=4),
            to=", ".join(sorted(each.email for each in guests)),
        )
        said: dict[str, set[_Slot]] = {}
        for place, guest in enumerate(guests):
            possible = {own, gone, old, right} - ({right} if place == 0 else set())
            possible |= {left} if place < 2 else {other}
            said[guest.login] = possible
            move = shift if guest is abroad else 0
            times = ", ".join(f"{day} {later(at, move)}" for day, at in sorted(possible))
            remark = f" ({local})" if guest is abroad else ""
            box.add(
                guest,
                scene.say(f"Re: {title}", f"回复：{title}"),
                scene.say(f"I can do {times}{remark}.", f"我可以：{times}{remark}。"),
                box.ago(days=3, hours=float(place)),
                thread=thread,
            )
        box.add(
            guests[0],
            scene.say(f"Re: {title}", f"回复：{title}"),
            scene.say(
                f"Correction: {old[0]} {old[1]} no longer works for me; {right[0]} {right[1]} does "
                "instead.",
                f"更正：{old[0]} {old[1]}我不行了，{right[0]} {right[1]}可以。",
            ),
            box.ago(days=1),
            thread=thread,
        )
        box.add(
            guests[1],
            scene.say("Away", "外出"),
            scene.say(
                f"I am at a training on {gone[0]} all day and cannot be reached.",
                f"{gone[0]}我全天培训，无法联系。",
            ),
            box.ago(hours=9),
        )
        final = {login: set(each) for login, each in said.items()}
        final[guests[0].login] = (final[guests[0].login] - {old}) | {right}
        final[guests[1].login] -= {gone}
        common = set.intersection(*final.values())
        free = [
            slot
            for slot in common
            if not agenda.busy(agenda.me.login, slot[0], slot[1], later(slot[1], 60))
        ]
        again = [
            slot for slot in slots if all(slot in each for each in final.values()) and slot != own
        ]
        if free != [right] or again != [right] or set.intersection(*said.values()) == common:
            return None
        plan = base.with_edits([*box.edits, *agenda.edits])
        names = ", ".join(each.name for each in guests)
        instruction = scene.say(
            f'The mail conversation "{title}" is about a meeting of one hour with {names}. Find '
            "the proposed time that suits everybody by the latest word of each, wherever they "
            f"wrote it, and you by your calendar. Times that {abroad.name} names are in the "
            f"local time of {abroad.name}; your own are in yours. "
            f"The meeting needs a room with {seats} seats. Enter it in the calendar under the "
            f'title "{title}" with these people and the room, then write one new message to all '
            f'of them (field for recipients) with the subject "{title}" and exactly the text '
            '"Settled: DATE TIME, ROOM", such as "Settled: 2026-01-31 09:00, Lobby". '
            "If every such room is taken at that time, enter and write nothing, and report the "
            "number of the event that holds the room.",
            f"邮件会话“{title}”在商定与{names}的一小时会议。请按每个人（无论写在哪里）的最新说法"
            f"和您自己的日历，找出所有人都合适的提议时间。{abroad.name}写的是其当地时间，您的提议"
            "按您的时间。"
            f"会议需要{seats}个座位的会议室。请以标题“{title}”在日历中新建会议并加入这些人和会议"
            f"室，然后给所有人（收件人栏）发一封新邮件，主题“{title}”，正文只写“已定：日期 时间，"
            "会议室”，例如“已定：2026-01-31 09:00，大厅”。"
            "如果届时这样的会议室都被占用，就不要新建也不要发邮件，并报告占用会议室的活动编号。",
        )

        def text(slot: _Slot) -> str:
            line = f"{slot[0]} {slot[1]}"
            return scene.say(f"Settled: {line}, {room['name']}", f"已定：{line}，{room['name']}")

        def do(slot: _Slot, *, everybody: bool = True, mail_first: bool = False) -> Solver:
            to = [each.email for each in (guests if everybody else guests[:3])]

            def enter(pilot: Pilot) -> Script:
                yield from book(
                    pilot,
                    title,
                    slot[0],
                    slot[1],
                    later(slot[1], 60),
                    room=room["name"],
                    people=[each.name for each in guests],
                )

            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("mail", f"/threads/{thread}")
                if not mail_first:
                    yield from enter(pilot)
                yield from compose(pilot, to, title, text(slot))
                if mail_first:
                    yield from enter(pilot)
                yield from pilot.finish()

            return solve

        def report(number: int, tries: bool = False) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("mail", f"/threads/{thread}")
                yield from pilot.goto("calendar", f"/rooms/{room['code']}?day={right[0]}")
                if tries:
                    yield from book(
                        pilot,
                        title,
                        right[0],
                        right[1],
                        later(right[1], 60),
                        room=room["name"],
                        people=[each.name for each in guests],
                    )
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", str(number))

            return solve

        evidence = (rf"mail\.hexathlon\.test/threads/{thread}$",)
        wrong = {"first_words": do(old), "own_event": do(own), "overlooked_absence": do(gone)}
        if not scene.feasible:
            return WebDraft(
                plan,
                instruction,
                report(blocker),
                evidence=evidence,
                answer=ExpectedAnswer("ACTION_NOT_ALLOWED_ERROR", record=str(blocker)),
                alternatives={"tries": report(blocker, tries=True)},
                mutants={**wrong, "wrong_record": report(blocker + 1)},
                turns=45,
            )
        changes = together(
            agenda.expected(
                title, right[0], right[1], later(right[1], 60), room=room["code"], people=guests
            ),
            box.expected(box.sent([each.email for each in guests], text(right), subject=title)),
        )
        return WebDraft(
            plan,
            instruction,
            do(right),
            changes=changes,
            evidence=evidence,
            alternatives={"mail_first": do(right, mail_first=True)},
            mutants={
                **wrong,
                "one_not_told": do(right, everybody=False),
                "refuses": report(blocker),
            },
            turns=45,
        )


TEMPLATES: tuple[WebTemplate, ...] = (SettleMeeting(),)
