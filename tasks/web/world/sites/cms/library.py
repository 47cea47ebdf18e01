"""Handlers of media, menu, team, policies and errata."""

from typing import Any
from urllib.parse import quote

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get, post
from hexathlon.tasks.web.world.sites.cms.reading import choices, media_fields, names_of
from hexathlon.tasks.web.world.sites.cms.vocabulary import LICENCES, label_of
from hexathlon.tasks.web.world.ui import FormField, Pager

__all__ = ["Library"]

_PER_PAGE = 24


class Library:
    """Everything around the articles."""

    @get("/media")
    def pictures(self, call: Call) -> WebResponse:
        """List pictures by subject, and offer an upload."""
        text, licence = call.arg("q"), call.arg("licence")
        where = "(subject LIKE ? OR filename LIKE ? OR alt LIKE ?) AND (? = '' OR licence = ?)"
        values: tuple[Any, ...] = (*([f"%{text}%"] * 3), licence, licence)
        total = call.store.value(f"SELECT count(*) FROM media WHERE {where}", values)
        count = max(1, -(-total // _PER_PAGE))
        page = min(max(1, call.number("page", 1)), count)
        rows = call.store.rows(
            f"SELECT * FROM media WHERE {where} ORDER BY id DESC LIMIT ? OFFSET ?",
            (*values, _PER_PAGE, (page - 1) * _PER_PAGE),
        )
        fields = [
            FormField("q", call.words("search"), "text", text),
            FormField(
                "licence",
                call.words("licence"),
                "select",
                licence,
                [("", call.words("all")), *choices(call, LICENCES)],
            ),
        ]
        return call.page(
            "media.html",
            pictures=rows,
            fields=fields,
            label=label_of,
            pager=Pager(page, count, total, f"/media?q={quote(text)}&licence={quote(licence)}&"),
        )

    @get("/media/new")
    def upload_form(self, call: Call) -> WebResponse:
        """Show the form for a new picture."""
        return self._upload_page(call, "")

    @post("/media/new")
    def upload(self, call: Call) -> WebResponse:
        """Add a picture."""
        sent = call.request.files.get("file")
        if sent is None or not sent.filename:
            return self._upload_page(call, call.words("no_file"))
        licence = call.arg("licence")
        number = call.store.insert(
            "media",
            filename=sent.filename,
            subject=call.arg("subject"),
            alt=call.arg("alt"),
            credit=call.arg("credit"),
            licence=licence if licence in LICENCES else "own",
            bytes=len(sent.content),
            uploaded=call.clock.today.isoformat(),
        )
        return call.redirect(f"/media/{number}", call.words("uploaded_note", number=number))

    def _upload_page(self, call: Call, problem: str) -> WebResponse:
        values = {name: call.arg(name) for name in ("subject", "alt", "credit", "licence")}
        fields = [
            FormField("file", call.words("filename"), "file", error=problem),
            *media_fields(call, {**values, "licence": values["licence"] or "own"}),
        ]
        return call.page("upload.html", 422 if problem else 200, fields=fields)

    @get("/media/{number:int}")
    def picture(self, call: Call, number: int) -> WebResponse:
        """Show a picture's data and where it is used."""
        row = call.store.row("SELECT * FROM media WHERE id = ?", (number,))
        if row is None:
            return call.not_found()
        used = call.store.rows(
            "SELECT id, title, status FROM articles WHERE image = ? ORDER BY id", (number,)
        )
        return call.page(
            "picture.html", picture=row, used=used, label=label_of, fields=media_fields(call, row)
        )

    @post("/media/{number:int}")
    def save_picture(self, call: Call, number: int) -> WebResponse:
        """Change a picture's data; only the fields that were sent."""
        row = call.store.row("SELECT * FROM media WHERE id = ?", (number,))
        if row is None:
            return call.not_found()
        sent = {name for name, _ in call.request.form}
        for name in ("subject", "alt", "credit", "licence"):
            if name in sent and call.arg(name) != row[name]:
                call.store.execute(
                    f"UPDATE media SET {name} = ? WHERE id = ?", (call.arg(name), number)
                )
        return call.redirect(f"/media/{number}", call.words("saved_note"))

    @get("/menu")
    def menu(self, call: Call) -> WebResponse:
        """Show the site menu, whose entries can be dragged."""
        rows = call.store.rows("SELECT * FROM menu ORDER BY position")
        return call.page("menu.html", entries=rows)

    @post("/menu/before/{number:int}")
    def reorder(self, call: Call, number: int) -> WebResponse:
        """Move an entry before another one, or to the end if the number is 0."""
        order = [row["id"] for row in call.store.rows("SELECT id FROM menu ORDER BY position")]
        item = call.number("item")
        if item not in order or (number and number not in order):
            return call.not_found()
        if item != number:
            order.remove(item)
            order.insert(order.index(number) if number else len(order), item)
            for position, entry in enumerate(order, 1):
                call.store.execute("UPDATE menu SET position = ? WHERE id = ?", (position, entry))
        return call.redirect("/menu", call.words("menu_moved"))

    @get("/team")
    def team(self, call: Call) -> WebResponse:
        """List the team with absences and deputies."""
        rows = call.store.rows("SELECT * FROM authors ORDER BY name")
        return call.page("team.html", people=rows, names=names_of(call.store), label=label_of)

    @get("/policies")
    def policies(self, call: Call) -> WebResponse:
        """List policies."""
        return call.page(
            "policies.html", policies=call.store.rows("SELECT * FROM policies ORDER BY title")
        )

    @get("/policies/{number:int}")
    def policy(self, call: Call, number: int) -> WebResponse:
        """Show a policy."""
        row = call.store.row("SELECT * FROM policies WHERE id = ?", (number,))
        return call.not_found() if row is None else call.page("policy.html", policy=row)

    @get("/errata")
    def errata(self, call: Call) -> WebResponse:
        """List errata, latest first."""
        rows = call.store.rows(
            "SELECT e.*, a.title FROM errata e JOIN articles a ON a.id = e.article ORDER BY e.id "
            "DESC"
        )
        return call.page("errata.html", errata=rows, label=label_of)
