"""A query that is off by one unit gives a different answer on a hidden database."""

import datetime
import re
from collections.abc import Iterator

import pytest

from hexathlon.evaluators.sql.strict import sql_result
from hexathlon.tasks.sql.source import source
from hexathlon.tasks.task import Task

SOURCE = source()
NEAR = {">": ">=", ">=": ">", "<": "<=", "<=": "<"}
BOUND = re.compile(r"(<=|>=|<(?!>)|(?<!<)>) ('\d{4}-\d\d-\d\d'|\d+(?:\.\d+)?)(?![\w.])")


def moved(constant: str) -> list[str]:
    """Return the constants one unit away from this one: a day, a quarter of an amount, or 1."""
    if constant.startswith("'"):
        day = datetime.date.fromisoformat(constant.strip("'"))
        return [f"'{day + datetime.timedelta(days=step)}'" for step in (-1, 1)]
    step = 0.25 if "." in constant else 1
    value = float(constant) if "." in constant else int(constant)
    return [str(value - step), str(value + step)]


def off_by_one(sql: str) -> Iterator[str]:
    """Yield the query with one bound included or excluded, or moved by a unit."""
    for found in BOUND.finditer(sql):
        operator, constant = found.groups()
        before, after = sql[: found.start()], sql[found.end() :]
        yield f"{before}{NEAR[operator]} {constant}{after}"
        for other in moved(constant):
            yield f"{before}{operator} {other}{after}"


def score(task: Task, sql: str) -> float:
    check = task.checks[0]
    state = {"kind": "sql", "sql": sql, "asked": check.params.get("asked", [])}
    return sql_result(task, check.params, state, []).score


@pytest.mark.parametrize(
    "task_id",
    [
        "sql/count_rows/medium/train/00000",
        "sql/top_rows/easy/train/00002",
        "sql/anti_join/easy/train/00000",
        "sql/busiest/tiny/train/00000",
        "sql/having_average/medium/train/00000",
        "sql/share_of_total/hard/train/00000",
        "sql/two_children/hard/train/00000",
        "sql/recent/medium/train/00000",
    ],
)
def test_a_bound_off_by_one_unit_scores_zero(task_id: str):
    task = SOURCE.build(task_id)
    gold = task.checks[0].params["gold"]
    wrong = list(off_by_one(gold))
    assert len(wrong) >= 3
    assert score(task, gold) == 1.0
    assert [sql for sql in wrong if score(task, sql) == 1.0] == []
