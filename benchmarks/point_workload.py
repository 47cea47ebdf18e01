"""A task source of one task on one 1,000-row database: the workload that peers run too."""

import json
from pathlib import Path

from hexathlon.tasks.source import Address, Script, TaskSource, parse_address
from hexathlon.tasks.sql.tools import sql_tools
from hexathlon.tasks.task import Check, Level, Split, Task

__all__ = ["PointSource"]

GOLD = "SELECT name FROM item WHERE id = 77"


class PointSource(TaskSource):
    """One question on the database file at `path`, scored by the strict rule."""

    name, family, version = "points", "sql", "1"

    def __init__(self, path: Path) -> None:
        self.path = path

    def size(self, split: Split, level: Level | None = None) -> int:
        return 1

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        return str(Address("points", "point", level or "tiny", split, index))

    def build(self, task_id: str, salt: str | None = None) -> Task:
        address = parse_address(task_id)
        return Task(
            id=task_id,
            family="sql",
            generator="points",
            version="1",
            level=address.level,
            split=address.split,
            seed=0,
            instruction="What is the name of item 77?",
            params={"backend": "sqlite", "database": {"kind": "file", "path": str(self.path)}},
            tools=sql_tools(impossible=False),
            checks=(Check(name="sql_result", params={"gold": GOLD}),),
        )

    def oracle(self, task: Task) -> Script:
        yield json.dumps({"name": "submit", "arguments": {"sql": GOLD}})
