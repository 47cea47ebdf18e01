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
        """Draw a note with a unique title."""
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
    """Send one line of a note to a contact, word for word."""

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
    """Six consecutive requests; later ones use and correct the results of earlier ones."""

    name: ClassVar[str] = "notes_morning"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)
    apps: ClassVar[tuple[str, ...]] = ("notes", "messages", "contacts", "settings")

    def draw(self, scene: GuiScene) -> GuiDraft | None:
        """Draw a note to write, a contact to change, and a message about both."""
        plan = scene.plan()
        contacts = [row for row in unique_names(scene.rows(plan, "contacts.contacts"))
                    if row["company"]]  # fmt: skip
        if len(contacts) < 3:
            return None
        one, two, three = scene.sample(contacts, 3)
        stock = scene.number(12, 88)
        title = scene.say(f"Stock {scene.number(100, 999)}", f"库存{scene.number(100, 999)}")
        front, ending = scene.number(600, 699), scene.number(1000, 9999)
        wrong = f"{front} {(ending - 999) % 9000 + 1000}"
        phone = f"{front} {ending}"
        code = scene.number(1000, 9999)
        body = scene.say(f"{stock} crates", f"{stock}箱")
        total = stock + 7
        after = scene.say(f"{total} crates", f"{total}箱")
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
        first = sent_message(scene, plan, two, sent)
        second = sent_message(scene, plan, three, after)
        # `part` is the final result of a request, `then` the state that it asked for.
        kept = {"title": title, "label": "work", "pinned": False, "archived": False}
        note = row_added("notes.notes", {**kept, "text": after, "archived": True})
        contact = row_changed("contacts.contacts", one["id"], phone=phone)
        parts = (note, contact, first, note, contact, rows_together(second, note))
        arrived = row_added("messages.messages", {
            "thread": boss["id"], "text": late, "mine": False, "file": "",
        })  # fmt: skip

        def set_number(pilot: PhonePilot, number: str) -> Script:
            yield from pilot.open("contacts")
            yield from pilot.press("contacts", "search")
            yield from pilot.fill(pilot.words("contacts", "search"), one["name"])
            yield from pilot.tap_entry(one["name"])
            yield from pilot.press("contacts", "edit")
            yield from pilot.fill(pilot.words("contacts", "phone"), number)
            yield from pilot.press("contacts", "save")

        def open_note(pilot: PhonePilot) -> Script:
            yield from pilot.open("notes")
            yield from pilot.press("notes", "search")
            yield from pilot.fill(pilot.words("notes", "search"), title)
            yield from pilot.tap_entry(title)

        def solver(
            text: str = sent, number: str = phone, who: str = two["name"], last: str = after,
            *, archive: bool = True,
        ) -> PhoneScript:  # fmt: skip
            def solve(pilot: PhonePilot) -> Script:
                yield from pilot.open("notes")
                yield from pilot.create("notes", "new_note")
                yield from pilot.fill(pilot.words("notes", "title"), title)
                yield from pilot.fill(pilot.words("notes", "text"), body)
                yield from pilot.choose(pilot.words("notes", "labels"),
                                        pilot.words("notes", "work_label"))  # fmt: skip
                yield from pilot.press("notes", "save")
                yield from pilot.done()
                yield from set_number(pilot, wrong)
                yield from pilot.done()
                yield from pilot.open("messages")
                yield from pilot.tap_entry(boss["name"])
                yield from write_message(pilot, who, text)
                yield from pilot.done()
                yield from open_note(pilot)
                yield from pilot.press("notes", "edit")
                yield from pilot.fill(pilot.words("notes", "text"), last)
                yield from pilot.press("notes", "save")
                yield from pilot.done()
                yield from set_number(pilot, number)
                yield from pilot.done()
                if archive:
                    yield from open_note(pilot)
                    yield from pilot.press("notes", "archive")
                yield from write_message(pilot, three["name"], last)
                yield from pilot.done()

            return solve

        requests = (
            GuiRequest(
                scene.say(f'Make a note "{title}" with the text "{body}" and the label Work.',
                          f"新建笔记“{title}”，正文“{body}”，标签为“工作”。"), part=parts[0],
                then=row_added("notes.notes", {**kept, "text": body})),
            GuiRequest(
                scene.say(f"{one['name']} has a new number: {wrong}. Put it into the contacts.",
                          f"{one['name']}换号码了：{wrong}。请更新通讯录。"), part=parts[1],
                then=row_changed("contacts.contacts", one["id"], phone=wrong)),
            GuiRequest(
                scene.say(
                    f"{boss['name']} has just written that more crates came. Send "
                    f'{two["name"]} the new total and the code, in this form: '
                    '"12 crates, ask for 34".',
                    f"{boss['name']}刚写信说又来了几箱。请把新的总数和口令发给{two['name']}，"
                    "格式为“12箱，请报34”。"),
                edits=(news,),
                notices=({"app": "messages", "title": boss["name"], "text": late,
                          "screen": "thread", "params": {"id": boss["id"]}},),
                part=parts[2]),
            GuiRequest(scene.say(
                "Correct the note as well: its text is the new total, in the form it has now.",
                "笔记也请更正：正文改为新的总数，格式不变。"), part=parts[3],
                then=row_added("notes.notes", {**kept, "text": after})),
            GuiRequest(scene.say(
                f"I gave you a wrong number: that of {one['name']} ends in {ending}. What stands "
                "before the space is right.",
                f"我给错号码了：{one['name']}的号码末四位是{ending}，空格前的部分没错。"),
                part=parts[4]),
            GuiRequest(scene.say(
                f"Archive the note about the stock, and send {three['name']} a message with its "
                "text, nothing else.",
                f"请把库存笔记归档，再把它的正文发信息给{three['name']}，不要多写。"),
                part=parts[5]),
        )  # fmt: skip
        intro = scene.say("Several things this morning, one after the other. Report the status "
                          "after each.",
                          "今天上午有几件事，依次进行。每件做完请报告状态。")  # fmt: skip

        def by_shade(pilot: PhonePilot) -> Script:
            script = solver()(pilot)
            yield from script

        return GuiDraft(
            plan, intro, solver(), changes=rows_together(note, contact, first, second, arrived),
            answer=GuiAnswer(), requests=requests, alternatives={"again": by_shade},
            mutants={
                "old_total": solver(scene.say(f"{stock} crates, ask for {code}",
                                              f"{stock}箱，请报{code}")),
                "old_number": solver(number=wrong),
                "other_person": solver(who=three["name"]),
                "old_note": solver(last=body),
                "not_archived": solver(archive=False),
            },
            turns=140,
        )  # fmt: skip


TEMPLATES: tuple[GuiTemplate, ...] = (DeleteNote(), PassOnLine(), MorningShift())
