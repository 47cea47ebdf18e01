"""Work with contacts and messages."""

from typing import Any, ClassVar

from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.templates.draft import (
    GuiAnswer,
    GuiDraft,
    GuiScene,
    GuiTemplate,
    PhoneScript,
    UserFact,
    row_added,
    row_changed,
    rows_together,
)
from hexathlon.tasks.gui.world.kit.dates import MONTHS
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.system.plan import PhonePlan
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level

__all__ = ["TEMPLATES", "find_contact", "sent_message", "write_message"]


def find_contact(pilot: PhonePilot, name: str) -> Script:
    """Open a contact by searching for its name."""
    yield from pilot.open("contacts")
    yield from pilot.press("contacts", "search")
    yield from pilot.fill(pilot.words("contacts", "search"), name)
    yield from pilot.tap_entry(name)


def write_message(pilot: PhonePilot, to: str, text: str) -> Script:
    """Send a new message to a contact, given by name, or to a number."""
    yield from pilot.open("messages")
    yield from pilot.create("messages", "new_message")
    yield from pilot.fill(pilot.words("messages", "to"), to)
    if pilot.has("item", to):
        yield from pilot.tap("item", to)
    yield from pilot.fill(pilot.words("messages", "text"), text)
    yield from pilot.press("messages", "send")


def sent_message(scene: GuiScene, plan: PhonePlan, contact: PhoneRow, text: str) -> dict[str, Any]:
    """Expect a message to a contact, in the existing conversation or in a new one."""
    threads = [row for row in scene.rows(plan, "messages.threads")
               if row["number"] == contact["phone"]]  # fmt: skip
    new = {"name": contact["name"], "number": contact["phone"], "muted": False, "blocked": False}
    message = row_added("messages.messages", {
        "thread": threads[0]["id"] if threads else {"row": new}, "text": text, "mine": True,
        "file": "",
    })  # fmt: skip
    return message if threads else rows_together(message, row_added("messages.threads", new))


def unique_names(rows: list[PhoneRow]) -> list[PhoneRow]:
    """Return contacts no part of whose name occurs in another contact's."""
    return [row for row in rows
            if sum(row["name"] in other["name"] for other in rows) == 1]  # fmt: skip


class AddContact(GuiTemplate):
    """Create a contact with three properties."""

    name: ClassVar[str] = "contacts_add"
    levels: ClassVar[tuple[Level, ...]] = ("easy",)
    apps: ClassVar[tuple[str, ...]] = ("contacts",)

    def draw(self, scene: GuiScene) -> GuiDraft | None:
        """Draw a person whose name resembles one on the phone."""
        plan = scene.plan()
        rows = scene.rows(plan, "contacts.contacts")
        one, two = scene.sample(rows, 2)
        if scene.language == "zh":
            name = one["name"][0] + two["name"][1:]
        else:
            name = f"{one['name'].split()[0]} {two['name'].split()[-1]}"
        if any(row["name"] == name for row in rows):
            return None
        phone = f"{scene.number(500, 599)} {scene.number(1000, 9999)}"
        company = scene.say(f"Studio {scene.number(2, 60)}", f"第{scene.number(2, 60)}工作室")
        facts = {"name": name, "phone": phone, "company": company}

        def solver(*, save: bool = True, **other: str) -> PhoneScript:
            def solve(pilot: PhonePilot) -> Script:
                yield from pilot.open("contacts")
                yield from pilot.create("contacts", "new_contact")
                for field, value in {**facts, **other}.items():
                    yield from pilot.fill(pilot.words("contacts", field), value)
                if save:
                    yield from pilot.press("contacts", "save")
                yield from pilot.done()

            return solve

        def backwards(pilot: PhonePilot) -> Script:
            yield from pilot.open("contacts")
            yield from pilot.create("contacts", "new_contact")
            for field in ("company", "phone", "name"):
                yield from pilot.fill(pilot.words("contacts", field), facts[field])
            yield from pilot.press("contacts", "save")
            yield from pilot.done()

        row = {"email": "", "address": "", "birthday": "", "group": "", "note": "",
               "starred": False, **facts}  # fmt: skip
        return GuiDraft(
            plan,
            scene.say(f"Add a contact: {name}, number {phone}, works at {company}.",
                      f"新建联系人：{name}，电话{phone}，在{company}工作。"),
            solver(), changes=row_added("contacts.contacts", row),
            alternatives={"backwards": backwards},
            mutants={"unsaved": solver(save=False), "other_name": solver(name=one["name"]),
                     "no_company": solver(company="")},
        )  # fmt: skip


