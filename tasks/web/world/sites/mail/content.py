"""Initial content of the mailbox: conversations, spam, contacts, labels and the handbook."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Any, TypeVar

import numpy as np

from hexathlon.tasks.drawn import own_share
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.web.world.people import Person, draw_people
from hexathlon.tasks.web.world.site import SiteBrief
from hexathlon.tasks.web.world.sites.mail.texts import (
    COMPANIES,
    CONVERSATIONS,
    FOLDERS,
    HANDBOOK,
    ITEMS,
    LABELS,
    ROLES,
    SPAM,
    MailPattern,
)
from hexathlon.tasks.web.world.store import SiteStore

__all__ = ["populate"]

_Item = TypeVar("_Item")
_LETTERS = "ABCDEFGHKLMNPRSTVW"
_MESSAGES = (24, 90, 340, 1_100)
_OUTSIDERS = (8, 24, 60, 140)
_COLUMNS = (
    "id",
    "thread",
    "folder",
    "sender",
    "sender_name",
    "recipients",
    "cc",
    "subject",
    "body",
    "sent",
    "starred",
    "files",
    "kind",
)


def populate(store: SiteStore, brief: SiteBrief) -> None:
    """Fill the mailbox: 24 to 1,100 messages and an address book of up to 200 people."""
    _Filler(store, brief).fill()


class _Filler:
    """Writes the initial content; draws from one block of random numbers for speed."""

    def __init__(self, store: SiteStore, brief: SiteBrief) -> None:
        self.store, self.brief = store, brief
        self.zh = brief.language == "zh"
        self.rng = generator_for("mail", brief.seed)
        self.me = brief.people[0]
        self._draws = _floats(self.rng)

    def fill(self) -> None:
        brief = self.brief
        for table, names, number in (
            ("labels", LABELS, 2 + brief.scale),
            ("folders", FOLDERS, min(3, brief.scale)),
        ):
            for name in names[:number]:
                self.store.insert(table, name=self.text(name))
        outsiders = self.contacts()
        self.messages(outsiders)
        self.store.insert(
            "absence", id=1, enabled=0, first_day="", last_day="", text="", contacts_only=1
        )
        label = self.text(LABELS[0])
        for company, _ in outsiders[: brief.scale]:
            self.store.insert(
                "filters", field="sender", contains=_domain(company), action="label", target=label
            )
        updated = (brief.clock.today - timedelta(days=90)).isoformat()
        for name, title, body in HANDBOOK:
            lines = "\n".join(self.text(line) for line in body.split("\n"))
            self.store.insert(
                "_handbook", name=name, title=self.text(title), body=lines, updated=updated
            )

    def contacts(self) -> list[tuple[str, Person]]:
        """Fill the address book; return people of other companies."""
        brief = self.brief
        companies = own_share(COMPANIES, brief.split)
        number = _OUTSIDERS[brief.scale - 1]
        if self.zh:  # A split has a hundred Chinese names.
            number = min(number, 60)
        names = draw_people(number, brief.split, brief.language, self.rng)
        inside = {person.name for person in brief.people}
        outsiders: list[tuple[str, Person]] = []
        entries: list[tuple[Any, ...]] = []
        own = "In-house|本公司"
        for person in brief.people[1:]:
            entries.append(
                (person.name, person.email, self.text(own), self.role(), self.phone(), "")
            )
        for person in names:
            if person.name in inside:
                continue
            company = self.pick(companies)
            address = f"{person.login}@{_domain(company)}"
            outsiders.append((company, Person(person.login, person.name, address)))
            entries.append(
                (person.name, address, self.text(company), self.role(), self.phone(), "")
            )
        entries.sort(key=lambda entry: str(entry[1]))
        number = 10
        for entry in entries:
            number += 1 + int(self.draw() * 4)
            self.store.insert(
                "contacts",
                id=number,
                name=entry[0],
                email=entry[1],
                company=entry[2],
                role=entry[3],
                phone=entry[4],
                note=entry[5],
            )
        return outsiders

    def messages(self, outsiders: Sequence[tuple[str, Person]]) -> None:
        """Fill the mailbox with conversations and spam."""
        total = _MESSAGES[self.brief.scale - 1]
        rows: list[list[Any]] = []
        while len(rows) < total:
            if self.draw() < 0.06:
                rows.append(self.spam())
            else:
                rows += self.conversation(self.pick(CONVERSATIONS), outsiders)
        rows.sort(key=lambda row: str(row[9]))
        number, first_of = 1000, dict[Any, int]()
        for row in rows:
            number += 1 + int(self.draw() * 5)
            row[0] = number
            row[1] = first_of.setdefault(row[1], number)
        self.store.insert_many("messages", _COLUMNS, rows)
        files = [(row[0], row[11], _file_text(row)) for row in rows if row[11]]
        self.store.insert_many("_attachments", ("message", "filename", "content"), files)
        old = (self.brief.clock.start - timedelta(days=3)).isoformat(" ")
        self.store.execute("INSERT INTO _seen SELECT id FROM messages WHERE sent < ?", (old,))
        labels = [row["name"] for row in self.store.rows("SELECT name FROM labels ORDER BY name")]
        tagged = [(row[0], self.pick(labels)) for row in rows if self.draw() < 0.12]
        self.store.insert_many("tagged", ("message", "label"), tagged)

    def conversation(
        self, kind: MailPattern, outsiders: Sequence[tuple[str, Person]]
    ) -> list[list[Any]]:
        """Return the messages of one conversation, cut off at the present."""
        other = self.pick(outsiders)[1] if kind.company else self.pick(self.brief.people[1:])
        start = self.brief.clock.start
        at = start - timedelta(minutes=60 + int(self.draw() ** 1.5 * 60 * 24 * 260))
        facts = {
            "item": self.text(self.pick(ITEMS)),
            "n": 3 + int(self.draw() * 60),
            "ref": f"{self.pick(_LETTERS)}{self.pick(_LETTERS)}-{100 + int(self.draw() * 899)}",
            "amount": f"€{(80 + int(self.draw() * 9000)):,}.{self.pick(('00', '50', '90', '25'))}",
            "day": _day(at + timedelta(days=4 + int(self.draw() * 12)), self.zh),
            "other": other.name,
            "me": self.me.name,
        }
        subject = _capital(self.text(kind.subject).format(**facts))
        key, rows = object(), []
        folder = "archive" if self.draw() < 0.35 else "inbox"
        starred = int(self.draw() < 0.05)
        for turn, text in enumerate(kind.turns):
            if at >= start or (turn and self.draw() < 0.15):
                break
            mine = text.startswith("<")
            sender, receiver = (self.me, other) if mine else (other, self.me)
            body = _capital(self.text(text.removeprefix("<")).format(**facts))
            file = kind.file.format(**facts) if turn == 0 else ""
            reply = "回复：" if self.zh else "Re: "
            rows.append(
                [
                    0,
                    key,
                    "sent" if mine else folder,
                    sender.email,
                    sender.name,
                    receiver.email,
                    "",
                    subject if turn == 0 else reply + subject,
                    f"{body}\n{sender.name}",
                    at.isoformat(" ", "seconds"),
                    starred if not mine else 0,
                    file,
                    "",
                ]
            )
            at += timedelta(minutes=25 + int(self.draw() * 60 * 40))
        return rows

    def spam(self) -> list[Any]:
        """Return one unwanted message."""
        subject, body = self.pick(SPAM)
        at = self.brief.clock.start - timedelta(minutes=60 + int(self.draw() * 60 * 24 * 60))
        text, _, button = body.partition("\n")
        filled = self.text(text).format(
            n=20 + int(self.draw() * 80), amount=f"€{100 + int(self.draw() * 900)}.00"
        )
        label = self.text(button.strip("[]"))
        host = self.pick(("mailbox-quota", "voucher-desk", "account-check", "billing-alert"))
        folder = "inbox" if self.draw() < 0.6 else "spam"
        return [
            0,
            object(),
            folder,
            f"notice@{host}.example",
            host.replace("-", " ").title(),
            self.me.email,
            "",
            self.text(subject),
            f"{filled}\n[[{label}]]",
            at.isoformat(" ", "seconds"),
            0,
            "",
            "designed",
        ]

    def role(self) -> str:
        return self.text(self.pick(ROLES))

    def phone(self) -> str:
        return f"+44 20 7{int(self.draw() * 900 + 100)} {int(self.draw() * 9000 + 1000)}"

    def draw(self) -> float:
        return next(self._draws)

    def pick(self, items: Sequence[_Item]) -> _Item:
        return items[int(next(self._draws) * len(items))]

    def text(self, pair: str) -> str:
        english, _, chinese = pair.partition("|")
        return chinese if self.zh and chinese else english


def _floats(rng: np.random.Generator) -> Iterator[float]:
    for _ in count():
        yield from rng.random(4096).tolist()


def _domain(company: str) -> str:
    english = company.partition("|")[0].lower()
    return "".join(each for each in english if each.isalpha()) + ".test"


def _day(moment: datetime, zh: bool) -> str:
    if zh:
        return f"{moment.month}月{moment.day}日"
    return f"{moment.day} {moment:%B}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _file_text(row: Sequence[Any]) -> str:
    return f"{row[11].removesuffix('.txt')}\n\n{row[8]}\n"
