"""Pages made of blocks: a title, stacked sections, and a sidebar.

For sites whose pages are assembled in Python; lists and forms come from `Kit`.
"""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call
from hexathlon.tasks.web.world.ui import Pager

__all__ = ["block_page", "paged", "paragraphs", "parse_cents", "section"]


def block_page(
    call: Call, title: str, *parts: Any, side: Any = "", status: int = 200
) -> WebResponse:
    """Render a page with a title and stacked sections."""
    return call.page("kit/blocks.html", status, title=title, side=side, pieces=parts)


def section(title: str, *parts: Any) -> Markup:
    """A part of a page with a heading."""
    body = Markup("").join(parts)
    return Markup("<section><h2>{}</h2>{}</section>").format(title, body)


def paragraphs(text: str) -> Markup:
    """Text as paragraphs, one per line."""
    return Markup("").join(Markup("<p>{}</p>").format(line) for line in text.splitlines())


def paged(
    call: Call, sql: str, values: Sequence[Any], size: int, base: str
) -> tuple[list[Any], Pager]:
    """Return the rows of the requested page, and its position in the list.

    Args:
        call: The request.
        sql: Query, with its order, without a limit.
        values: Its values.
        size: Rows per page.
        base: URL of the list with every other parameter, ending in `?` or `&`.
    """
    total = call.store.value(f"SELECT count(*) FROM ({sql})", values)
    pages = max(1, -(-total // size))
    page = min(max(1, call.number("page", 1)), pages)
    rows = call.store.rows(f"{sql} LIMIT ? OFFSET ?", (*values, size, (page - 1) * size))
    return rows, Pager(page, pages, total, base)


def parse_cents(text: str) -> int | None:
    """Return an amount such as `12.50` in cents, or None if it is not an amount."""
    whole, _, part = text.replace("€", "").replace(",", "").strip().partition(".")
    if not whole.isdecimal() or len(whole) > 9 or len(part) > 2 or part and not part.isdecimal():
        return None
    return int(whole) * 100 + int(part.ljust(2, "0") if part else 0)