class SendText(GuiTemplate):
    """Send a message to a contact with a look-alike name."""

    name: ClassVar[str] = "messages_send"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")
    apps: ClassVar[tuple[str, ...]] = ("messages", "contacts")

    def draw(self, scene: GuiScene) -> GuiDraft | None:
        """Draw a contact and a text; at `medium`, the number must be looked up."""
        plan = scene.plan()
        rows = unique_names(scene.rows(plan, "contacts.contacts"))
        if len(rows) < 3:
            return None
        contact, near = scene.sample(rows, 2)
        place = scene.number(2, 48)
        text = scene.pick((
            scene.say(f"The keys are in box {place}", f"钥匙在{place}号箱里"),
            scene.say(f"Please bring {place} folding chairs", f"请带{place}把折叠椅"),
            scene.say(f"I have moved it to room {place}", f"我把它换到{place}号房间了"),
        ))  # fmt: skip
        who = contact["name"]
        described = scene.say(f"to {who}", f"给{who}")
        if scene.level == "medium":
            columns = [name for name in ("company", "address", "note") if contact[name]
                       and sum(row[name] == contact[name] for row in rows) == 1]  # fmt: skip
            if not columns:
                return None
            column = scene.pick(columns)
            said = {
                "company": (f"to whoever works at {contact[column]}",
                            f"给在{contact[column]}工作的人"),
                "address": (f"to the contact who lives at {contact[column]}",
                            f"给住在{contact[column]}的联系人"),
                "note": (f'to the contact with the note "{contact[column]}"',
                         f"给备注为“{contact[column]}”的联系人"),
            }[column]  # fmt: skip
            described = scene.say(*said)
            if sum(contact[column] in str(row[column]) for row in
                   scene.rows(plan, "contacts.contacts")) > 1:  # fmt: skip
                return None

        def solver(to: str = who, body: str = text) -> PhoneScript:
            def solve(pilot: PhonePilot) -> Script:
                if scene.level == "medium":
                    yield from pilot.open("contacts")
                    yield from pilot.press("contacts", "search")
                    yield from pilot.fill(pilot.words("contacts", "search"), contact[column])
                yield from write_message(pilot, to, body)
                yield from pilot.done()

            return solve

        def by_contact(pilot: PhonePilot) -> Script:
            yield from find_contact(pilot, who)
            yield from pilot.tap("button", pilot.words("contacts", "message"))
            yield from pilot.fill(pilot.words("messages", "text"), text)
            yield from pilot.press("messages", "send")
            yield from pilot.done()

        def unsent(pilot: PhonePilot) -> Script:
            yield from pilot.open("messages")
            yield from pilot.create("messages", "new_message")
            yield from pilot.fill(pilot.words("messages", "to"), who)
            yield from pilot.fill(pilot.words("messages", "text"), text)
            yield from pilot.done()

        return GuiDraft(
            plan,
            scene.say(f'Send a message {described}: "{text}"', f"发信息{described}：“{text}”"),
            solver(), changes=sent_message(scene, plan, contact, text),
            alternatives={"by_contact": by_contact},
            mutants={"other_person": solver(near["name"]), "unsent": unsent,
                     "shortened": solver(body=text[:-1])},
        )  # fmt: skip


class SetBirthday(GuiTemplate):
    """Set a contact's birthday and group; the user states the year when asked."""

    name: ClassVar[str] = "contacts_birthday"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)
    apps: ClassVar[tuple[str, ...]] = ("contacts",)

    def draw(self, scene: GuiScene) -> GuiDraft | None:
        """Draw a contact and a day."""
        plan = scene.plan()
        rows = unique_names(scene.rows(plan, "contacts.contacts"))
        contact, near = scene.sample([row for row in rows if row["birthday"]], 2)
        year, month, day = map(int, contact["birthday"].split("-"))
        told = f"{year + scene.pick((-2, -1, 1, 2))}-{month:02d}-{1 + (day + 8) % 28:02d}"
        group = scene.pick([name for name in ("family", "friends", "work")
                            if name != contact["group"]])  # fmt: skip
        shown = scene.word("contacts", group)
        spoken = scene.say(f"{int(told[8:])} {MONTHS[month - 1]}",
                           f"{month}月{int(told[8:])}日")  # fmt: skip

        def solver(to: str = contact["name"], when: str = told, *, ask: bool = True,
                   save: bool = True) -> PhoneScript:  # fmt: skip
            def solve(pilot: PhonePilot) -> Script:
                yield from find_contact(pilot, to)
                if ask:
                    yield from pilot.act(
                        "ask_user",
                        question=scene.say(
                            "In which year was the person born?", "这个人是哪一年出生的？"
                        ),
                    )
                    yield from pilot.act("wait")
                yield from pilot.press("contacts", "edit")
                yield from pilot.pick_day(pilot.words("contacts", "birthday"), when)
                yield from pilot.choose(pilot.words("contacts", "group"),
                                        pilot.words("contacts", group))  # fmt: skip
                if save:
                    yield from pilot.press("contacts", "save")
                yield from pilot.done()

            return solve

        same_year = f"{year}{told[4:]}"
        return GuiDraft(
            plan,
            scene.say(
                f"The birthday of {contact['name']} is wrong, the day and the year: it is "
                f"{spoken}. Correct it, and put the contact into the group {shown}.",
                f"{contact['name']}的生日不对，日期和年份都错了：应该是{spoken}。"
                f"请更正，并把该联系人放入“{shown}”群组。",
            ),
            solver(),
            changes=row_changed("contacts.contacts", contact["id"], birthday=told, group=group),
            facts=(UserFact(("year", "born", "age", "哪一年", "年份", "哪年", "出生"),
                            scene.say(f"The year is {told[:4]}.", f"是{told[:4]}年。")),),
            alternatives={"unasked": solver(ask=False)},
            mutants={"same_year": solver(when=same_year), "unsaved": solver(save=False),
                     "other_person": solver(near["name"])},
            turns=60,
        )  # fmt: skip


