"""OSWorld as a task source, from its own folders or from one file with all tasks.

`HEXATHLON_DATA/osworld` holds either `evaluation_examples/examples/DOMAIN/ID.json`, as published,
or a JSON file whose keys are domains and whose values are lists of tasks. OSWorld grades no
difficulty, so all tasks are `medium`.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hexathlon.tasks.errors import MissingData
from hexathlon.tasks.gui.loaders.loaded import LoadedGuiTask, LoadedGuiTasks, read_json_file
from hexathlon.tasks.gui.loaders.osworld_format import OsworldTask, parse_osworld_task
from hexathlon.tasks.gui.loaders.tools import PUBLIC_DESKTOP_TOOLS
from hexathlon.tasks.task import Check

__all__ = ["OsworldSource", "osworld_tasks", "source"]

_TURNS = 50
"""OSWorld's own limit of actions in its verified runs."""

_FOLDERS = ("evaluation_examples/examples", "examples", ".")


class OsworldSource(LoadedGuiTasks):
    """OSWorld's tasks, with its own score."""

    name = "osworld"
    folder = "osworld"

    def files(self) -> Sequence[Path]:
        """Return the task files, sorted."""
        return _files(self.root)

    def load(self) -> Sequence[LoadedGuiTask]:
        """Read all tasks, by domain and id."""
        return [_loaded(task) for task in osworld_tasks(self.root)]


def osworld_tasks(root: Path) -> list[OsworldTask]:
    """Read every task below a folder, by domain and id.

    Raises:
        MissingData: If there are no task files, or one has an unknown field.
    """
    tasks = [
        parse_osworld_task(entry, domain) for path in _files(root) for domain, entry in _read(path)
    ]
    return sorted(tasks, key=lambda task: (task.domain, task.id))


def _files(root: Path) -> list[Path]:
    for folder in _FOLDERS:
        files = sorted((root / folder).glob("*/*.json"))
        if files:
            return files
    files = sorted(path for path in root.glob("*.json") if path.name != "test_all.json")
    if not files:
        raise MissingData(f"there are no OSWorld tasks below {root}: expected DOMAIN/ID.json")
    return files


def _read(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the domain and the entry of each task in a file."""
    content = read_json_file(path)
    if isinstance(content, dict) and "instruction" in content:
        yield path.parent.name, content
        return
    if not isinstance(content, dict) or not all(
        isinstance(rows, list) for rows in content.values()
    ):
        raise MissingData(
            f"{path} contains no OSWorld task: expected a task, or lists of tasks by domain"
        )
    for domain, rows in content.items():
        for entry in rows:
            yield domain, entry


def _loaded(task: OsworldTask) -> LoadedGuiTask:
    evaluator = task.evaluator.model_dump(mode="json")
    params = {key: evaluator[key] for key in ("func", "conj", "expected", "options")}
    world = {
        "id": task.id,
        "snapshot": task.snapshot,
        "config": [step.model_dump() for step in task.config],
        "postconfig": evaluator["postconfig"],
        "result": evaluator["result"],
        "expected": evaluator["expected"],
        "applications": list(task.related_apps),
    }
    return LoadedGuiTask(
        template=task.domain, level="medium", instruction=task.instruction, turns=_TURNS,
        tools=PUBLIC_DESKTOP_TOOLS, params={"osworld": world},
        check=Check(name="osworld", params=params),
        infeasible=task.evaluator.func == ("infeasible",),
    )  # fmt: skip


def source() -> OsworldSource:
    """Create OSWorld's source; the files are read when a task is requested."""
    return OsworldSource()
