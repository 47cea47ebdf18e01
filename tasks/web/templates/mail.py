"""Tasks on the mail site: one message, one contact, one setting."""

from datetime import timedelta
from typing import ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import (
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
    changed,
)
from hexathlon.tasks.web.templates.mailbox import (
    Mailbox,
    compose,
    organise,
    reply,
    tick,
    words,
)

__all__ = ["TEMPLATES"]


_ACTS = {
    "star": ("Put a star on", "给{0}加星标", "starred", 1),
    "archive": ("Archive", "归档{0}", "folder", "archive"),
    "trash": ("Delete", "删除{0}", "folder", "trash"),
    "spam": ("Report as spam", "将{0}举报为垃圾邮件", "folder", "spam"),
}


class OrganiseOne(WebTemplate):
    """Do one thing with one message."""

    name: ClassVar[str] = "mail_organise"
    levels: ClassVar[tuple[Level, ...]] = ("tiny",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a message in the inbox with a unique subject, and an action."""
        box = Mailbox(scene, scene.plan("mail"))
        rows = box.store.rows(
            "SELECT * FROM messages WHERE subject IN (SELECT subject FROM messages GROUP BY "
            "subject HAVING count(*) = 1) AND folder = 'inbox' AND starred = 0 ORDER BY id"
        )
        if len(rows) < 2:
            return None
        row, other = scene.sample(rows, 2)
        act = scene.pick(list(_ACTS))
        english, chinese, column, value = _ACTS[act]
        instruction = scene.say(
            f'{english} the message "{row["subject"]}" in the inbox.',
            chinese.format(f"收件箱里的邮件“{row['subject']}”") + "。",
        )

        def by_list(number: int, action: str) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from tick(pilot, "/folder/inbox", [number], action)
                yield from pilot.finish()

            return solve

        def by_page(pilot: Pilot) -> Script:
            shown = box.store.rows(
                "SELECT id FROM messages WHERE thread = ? ORDER BY sent, id", (row["thread"],)
            )
            place = [each["id"] for each in shown].index(row["id"])
            yield from organise(pilot, row["thread"], row["id"], act, nth=place)
            yield from pilot.finish()

        def both(pilot: Pilot) -> Script:
            yield from tick(pilot, "/folder/inbox", [row["id"], other["id"]], act)
            yield from pilot.finish()

        wrong = "archive" if act != "archive" else "trash"
        return WebDraft(
            box.plan,
            instruction,
            by_list(row["id"], act),
            changes=changed("mail", "messages", row["id"], **{column: value}),
            alternatives={"by_page": by_page},
            mutants={
                "wrong_action": by_list(row["id"], wrong),
                "wrong_message": by_list(other["id"], act),
                "another_too": both,
            },
            turns=15,
        )


class ReplyOne(WebTemplate):
    """Reply to one message, or to everybody in a conversation."""

    name: ClassVar[str] = "mail_reply"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a question and an answer; at the easy level two people are copied in."""
        box = Mailbox(scene, scene.plan("mail"))
        everybody = scene.level != "tiny"
        sender, first, second, other = box.colleagues(4)
        place = scene.pick(
            (
                ("the roof terrace", "屋顶露台"),
                ("the small kitchen", "小厨房"),
                ("meeting corner 4", "4号洽谈角"),
                ("the ground floor", "一楼"),
            )
        )
        subject = scene.say(f"Coffee break at {place[0]}", f"{place[1]}的茶歇")
        question = scene.say(
            f"We are planning a coffee break at {place[0]}. Do you have time, and at what hour?",
            f"我们准备在{place[1]}安排一次茶歇，您有空吗？几点合适？",
        )
        hour = f"{int(scene.rng.integers(10, 17))}:{scene.pick(('00', '15', '30', '45'))}"
        text = scene.say(f"Gladly, {hour} suits me.", f"好的，{hour}我有空。")
        cc = [first.email, second.email] if everybody else []
        number = box.add(sender, subject, question, box.ago(hours=5), cc=cc)
        decoy = box.add(
            other,
            scene.say("Coffee beans", "咖啡豆"),
            scene.say("Who takes care of new coffee beans?", "谁负责买新的咖啡豆？"),
            box.ago(hours=4),
        )
        whom = scene.say("everybody in the conversation", "这次对话的所有人")
        who = scene.say("the sender", "发件人")
        instruction = scene.say(
            f'Reply to the message "{subject}" from {sender.name}, to '
            f"{whom if everybody else who}, with exactly this text: {text}",
            f"回复{sender.name}的邮件“{subject}”，发给{whom if everybody else who}，正文只写："
            f"{text}",
        )

        def solver(message: int, body: str, to_all: bool) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from reply(pilot, message, body, everybody=to_all)
                yield from pilot.finish()

            return solve

        def by_list(pilot: Pilot) -> Script:
            yield from pilot.goto("mail", "/folder/inbox")
            yield from pilot.click("link", subject)
            yield from pilot.click("link", words(pilot, "reply_all" if everybody else "reply"))
            yield from pilot.fill(words(pilot, "body"), text)
            yield from pilot.click("button", words(pilot, "send"))
            yield from pilot.finish()

        def new_mail(pilot: Pilot) -> Script:
            yield from compose(pilot, [sender.email], f"Re: {subject}", text)
            yield from pilot.finish()

        mutants = {
            "wrong_message": solver(decoy, text, everybody),
            "new_mail": new_mail,
            "wrong_text": solver(number, text.replace(hour, "18:20"), everybody),
        }
        if everybody:
            mutants["only_sender"] = solver(number, text, False)
        return WebDraft(
            box.plan,
            instruction,
            solver(number, text, everybody),
            changes=box.expected(box.sent([sender.email], text, cc=cc, thread=number)),
            alternatives={"by_list": by_list},
            mutants=mutants,
            turns=20,
        )


class ContactDetail(WebTemplate):
    """Change one detail of a contact that shares its name with another."""

    name: ClassVar[str] = "mail_contact"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw two contacts with the same name; the company identifies the right one."""
        box = Mailbox(scene, scene.plan("mail"))
        outside = box.outsiders(2)
        if len(outside) < 2:
            return None
        right, donor = outside
        phone = f"+44 161 {scene.rng.integers(200, 999)} {scene.rng.integers(1000, 9999)}"
        namesake = {"name": right["name"], "email": f"info.{donor['email']}"}
        twin = box.contact(namesake, donor["company"], donor["role"])
        if scene.level == "tiny":
            instruction = scene.say(
                f"Change the phone number of the contact {right['name']} of {right['company']} to "
                f"{phone}.",
                f"把{right['company']}的联系人{right['name']}的电话改为{phone}。",
            )
        else:
            box.add(
                right,
                scene.say("My new number", "我的新号码"),
                scene.say(
                    f"From Monday you reach me at {phone}. The old number is switched off.",
                    f"下周一起请拨打{phone}，旧号码停用。",
                ),
                box.ago(days=1),
            )
            instruction = scene.say(
                f"{right['name']} of {right['company']} has written that the phone number has "
                "changed. Bring the contact up to date.",
                f"{right['company']}的{right['name']}来信说电话换了，请更新通讯录。",
            )

        def edit(number: int, key: str, value: str) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("mail", f"/contacts/{number}")
                yield from pilot.fill(words(pilot, f"contact_{key}"), value)
                yield from pilot.click("button", pilot.words("mail", "save"))
                yield from pilot.finish()

            return solve

        def by_search(pilot: Pilot) -> Script:
            yield from pilot.goto("mail", f"/contacts?q={right['email']}")
            yield from pilot.click("link", right["name"])
            yield from pilot.fill(words(pilot, "contact_phone"), phone)
            yield from pilot.click("button", pilot.words("mail", "save"))
            yield from pilot.finish()

        return WebDraft(
            box.plan,
            instruction,
            edit(right["id"], "phone", phone),
            changes=changed("mail", "contacts", right["id"], phone=phone),
            alternatives={"by_search": by_search},
            mutants={
                "namesake": edit(twin, "phone", phone),
                "as_note": edit(right["id"], "note", phone),
                "wrong_number": edit(right["id"], "phone", phone[:-1] + "x"),
            },
            turns=15 if scene.level == "tiny" else 25,
        )


class Absence(WebTemplate):
    """Set the out-of-office reply according to an email."""

    name: ClassVar[str] = "mail_absence"
    levels: ClassVar[tuple[Level, ...]] = ("easy",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw days of leave, which a second email corrects, and a deputy."""
        box = Mailbox(scene, scene.plan("mail"))
        office, deputy = box.colleagues(2)
        first = box.start.date() + timedelta(days=int(scene.rng.integers(20, 40)))
        last = first + timedelta(days=int(scene.rng.integers(4, 12)))
        right = last + timedelta(days=int(scene.rng.integers(1, 4)))
        subject = scene.say("Your leave", "您的休假")
        thread = box.add(
            office,
            subject,
            scene.say(
                f"Your leave is approved: {first} to {last}, both days included.",
                f"您的休假已批准：{first}至{last}，含首尾两日。",
            ),
            box.ago(days=6),
        )
        box.add(
            office,
            scene.say("Re: Your leave", "回复：您的休假"),
            scene.say(
                f"I had overlooked the bridge day; your leave ends on {right}, the first day is "
                "as it "
                "was.",
                f"我漏算了调休：休假到{right}为止，首日不变。",
            ),
            box.ago(days=4),
            thread=thread,
        )
        text = scene.say(
            f"I am away. {deputy.name} answers for me.", f"我休假中，请联系{deputy.name}。"
        )
        instruction = scene.say(
            f"Switch on the absence note for the leave that {office.name} has approved by mail. "
            f"The text is exactly: {text} It goes to everybody, not only to contacts.",
            f"按{office.name}邮件批准的休假开启外出自动回复，内容只写：{text}发给所有人，而不仅是"
            "联系人。",
        )

        def solver(end: str, only: bool, on: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("mail", f"/threads/{thread}")
                yield from pilot.goto("mail", "/absence")
                if on:
                    yield from pilot.click("checkbox", words(pilot, "absence_enabled"))
                yield from pilot.fill(words(pilot, "first_day"), first.isoformat(), role="date")
                yield from pilot.fill(words(pilot, "last_day"), end, role="date")
                yield from pilot.fill(words(pilot, "absence_text"), text)
                if not only:
                    yield from pilot.click("checkbox", words(pilot, "contacts_only"))
                yield from pilot.click("button", pilot.words("mail", "save"))
                yield from pilot.finish()

            return solve

        def text_first(pilot: Pilot) -> Script:
            yield from pilot.goto("mail", f"/threads/{thread}")
            yield from pilot.goto("mail", "/absence")
            yield from pilot.fill(words(pilot, "absence_text"), text)
            yield from pilot.click("button", pilot.words("mail", "save"))
            yield from solver(right.isoformat(), False)(pilot)

        return WebDraft(
            box.plan,
            instruction,
            solver(right.isoformat(), False),
            changes=changed(
                "mail",
                "absence",
                1,
                enabled=1,
                first_day=first.isoformat(),
                last_day=right.isoformat(),
                text=text,
                contacts_only=0,
            ),
            evidence=(rf"mail\.hexathlon\.test/threads/{thread}$",),
            alternatives={"text_first": text_first},
            mutants={
                "old_end": solver(last.isoformat(), False),
                "contacts_only": solver(right.isoformat(), True),
                "switched_off": solver(right.isoformat(), False, on=False),
            },
            turns=25,
        )


TEMPLATES: tuple[WebTemplate, ...] = (OrganiseOne(), ReplyOne(), ContactDetail(), Absence())