class SaveCaller(GuiTemplate):
    """Save the unknown number of a conversation as a contact, unless it is already saved."""

    name: ClassVar[str] = "messages_save_number"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)
    apps: ClassVar[tuple[str, ...]] = ("messages", "contacts")
    twins: ClassVar[bool] = True

    def draw(self, scene: GuiScene) -> GuiDraft | None:
        """Draw a conversation with a number; in one twin, a contact has it under another name."""
        plan = scene.plan()
        threads = [row for row in scene.rows(plan, "messages.threads") if not row["name"]]
        contacts = unique_names(scene.rows(plan, "contacts.contacts"))
        holder = scene.pick(contacts)
        thread = scene.pick(threads)
        number = thread["number"]
        messages = [row for row in scene.rows(plan, "messages.messages")
                    if row["thread"] == thread["id"]]  # fmt: skip
        code = scene.number(100, 999)
        text = scene.say(f"Your lamp is ready, order {code}. The workshop",
                         f"您的台灯修好了，订单{code}。修理店")  # fmt: skip
        edits = [("messages.messages", "put", {**messages[-1], "text": text})]
        if not scene.feasible:
            edits.append(("contacts.contacts", "put", {"id": holder["id"], "phone": number}))
        plan = plan.with_edits(edits)
        name = scene.say(f"Lamp workshop {scene.number(2, 30)}", f"台灯修理店{scene.number(2, 30)}")

        def solver(saved_as: str = name, *, save: bool = True) -> PhoneScript:
            def solve(pilot: PhonePilot) -> Script:
                yield from pilot.open("contacts")
                yield from pilot.press("contacts", "search")
                yield from pilot.fill(pilot.words("contacts", "search"), number)
                if not scene.feasible and saved_as == name:
                    yield from pilot.refuse(holder["name"], "conflict")
                    return
                yield from pilot.open("messages")
                yield from pilot.tap_entry(number)
                yield from pilot.press("messages", "add_contact")
                yield from pilot.fill(pilot.words("contacts", "name"), saved_as)
                if save:
                    yield from pilot.press("contacts", "save")
                yield from pilot.done()

            return solve

        def by_hand(pilot: PhonePilot) -> Script:
            if not scene.feasible:
                yield from pilot.refuse(holder["name"], "not_possible")
                return
            yield from pilot.open("contacts")
            yield from pilot.create("contacts", "new_contact")
            yield from pilot.fill(pilot.words("contacts", "name"), name)
            yield from pilot.fill(pilot.words("contacts", "phone"), number)
            yield from pilot.press("contacts", "save")
            yield from pilot.done()

        def other_number(pilot: PhonePilot) -> Script:
            yield from pilot.open("contacts")
            yield from pilot.create("contacts", "new_contact")
            yield from pilot.fill(pilot.words("contacts", "name"), name)
            yield from pilot.fill(pilot.words("contacts", "phone"), holder["phone"])
            yield from pilot.press("contacts", "save")
            yield from pilot.done()

        def wrong_side(pilot: PhonePilot) -> Script:
            if scene.feasible:
                yield from pilot.refuse(holder["name"])
            else:
                yield from pilot.done()

        row = {"name": name, "phone": number, "email": "", "company": "", "address": "",
               "birthday": "", "group": "", "note": "", "starred": False}  # fmt: skip
        return GuiDraft(
            plan,
            scene.say(
                f"Somebody wrote that my lamp is ready, order {code}. Save that number as "
                f'"{name}", but only if no contact has it; no number may be in the contacts twice.',

                f"有人写信说我的台灯修好了，订单{code}。如果通讯录里还没有这个号码，"
                f"请把它存为“{name}”；同一号码不能存两次。",
            ),
            solver(),
            changes=row_added("contacts.contacts", row) if scene.feasible else {},
            answer=GuiAnswer() if scene.feasible else GuiAnswer("infeasible", None, holder["name"]),
            alternatives={"by_hand": by_hand},
            mutants={"other_name": solver(f"{name} 2"), "other_number": other_number,
                     "wrong_side": wrong_side},
            turns=50,
        )  # fmt: skip


TEMPLATES: tuple[GuiTemplate, ...] = (AddContact(), SendText(), SetBirthday(), SaveCaller())
