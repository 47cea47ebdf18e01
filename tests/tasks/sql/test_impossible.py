"""Whether a task is impossible is in records and notices; the question gives no hint."""

import json
import re
import sqlite3
from contextlib import closing

import pytest

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.sql.bench import bench_for
from hexathlon.tasks.sql.composing import compose
from hexathlon.tasks.sql.programs.walk import all_names, scans
from hexathlon.tasks.sql.register import register
from hexathlon.tasks.sql.source import source
from hexathlon.tasks.sql.world.database import database_bytes, hidden_bytes
from hexathlon.tasks.sql.world.world import world_id
from hexathlon.tasks.task import Task

SOURCE = source()
HELD = [f"sql/held_first/{level}/train/{i:05d}" for level in ("tiny", "easy") for i in range(6)]
TERMS = [f"sql/term_first/medium/train/{i:05d}" for i in range(6)]


def pair(task_id: str) -> tuple[Task, Task]:
    """The impossible task and its answerable twin."""
    task = SOURCE.build(task_id)
    twin = SOURCE.build(str(task.twin))
    return (task, twin) if task.checks[0].name == "sql_impossible" else (twin, task)


def opening(task: Task) -> str:
    return task.instruction + json.dumps([tool.model_dump() for tool in task.tools])


@pytest.mark.parametrize("task_id", [*HELD, *TERMS])
def test_twins_open_with_the_same_bytes(task_id: str):
    impossible, possible = pair(task_id)
    assert opening(impossible) == opening(possible)
    assert impossible.checks[0].params["evidence"][0] not in opening(impossible)


@pytest.mark.parametrize("task_id", HELD)
def test_the_entry_in_force_concerns_a_column_of_the_question_on_one_side_only(task_id: str):
    for task in pair(task_id):
        made = _made(task)
        used = {
            (scan.table, name.partition(".")[2])
            for scan in scans(made.draft.program)
            for name in all_names(made.draft.program)
            if name.startswith(f"{scan.alias}.")
        }
        in_force = _in_force(task)
        tables = {table for table, _ in used}
        hits = [
            number
            for number, (table, column) in in_force.items()
            if (table, column) in used or (column is None and table in tables)
        ]
        check = task.checks[0]
        assert hits == (check.params["evidence"] if check.name == "sql_impossible" else [])
        assert len(in_force) >= 2


def _made(task: Task):
    from hexathlon.tasks.sql.source import _question

    return _question(task)


def _in_force(task: Task) -> dict[str, tuple[str, str | None]]:
    """The entries in force, read from the visible database by the document's rules."""
    [document] = task.params["supplement"]["documents"]
    name = re.search(r"The table (\w+) lists", document["text"])[1]
    end, void = re.findall(r"An entry of kind '(\w+)' (?:ends|cancels)", document["text"])
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(database_bytes(task.params))
        rows = connection.execute(f"SELECT * FROM {name}").fetchall()
    undone = {row[5] for row in rows if row[2] == void}
    ended = {row[5] for row in rows if row[2] == end and row[0] not in undone}
    return {row[0]: (row[3], row[4]) for row in rows if row[3] and row[0] not in ended}


def test_all_databases_of_a_task_hold_the_same_records():
    task = SOURCE.build(HELD[0])
    [table] = task.params["supplement"]["tables"]
    for image in (database_bytes(task.params), *hidden_bytes(task.params)):
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.deserialize(image)
            rows = connection.execute(f"SELECT * FROM {table['name']}").fetchall()
        assert [list(row) for row in rows] == table["rows"]


def test_all_rulings_occur_and_every_reason_is_explained_by_the_tool():
    seen = set()
    for index in range(12):
        impossible, possible = pair(f"sql/term_first/medium/train/{index:05d}")
        seen.add((impossible.checks[0].params["reason"], bool(_tables(impossible))))
        assert _tables(impossible) == [] or _tables(impossible) != _tables(possible)
        tool = next(tool for tool in impossible.tools if tool.name == "submit_impossible")
        for reason in tool.parameters["properties"]["reason"]["enum"]:
            assert f"{reason} (" in tool.description
    assert {("contradiction", False), ("missing_value", False), ("missing_value", True)} == seen


def _tables(task: Task) -> list:
    return task.params["supplement"]["tables"]


def test_some_ordinary_questions_come_with_a_register_that_does_not_concern_them():
    tasks = [SOURCE.build(f"sql/group_count/easy/train/{index:05d}") for index in range(16)]
    registers = [task for task in tasks if task.params["supplement"]]
    assert 0 < len(registers) < len(tasks)
    assert all(task.checks[0].name == "sql_result" for task in tasks)


def test_both_sides_of_a_register_take_the_same_draws():
    made = compose("group_count", [world_id("train", n, "hard") for n in range(6)], 3)
    schema, program = bench_for(made.world).schema, made.draft.program
    for seed in range(20):
        sides = [
            register(schema, program, "hard", generator_for("register", seed), blocked)
            for blocked in (False, True)
        ]
        assert sides[0].documents == sides[1].documents
        rows = [side.tables[0].rows for side in sides]
        changed = [(a, b) for a, b in zip(*rows, strict=True) if a != b]
        assert len(changed) == 1 and changed[0][0][:5] == changed[0][1][:5]
        assert sides[0].obstacle is None and sides[1].obstacle is not None
