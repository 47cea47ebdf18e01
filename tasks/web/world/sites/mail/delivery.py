"""Sending: recipients, delivery, and what fails later."""

import re
from dataclasses import dataclass, field

from hexathlon.tasks.web.world.site import Call
from hexathlon.tasks.web.world.sites.mail.reading import address_of
from hexathlon.tasks.web.world.store import StoreRow

__all__ = ["Letter", "deliver", "recipients_of", "run_failure", "send_letter"]

_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(\.[\w-]+)+")
_FAILURE_ACTIONS = 3
"""Actions after which a delivery that cannot succeed is given up."""


@dataclass
class Letter:
    """A message as its sender writes it."""

    to: str = ""
    cc: str = ""
    subject: str = ""
    body: str = ""
    thread: int = 0
    parent: int = 0
    forwarded: int = 0
    draft: int = 0
    files: list[tuple[str, str]] = field(default_factory=list)
    """Names and contents of attachments."""


def recipients_of(call: Call, text: str) -> tuple[list[str], str]:
    """Read a field of recipients: addresses, or names of the address book.

    Returns:
        The addresses, sorted, and the problem of the field; empty if there is none.
    """
    addresses: set[str] = set()
    for part in re.split(r"[,;，；\n]", text):
        part = part.strip()
        if not part:
            continue
        match = _ADDRESS.search(part)
        if match:
            addresses.add(match[0].lower())
            continue
        found = call.store.rows("SELECT DISTINCT email FROM contacts WHERE name = ?", (part,))
        if len(found) != 1:
            key = "several_contacts" if found else "unknown_contact"
            return [], call.words(key, name=part)
        addresses.add(found[0]["email"])
    return sorted(addresses), ""


def send_letter(call: Call, letter: Letter, to: list[str], cc: list[str]) -> int:
    """Send a message; return its number."""
    number = store_letter(call, letter, "sent", to, cc)
    deliver(call, number, {*to, *cc})
    return number


def deliver(call: Call, number: int, addresses: set[str]) -> None:
    """Deliver a message; one that cannot be delivered is given up some actions later."""
    for address in sorted(addresses):
        fault = call.store.value("SELECT id FROM _faults WHERE address = ?", (address,))
        dead = call.store.value("SELECT address FROM _dead WHERE address = ?", (address,))
        if fault is None and dead is None:
            continue
        if fault is not None:
            call.store.execute("DELETE FROM _faults WHERE id = ?", (fault,))
        call.store.execute("UPDATE messages SET state = 'sending' WHERE id = ?", (number,))
        reason = "busy" if dead is None else "gone"
        call.later(_FAILURE_ACTIONS, reason, f"{number} {address} {call.login}")
        return


def run_failure(call: Call, reason: str, subject: str) -> None:
    """Give up a delivery: move the message from the sent to the failed ones."""
    number, address, login = subject.split(" ")
    message = call.store.row(
        "SELECT * FROM messages WHERE id = ? AND folder = 'sent' AND state = 'sending'", (number,)
    )
    if message is None or address not in f"{message['recipients']}, {message['cc']}":
        return
    call.store.execute("DELETE FROM messages WHERE id = ?", (number,))
    call.store.insert(
        "_failed",
        **{name: message[name] for name in ("id", "thread", "recipients", "cc", "subject", "body",
                                            "sent", "parent", "forwarded", "files")},
        address=address, reason=reason,
    )  # fmt: skip
    call.store.insert(
        "_notices",
        person=login,
        kind="error",
        text=call.words("failed_notice", subject=message["subject"]),
    )


def store_letter(call: Call, letter: Letter, folder: str, to: list[str], cc: list[str]) -> int:
    """Store a message as sent or as a draft; return its number."""
    if letter.draft:
        call.store.execute("DELETE FROM messages WHERE id = ?", (letter.draft,))
        call.store.execute("DELETE FROM _attachments WHERE message = ?", (letter.draft,))
    columns = dict(
        thread=letter.thread, folder=folder, sender=address_of(call),
        sender_name=(call.account() or {})["name"], recipients=", ".join(to), cc=", ".join(cc),
        subject=letter.subject, body=letter.body, sent=call.clock.stamp,
        files="\n".join(sorted(name for name, _ in letter.files)), parent=letter.parent,
        forwarded=letter.forwarded,
    )  # fmt: skip
    if letter.draft:
        columns["id"] = letter.draft
    number = call.store.insert("messages", **columns)
    if not letter.thread:
        call.store.execute("UPDATE messages SET thread = ? WHERE id = ?", (number, number))
    for name, content in letter.files:
        call.store.insert("_attachments", message=number, filename=name, content=content)
    call.store.execute("INSERT OR IGNORE INTO _seen VALUES (?)", (number,))
    return number


def files_of(call: Call, message: StoreRow | None) -> list[tuple[str, str]]:
    """Return the attachments of a message."""
    if message is None:
        return []
    rows = call.store.rows(
        "SELECT filename, content FROM _attachments WHERE message = ? ORDER BY id", (message["id"],)
    )
    return [(row["filename"], row["content"]) for row in rows]
