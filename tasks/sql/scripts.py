"""Scripts over the event's tools: the oracle, alternatives, near misses and trivial agents."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hexathlon.tasks.source import Script
from hexathlon.tasks.sql.templates.draft import AmbiguitySlot
from hexathlon.tasks.tool_calls import tool_call

__all__ = ["Exploring", "explore", "fixed", "handing_in", "impossible", "solving"]


@dataclass(frozen=True, slots=True)
class Exploring:
    """What a sensible agent looks at before it submits."""

    tables: Sequence[str] = ()
    documents: Sequence[str] = ()
    slot: AmbiguitySlot | None = None
    """What it asks the user."""
    records: Sequence[str] = ()
    """Queries on tables that may record why there is no answer."""


def explore(exploring: Exploring) -> Script:
    """Explore as a sensible agent would: tables, documents and, if needed, the user."""
    tables, slot = exploring.tables, exploring.slot
    yield tool_call("list_tables")
    for table in tables[:4]:
        yield tool_call("describe_table", table=table)
    if tables:
        yield tool_call("sample_rows", table=tables[0], limit=3)
    if exploring.documents:
        yield tool_call("list_documents")
    for name in exploring.documents[:5]:
        yield tool_call("read_document", name=name)
    for query in exploring.records:
        yield tool_call("run_query", sql=query)
    if slot is not None:
        reply = yield tool_call("ask_user", question=slot.question)
        if slot.value not in reply:
            yield tool_call("ask_user", question=f"Please tell me this: {slot.question}")


def fixed(actions: Iterable[str]) -> Script:
    """Play given actions, whatever the observations."""
    yield from (action for action in actions)  # a generator takes what is sent, a list does not


def solving(sql: str, exploring: Exploring) -> Script:
    """Explore, test the query, submit it."""
    yield from explore(exploring)
    yield tool_call("run_query", sql=sql)
    yield tool_call("submit", sql=sql)


def handing_in(sql: str, slot: AmbiguitySlot | None = None) -> Script:
    """Submit a query directly, asking first if the task requires clarification."""
    if slot is not None:
        yield tool_call("ask_user", question=slot.question)
    yield tool_call("submit", sql=sql)


def impossible(reason: str, evidence: str, exploring: Exploring | None = None) -> Script:
    """Report the task as impossible, exploring first if it is given what to look at."""
    if exploring is not None:
        yield from explore(exploring)
    yield tool_call("submit_impossible", reason=reason, evidence=evidence)
