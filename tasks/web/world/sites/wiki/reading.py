"""Queries and parts that the wiki's handlers share."""

import json
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call
from hexathlon.tasks.web.world.store import SiteStore, StoreRow
from hexathlon.tasks.web.world.ui import FormField

__all__ = [
    "changes_of",
    "fact_fields",
    "fact_lines",
    "facts_of",
    "filter_fields",
    "filters_of",
    "latest_of",
    "linked",
    "names_of",
    "page_of",
    "part_name",
    "plain",
    "protection_of",
    "record",
    "refusal_of",
    "save_section",
    "show",
]

_KINDS = ("article", "redirect", "guideline")


def page_of(call: Call, number: int) -> StoreRow | None:
    """Return a page, or None."""
    return call.store.row("SELECT * FROM pages WHERE id = ?", (number,))


def facts_of(call: Call, number: int) -> list[StoreRow]:
    """Return the key facts of a page."""
    return call.store.rows("SELECT * FROM facts WHERE page = ? ORDER BY position", (number,))


def names_of(store: SiteStore) -> dict[str, str]:
    """Return the name of every account."""
    rows = store.rows("SELECT login, name FROM _accounts")
    return {row["login"]: row["name"] for row in rows}


def linked(call: Call, text: str) -> Markup:
    """Write a section with its links; titles without a page are not linked."""
    parts = re.split(r"\[\[([^\[\]]+)\]\]", text)
    titles = parts[1::2]
    marks = ", ".join("?" * len(titles))
    rows = call.store.rows(f"SELECT id, title FROM pages WHERE title IN ({marks})", titles)
    numbers = {row["title"]: row["id"] for row in rows}
    pieces = [
        escape(part)
        if i % 2 == 0 or part not in numbers
        else call.ui.link(part, f"/pages/{numbers[part]}")
        for i, part in enumerate(parts)
    ]
    whole = Markup("").join(pieces)
    return Markup("").join(
        Markup("<p>{}</p>").format(Markup(line)) for line in str(whole).split("\n") if line.strip()
    )


def plain(text: str) -> str:
    """Return a text with Unix line ends and without white space around it."""
    return text.replace("\r\n", "\n").strip()


def protection_of(call: Call, number: int) -> StoreRow | None:
    """Return the protection of a page that has not ended."""
    return call.store.row(
        "SELECT * FROM protections WHERE page = ? AND until >= ? ORDER BY id DESC",
        (number, call.clock.today.isoformat()),
    )


def refusal_of(call: Call, number: int) -> WebResponse | None:
    """Return the refusal of an edit, or None if the person may edit the page."""
    protection = protection_of(call, number)
    if protection is None:
        return None
    return call.forbidden(protection_note(call, protection))


def protection_note(call: Call, protection: StoreRow) -> str:
    """Write why a page cannot be edited."""
    until = call.date(protection["until"])
    return call.words("protected", number=protection["id"], until=until)


def show(
    call: Call, template: str, row: StoreRow, status: int = 200, **context: Any
) -> WebResponse:
    """Render a view of a wiki page, with its tabs."""
    words, place = call.words, f"/pages/{row['id']}"
    tabs = [
        (words("read"), f"{place}?stay=1"),
        (words("talk"), f"{place}/talk"),
        (words("history"), f"{place}/history"),
        (words("what_links"), f"{place}/links"),
        (words("move"), f"{place}/move"),
    ]
    if call.look.actions_first:
        tabs = [tabs[0], *reversed(tabs[1:])]
    protection = protection_of(call, row["id"])
    note = protection_note(call, protection) if protection else ""
    return call.page(
        template, status, page=row, tabs=tabs, note=note, names=names_of(call.store), **context
    )


