"""A hand-written source of SQL tasks over a small shop, for tests of environment and graders."""

import json
from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.registry import register_source
from hexathlon.tasks.source import Script, TaskAddress, TaskSource, parse_address
from hexathlon.tasks.sql.tools import sql_tools
from hexathlon.tasks.task import Check, Level, Limits, Split, Task

CUSTOMERS = [[i, f"name {i % 7}", ["Oslo", "Rome", None][i % 3]] for i in range(1, 31)]
ORDERS = [[i, i % 30 + 1, round(i * 1.25 % 90, 2), f"2024-0{i % 9 + 1}-11"] for i in range(1, 201)]


def shop(shift: int = 0) -> dict[str, Any]:
    """Return the tables of one population of the shop."""
    return {
        "kind": "tables",
        "tables": [
            {
                "name": "customers",
                "columns": [["id", "INTEGER PRIMARY KEY"], ["name", "TEXT"], ["city", "TEXT"]],
                "rows": [[i, name, city] for i, name, city in CUSTOMERS[shift:]],
            },
            {
                "name": "orders",
                "columns": [
                    ["id", "INTEGER PRIMARY KEY"],
                    ["customer", "INTEGER"],
                    ["total", "REAL"],
                    ["day", "TEXT"],
                ],
                "rows": ORDERS[shift * 3 :],
            },
        ],
    }


GOLD = "SELECT city, COUNT(*) FROM customers WHERE city IS NOT NULL GROUP BY city"
WRITE = "UPDATE customers SET city = 'Bergen' WHERE city = 'Oslo'"
USER = {
    "goal": "Count customers by city.",
    "slots": {"year": {"value": 2024, "ask": ["year"]}},
}


def make_task(
    template: str = "count", *, index: int = 0, checks: tuple[Check, ...] = (), **params: Any
) -> Task:
    """Return a task over the shop; `params` replace those of the template."""
    write = template == "write"
    kind = {"write": "database", "answer": "answer"}.get(template, "sql")
    default = {
        "write": Check(name="sql_write", params={"statements": [WRITE]}),
        "answer": Check(name="dbbench", params={"label": ["10"]}),
    }.get(template, Check(name="sql_result", params={"gold": GOLD}))
    hidden = [] if write else [shop(shift) for shift in (1, 2, 4, 8, 16)]
    return Task(
        id=f"sqltoy/{template}/easy/test/{index:05d}",
        family="sql",
        generator="sqltoy",
        version="1",
        level="easy",
        split="test",
        seed=index,
        instruction=f"How many customers live in each city? (case {index})",
        params={
            "backend": "sqlite",
            "database": shop(),
            "hidden": hidden,
            "mode": "write" if write else "read",
            "documents": {"notes": "Cities can be missing."},
            "user": USER if template == "ask" else None,
            **params,
        },
        tools=sql_tools(kind, documents=True, user=template == "ask"),
        limits=Limits(turns=20),
        checks=checks or (default,),
        canary="canary-7f3a91",
    )


def call(tool: str, /, **arguments: Any) -> str:
    """Return one action in canonical form."""
    return json.dumps({"name": tool, "arguments": arguments})


class SqlToySource(TaskSource):
    name, family, version = "sqltoy", "sql", "1"
    templates = ("count", "write", "ask", "answer")

    def size(self, split: Split, level: Level | None = None) -> int | None:
        return None if split == "train" else 40

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        template = self.templates[index % len(self.templates)]
        return str(TaskAddress("sqltoy", template, "easy", split, index // len(self.templates)))

    def build(self, task_id: str, salt: str | None = None) -> Task:
        address = parse_address(task_id)
        if address.template not in self.templates:
            raise UnknownTask(task_id, f"the templates are {self.templates}")
        return make_task(address.template, index=address.index).model_copy(
            update={"id": task_id, "split": address.split}
        )

    def oracle(self, task: Task) -> Script:
        return _oracle(task)

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        return {}

    def mutants(self, task: Task) -> Mapping[str, Script]:
        return {}

    def policies(self, task: Task) -> Mapping[str, Script]:
        return {}


def _oracle(task: Task) -> Script:
    yield call("list_tables")
    yield call("describe_table", table="customers")
    if task.template == "ask":
        yield call("ask_user", question="Which year do you mean?")
    if task.template == "write":
        yield call("run_query", sql=WRITE)
        yield call("submit")
    elif task.template == "answer":
        yield call("submit", answer=["10"])
    else:
        yield call("run_query", sql=GOLD)
        yield call("submit", sql=GOLD)


def source() -> SqlToySource:
    return SqlToySource()


register_source("sqltoy", source)
