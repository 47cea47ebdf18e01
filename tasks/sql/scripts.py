"""Scripts over the event's tools: the oracle, alternatives, near misses and trivial agents."""

from collections.abc import Sequence

from hexathlon.tasks.source import Script
from hexathlon.tasks.sql.actions import action
from hexathlon.tasks.sql.templates.draft import AmbiguitySlot

__all__ = ["explore", "handing_in", "impossible", "solving"]


def explore(tables: Sequence[str], documents: Sequence[str], slot: AmbiguitySlot | None) -> Script:
    """Explore as a sensible agent would: tables, documents and, if needed, the user."""
    yield action("list_tables")
    for table in tables[:4]:
        yield action("describe_table", table=table)
    if tables:
        yield action("sample_rows", table=tables[0], limit=3)
    if documents:
        yield action("list_documents")
    for name in documents[:3]:
        yield action("read_document", name=name)
    if slot is not None:
        reply = yield action("ask_user", question=slot.question)
        if slot.value not in reply:
            yield action("ask_user", question=f"Please tell me this: {slot.question}")


def solving(
    sql: str, tables: Sequence[str], documents: Sequence[str], slot: AmbiguitySlot | None
) -> Script:
    """Explore, test the query, submit it."""
    yield from explore(tables, documents, slot)
    yield action("run_query", sql=sql)
    yield action("submit", sql=sql)


def handing_in(sql: str, slot: AmbiguitySlot | None = None) -> Script:
    """Submit a query directly, asking first if the task requires clarification."""
    if slot is not None:
        yield action("ask_user", question=slot.question)
    yield action("submit", sql=sql)


def impossible(
    reason: str, evidence: str, tables: Sequence[str] = (), documents: Sequence[str] = ()
) -> Script:
    """Report the task as impossible, after exploring if tables are given."""
    if tables or documents:
        yield from explore(tables, documents, None)
        yield action("search_tables", query=evidence)
    yield action("submit_impossible", reason=reason, evidence=evidence)
