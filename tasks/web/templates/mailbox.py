"""Shared parts of mail templates: emails added to a world, expected emails, and steps."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from hexathlon.tasks.source import Script
from hexathlon.tasks.web.pilot import ElementMissing, Pilot
from hexathlon.tasks.web.templates.draft import WebScene, added
from hexathlon.tasks.web.world.network import Edit, WorldPlan
from hexathlon.tasks.web.world.people import Person
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["Mailbox", "compose", "forward", "organise", "reply", "send", "tick", "words"]

_STEP = timedelta(minutes=7)


@dataclass
class Mailbox:
    """The mailbox of a task: its initial content, and what the task adds."""

    scene: WebScene
    base: WorldPlan
    edits: list[Edit] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.store: SiteStore = self.scene.store(self.base, "mail")
        self.people: tuple[Person, ...] = self.scene.people(self.base)
        self.me = self.people[0]
        self.start = datetime.fromisoformat(self.base.start)
        ids = self.store.rows("SELECT id FROM messages")
        self._taken = {row["id"] for row in ids}
        self._top = max(self._taken) if self._taken else 1000

    @property
    def plan(self) -> WorldPlan:
        """The plan with everything added so far."""
        return self.base.with_edits(self.edits)

    def ago(self, days: float = 0, hours: float = 0) -> datetime:
        """Return a time before the start, to the minute."""
        moment = self.start - timedelta(days=days, hours=hours)
        return moment.replace(second=0, microsecond=0)

    def colleagues(self, count: int) -> list[Person]:
        """Draw distinct colleagues."""
        return self.scene.sample(self.people[1:], count)

    def outsiders(self, count: int, *, apart: bool = True) -> list[StoreRow]:
        """Draw contacts with unique names, with `apart` from different companies."""
        inside = {person.email for person in self.people}
        rows = self.store.rows(
            "SELECT * FROM contacts GROUP BY name HAVING count(*) = 1 ORDER BY id"
        )
        by_company: dict[str, StoreRow] = {}
        for row in self.scene.sample(rows, len(rows)):
            if row["email"] not in inside:
                by_company.setdefault(row["company" if apart else "name"], row)
        return list(by_company.values())[:count]

    def add(
        self,
        sender: Person | StoreRow,
        subject: str,
        body: str,
        sent: datetime,
        *,
        to: str = "",
        cc: Sequence[str] = (),
        folder: str = "",
        thread: int = 0,
        files: Mapping[str, str] | None = None,
        starred: int = 0,
        kind: str = "",
    ) -> int:
        """Add a message; return its number. Without `to` it is for the user."""
        name, address = _identity(sender)
        number = self._free_number()
        mine = address == self.me.email
        files = files or {}
        columns = {
            "id": number,
            "thread": thread or number,
            "folder": folder or ("sent" if mine else "inbox"),
            "sender": address,
            "sender_name": name,
            "recipients": to or self.me.email,
            "cc": ", ".join(sorted(cc)),
            "subject": subject,
            "body": f"{body}\n{name}",
            "sent": sent.isoformat(" ", "seconds"),
            "starred": starred,
            "files": "\n".join(sorted(files)),
            "kind": kind,
        }
        self.insert("messages", **columns)
        for filename, content in files.items():
            self.insert("_attachments", message=number, filename=filename, content=content)
        return number

    def insert(self, table: str, **values: Any) -> None:
        """Add a row to a table of the site."""
        marks = ", ".join("?" * len(values))
        sql = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})"
        self.edits.append(("mail", sql, tuple(values.values())))

    def run(self, sql: str, *values: Any) -> None:
        """Add another change."""
        self.edits.append(("mail", sql, values))

    def handbook(self, name: str, title: str, body: str, updated: datetime) -> None:
        """Add a page of the handbook."""
        self.insert(
            "_handbook", name=name, title=title, body=body, updated=updated.date().isoformat()
        )

    def contact(
        self, person: Person | StoreRow, company: str, role: str, phone: str = "", note: str = ""
    ) -> int:
        """Add a contact; return its number."""
        name, address = _identity(person)
        top = self.store.value("SELECT max(id) FROM contacts")
        count = sum("INTO contacts" in sql for _, sql, _ in self.edits)
        number = int(top) + 3 + 4 * count
        phone = (
            phone
            or f"+44 20 7{self.scene.rng.integers(100, 999)} {self.scene.rng.integers(1000, 9999)}"
        )
        self.insert(
            "contacts",
            id=number,
            name=name,
            email=address,
            company=company,
            role=role,
            phone=phone,
            note=note,
        )
        return number

    def sent(
        self,
        to: Sequence[str],
        body: Any,
        *,
        subject: Any = None,
        cc: Sequence[str] = (),
        thread: int = 0,
        forwarded: int = 0,
        files: Sequence[str] = (),
        folder: str = "sent",
    ) -> dict[str, Any]:
        """Return the row of a message that the user should have sent."""
        return {
            "thread": thread or {"any": True},
            "folder": folder,
            "sender": self.me.email,
            "sender_name": self.me.name,
            "recipients": ", ".join(sorted(to)),
            "cc": ", ".join(sorted(cc)),
            "subject": subject or {"any": True},
            "body": body,
            "starred": 0,
            "files": "\n".join(sorted(files)),
            "state": "sent",
            "forwarded": forwarded,
        }

    def expected(self, *rows: Mapping[str, Any]) -> dict[str, Any]:
        """Expect messages made with `sent`."""
        return added("mail", "messages", *rows)

    def _free_number(self) -> int:
        while True:
            number = int(self.scene.rng.integers(1000, self._top + 60))
            if number not in self._taken:
                self._taken.add(number)
                return number


def words(pilot: Pilot, key: str) -> tuple[str, ...]:
    """Return every wording of a label of the mail site."""
    return pilot.words("mail", key)


def send(
    pilot: Pilot,
    *,
    to: str | None = None,
    cc: str | None = None,
    subject: str = "",
    body: str = "",
    file: str = "",
    button: str = "send",
) -> Script:
    """Fill in the message on the screen and send it."""
    if to is not None:
        yield from pilot.fill(words(pilot, "to"), to)
    if cc is not None:
        yield from pilot.fill(words(pilot, "cc"), cc)
    if subject:
        yield from pilot.fill(words(pilot, "subject"), subject)
    yield from pilot.fill(words(pilot, "body"), body)
    if file:
        yield from pilot.act("upload_file", bid=pilot.find("file"), file=file)
    yield from pilot.click("button", words(pilot, button))


def compose(pilot: Pilot, to: Sequence[str], subject: str, body: str, **more: Any) -> Script:
    """Write and send a new message."""
    yield from pilot.goto("mail", "/compose")
    yield from send(pilot, to=", ".join(to), subject=subject, body=body, **more)


def reply(pilot: Pilot, number: int, body: str, *, everybody: bool = False, **more: Any) -> Script:
    """Reply to a message."""
    yield from pilot.goto("mail", f"/messages/{number}/reply{'-all' if everybody else ''}")
    yield from send(pilot, body=body, **more)


def forward(pilot: Pilot, number: int, to: Sequence[str], body: str) -> Script:
    """Forward a message."""
    yield from pilot.goto("mail", f"/messages/{number}/forward")
    yield from send(pilot, to=", ".join(to), body=body)


def tick(
    pilot: Pilot, path: str, numbers: Collection[int], action: str, target: str = ""
) -> Script:
    """Apply an action to messages of a list, page by page."""
    left = set(numbers)
    yield from pilot.goto("mail", path)
    while left:
        shown = [number for number in sorted(left) if f'#{number}"' in pilot.screen]
        for number in shown:
            names = [f"{word} #{number}" for word in words(pilot, "select")]
            yield from pilot.click("checkbox", names)
        if shown:
            yield from pilot.select(words(pilot, "with_ticked"), _shown(pilot, f"do_{action}"))
            if target:
                yield from pilot.select(words(pilot, "target"), target)
            yield from pilot.click("button", words(pilot, "apply"))
            left -= set(shown)
            if action in ("archive", "trash", "spam", "inbox", "move", "unlabel"):
                continue
        if left:
            yield from pilot.click("link", pilot.words("mail", "next"))


def organise(
    pilot: Pilot, thread: int, number: int, action: str, target: str = "", *, nth: int = 0
) -> Script:
    """Apply an action to one message on the page of its conversation."""
    yield from pilot.goto("mail", f"/threads/{thread}")
    yield from pilot.click("disclosure", words(pilot, "organise"), nth=nth)
    yield from pilot.select(words(pilot, "do_what"), _shown(pilot, f"do_{action}"))
    if target:
        yield from pilot.select(words(pilot, "target"), target)
    yield from pilot.click("button", words(pilot, "apply"))


def _shown(pilot: Pilot, key: str) -> str:
    """Return the wording of an option that the screen shows."""
    for word in words(pilot, key):
        if re.search(rf" {re.escape(word)}(,|\n| +\[|$)", pilot.screen):
            return word
    raise ElementMissing(f"no option {key}:\n{pilot.screen}")


def _identity(person: Person | StoreRow) -> tuple[str, str]:
    if isinstance(person, Person):
        return person.name, person.email
    return person["name"], person["email"]
