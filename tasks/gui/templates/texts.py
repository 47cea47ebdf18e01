"""Work with notes, alone and with messages."""

from typing import ClassVar

from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.templates.draft import (
    GuiAnswer,
    GuiDraft,
    GuiRequest,
    GuiScene,
    GuiTemplate,
    PhoneScript,
    row_added,
    row_changed,
    row_removed,
    rows_together,
)
from hexathlon.tasks.gui.templates.people import sent_message, unique_names, write_message
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level

__all__ = ["TEMPLATES"]


class DeleteNote(GuiTemplate):
    """Delete one of several notes with similar titles."""

    name: ClassVar[str] = "notes_delete"
    levels: ClassVar[tuple[Level, ...]] = ("easy",)
    apps: ClassVar[tuple[str, ...]] = ("notes",)

    def draw(self, scene: GuiScene) -> GuiDraft | None:
        """Draw a note whose title is that of no other."""
        plan = scene.plan()
        rows = scene.rows(plan, "notes.notes")
        shown = [row for row in rows if not row["archived"]
                 and sum(row["title"] == other["title"] for other in rows) == 1]  # fmt: skip
        if len(shown) < 2:
            return None
        row, near = scene.sample(shown, 2)

        def solver(title: str = row["title"], press: str = "delete") -> PhoneScript:
            def solve(pilot: PhonePilot) -> Script:
                yield from pilot.open("notes")
                yield from pilot.tap_entry(title)
                yield from pilot.press("notes", "delete")
                yield from pilot.tap("button", pilot.words("notes", press))
                yield from pilot.done()

            return solve

        def by_search(pilot: PhonePilot) -> Script:
            yield from pilot.open("notes")
            yield from pilot.press("notes", "search")
            yield from pilot.fill(pilot.words("notes", "search"), row["title"])
            yield from pilot.tap_entry(row["title"])
            yield from pilot.press("notes", "delete")
            yield from pilot.tap("button", pilot.words("notes", "delete"))
            yield from pilot.done()

        def archived(pilot: PhonePilot) -> Script:
            yield from pilot.open("notes")
            yield from pilot.tap_entry(row["title"])
            yield from pilot.press("notes", "archive")
            yield from pilot.done()

        return GuiDraft(
            plan, scene.say(f'Delete the note "{row["title"]}".', f"删除笔记“{row['title']}”。"),
            solver(), changes=row_removed("notes.notes", row["id"]),
            alternatives={"by_search": by_search},
            mutants={"other": solver(near["title"]), "cancelled": solver(press="cancel"),
                     "archived": archived},
        )  # fmt: skip


class PassOnLine(GuiTemplate):
    """Send one line of a note to a contact, word by word."""

    name: ClassVar[str] = "notes_pass_on"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)
    apps: ClassVar[tuple[str, ...]] = ("notes", "messages")

    def draw(self, scene: GuiScene) -> GuiDraft | None:
        """Draw a note with several lines, and a contact."""
        plan = scene.plan()
        rows = scene.rows(plan, "notes.notes")
        notes = [row for row in rows if row["text"].count("\n") >= 2
                 and sum(row["title"] in other["title"] for other in rows) == 1]  # fmt: skip
        contacts = unique_names(scene.rows(plan, "contacts.contacts"))
        if not notes or len(contacts) < 2:
            return None
        note = scene.pick(notes)
        contact, near = scene.sample(contacts, 2)
        lines = note["text"].split("\n")
        place, other = scene.sample(range(len(lines)), 2)
        line = lines[place]
        last = place == len(lines) - 1
        ordinal = scene.say(("first", "second", "third", "fourth", "fifth")[place],
                            f"第{'一二三四五'[place]}")  # fmt: skip
        if last:
            ordinal = scene.say("last", "最后一")
        more = bool(scene.number(0, 1))
        text = f"{line} ({note['title']})" if more else line
        wish = scene.say(
            ", followed by the note's title in parentheses" if more else "",
            "，后面加一个空格，再在英文括号里写上笔记标题" if more else "",
        )

        def solver(to: str = contact["name"], body: str = text) -> PhoneScript:
            def solve(pilot: PhonePilot) -> Script:
                yield from pilot.open("notes")
                yield from pilot.press("notes", "search")
                yield from pilot.fill(pilot.words("notes", "search"), note["title"])
                yield from pilot.tap_entry(note["title"])
                yield from write_message(pilot, to, body)
                yield from pilot.done()

            return solve

        def by_share(pilot: PhonePilot) -> Script:
            yield from pilot.open("notes")
            yield from pilot.press("notes", "search")
            yield from pilot.fill(pilot.words("notes", "search"), note["title"])
            yield from pilot.tap_entry(note["title"])
            yield from pilot.press("notes", "share")
            yield from pilot.tap_entry(pilot.words("messages", "app_title"))
            yield from pilot.fill(pilot.words("messages", "to"), contact["name"])
            if pilot.has("item", contact["name"]):
                yield from pilot.tap("item", contact["name"])
            yield from pilot.fill(pilot.words("messages", "text"), text)
            yield from pilot.press("messages", "send")
            yield from pilot.done()

        wrong = f"{lines[other]} ({note['title']})" if more else lines[other]
        return GuiDraft(
            plan,
            scene.say(f'Send {contact["name"]} the {ordinal} line of my note "{note["title"]}", '
                      f"word by word{wish}, and nothing more.",
                      f"把我的笔记“{note['title']}”的{ordinal}行原样发给{contact['name']}{wish}，"
                      "不要多写。"),
            solver(), changes=sent_message(scene, plan, contact, text),
            alternatives={"by_share": by_share},
            mutants={"other_line": solver(body=wrong), "other_person": solver(near["name"]),
                     "whole_note": solver(body=note["text"].replace("\n", " "))},
            turns=50,
        )  # fmt: skip


