"""Histories and imports: hand-worked examples of their rules, and tasks as an agent gets them."""

import sqlite3
from contextlib import closing

import pytest

from hexathlon.envs.sql.env import SQLEnv
from hexathlon.tasks.sql.schema import Column, Table
from hexathlon.tasks.sql.source import source
from hexathlon.tasks.sql.world.database import with_tables
from hexathlon.tasks.sql.writes import imports, versions
from support.sql_toy import call

SOURCE = source()
KINDS = Column("kind", "TEXT", "category", "kind", values=("a", "b", "c"))
NAME = Column("name", "TEXT", "name", "name", unique=True)
PAY = Column("pay", "INTEGER", "amount", "pay")
CLERKS = Table(
    "clerks", "clerk", "clerks", (Column("id", "INTEGER", "key", "clerk id"), NAME, KINDS, PAY),
    primary_key=("id",),
)  # fmt: skip
HISTORY = versions._History(CLERKS, (KINDS, PAY), "clerk_versions", "clerk_changes")
RULES = versions._Rules(last_line=True, inclusive=True, far_end=False)
WAYS = [versions._rebuilt(HISTORY, RULES), versions._step_by_step(HISTORY, RULES)]


def ran(tables, statements, query):
    image = with_tables(b"", tables)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(image)
        for statement in statements * 2:
            connection.execute(statement)
        return connection.execute(query).fetchall()


def history(held, lines):
    """Clerk 1 with versions (day, kind, pay), and lines (number, day, kind, pay) on it."""
    ends = [f"{day[:-2]}{int(day[-2:]) - 1:02d}" for day, *_ in held[1:]] + [None]
    rows = [[1, kind, pay, day, end, 0] for (day, kind, pay), end in zip(held, ends, strict=True)]
    kinds = [["id", "INTEGER"], ["kind", "TEXT"], ["pay", "INTEGER"]]
    return [
        {"name": "clerks", "columns": [["id", "INTEGER"]], "rows": [[1]]},
        {"name": "clerk_versions", "key": ["id", "valid_from"], "rows": rows, "columns": [
            *kinds, ["valid_from", "TEXT"], ["valid_to", "TEXT"], ["line_no", "INTEGER"]]},
        {"name": "clerk_changes", "key": ["line_no"], "columns": [
            ["line_no", "INTEGER"], ["changed_on", "TEXT"], *kinds],
         "rows": [[number, day, 1, kind, pay] for number, day, kind, pay in lines]},
    ]  # fmt: skip


DAYS = [f"2024-03-{day:02d}" for day in range(32)]
TWO = [(DAYS[5], "a", 1), (DAYS[20], "b", 1)]


@pytest.mark.parametrize("statements", WAYS, ids=["rebuilt", "step_by_step"])
@pytest.mark.parametrize(("lines", "expected"), [
    pytest.param([(7, DAYS[25], None, 2)],
                 [("a", 1, DAYS[5], DAYS[19]), ("b", 1, DAYS[20], DAYS[24]),
                  ("b", 2, DAYS[25], None)], id="an empty cell carries over"),
    pytest.param([(7, DAYS[10], None, 3), (8, DAYS[12], None, 1)],
                 [("a", 1, DAYS[5], DAYS[9]), ("a", 3, DAYS[10], DAYS[11]),
                  ("a", 1, DAYS[12], DAYS[19]), ("b", 1, DAYS[20], None)], id="late lines"),
    pytest.param([(7, DAYS[10], "b", None)],
                 [("a", 1, DAYS[5], DAYS[9]), ("b", 1, DAYS[10], None)],
                 id="a version that repeats a late line is dropped"),
    pytest.param([(8, DAYS[20], "c", 1), (7, DAYS[20], "b", 9)],
                 [("a", 1, DAYS[5], DAYS[19]), ("c", 1, DAYS[20], None)],
                 id="the last line of a day replaces the version of that day"),
    pytest.param([(7, DAYS[20], "a", None)], [("a", 1, DAYS[5], None)],
                 id="a line that undoes a version removes it"),
    pytest.param([(7, DAYS[2], None, 5)],
                 [(None, 5, DAYS[2], DAYS[4]), ("a", 1, DAYS[5], DAYS[19]),
                  ("b", 1, DAYS[20], None)], id="nothing is known before the first version"),
    pytest.param([(7, DAYS[25], "b", 1)],
                 [("a", 1, DAYS[5], DAYS[19]), ("b", 1, DAYS[20], None)], id="nothing new"),
])  # fmt: skip
def test_versions_follow_from_lines(statements, lines, expected):
    query = "SELECT kind, pay, valid_from, valid_to FROM clerk_versions ORDER BY valid_from"
    assert ran(history(TWO, lines), statements, query) == expected


IMPORT = imports._Import(CLERKS, NAME, PAY, KINDS, "clerk_imports", "clerk_days", {})
WEIGHTS = imports._Rules(by_amount=("hub", "web", "fax"), by_word=("web", "hub", "fax"))


