"""Shifts as tasks: the fields of a `Task`, the oracle, alternatives, near misses and policies."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

from hexathlon.tasks.errors import GenerationExhausted
from hexathlon.tasks.source import Script
from hexathlon.tasks.sql.scripts import fixed
from hexathlon.tasks.sql.shifts.day import ShiftDay, day_of
from hexathlon.tasks.sql.shifts.themes import THEMES
from hexathlon.tasks.sql.shifts.tickets import SQLTicket, TicketRefusal, TicketStep
from hexathlon.tasks.sql.supplement import Supplement
from hexathlon.tasks.sql.world.world import world_for
from hexathlon.tasks.task import Check
from hexathlon.tasks.tool_calls import tool_call

__all__ = [
    "SHIFTS", "compose_shift", "shift_alternatives", "shift_check", "shift_instruction",
    "shift_mutants", "shift_oracle", "shift_params", "shift_policies", "shift_turns",
]  # fmt: skip

SHIFTS = tuple(f"shift_{name}" for name in THEMES)
"""The templates."""
WRITES = ("insert", "update", "delete", "create_table", "drop_table")
PATIENCE = 1.0
"""Actions of an agent per action of the oracle that checks everything before each report."""


def compose_shift(template: str, worlds: Sequence[str], seed: int) -> tuple[int, ShiftDay]:
    """Return the number of the first suitable world, and its day.

    Raises:
        GenerationExhausted: If none of the worlds is suitable.
    """
    for attempt, world in enumerate(worlds):
        try:
            return attempt, day_of(template, world, seed, attempt)
        except GenerationExhausted:
            continue
    raise GenerationExhausted(f"{template} found no day in {len(worlds)} worlds, first {worlds[0]}")


def shift_instruction(day: ShiftDay) -> str:
    """Return the opening: the place of work, where the rules are, and the first ticket."""
    story = THEMES[day.template.removeprefix("shift_")].story
    return (
        f"{story} Tickets arrive one at a time. All of them concern the same database, which you "
        "change with run_query. Hand each ticket in with submit or, if it must be refused, with "
        "submit_impossible; then the next one arrives. The rules are in the document "
        "rules_of_the_desk. Every ticket is checked, and so is the database each time you hand "
        f"one in. There are {len(day.tickets)} tickets, and you have {shift_turns(day)} actions in "
        f"total.\n\n{_text(day, 0)}"
    )


def _text(day: ShiftDay, place: int) -> str:
    return f"Ticket {place + 1}: {day.tickets[place].text}"


def shift_params(day: ShiftDay, seed: int) -> dict[str, Any]:
    """Return the task parameters of a shift: its database, its documents, and the later tickets."""
    schema = world_for(day.world).schema
    return {
        "mode": "write",
        "writes": list(WRITES),
        "population": day.population,
        "shift": {"template": day.template, "seed": seed},
        "documents": [
            *(paper.name for paper in day.papers), *(paper.name for paper in schema.documents),
        ],
        "supplement": Supplement(day.papers).params(),
        "tickets": [
            {"text": _text(day, place), "before": list(day.tickets[place - 1].after)}
            for place in range(1, len(day.tickets))
        ],
        "user": None,
    }  # fmt: skip


def shift_check(day: ShiftDay, canary: str) -> Check:
    """Return the check: statements, answers and refusals of all tickets."""
    tickets = []
    for ticket in day.tickets:
        refusal = ticket.refusal
        tickets.append(
            {
                "statements": [step.sql for step in ticket.steps],
                "after": list(ticket.after),
                "answer": list(ticket.answer) if ticket.answer is not None else None,
                "reason": refusal.reason if refusal else None,
                "evidence": [refusal.evidence] if refusal else None,
            }
        )
    return Check(name="sql_shift", params={"tickets": tickets, "canary": canary})


def shift_turns(day: ShiftDay) -> int:
    """Return the budget of a day, from the number of the oracle's actions."""
    return ceil(PATIENCE * sum(1 for _ in _played(day)) / 5) * 5


# -- scripts -------------------------------------------------------------------------------------


def shift_oracle(day: ShiftDay) -> Script:
    """Read the rules, look at the tables and routines, and work on every ticket."""
    return fixed(_played(day))


def shift_alternatives(day: ShiftDay) -> Mapping[str, Script]:
    """Return the same day in other statements, and with a helper table on the way."""
    other = tuple(
        replace(ticket, steps=tuple(replace(s, sql=s.other or s.sql) for s in ticket.steps))
        for ticket in day.tickets
    )
    return {
        "other_statements": fixed(_handed_in(other)),
        "helper_tables": fixed(_with_helpers(day)),
    }


def shift_mutants(day: ShiftDay) -> Mapping[str, Script]:
    """Return days with one mistake each, all of which screening told from the right one."""
    made = {name: fixed(_handed_in(_slipped(day, name))) for name in day.slips}
    made["refused_ticket_carried_out"] = fixed(_handed_in(_all_carried_out(day)))
    made["wrong_evidence"] = fixed(_handed_in(_wrong_evidence(day)))
    made["helper_table_kept"] = fixed(_with_helpers(day, kept=True))
    made["day_not_ended"] = fixed(_handed_in(day.tickets[:-1]))
    return made


