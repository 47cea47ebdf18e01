"""Pages on which mail is written: compose, reply, forward, drafts, and failed deliveries."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get, post
from hexathlon.tasks.web.world.sites.mail.delivery import (
    Letter,
    files_of,
    recipients_of,
    send_letter,
    store_letter,
)
from hexathlon.tasks.web.world.sites.mail.reading import address_of, visible_message
from hexathlon.tasks.web.world.sites.mail.vocabulary import UNDO_SECONDS
from hexathlon.tasks.web.world.ui import FormField

__all__ = ["MailWriting"]


class MailWriting:
    """Handlers of pages that write mail."""

    @get("/compose")
    def compose(self, call: Call) -> WebResponse:
        """Show an empty message; `to` may name a recipient."""
        return _form(call, Letter(to=call.arg("to")), {})

    @get("/messages/{number:int}/reply")
    def reply(self, call: Call, number: int) -> WebResponse:
        """Show a reply to the sender."""
        return _answer(call, number, everybody=False)

    @get("/messages/{number:int}/reply-all")
    def reply_all(self, call: Call, number: int) -> WebResponse:
        """Show a reply to everybody."""
        return _answer(call, number, everybody=True)

    @get("/messages/{number:int}/forward")
    def forward(self, call: Call, number: int) -> WebResponse:
        """Show a message that forwards another with its attachments."""
        message = visible_message(call, number)
        if message is None:
            return call.not_found()
        letter = Letter(
            subject=_prefixed(call.words("forward_prefix"), message["subject"]),
            thread=message["thread"],
            forwarded=number,
            files=files_of(call, message),
        )
        return _form(call, letter, {})

    @get("/drafts/{number:int}")
    def draft(self, call: Call, number: int) -> WebResponse:
        """Show a draft for editing."""
        row = call.store.row("SELECT * FROM messages WHERE id = ? AND folder = 'drafts'", (number,))
        if row is None:
            return call.not_found()
        letter = Letter(row["recipients"], row["cc"], row["subject"], row["body"], row["thread"],
                        row["parent"], row["forwarded"], number, files_of(call, row))  # fmt: skip
        return _form(call, letter, {})

    @post("/compose")
    def send(self, call: Call) -> WebResponse:
        """Send a message or keep it as a draft."""
        letter = _letter(call)
        to, to_problem = recipients_of(call, letter.to)
        cc, cc_problem = recipients_of(call, letter.cc)
        problems = {"to": to_problem, "cc": cc_problem}
        keep = call.arg("then") == "draft"
        if not keep and not to and not to_problem:
            problems["to"] = call.words("required")
        if not keep and not letter.subject:
            problems["subject"] = call.words("required")
        if any(problems.values()):
            return _form(call, letter, problems)
        if keep:
            number = store_letter(call, letter, "drafts", to, cc)
            return call.redirect(f"/drafts/{number}", call.words("draft_saved"))
        number = send_letter(call, letter, to, cc)
        thread = call.store.value("SELECT thread FROM messages WHERE id = ?", (number,))
        return call.redirect(f"/threads/{thread}", call.words("sent_note"))

    @post("/drafts/{number:int}/discard")
    def discard(self, call: Call, number: int) -> WebResponse:
        """Delete a draft."""
        call.store.execute("DELETE FROM messages WHERE id = ? AND folder = 'drafts'", (number,))
        return call.redirect("/folder/drafts", call.words("discarded"))

    @post("/messages/{number:int}/undo")
    def undo(self, call: Call, number: int) -> WebResponse:
        """Take back a message that was sent a moment ago; it becomes a draft."""
        row = call.store.row(
            "SELECT * FROM messages WHERE id = ? AND folder = 'sent' AND sender = ?",
            (number, address_of(call)),
        )
        if row is None:
            return call.not_found()
        age = call.clock.now - datetime.fromisoformat(row["sent"])
        if age.total_seconds() > UNDO_SECONDS:
            return call.redirect(f"/threads/{row['thread']}", call.words("too_late"), "error")
        call.store.execute(
            "UPDATE messages SET folder = 'drafts', state = 'sent' WHERE id = ?", (number,)
        )
        return call.redirect(f"/drafts/{number}", call.words("undone"))

    @get("/failed")
    def failed(self, call: Call) -> WebResponse:
        """List messages that could not be delivered."""
        rows = call.store.rows("SELECT * FROM _failed ORDER BY sent DESC, id DESC")
        return call.page("failed.html", messages=rows)

    @post("/failed/{number:int}/edit")
    def mend(self, call: Call, number: int) -> WebResponse:
        """Turn a message that could not be delivered into a draft."""
        row = call.store.row("SELECT * FROM _failed WHERE id = ?", (number,))
        if row is None:
            return call.not_found()
        files = files_of(call, row)
        call.store.execute("DELETE FROM _failed WHERE id = ?", (number,))
        call.store.execute("DELETE FROM _attachments WHERE message = ?", (number,))
        letter = Letter(
            subject=row["subject"],
            body=row["body"],
            parent=row["parent"],
            thread=row["thread"] if row["thread"] != number else 0,
            forwarded=row["forwarded"],
            files=files,
        )
        draft = store_letter(call, letter, "drafts", _split(row["recipients"]), _split(row["cc"]))
        return call.redirect(f"/drafts/{draft}")

    @post("/failed/{number:int}/drop")
    def drop(self, call: Call, number: int) -> WebResponse:
        """Delete a message that could not be delivered."""
        call.store.execute("DELETE FROM _failed WHERE id = ?", (number,))
        return call.redirect("/failed", call.words("discarded"))


def _answer(call: Call, number: int, *, everybody: bool) -> WebResponse:
    message = visible_message(call, number)
    if message is None:
        return call.not_found()
    me = address_of(call)
    to = [message["sender"]] if message["sender"] != me else _split(message["recipients"])
    cc: list[str] = []
    if everybody:
        others = [*_split(message["recipients"]), *_split(message["cc"])]
        cc = [each for each in others if each != me and each not in to]
    letter = Letter(
        ", ".join(to),
        ", ".join(cc),
        _prefixed(call.words("reply_prefix"), message["subject"]),
        thread=message["thread"],
        parent=number,
    )
    return _form(call, letter, {})


def _letter(call: Call) -> Letter:
    """Read the message that a form sends."""
    draft = call.store.row(
        "SELECT * FROM messages WHERE id = ? AND folder = 'drafts'", (call.number("draft"),)
    )
    forwarded = call.number("forwarded")
    origin = draft or (visible_message(call, forwarded) if forwarded else None)
    kept = [
        (name, content)
        for name, content in files_of(call, origin)
        if name not in call.args("remove")
    ]
    upload = call.request.files.get("file")
    if upload is not None and upload.filename:
        kept.append((upload.filename, upload.content.decode("utf-8", "replace")))
    return Letter(call.arg("to"), call.arg("cc"), call.arg("subject"), call.arg("body"),
                  call.number("thread"), call.number("parent"), forwarded,
                  draft["id"] if draft else 0, kept)  # fmt: skip


def _form(call: Call, letter: Letter, problems: Mapping[str, str]) -> WebResponse:
    words = call.words
    fields = [
        FormField("to", words("to"), "text", letter.to, error=problems.get("to", ""),
              help=words("to_help")),
        FormField("cc", words("cc"), "text", letter.cc, error=problems.get("cc", "")),
        FormField("subject", words("subject"), "text", letter.subject,
              error=problems.get("subject", "")),
        FormField("body", words("body"), "textarea", letter.body),
        FormField("file", words("attach"), "file"),
    ]  # fmt: skip
    if call.look.order % 2:
        fields.insert(3, fields.pop())
    hidden: dict[str, Any] = {
        name: getattr(letter, name) for name in ("thread", "parent", "forwarded", "draft")
    }
    quoted = visible_message(call, letter.parent or letter.forwarded)
    return call.page("compose.html", 422 if any(problems.values()) else 200, fields=fields,
                     hidden=hidden, files=[name for name, _ in letter.files], quoted=quoted,
                     draft=letter.draft)  # fmt: skip


def _prefixed(prefix: str, subject: str) -> str:
    return subject if subject.startswith(prefix) else f"{prefix} {subject}"


def _split(addresses: str) -> list[str]:
    return [each.strip() for each in addresses.split(",") if each.strip()]
