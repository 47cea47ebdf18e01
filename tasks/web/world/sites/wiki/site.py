"""Handlers of the wiki."""

import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import ClassVar
from urllib.parse import quote

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, Site, SiteBrief, get, post
from hexathlon.tasks.web.world.sites.wiki.content import populate
from hexathlon.tasks.web.world.sites.wiki.organising import PageOrganising
from hexathlon.tasks.web.world.sites.wiki.reading import (
    changes_of,
    fact_fields,
    fact_lines,
    facts_of,
    filter_fields,
    filters_of,
    latest_of,
    linked,
    names_of,
    page_of,
    part_name,
    plain,
    record,
    refusal_of,
    save_section,
    show,
)
from hexathlon.tasks.web.world.store import SiteStore, StoreRow
from hexathlon.tasks.web.world.ui import FormField, Pager

__all__ = ["SITE", "Wiki"]

_PER_PAGE = 20


class Wiki(PageOrganising, Site):
    """A wiki: pages of sections and key facts, with histories and talk pages."""

    name: ClassVar[str] = "wiki"
    schema: ClassVar[str] = (
        resources.files("hexathlon.tasks.web.world.sites.wiki")
        .joinpath("schema.sql")
        .read_text("utf-8")
    )
    volatile: ClassVar[Mapping[str, Sequence[str]]] = {
        "pages": ("id", "created"),
        "revisions": ("id", "created", "before", "after"),
        "talk": ("id", "created"),
        "categories": ("id",),
    }

    def populate(self, store: SiteStore, brief: SiteBrief) -> None:
        """Fill pages, histories and guidelines."""
        populate(store, brief)

    def navigation(self, call: Call) -> Sequence[tuple[str, str]]:
        """Return the main navigation."""
        words = call.words
        return [
            (words("pages"), "/pages"),
            (words("categories"), "/categories"),
            (words("recent"), "/recent"),
            (words("guidelines"), "/guidelines"),
            (words("log_protection"), "/protections"),
        ]

    def run_job(self, call: Call, kind: str, subject: str) -> None:
        """Save the pending edit of another editor."""
        row = call.store.row("SELECT * FROM _pending WHERE part = ?", (int(subject),))
        if row is None:
            return
        call.store.execute("DELETE FROM _pending WHERE part = ?", (row["part"],))
        section = call.store.row("SELECT * FROM sections WHERE id = ?", (row["part"],))
        if section is not None:
            save_section(call, section, row["body"], row["author"], row["summary"])

    @get("/")
    def start(self, call: Call) -> WebResponse:
        """Show the front page."""
        chosen = call.store.rows(
            "SELECT id, title FROM pages WHERE kind = 'article' ORDER BY (id * 37) % 101, id "
            "LIMIT 8"
        )
        return call.page("start.html", chosen=chosen, changes=changes_of(call, "1", (), 6))

    @get("/pages")
    def pages(self, call: Call) -> WebResponse:
        """List pages by title or text, category and kind."""
        where, values, query = filters_of(call)
        total = call.store.value(f"SELECT count(*) FROM pages p WHERE {where}", values)
        count = max(1, -(-total // _PER_PAGE))
        page = min(max(1, call.number("page", 1)), count)
        order = "p.id DESC" if call.arg("sort") == "newest" else "p.title"
        rows = call.store.rows(
            "SELECT p.*, (SELECT group_concat(c.name, ', ') FROM categories c WHERE c.page = "
            f"p.id) AS filed FROM pages p WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?",
            (*values, _PER_PAGE, (page - 1) * _PER_PAGE),
        )
        return call.page(
            "pages.html",
            pages=rows,
            pager=Pager(page, count, total, f"/pages?{query}"),
            fields=filter_fields(call),
        )

    @get("/guidelines")
    def guidelines(self, call: Call) -> WebResponse:
        """Show the guidelines in the list of pages."""
        return call.redirect("/pages?kind=guideline")

    @get("/categories")
    def categories(self, call: Call) -> WebResponse:
        """List categories with the number of their pages."""
        rows = call.store.rows(
            "SELECT name, count(*) AS count FROM categories GROUP BY name ORDER BY name"
        )
        return call.page("categories.html", categories=rows)

    @get("/recent")
    def recent(self, call: Call) -> WebResponse:
        """List the latest changes, optionally of one editor."""
        author = call.arg("editor")
        where, values = ("r.author = ?", (author,)) if author else ("1", ())
        people = call.store.rows("SELECT login, name FROM _accounts ORDER BY name")
        options = [("", call.words("all")), *((row["login"], row["name"]) for row in people)]
        field = FormField("editor", call.words("editor"), "select", author, options)
        total = call.store.value(f"SELECT count(*) FROM revisions r WHERE {where}", values)
        count = max(1, -(-total // _PER_PAGE))
        page = min(max(1, call.number("page", 1)), count)
        rows = changes_of(call, where, values, _PER_PAGE, (page - 1) * _PER_PAGE)
        return call.page(
            "recent.html",
            changes=rows,
            field=field,
            pager=Pager(page, count, total, f"/recent?editor={quote(author)}&"),
        )

    @get("/protections")
    def protections(self, call: Call) -> WebResponse:
        """List protections, including expired ones."""
        rows = call.store.rows(
            "SELECT x.*, p.title FROM protections x JOIN pages p ON p.id = x.page ORDER BY x.id "
            "DESC"
        )
        return call.page("protections.html", protections=rows, names=names_of(call.store))

    @get("/title")
    def by_title(self, call: Call) -> WebResponse:
        """Open a page by its title."""
        number = call.store.value("SELECT id FROM pages WHERE title = ?", (call.arg("name"),))
        return call.not_found() if number is None else call.redirect(f"/pages/{number}")

    @get("/pages/{number:int}")
    def read(self, call: Call, number: int) -> WebResponse:
        """Show a page; follow a redirect."""
        row = page_of(call, number)
        if row is None:
            return call.not_found()
        if row["redirect"] and not call.arg("stay"):
            target = call.store.value("SELECT id FROM pages WHERE title = ?", (row["redirect"],))
            if target is not None:
                return call.redirect(f"/pages/{target}?stay=1&from={number}")
        origin = call.store.row("SELECT id, title FROM pages WHERE id = ?", (call.number("from"),))
        sections = call.store.rows(
            "SELECT * FROM sections WHERE page = ? ORDER BY position", (number,)
        )
        return show(
            call,
            "page.html",
            row,
            origin=origin,
            facts=facts_of(call, number),
            sections=[(each, linked(call, each["body"])) for each in sections],
            filed=call.store.rows("SELECT * FROM categories WHERE page = ? ORDER BY id", (number,)),
            target=FormField("redirect", call.words("redirect_to"), "text", row["redirect"]),
            category=FormField("name", call.words("category"), "text"),
        )

    @get("/pages/{number:int}/history")
    def history(self, call: Call, number: int) -> WebResponse:
        """List the revisions of a page."""
        row = page_of(call, number)
        if row is None:
            return call.not_found()
        return show(
            call, "history.html", row, changes=changes_of(call, "r.page = ?", (number,), 200)
        )

    @get("/pages/{number:int}/links")
    def links(self, call: Call, number: int) -> WebResponse:
        """List pages and redirects that lead to a page."""
        row = page_of(call, number)
        if row is None:
            return call.not_found()
        found = call.store.rows(
            "SELECT DISTINCT p.id, p.title, p.kind FROM pages p LEFT JOIN sections s ON s.page = "
            "p.id WHERE p.redirect = ? OR instr(s.body, ?) > 0 ORDER BY p.title",
            (row["title"], f"[[{row['title']}]]"),
        )
        return show(call, "links.html", row, found=found)

    @get("/pages/{number:int}/talk")
    def talk(self, call: Call, number: int) -> WebResponse:
        """Show the talk page."""
        row = page_of(call, number)
        if row is None:
            return call.not_found()
        comments = call.store.rows("SELECT * FROM talk WHERE page = ? ORDER BY id", (number,))
        kinds = [(kind, call.words(f"kind_{kind}")) for kind in ("comment", "request")]
        fields = [
            FormField("kind", call.words("comment_kind"), "select", "comment", kinds),
            FormField("body", call.words("comment"), "textarea"),
        ]
        return show(call, "talk.html", row, comments=comments, fields=fields)

    @post("/pages/{number:int}/talk")
    def discuss(self, call: Call, number: int) -> WebResponse:
        """Add to the talk page."""
        place, body = f"/pages/{number}/talk", call.arg("body")
        if page_of(call, number) is None:
            return call.not_found()
        if not body:
            return call.redirect(place, call.words("required"), "error")
        kind = "request" if call.arg("kind") == "request" else "comment"
        call.store.insert(
            "talk", page=number, kind=kind, author=call.login, created=call.clock.stamp, body=body
        )
        return call.redirect(place, call.words("posted"))

    @get("/pages/{number:int}/infobox")
    def infobox(self, call: Call, number: int) -> WebResponse:
        """Show the form for the key facts."""
        row = page_of(call, number)
        if row is None:
            return call.not_found()
        return refusal_of(call, number) or show(
            call, "infobox.html", row, fields=fact_fields(call, facts_of(call, number))
        )

    @post("/pages/{number:int}/infobox")
    def save_infobox(self, call: Call, number: int) -> WebResponse:
        """Save key facts; only those that were sent."""
        if page_of(call, number) is None:
            return call.not_found()
        refusal = refusal_of(call, number)
        if refusal is not None:
            return refusal
        sent = {name for name, _ in call.request.form}
        changed = []
        for fact in facts_of(call, number):
            new = {
                name: call.arg(f"{name}-{fact['id']}")
                for name in ("value", "source")
                if f"{name}-{fact['id']}" in sent
            }
            if any(fact[name] != value for name, value in new.items()):
                changed.append((fact, {**fact, **new}))
        if not changed:
            return call.redirect(f"/pages/{number}", call.words("no_change"), "warning")
        for _, new in changed:
            call.store.execute(
                "UPDATE facts SET value = ?, source = ? WHERE id = ?",
                (new["value"], new["source"], new["id"]),
            )
        before, after = (
            json.dumps(
                {str(row["id"]): [row["name"], row["value"], row["source"]] for row in rows},
                ensure_ascii=False,
            )
            for rows in zip(*changed, strict=True)
        )
        record(call, number, 0, call.login, call.arg("summary"), before, after)
        return call.redirect(f"/pages/{number}", call.words("saved_edit"))

    @get("/sections/{part:int}")
    def edit_section(self, call: Call, part: int) -> WebResponse:
        """Show the form of one section."""
        section = call.store.row("SELECT * FROM sections WHERE id = ?", (part,))
        row = page_of(call, section["page"]) if section else None
        if section is None or row is None:
            return call.not_found()
        refusal = refusal_of(call, row["id"])
        if refusal is not None:
            return refusal
        if call.store.row("SELECT part FROM _pending WHERE part = ?", (part,)):
            call.later(1, "edit", str(part))
        return self._section_form(call, row, section, section["body"], "", "")

    @post("/sections/{part:int}")
    def keep_section(self, call: Call, part: int) -> WebResponse:
        """Save one section, unless it was changed since the form was opened."""
        section = call.store.row("SELECT * FROM sections WHERE id = ?", (part,))
        row = page_of(call, section["page"]) if section else None
        if section is None or row is None:
            return call.not_found()
        refusal = refusal_of(call, row["id"])
        if refusal is not None:
            return refusal
        body = plain(call.arg("body"))
        if call.number("base", -1) != latest_of(call, part):
            return self._section_form(
                call, row, section, body, call.arg("summary"), call.words("conflict")
            )
        if body == plain(section["body"]):
            return call.redirect(f"/pages/{row['id']}", call.words("no_change"), "warning")
        save_section(call, section, body, call.login, call.arg("summary"))
        return call.redirect(f"/pages/{row['id']}", call.words("saved_edit"))

    def _section_form(
        self, call: Call, row: StoreRow, section: StoreRow, body: str, summary: str, conflict: str
    ) -> WebResponse:
        fields = [
            FormField("body", call.words("text"), "textarea", body),
            FormField("summary", call.words("summary"), "text", summary),
        ]
        return show(
            call,
            "section.html",
            row,
            422 if conflict else 200,
            section=section,
            fields=fields,
            conflict=conflict,
            base=latest_of(call, section["id"]),
        )

    @get("/revisions/{number:int}")
    def revision(self, call: Call, number: int) -> WebResponse:
        """Show what a revision changed."""
        change = call.store.row("SELECT * FROM revisions WHERE id = ?", (number,))
        row = page_of(call, change["page"]) if change else None
        if change is None or row is None:
            return call.not_found()
        texts = [
            fact_lines(change[side]) if change["part"] == 0 else change[side].split("\n")
            for side in ("before", "after")
        ]
        return show(
            call,
            "revision.html",
            row,
            change=change,
            texts=texts,
            part=part_name(call, change["part"]),
        )

    @post("/revisions/{number:int}/revert")
    def revert(self, call: Call, number: int) -> WebResponse:
        """Revert a revision, unless a later one changed the same part."""
        change = call.store.row("SELECT * FROM revisions WHERE id = ?", (number,))
        if change is None:
            return call.not_found()
        refusal = refusal_of(call, change["page"])
        if refusal is not None:
            return refusal
        later = call.store.value(
            "SELECT min(id) FROM revisions WHERE page = ? AND part = ? AND id > ?",
            (change["page"], change["part"], number),
        )
        if later is not None:
            return call.redirect(
                f"/revisions/{number}", call.words("revert_blocked", number=later), "error"
            )
        if change["part"]:
            call.store.execute(
                "UPDATE sections SET body = ? WHERE id = ?", (change["before"], change["part"])
            )
        else:
            for key, (_, value, source) in json.loads(change["before"]).items():
                call.store.execute(
                    "UPDATE facts SET value = ?, source = ? WHERE id = ?", (value, source, int(key))
                )
        record(
            call,
            change["page"],
            change["part"],
            call.login,
            call.words("revert_summary", number=number),
            change["after"],
            change["before"],
        )
        return call.redirect(f"/pages/{change['page']}", call.words("reverted"))


SITE = Wiki()
