"""Queries and fields that the forum's handlers share."""

from collections.abc import Sequence
from typing import Any

from hexathlon.tasks.web.world.site import Call
from hexathlon.tasks.web.world.sites.forum.vocabulary import KINDS, RULES, label_of
from hexathlon.tasks.web.world.store import StoreRow
from hexathlon.tasks.web.world.ui import FormField, Pager

__all__ = [
    "board_options",
    "choices",
    "handles_of",
    "member_by_login",
    "pager_of",
    "posts_where",
    "sanction_fields",
    "thread_of",
]


def choices(call: Call, values: Sequence[str]) -> list[tuple[str, str]]:
    """Return values with their labels."""
    return [(value, label_of(value, call.language)) for value in values]


def board_options(call: Call) -> list[tuple[str, str]]:
    """Return the boards as options."""
    return [
        (str(row["id"]), row["name"])
        for row in call.store.rows("SELECT id, name FROM boards ORDER BY id")
    ]


def handles_of(call: Call, numbers: Sequence[int]) -> dict[int, str]:
    """Return the handles of members."""
    marks = ", ".join("?" * len(set(numbers)))
    rows = call.store.rows(
        f"SELECT id, handle FROM members WHERE id IN ({marks})", sorted(set(numbers))
    )
    return {row["id"]: row["handle"] for row in rows}


def member_by_login(call: Call) -> int:
    """Return the number of the signed-in member."""
    return int(call.store.value("SELECT id FROM members WHERE login = ?", (call.login,)) or 0)


def thread_of(call: Call, number: int) -> StoreRow | None:
    """Return a thread with the name of its board, or None."""
    return call.store.row(
        "SELECT t.*, b.name AS board_name FROM threads t JOIN boards b ON b.id = t.board WHERE "
        "t.id = ?",
        (number,),
    )


def pager_of(call: Call, total: int, size: int, base: str) -> Pager:
    """Return the position in a paged list."""
    pages = max(1, -(-total // size))
    return Pager(min(max(1, call.number("page", 1)), pages), pages, total, base)


def posts_where(
    call: Call,
    where: str,
    values: Sequence[Any],
    limit: int,
    offset: int = 0,
    order: str = "p.id DESC",
) -> list[StoreRow]:
    """Return posts with thread titles and handles."""
    return call.store.rows(
        "SELECT p.*, t.title, t.board, m.handle FROM posts p JOIN threads t ON t.id = p.thread "
        f"JOIN members m ON m.id = p.author WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?",
        (*values, limit, offset),
    )


def sanction_fields(call: Call, problem: str, post: str) -> list[FormField]:
    """Return the fields of a sanction."""
    words = call.words
    return [
        FormField(
            "kind", words("kind"), "select", call.arg("kind") or KINDS[0], choices(call, KINDS)
        ),
        FormField("days", words("days"), "number", call.arg("days")),
        FormField(
            "rule", words("rule"), "select", call.arg("rule") or RULES[0], choices(call, RULES)
        ),
        FormField("post", words("for_post"), "number", post, error=problem),
    ]