class MorningShift(GuiTemplate):
    """Three requests, one after the other, the last of which depends on the first."""

    name: ClassVar[str] = "notes_morning"
    levels: ClassVar[tuple[Level, ...]] = ("hard",)
    apps: ClassVar[tuple[str, ...]] = ("notes", "messages", "contacts", "settings")

    def draw(self, scene: GuiScene) -> GuiDraft | None:
        """Draw a note to write, a contact to change, and a message about both."""
        plan = scene.plan()
        contacts = [row for row in unique_names(scene.rows(plan, "contacts.contacts"))
                    if row["company"]]  # fmt: skip
        if len(contacts) < 3:
            return None
        one, two = scene.sample(contacts, 2)
        stock = scene.number(12, 88)
        title = scene.say(f"Stock {scene.number(100, 999)}", f"库存{scene.number(100, 999)}")
        phone = f"{scene.number(600, 699)} {scene.number(1000, 9999)}"
        code = scene.number(1000, 9999)
        body = scene.say(f"{stock} crates", f"{stock}箱")
        total = stock + 7
        sent = scene.say(f"{total} crates, ask for {code}", f"{total}箱，请报{code}")
        late = scene.say(f"We got 7 more crates. Ask for {code} at the gate.",
                         f"又到了7箱。到门口请报{code}。")  # fmt: skip
        threads = [row for row in scene.rows(plan, "messages.threads") if row["name"]]
        boss = scene.pick(threads)
        key = scene.next_key(plan, "messages.messages")
        news = ("messages.messages", "put", {
            "id": key, "thread": boss["id"], "text": late, "mine": False, "time": "NOW",
            "file": "",
        })  # fmt: skip
        parts = (
            row_added("notes.notes", {"title": title, "text": body, "label": "work",
                                      "pinned": False, "archived": False}),
            row_changed("contacts.contacts", one["id"], phone=phone),
            sent_message(scene, plan, two, sent),
        )  # fmt: skip
        arrived = row_added("messages.messages", {
            "thread": boss["id"], "text": late, "mine": False, "file": "",
        })  # fmt: skip

        def solver(text: str = sent, number: str = phone, who: str = two["name"]) -> PhoneScript:
            def solve(pilot: PhonePilot) -> Script:
                yield from pilot.open("notes")
                yield from pilot.create("notes", "new_note")
                yield from pilot.fill(pilot.words("notes", "title"), title)
                yield from pilot.fill(pilot.words("notes", "text"), body)
                yield from pilot.choose(pilot.words("notes", "labels"),
                                        pilot.words("notes", "work_label"))  # fmt: skip
                yield from pilot.press("notes", "save")
                yield from pilot.done()
                yield from pilot.open("contacts")
                yield from pilot.press("contacts", "search")
                yield from pilot.fill(pilot.words("contacts", "search"), one["name"])
                yield from pilot.tap_entry(one["name"])
                yield from pilot.press("contacts", "edit")
                yield from pilot.fill(pilot.words("contacts", "phone"), number)
                yield from pilot.press("contacts", "save")
                yield from pilot.done()
                yield from pilot.open("messages")
                yield from pilot.tap_entry(boss["name"])
                yield from write_message(pilot, who, text)
                yield from pilot.done()

            return solve

        requests = (
            GuiRequest(
                scene.say(f'Make a note "{title}" with the text "{body}" and the label Work.',
                          f"新建笔记“{title}”，正文“{body}”，标签为“工作”。"), part=parts[0]),
            GuiRequest(
                scene.say(f"{one['name']} has a new number: {phone}. Put it into the contacts.",
                          f"{one['name']}换号码了：{phone}。请更新通讯录。"), part=parts[1]),
            GuiRequest(
                scene.say(
                    f"{boss['name']} has just written how many crates came on top. Send "
                    f'{two["name"]} the new total and the code, in this form: '
                    '"12 crates, ask for 34".',
                    f"{boss['name']}刚写信说又来了几箱。请把新的总数和口令发给{two['name']}，"
                    "格式为“12箱，请报34”。"),
                edits=(news,),
                notice={"app": "messages", "title": boss["name"], "text": late,
                        "screen": "thread", "params": {"id": boss["id"]}},
                part=parts[2]),
        )  # fmt: skip
        intro = scene.say("Three things this morning, one after the other. Report the status after "
                          "each.", "今天上午有三件事，依次进行。每件做完请报告状态。")  # fmt: skip

        def by_shade(pilot: PhonePilot) -> Script:
            script = solver()(pilot)
            yield from script

        return GuiDraft(
            plan, intro, solver(), changes=rows_together(*parts, arrived),
            answer=GuiAnswer(), requests=requests, alternatives={"again": by_shade},
            mutants={
                "old_total": solver(scene.say(f"{stock} crates, ask for {code}",
                                              f"{stock}箱，请报{code}")),
                "old_number": solver(number=one["phone"]),
                "other_person": solver(who=one["name"]),
            },
            turns=70,
        )  # fmt: skip


TEMPLATES: tuple[GuiTemplate, ...] = (DeleteNote(), PassOnLine(), MorningShift())
