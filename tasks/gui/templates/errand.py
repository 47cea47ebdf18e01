"""Templates written as operations: facts are drawn, operations listed, the rest is derived.

From the operations of a task follow its script, the expected changes, an alternative, and near
misses that leave one operation out or do nothing. A template adds near misses of its own, which
name the mistake: the similar person, the older price, the day before.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from hexathlon.tasks.gui.operations.finding import read_tab
from hexathlon.tasks.gui.operations.operation import (
    OperationScript,
    PhoneOperation,
    answering,
    done,
    in_sequence,
    outcome,
    refusing,
    tolerant,
)
from hexathlon.tasks.gui.templates.draft import (
    GuiAnswer,
    GuiDraft,
    GuiScene,
    GuiTemplate,
    UserFact,
)
from hexathlon.tasks.gui.templates.scripts import CONTACT_TEXTS, MAIL_TEXTS, template
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.system.plan import TimedEvent
from hexathlon.tasks.task import Level

__all__ = ["Errand", "NoErrand", "errand"]


class NoErrand(Exception):
    """This phone allows no task of the kind; another draw follows."""


def errand(
    name: str, *levels: Level, apps: str, twins: bool = False
) -> Callable[[Callable[["Errand"], GuiDraft]], GuiTemplate]:
    """Return a decorator that turns a function that draws a task into a template.

    Args:
        name: Its name.
        levels: Its levels.
        apps: The apps whose state decides, separated by spaces.
        twins: Whether one task of each pair is infeasible.
    """

    def made(draw: Callable[[Errand], GuiDraft]) -> GuiTemplate:
        @functools.wraps(draw)
        def drawn(scene: GuiScene) -> GuiDraft | None:
            try:
                return draw(Errand(scene))
            except NoErrand:
                return None

        return template(name, *levels, apps=apps.split(), twins=twins)(drawn)

    return made


class Errand:
    """A task being drawn: the phone with its edits, and the draws.

    Args:
        scene: Source of the draws.
    """

    def __init__(self, scene: GuiScene) -> None:
        self.scene = scene
        self.plan = scene.plan()
        self.level, self.feasible = scene.level, scene.feasible
        self.language = scene.language
        self.pick, self.sample, self.number = scene.pick, scene.sample, scene.number
        self.say, self.word, self.day_words = scene.say, scene.word, scene.day_words

    # The phone ---------------------------------------------------------------------------------

    @property
    def today(self) -> str:
        """The date on which the phone starts."""
        return self.plan.start[:10]

    def day(self, offset: int) -> str:
        """Return the day `offset` days after today."""
        return self.scene.day(self.plan, offset)

    def rows(self, table: str) -> list[PhoneRow]:
        """Return the rows of a table, edits included."""
        return self.scene.rows(self.plan, table)

    def put(self, table: str, row: PhoneRow | None = None, /, **columns: Any) -> PhoneRow:
        """Change a row at the start, or add one if there is none; return it."""
        key = row["id"] if row is not None else self.scene.next_key(self.plan, table)
        written = {**(row or {}), **columns, "id": key}
        self.plan = self.plan.with_edits([(table, "put", written)])
        return written

    def drop(self, table: str, *rows: PhoneRow) -> None:
        """Remove rows at the start."""
        self.plan = self.plan.with_edits([(table, "drop", row["id"]) for row in rows])

    def ring(self, after: int) -> None:
        """Let a contact call after a number of actions."""
        caller = self.pick(self.rows("contacts.contacts"))
        event = TimedEvent(after, call={"name": caller["name"], "number": caller["phone"]})
        self.plan = replace(self.plan, events=(*self.plan.events, event))

    def notify(self, after: int, app: str, title: str, text: str) -> None:
        """Post a notification after a number of actions."""
        event = TimedEvent(after, notice={"app": app, "title": title, "text": text})
        self.plan = replace(self.plan, events=(*self.plan.events, event))

    # Draws -------------------------------------------------------------------------------------

    def need(self, condition: object) -> None:
        """Give this phone up unless a condition holds.

        Raises:
            NoErrand: If it does not hold.
        """
        if not condition:
            raise NoErrand

    def choose(self, rows: Sequence[PhoneRow], count: int) -> list[PhoneRow]:
        """Draw distinct rows, all of which must exist."""
        self.need(len(rows) >= count)
        return self.sample(rows, count)

    def unique(self, table: str, *columns: str) -> list[PhoneRow]:
        """Return rows whose first column's text occurs in no other row, as searches find it."""
        rows = self.rows(table)
        texts = [" ".join(str(row[name]) for name in columns).casefold() for row in rows]
        return [row for row in rows
                if sum(str(row[columns[0]]).casefold() in text for text in texts) == 1]  # fmt: skip

    def people(self, count: int, *columns: str) -> list[PhoneRow]:
        """Draw contacts with unique names that have all of the given columns."""
        rows = [row for row in self.unique("contacts.contacts", "name")
                if all(row[column] for column in columns)]  # fmt: skip
        return self.choose(rows, count)

    def described(self, person: PhoneRow) -> tuple[str, str] | None:
        """Describe a contact by a unique company, address or note instead of the name."""
        rows = self.rows("contacts.contacts")
        told = {
            "company": ("the contact who works at {}", "在{}工作的联系人"),
            "address": ("the contact who lives at {}", "住在{}的联系人"),
            "note": ('the contact with the note "{}"', "备注为“{}”的联系人"),
        }
        for column in self.sample(tuple(told), 3):
            text = str(person[column])
            holders = [row for row in rows if text.casefold() in " ".join(
                str(row[name]) for name in CONTACT_TEXTS).casefold()]  # fmt: skip
            if text and len(holders) == 1:
                return told[column][0].format(text), told[column][1].format(text)
        return None

    def mails(self, count: int, *folders: str) -> list[PhoneRow]:
        """Draw emails from others whose subjects no other email contains."""
        rows = [row for row in self.unique("mail.mails", "subject", *MAIL_TEXTS)
                if row["name"] and row["folder"] in (folders or ("inbox",))]  # fmt: skip
        return self.choose(rows, count)

    def notes(self, count: int) -> list[PhoneRow]:
        """Draw notes with unique titles that are not archived."""
        rows = [row for row in self.unique("notes.notes", "title", "text") if not row["archived"]]
        return self.choose(rows, count)

    def tasks(self, count: int) -> list[PhoneRow]:
        """Draw open tasks with unique titles and without steps."""
        stepped = {row["task"] for row in self.rows("tasks.steps")}
        rows = [row for row in self.unique("tasks.tasks", "title", "note")
                if not row["done"] and row["id"] not in stepped]  # fmt: skip
        return self.choose(rows, count)

    def events(self, count: int) -> list[PhoneRow]:
        """Draw later one-off events with a time and a unique title."""
        rows = [row for row in self.unique("calendar.events", "title", "place", "guests", "note")
                if row["day"] > self.today
                and not (row["all_day"] or row["repeat"])]  # fmt: skip
        return self.choose(rows, count)

    def places(self, count: int, *kinds: str) -> list[PhoneRow]:
        """Draw places with unique names that are not saved."""
        saved = {row["place"] for row in self.rows("maps.saved")}
        rows = [row for row in self.unique("maps.places", "name", "address")
                if row["id"] not in saved and (not kinds or row["kind"] in kinds)]  # fmt: skip
        return self.choose(rows, count)

    def payees(self, count: int) -> list[PhoneRow]:
        """Draw payees with unique names."""
        return self.choose(self.unique("bank.payees", "name"), count)

    def files(self, count: int, *kinds: str) -> list[PhoneRow]:
        """Draw files with unique names that are not in the bin."""
        rows = [row for row in self.unique("files.files", "name", "text")
                if not row["trashed"] and (not kinds or row["kind"] in kinds)]  # fmt: skip
        return self.choose(rows, count)

    def photos(self, count: int) -> list[PhoneRow]:
        """Draw photos that are not in the bin and are no receipts."""
        rows = [row for row in self.rows("gallery.photos")
                if not row["trashed"] and row["kind"] != "receipt"]  # fmt: skip
        return self.choose(rows, count)

    def paid(self, count: int) -> list[PhoneRow]:
        """Draw card payments whose amounts are unique in the bank."""
        rows = self.rows("bank.entries")
        amounts = [abs(row["amount"]) for row in rows]
        return self.choose([row for row in rows if row["kind"] == "card" and not row["disputed"]
                            and amounts.count(abs(row["amount"])) == 1], count)  # fmt: skip

    def thread(self) -> PhoneRow:
        """Draw a conversation with a contact whose name is unique."""
        known = {row["phone"] for row in self.unique("contacts.contacts", "name")}
        rows = [row for row in self.rows("messages.threads") if row["number"] in known]
        return self.choose(rows, 1)[0]

    def tell(self, thread: PhoneRow, text: str) -> None:
        """Add a message from the other side to a conversation, the newest of this morning."""
        at = datetime.fromisoformat(f"{self.today} 07:{self.number(10, 50)}")
        times = [datetime.fromisoformat(row["time"]) for row in self.rows("messages.messages")
                 if row["thread"] == thread["id"] and row["time"][:10] == self.today]  # fmt: skip
        if times:
            at = max(at, max(times) + timedelta(minutes=1))
        self.need(at <= datetime.fromisoformat(self.plan.start))
        self.put("messages.messages", thread=thread["id"], text=text, mine=False, file="",
                 time=at.isoformat(" ", "minutes"))  # fmt: skip

    def task(
        self, request: tuple[str, str], *operations: PhoneOperation,
        wrong: Mapping[str, Sequence[PhoneOperation]] | None = None,
        answer: Sequence[object] = (), wrong_answers: Mapping[str, Sequence[object]] | None = None,
        record: str = "", other_record: str = "", facts: Sequence[UserFact] = (),
        ordered: bool = True, turns: int = 0,
    ) -> GuiDraft:  # fmt: skip
        """Build the task.

        Args:
            request: The request, in English and in Chinese.
            operations: What is to be done, reading included, in the oracle's order.
            wrong: Near misses: operations by the name of the mistake.
            answer: Values to answer with.
            wrong_answers: Near misses of the answer.
            record: The entry that stands in the way on the infeasible side.
            other_record: Another entry, for a near miss; by default the title of the request's app.
            facts: What the user knows.
            ordered: Whether the order of the answer's values matters.
            turns: Budget of actions; by default generous.
        """
        refused = bool(record) and not self.feasible
        reads = [each for each in operations if each.effect is None]
        works = [] if refused else [each for each in operations if each.effect is not None]
        changes = self._outcome(works)
        self.need(changes or answer or refused)
        end = refusing(record) if refused else answering(answer) if answer else done
        right = reads if refused else list(operations)
        misses = self._misses(works, wrong or {}, changes, end)
        for name, values in (wrong_answers or {}).items():
            self.need([*map(str, values)] != [*map(str, answer)])
            misses[name] = in_sequence(*works, answering(values))
        if answer:
            misses["silent"] = in_sequence(*works, done)
        if record:
            all_works = [each for each in operations if each.effect is not None]
            misses["wrong_side"] = tolerant(
                in_sequence(*all_works, done) if refused else refusing(record)
            )
            misses["other_record"] = refusing(other_record or self.today)
            if refused:
                misses["claimed"] = in_sequence(*reads, done)
        around = read_tab("clock", "world")
        shortcut = in_sequence(*works, end) if reads else in_sequence(around, *right, end)
        return GuiDraft(
            self.plan, self.say(*request), in_sequence(*right, end), changes=changes,
            answer=GuiAnswer("infeasible", None, record) if refused else GuiAnswer(
                data=tuple(answer) or None, ordered=ordered),
            facts=tuple(facts), alternatives={"shortcut" if reads else "detour": shortcut},
            mutants=misses, turns=turns or 30 + 18 * len(operations),
        )  # fmt: skip

    def _outcome(self, operations: Sequence[PhoneOperation]) -> dict[str, Any]:
        try:
            return outcome(self.plan, operations)
        except KeyError:
            raise NoErrand from None

    def _misses(
        self, works: Sequence[PhoneOperation], wrong: Mapping[str, Sequence[PhoneOperation]],
        changes: Mapping[str, Any], end: OperationScript,
    ) -> dict[str, OperationScript]:  # fmt: skip
        """Return near misses whose outcome differs from the expected changes."""
        misses: dict[str, OperationScript] = {}
        for name, operations in wrong.items():
            self.need(self._outcome(operations) != changes)
            misses[name] = tolerant(in_sequence(*operations, end))
        if len(works) > 1:
            for place in range(len(works)):
                rest = [*works[:place], *works[place + 1 :]]
                misses[f"without_{place + 1}"] = tolerant(in_sequence(*rest, end))
        if works:
            misses["nothing"] = end
        return misses
