"""Shared code of the loaders: published entries as a task source with one split, `test`."""

import hashlib
import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hexathlon.tasks.errors import MissingData, UnknownTask
from hexathlon.tasks.public_data import data_folder
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.source import Script, TaskAddress, TaskSource, parse_address
from hexathlon.tasks.task import Check, Level, Limits, Split, Task, ToolSchema
from hexathlon.tasks.tool_calls import tool_call

__all__ = ["LoadedGuiTask", "LoadedGuiTasks", "read_json_file"]


@dataclass(frozen=True)
class LoadedGuiTask:
    """A task of a public set."""

    template: str
    level: Level
    instruction: str
    turns: int
    tools: tuple[ToolSchema, ...]
    params: Mapping[str, Any]
    check: Check
    infeasible: bool = False
    """Whether the published answer is that the task cannot be done."""


class LoadedGuiTasks(TaskSource):
    """A published set of tasks on real devices.

    Args:
        root: Folder of the files; the set's own below HEXATHLON_DATA by default.
    """

    family = "gui"
    version = "1"
    folder = ""
    """The set's folder below HEXATHLON_DATA."""

    def __init__(self, root: Path | None = None) -> None:
        self._root = root

    @abstractmethod
    def files(self) -> Sequence[Path]:
        """Return the files that determine the tasks."""

    @abstractmethod
    def load(self) -> Sequence[LoadedGuiTask]:
        """Read all tasks, in a fixed order."""

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """Return the number of tasks, of all levels or of one."""
        return len(self._order(level)) if split == "test" else 0

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the id of the task at `index`."""
        number = (self._order(level) if split == "test" else [])[index]
        item = self.items[number]
        return str(TaskAddress(self.name, item.template, item.level, split, number))

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build the task with this id.

        Raises:
            UnknownTask: If the set has no such task.
        """
        item = self._find(task_id)
        return Task(
            id=task_id, family=self.family, generator=self.name, version=self.version,
            level=item.level, split="test", seed=derive_seed("gui-loaded", task_id),
            instruction=item.instruction, params=dict(item.params), tools=item.tools,
            limits=Limits(turns=item.turns), checks=(item.check,),
            canary=f"hexathlon-{self.name}-{derive_seed('gui-loaded-canary', task_id):016x}",
        )  # fmt: skip

    def oracle(self, task: Task) -> Script:
        """Declare the published outcome at once, which solves infeasible tasks only.

        The sets publish no actions.
        """
        infeasible = self._find(task.id).infeasible
        yield tool_call("status", goal_status="infeasible" if infeasible else "complete")

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Return two agents: one declares every task infeasible, the other every task complete."""
        return {status: _declare(status) for status in ("infeasible", "complete")}

    def fingerprint(self) -> str:
        """Return the SHA-256 of the loader's code and the files."""
        digest = hashlib.sha256(super().fingerprint().encode())
        for path in self.files():
            digest.update(hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()

    @property
    def root(self) -> Path:
        """The set's folder: the given one, else below HEXATHLON_DATA."""
        return self._root or data_folder(f"{self.folder}/") / self.folder

    @property
    def items(self) -> Sequence[LoadedGuiTask]:
        """Every task.

        Raises:
            MissingData: If the files do not exist or cannot be read.
        """
        if self.root not in self._cache:
            self._cache[self.root] = tuple(self.load())
        return self._cache[self.root]

    @cached_property
    def _cache(self) -> dict[Path, tuple[LoadedGuiTask, ...]]:
        return {}

    def _order(self, level: Level | None) -> Sequence[int]:
        """Return task numbers, cycling through the templates."""
        seen: dict[str, int] = {}
        rounds = []
        for number, item in enumerate(self.items):
            if level in (None, item.level):
                rounds.append((seen.get(item.template, 0), number))
                seen[item.template] = seen.get(item.template, 0) + 1
        return [number for _, number in sorted(rounds)]

    def _find(self, task_id: str) -> LoadedGuiTask:
        at = parse_address(task_id)
        if at.source == self.name and at.split == "test" and at.index < len(self.items):
            item = self.items[at.index]
            if (item.template, item.level) == (at.template, at.level) and str(at) == task_id:
                return item
        raise UnknownTask(task_id, f"{self.name} has no such task")


def read_json_file(path: Path) -> Any:
    """Return the content of a JSON file.

    Raises:
        MissingData: If there is no such file, or it is not JSON.
    """
    if not path.is_file():
        raise MissingData(f"there is no file {path}")
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise MissingData(f"{path} is not JSON: {error}") from error


def _declare(status: str) -> Script:
    yield tool_call("status", goal_status=status)