def changes_of(
    call: Call, where: str, values: Sequence[Any], limit: int, offset: int = 0
) -> list[StoreRow]:
    """Return revisions with page titles, the latest first."""
    rows = call.store.rows(
        "SELECT r.*, p.title, (SELECT heading FROM sections s WHERE s.id = r.part) AS heading, "
        "(SELECT name FROM _accounts a WHERE a.login = r.author) AS name FROM revisions r JOIN "
        f"pages p ON p.id = r.page WHERE {where} ORDER BY r.id DESC LIMIT ? OFFSET ?",
        (*values, limit, offset),
    )
    for row in rows:
        row["heading"] = row["heading"] or call.words("infobox")
        row["name"] = row["name"] or row["author"]
    return rows


def part_name(call: Call, part: int) -> str:
    """Return the heading of a section; that of the key facts for 0."""
    heading = call.store.value("SELECT heading FROM sections WHERE id = ?", (part,))
    return str(heading) if part and heading else call.words("infobox")


def latest_of(call: Call, part: int) -> int:
    """Return the number of the latest revision of a section; 0 if there is none."""
    return int(call.store.value("SELECT max(id) FROM revisions WHERE part = ?", (part,)) or 0)


def fact_lines(data: str) -> list[str]:
    """Write the key facts of a revision as lines."""
    if not data:
        return []
    return [f"{name}: {value} ({source})" for name, value, source in json.loads(data).values()]


def record(
    call: Call, page: int, part: int, author: str, summary: str, before: str, after: str
) -> None:
    """Add a revision."""
    call.store.insert(
        "revisions",
        page=page,
        part=part,
        author=author,
        created=call.clock.stamp,
        summary=summary,
        before=before,
        after=after,
    )


def save_section(call: Call, section: StoreRow, body: str, author: str, summary: str) -> None:
    """Change the text of a section."""
    call.store.execute("UPDATE sections SET body = ? WHERE id = ?", (body, section["id"]))
    record(call, section["page"], section["id"], author, summary, section["body"], body)


def fact_fields(call: Call, facts: Sequence[StoreRow]) -> list[FormField]:
    """Return the fields of the key facts, and the edit summary."""
    fields = []
    for fact in facts:
        fields.append(FormField(f"value-{fact['id']}", fact["name"], "text", fact["value"]))
        label = f"{fact['name']} – {call.words('source')}"
        fields.append(FormField(f"source-{fact['id']}", label, "text", fact["source"]))
    return [*fields, FormField("summary", call.words("summary"), "text")]


def filters_of(call: Call) -> tuple[str, list[Any], str]:
    """Return the condition, its values, and the query string of the list of pages."""
    conditions, values, query = ["1"], list[Any](), ""
    text, category, kind = (call.arg(name) for name in ("q", "category", "kind"))
    if text:
        conditions.append(
            "(p.title LIKE ? OR EXISTS (SELECT 1 FROM sections s WHERE s.page = p.id AND s.body "
            "LIKE ?))"
        )
        values += [f"%{text}%"] * 2
        query += f"q={quote(text)}&"
    if category:
        conditions.append("EXISTS (SELECT 1 FROM categories c WHERE c.page = p.id AND c.name = ?)")
        values.append(category)
        query += f"category={quote(category)}&"
    if kind in _KINDS:
        conditions.append("p.kind = ?")
        values.append(kind)
        query += f"kind={kind}&"
    if call.arg("sort") == "newest":
        query += "sort=newest&"
    return " AND ".join(conditions), values, query


def filter_fields(call: Call) -> list[FormField]:
    """Return the fields of the list's filter."""
    words, everything = call.words, ("", call.words("all"))
    names = call.store.rows("SELECT DISTINCT name FROM categories ORDER BY name")
    return [
        FormField("q", words("search"), "text", call.arg("q")),
        FormField(
            "category",
            words("category"),
            "select",
            call.arg("category"),
            [everything, *((row["name"], row["name"]) for row in names)],
        ),
        FormField(
            "kind",
            words("kind"),
            "select",
            call.arg("kind"),
            [everything, *((kind, words(f"kind_{kind}")) for kind in _KINDS)],
        ),
        FormField(
            "sort",
            words("sort"),
            "select",
            call.arg("sort") or "title",
            [("title", words("by_title")), ("newest", words("by_newest"))],
        ),
    ]
