"""Estates as tasks: the question, parameters, check, oracle, near misses and policies."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any

from hexathlon.tasks.source import Script
from hexathlon.tasks.sql.estates.clauses import BASIS, METRIC_NAMES
from hexathlon.tasks.sql.estates.estate import HIDDEN, Estate, slips_of
from hexathlon.tasks.sql.estates.layout import FLOW_ROLES, VIEWS
from hexathlon.tasks.sql.estates.papers import papers_of
from hexathlon.tasks.sql.estates.spec import AS_OF, METRICS
from hexathlon.tasks.sql.scripts import fixed
from hexathlon.tasks.sql.supplement import Supplement
from hexathlon.tasks.task import Check
from hexathlon.tasks.tool_calls import tool_call

__all__ = [
    "ESTATES", "estate_alternatives", "estate_check", "estate_instruction", "estate_mutants",
    "estate_oracle", "estate_params", "estate_policies", "estate_turns",
]  # fmt: skip

ESTATES = tuple(f"estate_{metric}" for metric in METRICS)
"""The templates."""
PATIENCE = 1.15
"""Actions of an agent per action of the oracle."""
_USER_PATIENCE = 2
_TOLERANCE = 1e-6
"""Relative, so that totals may be rounded to cents."""
_ORDINALS = ("first", "second", "third", "fourth")


def estate_instruction(made: Estate) -> str:
    """Return the question."""
    spec = made.spec
    when = f"the {_ORDINALS[spec.quarter - 1]} quarter of {spec.year}"
    if spec.metric in AS_OF:
        when = spec.day
    question = {
        "revenue": f"What was our net revenue in {when}, by region? Give the name of the region "
        "and the revenue in euros.",
        "clients": f"Who were our five biggest customers by net revenue in {when}? Give customer "
        "number, name and revenue in euros.",
        "overdue": f"How much was overdue at the end of the day on {when}, by region? Give the "
        "name of the region, the overdue exposure in euros, and how much of it was overdue by more "
        "than 60 days.",
        "churn": f"How many contracts did we lose in {when}, by region, and how much in monthly "
        "fees? Give the name of the region, the number of churned contracts, and their monthly "
        "fees in euros.",
        "recurring": f"What recurring fees did we have at the end of the day on {when}, "
        "by segment? "
        "Give the segment (its text, not its code), the number of customers with a running "
        "contract, the number of running contracts, and the fees in euros per month.",
        "punctual": f"How much did we deliver in {when}, by region, and how much of it on time? "
        "Give the name of the region, the pieces delivered, and delivery punctuality as a share "
        "between 0 and 1.",
    }[spec.metric]
    row = {"clients": "of them", "recurring": "segment that has any"}.get(
        spec.metric, "region that has any"
    )
    return (
        f"You are an analyst of the {made.layout.group} group. {question} Return one row for each "
        f"{row}, in any order, without rounding.\n\nThe figures go to the board, so they must "
        f"follow the group's own rules. Today is {spec.today}. You have {estate_turns(made)} "
        "actions; query results show at most 50 rows."
    )


def estate_params(made: Estate) -> dict[str, Any]:
    """Return the task parameters: databases, documents and the person who asks."""
    spec = made.spec
    papers = papers_of(spec, made.layout)
    return {
        "mode": "read",
        "today": spec.today,
        "estate": {"metric": made.metric, "seed": made.seed, "population": 0},
        "size": made.rows,
        "documents": [paper.name for paper in papers],
        "supplement": Supplement(papers).params(),
        "user": _agenda(made),
        "hidden": [{"estate": number} for number in range(1, HIDDEN + 1)],
    }


def _agenda(made: Estate) -> dict[str, Any]:
    """Return what the asker knows; nothing, unless the register leaves the choice to them."""
    slots: dict[str, Any] = {}
    if made.spec.asked:
        own, alt = BASIS[made.metric]
        slots["date"] = {
            "value": own if made.spec.basis == "own" else alt,
            "say": [
                "Go by the {value}.", "I mean the {value}.", "The {value} is what I need.",
            ],
            "ask": [
                "date", "dates", "basis", "due", "start", "starts", "notice", "promised", "promise",
                "confirmed", "billing", "service", "invoice", "end", "measured", "timing",
            ],
        }  # fmt: skip
    return {
        "goal": "I need the figure that I asked for.", "slots": slots, "patience": _USER_PATIENCE,
    }  # fmt: skip


def estate_check(made: Estate, canary: str) -> Check:
    """Return the check: the expected query and, if it is left open, what must have been asked."""
    params: dict[str, Any] = {"gold": made.gold, "ordered": False, "tolerance": _TOLERANCE}
    if made.spec.asked:
        params["asked"] = ["date"]
    return Check(name="sql_result", params={**params, "canary": canary})


def estate_turns(made: Estate) -> int:
    """Return the budget, from the number of the oracle's actions."""
    return ceil(PATIENCE * sum(1 for _ in _worked(made)))


