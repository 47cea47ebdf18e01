"""Shared code of the loaders: a published list of tasks as a task source.

Each entry becomes a `LoadedTask`. Ids carry the template and the task's number in the published
file; `address` cycles through the templates, so that any prefix covers many of them.
"""

import hashlib
import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hexathlon.tasks.errors import MissingData, UnknownTask
from hexathlon.tasks.public_data import data_folder
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.source import Script, TaskAddress, TaskSource, parse_address
from hexathlon.tasks.task import Check, Level, Limits, Split, Task, ToolSchema
from hexathlon.tasks.tool_calls import tool_call

__all__ = ["LoadedTask", "LoadedWebTasks", "iter_of", "read_list", "start_urls_of"]

_TURNS = 30
"""WebArena's own limit of actions."""

_START = "|AND|"
"""Separates start URLs of several tabs."""


@dataclass(frozen=True)
class LoadedTask:
    """A task of a public set."""

    template: str
    level: Level
    index: int
    instruction: str
    start_urls: tuple[str, ...]
    sites: tuple[str, ...]
    tools: tuple[ToolSchema, ...]
    checks: tuple[Check, ...]
    answer: Mapping[str, Any]
    """Arguments of `finish` that the published answer gives."""

    probes: tuple[Mapping[str, Any], ...] = ()
    """Texts to read from pages at the end, see `hexathlon.tasks.web.loaders.probes`."""

    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further published fields that the environment uses: sign-in, images, size of the screen."""


class LoadedWebTasks(TaskSource):
    """A published set of tasks on sites that the user runs; its only split is `test`.

    Args:
        root: Folder of the files; the set's own below HEXATHLON_DATA by default.
    """

    family = "web"
    version = "1"
    folder = ""
    """The set's folder below HEXATHLON_DATA."""

    files: Sequence[str] = ()
    """Files that determine the tasks."""

    def __init__(self, root: Path | None = None) -> None:
        self._root = root

    @abstractmethod
    def parse(self, entry: Mapping[str, Any], index: int) -> LoadedTask:
        """Read one published task; `index` is its position over all files."""

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """Return the number of tasks, of all levels or of one."""
        return len(self._order(level)) if split == "test" else 0

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the id of the task at `index`, cycling through the templates."""
        item = (self._order(level) if split == "test" else [])[index]
        return str(TaskAddress(self.name, item.template, item.level, split, item.index))

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build the task with this id.

        Raises:
            UnknownTask: If the set has no such task.
        """
        item = self._find(task_id)
        return Task(
            id=task_id, family=self.family, generator=self.name, version=self.version,
            level=item.level, split="test", seed=derive_seed("web-loaded", task_id),
            instruction=item.instruction,
            params={
                "external": {
                    "sites": list(item.sites), "start_urls": list(item.start_urls),
                    "probes": [dict(probe) for probe in item.probes], **item.extra,
                }
            },
            tools=item.tools, limits=Limits(turns=_TURNS), checks=item.checks,
            canary=f"hexathlon-{self.name}-{derive_seed('web-loaded-canary', task_id):016x}",
        )  # fmt: skip

    def oracle(self, task: Task) -> Script:
        """Give the published answer immediately; enough if only the answer is checked.

        The sets publish no actions, so tasks that ask for a change or for a page are not solved.
        """
        yield tool_call("finish", **self._find(task.id).answer)

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Return the agent that declares every task infeasible."""
        answer = self._find(task.id).answer
        refusal = {"answer": "N/A"} if "answer" in answer else {
            "task_type": "RETRIEVE", "status": "NOT_FOUND_ERROR", "retrieved_data": None,
        }  # fmt: skip
        return {"infeasible": iter_of(tool_call("finish", **refusal))}

    def fingerprint(self) -> str:
        """Return the SHA-256 of the loader's code and the files."""
        digest = hashlib.sha256(super().fingerprint().encode())
        for name in self.files:
            digest.update(hashlib.sha256((self.root / name).read_bytes()).digest())
        return digest.hexdigest()

    @property
    def root(self) -> Path:
        """The set's folder: the given one, else below HEXATHLON_DATA."""
        return self._root or data_folder(f"{self.folder}/") / self.folder

    @property
    def items(self) -> Sequence[LoadedTask]:
        """Every task, in the order of the files.

        Raises:
            MissingData: If a file does not exist or is not a list of tasks.
        """
        return self._read(self.root)

    def _read(self, root: Path) -> Sequence[LoadedTask]:
        if root not in self._cache:
            entries = [entry for name in self.files for entry in read_list(root / name)]
            self._cache[root] = tuple(self.parse(entry, i) for i, entry in enumerate(entries))
        return self._cache[root]

    @cached_property
    def _cache(self) -> dict[Path, tuple[LoadedTask, ...]]:
        return {}

    def _order(self, level: Level | None) -> Sequence[LoadedTask]:
        seen: dict[str, int] = {}
        rounds = []
        for item in self.items:
            if level in (None, item.level):
                rounds.append((seen.get(item.template, 0), item.index, item))
                seen[item.template] = seen.get(item.template, 0) + 1
        return [item for *_, item in sorted(rounds, key=lambda each: each[:2])]

    def _find(self, task_id: str) -> LoadedTask:
        at = parse_address(task_id)
        if at.source == self.name and at.split == "test" and at.index < len(self.items):
            item = self.items[at.index]
            if (item.template, item.level) == (at.template, at.level) and str(at) == task_id:
                return item
        raise UnknownTask(task_id, f"{self.name} has no such task")


def iter_of(*actions: str) -> Script:
    """Return a script of fixed actions."""
    yield from actions


def read_list(file: Path) -> list[dict[str, Any]]:
    """Return the entries of a JSON list.

    Raises:
        MissingData: If the file does not exist or holds something else.
    """
    if not file.is_file():
        raise MissingData(f"there is no file {file}")
    try:
        entries = json.loads(file.read_text("utf-8"))
    except json.JSONDecodeError as error:
        raise MissingData(f"{file} is not JSON: {error}") from error
    if not isinstance(entries, list):
        raise MissingData(f"{file} is not a list: expected a list of tasks")
    return entries


def start_urls_of(text: str) -> tuple[str, ...]:
    """Return the start URLs of a task, one per tab."""
    return tuple(url.strip() for url in text.split(_START))
