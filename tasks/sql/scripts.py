"""Scripts over the event's tools: the oracle, alternatives, near misses and trivial agents."""

from collections.abc import Sequence

from hexathlon.tasks.source import Script
from hexathlon.tasks.sql.templates.draft import AmbiguitySlot
from hexathlon.tasks.tool_calls import tool_call

__all__ = ["explore", "handing_in", "impossible", "solving"]


def explore(tables: Sequence[str], documents: Sequence[str], slot: AmbiguitySlot | None) -> Script:
    """Explore as a sensible agent would: tables, documents and, if needed, the user."""
    yield tool_call("list_tables")
    for table in tables[:4]:
        yield tool_call("describe_table", table=table)
    if tables:
        yield tool_call("sample_rows", table=tables[0], limit=3)
    if documents:
        yield tool_call("list_documents")
    for name in documents[:3]:
        yield tool_call("read_document", name=name)
    if slot is not None:
        reply = yield tool_call("ask_user", question=slot.question)
        if slot.value not in reply:
            yield tool_call("ask_user", question=f"Please tell me this: {slot.question}")


def solving(
    sql: str, tables: Sequence[str], documents: Sequence[str], slot: AmbiguitySlot | None
) -> Script:
    """Explore, test the query, submit it."""
    yield from explore(tables, documents, slot)
    yield tool_call("run_query", sql=sql)
    yield tool_call("submit", sql=sql)


def handing_in(sql: str, slot: AmbiguitySlot | None = None) -> Script:
    """Submit a query directly, asking first if the task requires clarification."""
    if slot is not None:
        yield tool_call("ask_user", question=slot.question)
    yield tool_call("submit", sql=sql)


def impossible(
    reason: str, evidence: str, tables: Sequence[str] = (), documents: Sequence[str] = ()
) -> Script:
    """Report the task as impossible, after exploring if tables are given."""
    if tables or documents:
        yield from explore(tables, documents, None)
        yield tool_call("search_tables", query=evidence)
    yield tool_call("submit_impossible", reason=reason, evidence=evidence)
