"""Task directories of Harbor and Terminal-Bench 1 as task sources.

`harbor` and `terminal-bench` read the directories of those names in HEXATHLON_DATA, one directory
per task; `directory_source` creates a source from any single directory.
"""

import hashlib
import re
import warnings
from functools import cached_property, partial
from pathlib import Path

from hexathlon.tasks.errors import MissingData, UnknownTask
from hexathlon.tasks.registry import get_source, register_source, source_names
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.source import Script, TaskAddress, TaskSource, parse_address
from hexathlon.tasks.task import Check, Level, Limits, Split, Task
from hexathlon.tasks.terminal.harbor import HarborTask, MalformedTask
from hexathlon.tasks.terminal.opening import directories_root, native_checks, read_folder
from hexathlon.tasks.terminal.scripts import following
from hexathlon.tasks.terminal.test_ids import expected_tests
from hexathlon.tasks.terminal.tools import TOOLS

__all__ = [
    "DirectorySource",
    "directory_source",
    "harbor",
    "is_task_folder",
    "terminal_bench",
]

_LEVELS: dict[str, Level] = {"tiny": "tiny", "easy": "easy", "medium": "medium", "hard": "hard"}
_TURNS = 60
_LISTED = 10
"""Maximum number of unreadable directories named in a warning."""


def is_task_folder(folder: Path) -> bool:
    """Whether a directory is a task in Harbor or Terminal-Bench 1 format."""
    return any((folder / mark).is_file() for mark in ("task.toml", "task.yaml"))


class DirectorySource(TaskSource):
    """Task directories, all in the split `test`.

    Args:
        name: First part of the task ids.
        folders: The directories; None selects those below HEXATHLON_DATA / name.
    """

    family = "terminal"
    version = "6"

    def __init__(self, name: str, folders: tuple[Path, ...] | None = None) -> None:
        self.name = name
        self._folders = folders
        self.left_out: dict[str, str] = {}
        """Directories that cannot be read, and why; known once any task has been read."""

    @cached_property
    def _found(self) -> list[Path]:
        if self._folders is not None:
            return list(self._folders)
        root = directories_root() / self.name
        found = list(filter(is_task_folder, sorted(root.glob("*"))))
        if not found:
            raise MissingData(
                f"there are no task directories in {root}; put them there, or name another folder "
                "in HEXATHLON_DATA"
            )
        return found

    @cached_property
    def _read(self) -> dict[str, tuple[Path, HarborTask, str]]:
        """Every readable directory by its task id."""
        ids: dict[str, tuple[Path, HarborTask, str]] = {}
        for index, folder in enumerate(self._found):
            try:
                task, digest = read_folder(folder)
                for step in task.steps:
                    expected_tests(step)
            except MalformedTask as error:
                if self._folders is not None:
                    raise
                self.left_out[folder.name] = str(error)
                continue
            name = re.sub(r"[^A-Za-z0-9_.-]+", "-", folder.name).strip("-") or "task"
            level = _LEVELS.get(task.difficulty, "medium")
            ids[str(TaskAddress(self.name, name, level, "test", index))] = (folder, task, digest)
        if self.left_out:
            reasons = "; ".join(list(self.left_out.values())[:_LISTED])
            warnings.warn(
                f"{self.name}: {len(self.left_out)} of {len(self._found)} directories cannot be "
                f"read and are left out: {reasons}",
                stacklevel=2,
            )
        return ids

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """Return the number of directories."""
        return len(self._ids(level)) if split == "test" else 0

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the id of the directory at `index`."""
        if split != "test":
            raise UnknownTask(f"{self.name}/…/{split}", "directories make up the split test")
        return self._ids(level)[index]

    def _ids(self, level: Level | None) -> list[str]:
        return [name for name in self._read if level in (None, parse_address(name).level)]

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build the task of one directory."""
        if task_id not in self._read:
            raise UnknownTask(task_id, f"{self.name} has no such directory")
        folder, harbor_task, digest = self._read[task_id]
        address = parse_address(task_id)
        own = self._folders is None
        path = folder.relative_to(directories_root()).as_posix() if own else str(folder.resolve())
        tests = {step.name: expected_tests(step) for step in harbor_task.steps}
        native = all(native_checks(step.tests) for step in harbor_task.steps)
        reward = {"strategy": harbor_task.strategy, "steps": len(harbor_task.steps)}
        checks = [Check(name="terminal_tests", params={"tests": tests})]
        if not native:
            checks.append(Check(name="harbor_reward", params=reward, headline=False))
        seconds = max(step.seconds for step in harbor_task.steps)
        return Task(
            id=task_id,
            family=self.family,
            generator=self.name,
            version=self.version,
            level=address.level,
            split="test",
            seed=derive_seed("directory", digest),
            instruction=harbor_task.steps[0].instruction,
            tools=TOOLS,
            params={"kind": "directory", "path": path, "digest": digest},
            limits=Limits(turns=_TURNS, seconds_per_action=min(max(seconds, 60.0), 600.0)),
            checks=tuple(checks),
        )

    def oracle(self, task: Task) -> Script:
        """Run each step's reference solution."""
        _, harbor_task, _ = self._read[task.id]
        return following(harbor_task)

    def fingerprint(self) -> str:
        """Return the SHA-256 of all directories and of the code that reads them."""
        digests = [digest for _, _, digest in self._read.values()]
        return hashlib.sha256("\n".join([super().fingerprint(), *digests]).encode()).hexdigest()


def directory_source(folder: Path) -> tuple[str, str]:
    """Register a source for one directory.

    Returns:
        The source's name and the task's id.

    Raises:
        MalformedTask: If the directory has neither format.
    """
    _, digest = read_folder(folder)
    name = f"path-{digest[:12]}"
    if name not in source_names():
        register_source(name, partial(DirectorySource, name, (folder,)))
    return name, get_source(name).address("test", 0)


def harbor() -> DirectorySource:
    """Create the source `harbor` for the registry."""
    return DirectorySource("harbor")


def terminal_bench() -> DirectorySource:
    """Create the source `terminal-bench` for the registry."""
    return DirectorySource("terminal-bench")
