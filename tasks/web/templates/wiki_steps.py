"""Steps on the wiki that several templates share, and rows of its revisions."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.tasks.source import Script
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.world.network import Edit
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = [
    "add_category",
    "buildings",
    "edit_facts",
    "edit_section",
    "find_page",
    "infobox_revision",
    "number_in",
    "page_url",
    "revert",
    "revision_row",
]


def page_url(number: int) -> str:
    """Return the pattern of the URL of a page or of one of its parts."""
    return rf"wiki\.hexathlon\.test/pages/{number}(\D|$)"


def number_in(value: str) -> int:
    """Return the figure in a value such as `1,204 m`."""
    return int("".join(each for each in value if each.isdigit()))


def find_page(pilot: Pilot, title: str) -> Script:
    """Open a page through the list's search."""
    yield from pilot.goto("wiki", "/pages")
    yield from pilot.fill(pilot.words("wiki", "search"), title)
    yield from pilot.click("button", pilot.words("wiki", "filter"))
    yield from pilot.click("link", title)


def edit_facts(
    pilot: Pilot, page: int, values: Mapping[str, tuple[str, str | None]], summary: str = ""
) -> Script:
    """Set key facts, by name: value and source; a source of None is left unchanged."""
    yield from pilot.goto("wiki", f"/pages/{page}/infobox")
    for name, (value, source) in values.items():
        yield from pilot.fill(name, value)
        if source is not None:
            labels = [f"{name} – {word}" for word in pilot.words("wiki", "source")]
            yield from pilot.fill(labels, source)
    if summary:
        yield from pilot.fill(pilot.words("wiki", "summary"), summary)
    yield from pilot.click("button", pilot.words("wiki", "save_page"))


def edit_section(pilot: Pilot, section: int, body: str, summary: str = "") -> Script:
    """Set the text of a section."""
    yield from pilot.goto("wiki", f"/sections/{section}")
    yield from pilot.fill(pilot.words("wiki", "text"), body)
    if summary:
        yield from pilot.fill(pilot.words("wiki", "summary"), summary)
    yield from pilot.click("button", pilot.words("wiki", "save_page"))


def add_category(pilot: Pilot, page: int, name: str) -> Script:
    """File a page under a category; its page is opened first."""
    yield from pilot.goto("wiki", f"/pages/{page}?stay=1")
    yield from pilot.click("disclosure", pilot.words("wiki", "add_category"))
    yield from pilot.fill(pilot.words("wiki", "category"), name)
    yield from pilot.click("button", pilot.words("wiki", "save"))


def revert(pilot: Pilot, revision: int) -> Script:
    """Revert a revision and confirm."""
    yield from pilot.goto("wiki", f"/revisions/{revision}")
    yield from pilot.click("button", pilot.words("wiki", "revert"))
    yield from pilot.click("button", pilot.words("wiki", "revert"))


def revision_row(page: int, part: int, author: str, summary: str) -> dict[str, Any]:
    """Return an expected new revision; part 0 is the key facts."""
    return {"page": page, "part": part, "author": author, "summary": summary}


def infobox_revision(
    number: int,
    page: int,
    author: str,
    created: str,
    summary: str,
    before: Sequence[StoreRow],
    after: Sequence[StoreRow],
) -> Edit:
    """Add a revision of key facts to the initial content."""
    old, new = (
        json.dumps(
            {str(row["id"]): [row["name"], row["value"], row["source"]] for row in rows},
            ensure_ascii=False,
        )
        for rows in (before, after)
    )
    return (
        "wiki",
        "INSERT INTO revisions VALUES (?, ?, 0, ?, ?, ?, ?, ?)",
        (number, page, author, created, summary, old, new),
    )


def buildings(store: SiteStore) -> list[StoreRow]:
    """Return the pages of buildings with their kind, in the order of their numbers."""
    return store.rows(
        "SELECT p.id, p.title, c.name AS category FROM pages p JOIN categories c ON c.page = "
        "p.id WHERE p.kind = 'article' AND EXISTS (SELECT 1 FROM facts f WHERE f.page = p.id) "
        "ORDER BY p.id"
    )
