"""Operations that write to other people, and notes: messages, mail, contacts, notes, calls."""

from hexathlon.tasks.gui.operations.expected import ExpectedPhone
from hexathlon.tasks.gui.operations.finding import found
from hexathlon.tasks.gui.operations.operation import PhoneOperation
from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.source import Script

__all__ = ["add_contact", "add_note", "block_number", "change_contact", "change_note",
           "favour_contact", "place_mail", "put_note_away", "reply_to", "send_mail",
           "send_message"]  # fmt: skip


def send_message(contact: PhoneRow, text: str) -> PhoneOperation:
    """Send a message to a contact."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open("messages")
        yield from pilot.create("messages", "new_message")
        yield from pilot.fill(pilot.words("messages", "to"), contact["name"])
        if pilot.has("item", contact["name"]):
            yield from pilot.tap("item", contact["name"])
        yield from pilot.fill(pilot.words("messages", "text"), text)
        yield from pilot.press("messages", "send")

    def effect(phone: ExpectedPhone) -> None:
        thread = phone.find("messages.threads", number=contact["phone"])
        key = thread["id"] if thread else phone.add(
            "messages.threads", name=contact["name"], number=contact["phone"], muted=False,
            blocked=False)  # fmt: skip
        phone.add("messages.messages", thread=key, text=text, mine=True, file="")

    return PhoneOperation(run, effect, actions=6)


def send_mail(to: str, subject: str, body: str, *, send: bool = True) -> PhoneOperation:
    """Send an email, or keep it as a draft."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open("mail")
        yield from pilot.create("mail", "compose")
        for field, value in (("to", to), ("subject", subject), ("text", body)):
            yield from pilot.fill(pilot.words("mail", field), value)
        yield from pilot.press("mail", "send" if send else "save_draft")

    return PhoneOperation(run, lambda phone: _mailed(phone, to, subject, body, send=send))


def reply_to(mail: PhoneRow, body: str) -> PhoneOperation:
    """Reply to an email with a unique subject."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("mail", mail["subject"], mail["name"])(pilot)
        yield from pilot.tap("button", pilot.words("mail", "reply"))
        yield from pilot.fill(pilot.words("mail", "text"), body)
        yield from pilot.press("mail", "send")

    subject = mail["subject"] if mail["subject"].startswith("Re: ") else f"Re: {mail['subject']}"
    return PhoneOperation(run, lambda phone: _mailed(phone, mail["address"], subject, body))


def _mailed(
    phone: ExpectedPhone, to: str, subject: str, body: str, *, send: bool = True
) -> None:  # fmt: skip
    prefs = phone.table("mail.prefs")
    if send and prefs["sign"]["value"]:
        body = f"{body}\n{prefs['signature']['value']}"
    phone.add("mail.mails", folder="sent" if send else "drafts", name="", address="", to=to, cc="",
              subject=subject, body=body, file="", starred=False)  # fmt: skip


def place_mail(mail: PhoneRow, folder: str = "archive") -> PhoneOperation:
    """Put an email with a unique subject into a folder, such as `archive`, `bin` or `inbox`."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("mail", mail["subject"], mail["name"])(pilot)
        if folder in ("archive", "bin"):
            yield from pilot.press("mail", "archive_it" if folder == "archive" else "delete")
        else:
            yield from pilot.press("mail", "move")
            yield from pilot.tap_entry(pilot.words("mail", folder), "menuitem|item|button")

    return PhoneOperation(run, lambda phone: phone.change("mail.mails", mail["id"], folder=folder))


def add_contact(**facts: str) -> PhoneOperation:
    """Create a contact from `name`, `phone`, `email`, `company`, `address` or `note`."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open("contacts")
        yield from pilot.create("contacts", "new_contact")
        for field, value in facts.items():
            yield from pilot.fill(pilot.words("contacts", field), value)
        yield from pilot.press("contacts", "save")

    usual = {"phone": "", "email": "", "company": "", "address": "", "birthday": "", "group": "",
             "note": "", "starred": False}  # fmt: skip
    return PhoneOperation(run, lambda phone: phone.add("contacts.contacts", **usual | facts))


def change_contact(contact: PhoneRow, **facts: str) -> PhoneOperation:
    """Change a contact's fields; `group` is given by its key, `birthday` as `YYYY-MM-DD`."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("contacts", contact["name"])(pilot)
        yield from pilot.press("contacts", "edit")
        for field, value in facts.items():
            words = pilot.words("contacts", field)
            if field == "birthday":
                yield from pilot.pick_day(words, value)
            elif field == "group":
                yield from pilot.choose(words, pilot.words("contacts", value))
            else:
                yield from pilot.fill(words, value)
        yield from pilot.press("contacts", "save")

    return PhoneOperation(
        run, lambda phone: phone.change("contacts.contacts", contact["id"], **facts)
    )


def favour_contact(contact: PhoneRow) -> PhoneOperation:
    """Add a contact to the phone app's favourites."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open("phone")
        yield from pilot.tap("tab", pilot.words("phone", "favourites"))
        yield from pilot.create("phone", "add_favourite")
        yield from pilot.fill(pilot.words("phone", "search"), contact["name"])
        yield from pilot.tap_entry(contact["name"])

    return PhoneOperation(run, lambda phone: phone.add(
        "phone.favourites", name=contact["name"], number=contact["phone"]))  # fmt: skip


def block_number(number: str) -> PhoneOperation:
    """Block a number that is in the call history."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open("phone")
        yield from pilot.press("phone", "settings")
        yield from pilot.tap_entry(pilot.words("phone", "blocked_numbers"))
        yield from pilot.create("phone", "block_number")
        yield from pilot.fill(pilot.words("phone", "number"), number)
        yield from pilot.tap("button", pilot.words("phone", "block"))

    return PhoneOperation(run, lambda phone: phone.add("phone.blocked", number=number))


def add_note(title: str, text: str, label: str = "") -> PhoneOperation:
    """Write a note; labels are `home`, `work`, `ideas` and `travel`."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open("notes")
        yield from pilot.create("notes", "new_note")
        yield from pilot.fill(pilot.words("notes", "title"), title)
        yield from pilot.fill(pilot.words("notes", "text"), text)
        if label:
            yield from pilot.choose(pilot.words("notes", "labels"),
                                    pilot.words("notes", f"{label}_label"))  # fmt: skip
        yield from pilot.press("notes", "save")

    return PhoneOperation(run, lambda phone: phone.add(
        "notes.notes", title=title, text=text, label=label, pinned=False,
        archived=False))  # fmt: skip


def change_note(title: str, text: str) -> PhoneOperation:
    """Replace the text of the note with a unique title."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("notes", title)(pilot)
        yield from pilot.press("notes", "edit")
        yield from pilot.fill(pilot.words("notes", "text"), text)
        yield from pilot.press("notes", "save")

    def effect(phone: ExpectedPhone) -> None:
        phone.change("notes.notes", phone.the("notes.notes", title=title)["id"], text=text)

    return PhoneOperation(run, effect)


def put_note_away(title: str) -> PhoneOperation:
    """Archive the note with a unique title."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("notes", title)(pilot)
        yield from pilot.press("notes", "archive")

    return PhoneOperation(
        run,
        lambda phone: phone.change(
            "notes.notes", phone.the("notes.notes", title=title)["id"], archived=True
        ),
    )