def shift_policies(day: ShiftDay) -> Mapping[str, Script]:
    """Return trivial agents."""
    count = len(day.tickets)
    table = day.tables[1]
    nothing = [tool_call("submit", answer=[]) for _ in range(count)]
    refusing = [
        tool_call("submit_impossible", reason="not_permitted", evidence="H-1") for _ in range(count)
    ]
    return {
        "dump": fixed([tool_call("run_query", sql=f"SELECT * FROM {table}"), *nothing]),
        "majority": fixed([tool_call("submit", answer=["0"]) for _ in range(count)]),
        "first_table": fixed([tool_call("sample_rows", table=day.tables[0], limit=20), *nothing]),
        "delete_everything": fixed(
            [tool_call("run_query", sql=f"DELETE FROM {name}") for name in day.tables] + nothing
        ),
        "always_impossible": fixed(refusing),
        "empty": fixed(nothing),
    }


def _played(day: ShiftDay) -> Iterator[str]:
    yield tool_call("list_documents")
    for paper in day.papers:
        yield tool_call("read_document", name=paper.name)
    yield tool_call("list_tables")
    for table in day.tables:
        yield tool_call("describe_table", table=table)
    yield tool_call(
        "run_query", sql="SELECT name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')"
    )
    yield from _handed_in(day.tickets, checking=True)


def _handed_in(tickets: Sequence[SQLTicket], *, checking: bool = False) -> Iterator[str]:
    """Yield the actions of some tickets; if `checking`, with a look at all that was asked for."""
    looks: list[str] = []
    for ticket in tickets:
        if checking:
            yield from looks
            if ticket.look:
                looks.append(tool_call("run_query", sql=ticket.look))
        for step in ticket.steps:
            if step.sql:
                yield tool_call("run_query", sql=step.sql)
        if ticket.refusal is not None:
            refusal = ticket.refusal
            yield tool_call("submit_impossible", reason=refusal.reason, evidence=refusal.evidence)
        elif ticket.answer is not None:
            if ticket.query:
                yield tool_call("run_query", sql=ticket.query)
            yield tool_call("submit", answer=list(ticket.answer))
        else:
            yield tool_call("submit")


def _with_helpers(day: ShiftDay, *, kept: bool = False) -> Iterator[str]:
    """Ask in other words, and rebuild the table of results by way of a helper table.

    If `kept`, helper tables are not dropped.
    """
    for place, ticket in enumerate(day.tickets):
        for step in ticket.steps:
            start = f"INSERT INTO {day.results} "
            if step.sql.startswith(start + "SELECT"):
                helper = f"tmp_results_{place}"
                query = step.sql.removeprefix(start)
                yield tool_call("run_query", sql=f"CREATE TABLE {helper} AS {query}")
                yield tool_call("run_query", sql=f"{start}SELECT * FROM {helper}")
                if not kept:
                    yield tool_call("run_query", sql=f"DROP TABLE {helper}")
            else:
                yield tool_call("run_query", sql=step.sql)
        plain = replace(ticket, steps=())
        if ticket.other_query:
            plain = replace(plain, query=ticket.other_query)
        yield from _handed_in([plain])


def _slipped(day: ShiftDay, name: str) -> tuple[SQLTicket, ...]:
    """Return the tickets with a mistake wherever it can be made."""
    if name == "twin_refused":
        return tuple(
            replace(ticket, steps=(), refusal=_refusal_of(ticket))
            if ticket.kind == "pause_twin"
            else ticket
            for ticket in day.tickets
        )
    made = []
    for ticket in day.tickets:
        if ticket.refusal is not None and name in ticket.refusal.missed:
            made.append(_carried_out(ticket))
            continue
        steps: list[TicketStep] = []
        for step in ticket.steps:
            if name in step.slips:
                steps.extend(TicketStep(sql) for sql in step.slips[name])
            else:
                steps.append(step)
        answer = ticket.answer_slips.get(name, ticket.answer)
        made.append(replace(ticket, steps=tuple(steps), answer=answer))
    return tuple(made)


def _refusal_of(ticket: SQLTicket) -> TicketRefusal:
    return TicketRefusal("not_permitted", ticket.lapsed)


def _all_carried_out(day: ShiftDay) -> tuple[SQLTicket, ...]:
    return tuple(
        ticket if ticket.refusal is None else _carried_out(ticket) for ticket in day.tickets
    )


def _carried_out(ticket: SQLTicket) -> SQLTicket:
    """Return a ticket that has to be refused, carried out."""
    return replace(ticket, refusal=None, steps=(*ticket.steps, *map(TicketStep, ticket.anyway)))


def _wrong_evidence(day: ShiftDay) -> tuple[SQLTicket, ...]:
    return tuple(
        ticket
        if ticket.refusal is None
        else replace(ticket, refusal=replace(ticket.refusal, evidence=_other(ticket)))
        for ticket in day.tickets
    )


def _other(ticket: SQLTicket) -> str:
    assert ticket.refusal is not None
    return ticket.refusal.wrong[0] if ticket.refusal.wrong else "H-1"
