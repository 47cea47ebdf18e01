"""Tasks on the calendar: single events and invitations."""

from datetime import date, timedelta
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
)
from hexathlon.tasks.web.templates.planner import (
    Planner,
    answer,
    book,
    change,
    labels,
    later,
    minutes,
    pick_day,
)

__all__ = ["TEMPLATES"]


_THINGS = (
    "Dentist|看牙医",
    "Gym|健身",
    "School visit|学校访问",
    "Car service|汽车保养",
    "Choir practice|合唱排练",
    "Bank appointment|银行预约",
    "Tax adviser|税务顾问",
    "Language class|语言课",
)


class CreateEvent(WebTemplate):
    """Create an event that the user organises."""

    name: ClassVar[str] = "calendar_create"
    levels: ClassVar[tuple[Level, ...]] = ("tiny",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a title, a day, and times."""
        agenda = Planner(scene, scene.plan("calendar"))
        title = scene.pick(_THINGS).split("|")[scene.language == "zh"]
        day = agenda.today + timedelta(days=int(scene.rng.integers(3, 30)))
        begin = f"{scene.rng.integers(8, 17):02d}:{scene.pick(('00', '15', '30', '45'))}"
        end = later(begin, int(scene.pick((30, 45, 60, 90))))
        instruction = scene.say(
            f'Enter "{title}" in the calendar, on {day} from {begin} to {end}, without a room.',
            f"在日历中新建“{title}”，{day} {begin}至{end}，不用会议室。",
        )

        def solver(on: date, at: str, *, room: bool = False) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from book(
                    pilot,
                    title,
                    on,
                    at,
                    later(at, minutes(end) - minutes(begin)),
                    people=[agenda.people[1].name] if room else [],
                )
                yield from pilot.finish()

            return solve

        def by_picker(pilot: Pilot) -> Script:
            yield from pilot.goto("calendar", "/events/new")
            yield from pick_day(pilot, day, agenda.today)
            yield from pilot.fill(labels(pilot, "title"), title)
            yield from pilot.fill(labels(pilot, "begin"), begin)
            yield from pilot.fill(labels(pilot, "end"), end)
            yield from pilot.click("button", pilot.words("calendar", "save"))
            yield from pilot.finish()

        return WebDraft(
            agenda.plan,
            instruction,
            solver(day, begin),
            changes=agenda.expected(title, day, begin, end),
            alternatives={"by_picker": by_picker},
            mutants={
                "day_before": solver(day - timedelta(days=1), begin),
                "later": solver(day, later(begin, 30)),
                "with_somebody": solver(day, begin, room=True),
            },
            turns=20,
        )


class AnswerInvitation(WebTemplate):
    """Answer an invitation; at the easy level one of several with the same title."""

    name: ClassVar[str] = "calendar_answer"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw two invitations."""
        agenda = Planner(scene, scene.plan("calendar"))
        host, guest = scene.sample(agenda.people[1:], 2)
        zh = scene.language == "zh"
        title = scene.pick(
            (
                "Farewell party|欢送会",
                "Archive tour|档案馆参观",
                "First aid course|急救课",
                "Reading circle|读书会",
            )
        ).split("|")[zh]
        other_title = title if scene.level == "easy" else scene.say("Fire drill", "消防演练")
        first, second = scene.sample(agenda.workdays(1, 8), 2)
        number = agenda.add(
            title, first, "10:00", "11:00", organiser=host, people=[agenda.me, guest]
        )
        other = agenda.add(
            other_title, second, "10:00", "11:00", organiser=host, people=[agenda.me, guest]
        )
        what = scene.pick(("yes", "no", "maybe"))
        verb = {
            "yes": ("Accept", "接受"),
            "no": ("Decline", "谢绝"),
            "maybe": ("Answer tentatively to", "暂定答复"),
        }[what][zh]
        remark = scene.pick(("", scene.say("see you", "到时见"))) if scene.level == "easy" else ""
        when = scene.say(f" on {first}", f"{first}的") if scene.level == "easy" else ""
        with_remark = (
            scene.say(f' with the remark "{remark}"', f"，附言“{remark}”") if remark else ""
        )
        instruction = scene.say(
            f'{verb} the invitation "{title}"{when}{with_remark}.',
            f"{verb}{when}邀请“{title}”{with_remark}。",
        )

        def solver(event: int, reply: str, text: str = remark) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from answer(pilot, event, reply, text)
                yield from pilot.finish()

            return solve

        def by_list(pilot: Pilot) -> Script:
            yield from pilot.goto("calendar", "/invitations")
            yield from pilot.click("link", f"#{number} {title}")
            yield from answer(pilot, number, what, remark)
            yield from pilot.finish()

        wrong = "no" if what != "no" else "yes"
        return WebDraft(
            agenda.plan,
            instruction,
            solver(number, what),
            changes=added(
                "calendar",
                "answers",
                {"event": number, "person": agenda.me.login, "answer": what, "remark": remark},
            ),
            alternatives={"by_list": by_list},
            mutants={
                "wrong_answer": solver(number, wrong),
                "other_event": solver(other, what),
                "own_remark": solver(number, what, "ok then"),
            },
            turns=20,
        )


class MoveEvent(WebTemplate):
    """Move an event that the user organises to another slot, by dragging or by its form."""

    name: ClassVar[str] = "calendar_move"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw an event and a slot; at the easy level its room is taken for one hour."""
        agenda = Planner(scene, scene.plan("calendar"))
        title = scene.pick(_THINGS).split("|")[scene.language == "zh"]
        days = [
            day
            for day in agenda.workdays(0, 9)
            if day.isocalendar()[1] == agenda.workdays(0, 9)[4].isocalendar()[1]
        ]
        if len(days) < 3:
            return None
        day, target = scene.sample(days, 2)
        hours = scene.sample(range(9, 17), 3)
        length = scene.pick((30, 60))
        begin, goal = f"{hours[0]:02d}:00", f"{hours[1]:02d}:00"
        number = agenda.add(title, day, begin, later(begin, length))
        near = agenda.add(title, target, f"{hours[2]:02d}:30", later(f"{hours[2]:02d}:30", length))
        weekday = labels(Pilot(scene.language), f"weekday_{target.isoweekday()}")[0]
        if scene.level == "tiny":
            where = scene.say(
                f"to {weekday} {target}, starting at {goal}", f"到{weekday}（{target}）{goal}开始"
            )
        else:
            shift = (target - day).days
            hours_later = hours[1] - hours[0]
            if shift <= 0 or hours_later == 0:
                return None
            where = scene.say(
                f"to {shift} day(s) later, {abs(hours_later)} hour(s) "
                f"{'later' if hours_later > 0 else 'earlier'} than now",
                f"到{shift}天之后，时间比现在"
                f"{'晚' if hours_later > 0 else '早'}{abs(hours_later)}小时",
            )
        instruction = scene.say(
            f'Move "{title}" of {day} {where}; it keeps its length.',
            f"把{day}的“{title}”移{where}，时长不变。",
        )

        def drag(pilot: Pilot, on: date, hour: int) -> Script:
            yield from pilot.goto("calendar", f"/week?day={day}")
            names = [
                f"{each} {hour:02d}:00" for each in labels(pilot, f"weekday_{on.isoweekday()}")
            ]
            yield from pilot.act(
                "drag_and_drop",
                from_bid=pilot.find("draggable", f"#{number}"),
                to_bid=pilot.find("drop zone", names),
            )

        def by_drag(on: date, hour: int) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from drag(pilot, on, hour)
                yield from pilot.finish()

            return solve

        def by_form(event: int) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from change(pilot, event, day=target, begin=goal, end=later(goal, length))
                yield from pilot.finish()

            return solve

        return WebDraft(
            agenda.plan,
            instruction,
            by_drag(target, hours[1]),
            changes=changed(
                "calendar",
                "events",
                number,
                start=f"{target} {goal}",
                finish=f"{target} {later(goal, length)}",
            ),
            alternatives={"by_form": by_form(number)},
            mutants={
                "wrong_hour": by_drag(target, hours[1] + 1),
                "wrong_event": by_form(near),
                "same_day": by_drag(day, hours[1]),
            },
            turns=20,
        )


TEMPLATES: tuple[WebTemplate, ...] = (CreateEvent(), AnswerInvitation(), MoveEvent())
