"""An assistant's day: successive requests that depend on each other and change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.assistants_day import Day, add_requests, draw_day
from hexathlon.tasks.web.templates.draft import (
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
    added,
    changed,
    together,
)
from hexathlon.tasks.web.templates.mailbox import Mailbox, compose, forward, tick, words
from hexathlon.tasks.web.templates.planner import Planner, answer, book, cancel, change, later
from hexathlon.tasks.web.world.people import Person
from hexathlon.tasks.web.world.store import StoreRow

__all__ = ["TEMPLATES"]

_SCALE = 4
"""Size of the content: a day needs full calendars."""


class AssistantsDay(WebTemplate):
    """Nine emails from one person over a day, and requests of others; scored as a whole."""

    name: ClassVar[str] = "mail_calendar_shift"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw people, a meeting with its rooms, an offer, a contact, and the requests."""
        base = replace(scene.plan("mail", "calendar"), scale=_SCALE)
        box, agenda = Mailbox(scene, base), Planner(scene, base)
        drawn = draw_day(scene, box, agenda)
        if drawn is None:
            return None
        add_requests(scene, box, drawn)
        plan = base.with_edits([*box.edits, *agenda.edits])
        people = [drawn.third, drawn.first]
        line = f"{drawn.title}: {drawn.day} {drawn.moved}, {drawn.large['name']}"
        told = scene.say("You need not come after all.", "您不用来了。")
        note = scene.say("Please look at this.", "请看一下。")
        remark = scene.say("sent by the office", "办公室代答")
        parts: dict[str, Mapping[str, Any]] = {
            "meeting": agenda.expected(
                drawn.title,
                drawn.day,
                drawn.moved,
                drawn.final_end,
                room=drawn.large["code"],
                people=people,
            ),
            "forward": box.expected(
                box.sent(
                    [drawn.third.email],
                    note,
                    thread=drawn.offer,
                    forwarded=drawn.offer,
                    files=["offer-b.txt"],
                )
            ),
            "answer": added(
                "calendar",
                "answers",
                {
                    "event": drawn.invitation,
                    "person": box.me.login,
                    "answer": "no",
                    "remark": remark,
                },
            ),
            "announcement": box.expected(
                box.sent([each.email for each in people], line, subject=drawn.title)
            ),
            "told": box.expected(box.sent([drawn.second.email], told, subject=drawn.title)),
            "archived": together(
                *(
                    changed("mail", "messages", each, folder="archive")
                    for each in drawn.requests[:-1]
                )
            ),
        }
        boss = drawn.boss.name
        instruction = scene.say(
            f"Work through the requests that {boss} sends you by mail today, in the order in "
            "which they arrive, as an assistant would; the first one is in the inbox, others "
            "arrive while you work (your time goes on with everything you do), and the last "
            "one says that it is the last. "
            f"A later request of {boss} goes before an earlier one. Other people have no say. "
            "What is withdrawn must be as it was before. Texts in quotation marks are sent "
            "exactly as they stand, without the quotation marks; letters to several people go "
            "out as one message with all of them in the field for recipients.",
            f"请像助理一样，按到达顺序处理{boss}今天发给您的邮件请求：第一封已在收件箱，其余会在"
            "您工作期间陆续到达（您每做一步时间都会前进），最后一封会说明是最后一封。"
            f"{boss}较晚的请求优先于较早的；其他人无权作主。撤回的事项须恢复原状。引号中的文字照"
            "原样发送（不含引号）；给多人的信作为一封邮件发出，都写在收件人栏。",
        )
        solve = _Solution(scene, drawn, line, told, note, remark)
        return WebDraft(
            plan,
            instruction,
            solve.all(),
            changes=together(*parts.values()),
            parts=parts,
            alternatives={"step_by_step": solve.all(step_by_step=True)},
            mutants={
                "withdrawn_kept": solve.all(keep_phone=True),
                "old_room": solve.all(room=drawn.small),
                "meddler": solve.all(cancelled=True),
                "all_told": solve.all(also=[drawn.second]),
                "not_archived": solve.all(archive=False),
            },
            evidence=tuple(
                rf"mail\.hexathlon\.test/threads/{each}$" for each in drawn.requests[-2:]
            ),
            turns=110,
        )


@dataclass
class _Solution:
    """Scripts of the day."""

    scene: WebScene
    day: Day
    line: str
    told: str
    note: str
    remark: str

    def all(
        self,
        *,
        step_by_step: bool = False,
        keep_phone: bool = False,
        room: StoreRow | None = None,
        cancelled: bool = False,
        also: Sequence[Person] = (),
        archive: bool = True,
    ) -> Solver:
        """Return the script of the day, or one with a mistake."""
        d = self.day
        place = room or d.large
        line = self.line.replace(d.large["name"], place["name"])

        def solve(pilot: Pilot) -> Script:
            yield from pilot.goto("mail", f"/threads/{d.requests[0]}")
            people = [d.first.name, d.second.name]
            if step_by_step:
                yield from book(
                    pilot,
                    d.title,
                    d.day,
                    d.begin,
                    later(d.begin, 60),
                    room=d.small["name"],
                    people=people,
                )
                number = self._number(pilot)
                yield from self._phone(pilot, d.phone)
            elif keep_phone:
                yield from self._phone(pilot, d.phone)
            yield from forward(pilot, d.offer, [d.third.email], self.note)
            if step_by_step:
                yield from change(
                    pilot,
                    number,
                    begin=d.moved,
                    end=d.final_end,
                    room=place["name"],
                    people=[d.first.name, d.third.name],
                )
                yield from self._phone(pilot, d.contact["phone"])
            else:
                at = d.moved if room is None else later(d.moved, 45)
                yield from book(
                    pilot,
                    d.title,
                    d.day,
                    at,
                    later(at, 60),
                    room=place["name"],
                    people=[d.first.name, d.third.name],
                )
                number = self._number(pilot)
            yield from answer(pilot, d.invitation, "no", self.remark)
            for _ in range(60):
                yield from pilot.goto("mail", f"/threads/{d.requests[-1]}")
                if any(f'link "{each}"' in pilot.screen for each in words(pilot, "reply")):
                    break
            yield from pilot.goto("mail", f"/threads/{d.requests[-2]}")
            if cancelled:
                yield from cancel(pilot, number)
            yield from compose(pilot, [d.second.email], d.title, self.told)
            yield from compose(
                pilot, [each.email for each in (d.first, d.third, *also)], d.title, line
            )
            if archive:
                yield from tick(
                    pilot, f"/search?q=from:{d.boss.email} in:inbox", d.requests[:-1], "archive"
                )
            yield from pilot.finish()

        return solve

    def _phone(self, pilot: Pilot, phone: str) -> Script:
        yield from pilot.goto("mail", f"/contacts/{self.day.contact['id']}")
        yield from pilot.fill(words(pilot, "contact_phone"), phone)
        yield from pilot.click("button", pilot.words("mail", "save"))

    def _number(self, pilot: Pilot) -> int:
        """Read the number of the event that the screen shows."""
        return int(pilot.screen.partition("/events/")[2].partition(")")[0])


TEMPLATES: tuple[WebTemplate, ...] = (AssistantsDay(),)