def imported(lines):
    """Ann, imported up to the tenth, and Bob, never; and the rows of the table of lines."""
    columns = [["line_no", "INTEGER"], ["source", "TEXT"], ["as_of", "TEXT"], ["name", "TEXT"],
               ["pay", "INTEGER"], ["kind", "TEXT"], ["cancels", "INTEGER"]]  # fmt: skip
    clerks = [["id", "INTEGER"], ["name", "TEXT"], ["kind", "TEXT"], ["pay", "INTEGER"]]
    return [
        {"name": "clerks", "columns": clerks, "rows": [[1, "Ann", "a", 1], [4, "Bob", "b", 2]]},
        {"name": "clerk_days", "key": ["id"], "rows": [[1, DAYS[10]]],
         "columns": [["id", "INTEGER"], ["as_of", "TEXT"]]},
        {"name": "clerk_imports", "key": ["line_no"], "columns": columns,
         "rows": [list(line) for line in lines]},
    ]  # fmt: skip


ANN, BOB = (1, "Ann", "a", 1, DAYS[10]), (4, "Bob", "b", 2, None)


@pytest.mark.parametrize(
    "statements",
    [imports._applied(IMPORT, WEIGHTS), imports._one_by_one(IMPORT, WEIGHTS)],
    ids=["applied", "one_by_one"],
)
@pytest.mark.parametrize(("lines", "expected"), [
    pytest.param([(7, "hub", DAYS[10], "Ann", 9, "c", None)], [ANN, BOB],
                 id="lines of the day already imported do not count"),
    pytest.param([(7, "hub", DAYS[3], "Bob", 9, "c", None)],
                 [ANN, (4, "Bob", "c", 9, DAYS[3])], id="without a day every line counts"),
    pytest.param([(7, "hub", DAYS[11], "Ann ", 5, "b", None), (8, "fax", DAYS[12], " Ann", 6, "c",
                  None)], [(1, "Ann", "c", 5, DAYS[12]), BOB],
                 id="the amount goes by source and the kind by day"),
    pytest.param([(7, "hub", DAYS[11], "Ann", 5, "b", None), (8, "web", DAYS[11], "Ann", 6, "c",
                  None)], [(1, "Ann", "c", 5, DAYS[11]), BOB],
                 id="each column has its precedence on one day"),
    pytest.param([(7, "hub", DAYS[12], "Ann", None, "b", None), (8, "fax", DAYS[11], "Ann", 6, None,
                  None)], [(1, "Ann", "b", 6, DAYS[12]), BOB], id="empty cells say nothing"),
    pytest.param([(7, "hub", DAYS[12], "Ann", 5, "b", None), (9, "hub", DAYS[12], "Ann", None, None,
                  7), (8, "fax", DAYS[11], "Ann", 6, "c", None)],
                 [(1, "Ann", "c", 6, DAYS[11]), BOB], id="cancelled lines do not count"),
    pytest.param([(7, "web", DAYS[11], "Zoe", 5, None, None), (8, "fax", DAYS[12], "Zoe ", None,
                  "c", None), (6, "web", DAYS[11], "Max", 3, "a", None),
                  (9, "web", DAYS[13], "Eve", None, "a", None)],
                 [ANN, BOB, (5, "Max", "a", 3, DAYS[11]), (6, "Zoe", "c", 5, DAYS[12])],
                 id="new rows are complete and numbered by name"),
])  # fmt: skip
def test_imports_weigh_their_sources(statements, lines, expected):
    query = (
        "SELECT c.id, c.name, c.kind, c.pay, d.as_of FROM clerks c LEFT JOIN clerk_days d "
        "ON d.id = c.id ORDER BY c.id"
    )
    assert ran(imported(lines), statements, query) == expected


@pytest.mark.parametrize("template", ["keep_versions", "merge_imports"])
def test_rules_and_tables_are_the_agents_to_read_and_those_of_hidden_databases_are_not(template):
    task = SOURCE.build(f"sql/script_{template}/hard/dev/00000")
    own, *others = [address["tables"] for address in (task.params, *task.params["hidden"])]
    assert len({str(tables) for tables in (own, *others)}) == 4
    assert all([t["name"] for t in tables] == [t["name"] for t in own] for tables in others)
    env = SQLEnv()
    env.reset(seed=1, options={"task": task.id})
    listed, *_ = env.step(call("list_documents"))
    for document in task.params["supplement"]["documents"]:
        assert document["title"] in listed
        assert document["text"] in env.step(call("read_document", name=document["name"]))[0]
    for table in own:
        described, *_ = env.step(call("describe_table", table=table["name"]))
        assert f"({len(table['rows'])} rows)" in described and "primary" in described
    _, reward, *_ = env.step(call("submit", script=f"DELETE FROM {own[0]['name']}"))
    assert reward == 0.0
    env.close()
