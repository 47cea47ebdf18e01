"""Queries, fields and checks that the editorial system's handlers share."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from hexathlon.tasks.web.world.site import Call
from hexathlon.tasks.web.world.sites.cms.vocabulary import DESKS, LICENCES, STATUSES, label_of
from hexathlon.tasks.web.world.store import SiteStore, StoreRow
from hexathlon.tasks.web.world.ui import FormField

__all__ = [
    "article_fields",
    "article_of",
    "choices",
    "filter_fields",
    "filters_of",
    "media_fields",
    "names_of",
    "reviewer_field",
    "schedule_problem",
]

SORTS = {
    "updated": "updated DESC, id",
    "id": "id DESC",
    "title": "title",
    "publish_at": "publish_at DESC, id",
}


def article_of(call: Call, number: int) -> StoreRow | None:
    """Return an article, or None."""
    return call.store.row("SELECT * FROM articles WHERE id = ?", (number,))


def names_of(store: SiteStore) -> dict[str, str]:
    """Return the name of everybody on the team."""
    rows = store.rows("SELECT login, name FROM authors")
    return {"": "–", **{row["login"]: row["name"] for row in rows}}


def choices(call: Call, values: Sequence[str]) -> list[tuple[str, str]]:
    """Return values with their labels."""
    return [(value, label_of(value, call.language)) for value in values]


def reviewer_field(call: Call, section: str, value: str, error: str = "") -> FormField:
    """Return the field of the reviewer, whose options depend on the section."""
    rows = call.store.rows(
        "SELECT login, name FROM authors WHERE role IN ('editor', 'chief') ORDER BY desk <> ?, "
        "name",
        (section,),
    )
    options = [("", call.words("none")), *((row["login"], row["name"]) for row in rows)]
    return FormField("reviewer", call.words("reviewer"), "select", value, options, error)


def article_fields(
    call: Call, values: Mapping[str, Any], errors: Mapping[str, str]
) -> list[FormField]:
    """Return the fields of an article, apart from the reviewer."""
    words = call.words
    people = call.store.rows(
        "SELECT login, name FROM authors WHERE role <> 'producer' ORDER BY name"
    )
    authors = [("", words("none")), *((row["login"], row["name"]) for row in people)]
    return [
        FormField(
            "title", words("title"), "text", values.get("title", ""), error=errors.get("title", "")
        ),
        FormField("summary", words("summary"), "text", values.get("summary", "")),
        FormField("body", words("body"), "textarea", values.get("body", "")),
        FormField(
            "section",
            words("section"),
            "select",
            values.get("section", ""),
            [("", words("none")), *choices(call, DESKS)],
            errors.get("section", ""),
            depends=("/articles/reviewers", "reviewer-place"),
        ),
        FormField(
            "author",
            words("author"),
            "select",
            values.get("author", ""),
            authors,
            errors.get("author", ""),
        ),
        FormField(
            "image",
            words("image"),
            "number",
            values.get("image") or "",
            error=errors.get("image", ""),
        ),
        FormField("embargo", words("embargo"), "picker", str(values.get("embargo", ""))[:10]),
        FormField("featured", words("featured"), "checkbox", values.get("featured")),
    ]


def media_fields(call: Call, values: Mapping[str, Any]) -> list[FormField]:
    """Return the fields of a picture."""
    words = call.words
    return [
        FormField("subject", words("subject"), "text", values.get("subject", "")),
        FormField("alt", words("alt"), "text", values.get("alt", "")),
        FormField("credit", words("credit"), "text", values.get("credit", "")),
        FormField(
            "licence",
            words("licence"),
            "select",
            values.get("licence", "own"),
            choices(call, LICENCES),
        ),
    ]


def filters_of(call: Call) -> tuple[str, list[Any], str]:
    """Return the condition, its values, and the query string of the list of articles."""
    conditions, values, query = ["1"], list[Any](), ""
    for name in ("status", "section", "author"):
        wanted = call.arg(name)
        if wanted:
            conditions.append(f"{name} = ?")
            values.append(wanted)
            query += f"{name}={quote(wanted)}&"
    if call.arg("tag"):
        conditions.append("id IN (SELECT article FROM article_tags WHERE tag = ?)")
        values.append(call.number("tag"))
        query += f"tag={call.number('tag')}&"
    if call.arg("featured") in ("0", "1"):
        conditions.append("featured = ?")
        values.append(call.number("featured"))
        query += f"featured={call.number('featured')}&"
    text = call.arg("q")
    if text:
        conditions.append("(title LIKE ? OR body LIKE ?)")
        values += [f"%{text}%"] * 2
        query += f"q={quote(text)}&"
    if call.arg("sort") in SORTS:
        query += f"sort={call.arg('sort')}&"
    return " AND ".join(conditions), values, query


def filter_fields(call: Call) -> list[FormField]:
    """Return the fields of the list's filter."""
    words, everything = call.words, ("", call.words("all"))
    people = call.store.rows(
        "SELECT login, name FROM authors WHERE role <> 'producer' ORDER BY name"
    )
    tags = call.store.rows("SELECT id, name FROM tags ORDER BY name")
    return [
        FormField("q", words("search"), "text", call.arg("q")),
        FormField(
            "status",
            words("status"),
            "select",
            call.arg("status"),
            [everything, *choices(call, STATUSES)],
        ),
        FormField(
            "section",
            words("section"),
            "select",
            call.arg("section"),
            [everything, *choices(call, DESKS)],
        ),
        FormField(
            "author",
            words("author"),
            "select",
            call.arg("author"),
            [everything, *((row["login"], row["name"]) for row in people)],
        ),
        FormField(
            "tag",
            words("tag"),
            "select",
            call.arg("tag"),
            [everything, *((str(row["id"]), row["name"]) for row in tags)],
        ),
        FormField(
            "featured",
            words("only_featured"),
            "select",
            call.arg("featured"),
            [everything, ("1", words("yes")), ("0", words("no"))],
        ),
        FormField(
            "sort",
            words("sort"),
            "select",
            call.arg("sort") or "updated",
            [
                ("updated", words("updated")),
                ("id", "#"),
                ("title", words("title")),
                ("publish_at", words("publish_at")),
            ],
        ),
    ]


def schedule_problem(call: Call, row: StoreRow, moment: str) -> str:
    """Return why an article cannot be scheduled for a moment; empty if it can."""
    words = call.words
    if row["status"] not in ("review", "scheduled"):
        return words("wrong_status")
    if not row["reviewer"] or row["reviewer"] == row["author"]:
        return words("need_review")
    alt = call.store.value("SELECT alt FROM media WHERE id = ?", (row["image"],))
    if not alt:
        return words("need_image")
    if moment <= call.clock.now.strftime("%Y-%m-%d %H:%M"):
        return words("in_past")
    holder = call.store.value(
        "SELECT id FROM articles WHERE status = 'scheduled' AND publish_at = ? AND id <> ?",
        (moment, row["id"]),
    )
    return words("slot_taken", number=holder) if holder is not None else ""
