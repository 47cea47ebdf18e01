"""Task sets as Parquet files with a data card, readable by Hugging Face `datasets`.

Rows have what an agent and a trainer need: the id, the instruction and the tools. Oracles and
verifiers stay here: the id names the task everywhere.

Package: `pyarrow`, imported when used.
"""

import json
from pathlib import Path
from typing import Any, get_args

from hexathlon.baselines.harness.environments import find_environment, open_taskset
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.task import Split
from hexathlon.tasks.taskset import build_task

__all__ = ["write_dataset"]


def write_dataset(
    event: str, out: Path, count: int, *, taskset: str | None = None, level: Any = None
) -> dict[str, int]:
    """Write the first tasks of each split as `data/SPLIT.parquet`, and `README.md`.

    Args:
        event: Id, or short name such as `SQL`.
        out: Directory to write to.
        count: Tasks per split, at most.
        taskset: Name of the task source; the event's own by default.
        level: Level of the tasks; None for all.

    Returns:
        The number of rows of each split.
    """
    import pyarrow
    import pyarrow.parquet

    info = find_environment(event)
    sizes: dict[str, int] = {}
    for split in get_args(Split):
        if split == "heldout":
            continue
        tasks = open_taskset(info, taskset, split, level, None)
        size = count if tasks.size is None else min(count, tasks.size)
        if size == 0:
            continue
        rows = [_row(tasks.task_id(at), info.id) for at in range(size)]
        (out / "data").mkdir(parents=True, exist_ok=True)
        table = pyarrow.Table.from_pylist(rows)
        pyarrow.parquet.write_table(table, out / "data" / f"{split}.parquet")
        sizes[split] = size
    version = get_source(parse_address(rows[0]["task"]).source).version
    (out / "README.md").write_text(_card(info.id, version, sizes), encoding="utf-8")
    return sizes


def _row(task_id: str, env: str) -> dict[str, Any]:
    task = build_task(task_id)
    return {
        "task": task_id,
        "env": env,
        "template": task.template,
        "level": task.level,
        "instruction": task.instruction,
        "tools": json.dumps([tool.model_dump() for tool in task.tools], ensure_ascii=False),
        "turns": task.limits.turns,
        "task_hash": task.hash,
        "canary": task.canary,
    }


def _card(env: str, version: str, sizes: dict[str, int]) -> str:
    name = env.rpartition("/")[2]
    files = "".join(
        f"      - split: {split}\n        path: data/{split}.parquet\n" for split in sizes
    )
    rows = "".join(f"| {split} | {size:,} |\n" for split, size in sizes.items())
    return f"""---
license: apache-2.0
pretty_name: Hexathlon {name}
tags: [agents, reinforcement-learning]
configs:
  - config_name: default
    data_files:
{files}---

# Hexathlon {name}

Tasks of the environment `{env}`, task source version {version}. Each row names a task that the
environment builds from its id: `env.reset(options={{"task": row["task"]}})`. Databases, files and
verifiers are not part of the rows.

| split | rows |
|---|---|
{rows}
Fields: `task`, `env`, `template`, `level`, `instruction`, `tools` (JSON), `turns`, `task_hash`, and
`canary`, a string by which training data that contains test tasks can be recognised.

Do not train on the split `test`.
"""