# -- scripts -------------------------------------------------------------------------------------


def estate_oracle(made: Estate) -> Script:
    """Read rules and pages, look at the tables, ask what is left open, test and submit."""
    return fixed(_worked(made))


def estate_alternatives(made: Estate) -> Mapping[str, Script]:
    """Return the same query in other words."""
    return {"other_words": fixed(_handed_in(made, made.other))}


def estate_mutants(made: Estate) -> Mapping[str, Script]:
    """Return readings with one mistake, all of which screening told from the right one."""
    queries = {**made.ignored, **slips_of(made)}
    wrong = {name: fixed(_handed_in(made, sql)) for name, sql in queries.items()}
    wrong["called_impossible"] = fixed(
        [tool_call("submit_impossible", reason="missing_value", evidence="M-101")]
    )
    if made.spec.asked:
        wrong["guessed_without_asking"] = fixed([tool_call("submit", sql=made.gold)])
    return wrong


def estate_policies(made: Estate) -> Mapping[str, Script]:
    """Return trivial agents."""
    layout = made.layout
    role = "N" + made.spec.flow
    table, view = layout.tables[role], VIEWS[made.spec.flow]
    queries = {
        "dump": f"SELECT * FROM {table}",
        "majority": f"SELECT COUNT(*) FROM {table}",
        "first_table": f"SELECT * FROM {layout.tables['cust']}",
        "old_view": f"SELECT * FROM {view}",
        "empty": "SELECT NULL WHERE 1 = 0",
    }
    return {
        **{name: fixed([tool_call("submit", sql=sql)]) for name, sql in queries.items()},
        "always_impossible": fixed(
            [tool_call("submit_impossible", reason="missing_data", evidence=table)]
        ),
    }


def _needed(made: Estate) -> Sequence[str]:
    """Return the names of the documents that decide something, as an expert would pick them."""
    systems = tuple(made.layout.systems.values())
    title = METRIC_NAMES[made.metric].capitalize()
    wanted = []
    for paper in papers_of(made.spec, made.layout):
        about = paper.title.startswith(systems) and "plan" not in paper.title
        pages = (title, "Master data and settings")
        rules = paper.name.startswith("policy") or paper.title in pages
        events = paper.title.startswith(
            ("Closing of the purchase", "Rows of ", "Full tablespace", "Data quality")
        )
        if about or rules or events:
            wanted.append(paper.name)
    return wanted


def _worked(made: Estate) -> Iterator[str]:
    layout, spec = made.layout, made.spec
    yield tool_call("list_documents")
    for name in _needed(made):
        yield tool_call("read_document", name=name)
    yield tool_call("list_tables")
    yield tool_call("run_query", sql=layout("SELECT * FROM @sign"))
    metric = METRIC_NAMES[made.metric]
    yield tool_call(
        "run_query", sql=layout(f"SELECT * FROM @reg WHERE @reg.metric = '{metric}' ORDER BY 3, 5")
    )
    roles = FLOW_ROLES[spec.flow]
    if made.metric in ("revenue", "clients"):
        roles = tuple(role for role in roles if not role.endswith("pay"))
    for role in roles:
        yield tool_call("sample_rows", table=layout.tables[role], limit=3)
    for role in ("cust", "xref"):
        yield tool_call("sample_rows", table=layout.tables[role])
    for sql in ("SELECT * FROM @look", "SELECT * FROM @batch"):
        yield tool_call("run_query", sql=layout(sql))
    if spec.asked:
        yield tool_call("ask_user", question=_question(made))
    yield tool_call("run_query", sql=made.gold)
    yield tool_call("submit", sql=made.gold)


def _handed_in(made: Estate, sql: str) -> Iterator[str]:
    if made.spec.asked:
        yield tool_call("ask_user", question=_question(made))
    yield tool_call("submit", sql=sql)


def _question(made: Estate) -> str:
    own, alt = BASIS[made.metric]
    return f"Which date do you mean, the {own} or the {alt}?"
