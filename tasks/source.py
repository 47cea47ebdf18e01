"""Task sources: generators of our own and loaders of public formats, behind one interface.

A source addresses its tasks by id, builds each on demand, and brings the scripts that prove the
task sound: an oracle that solves it, other solutions that must count as well, near misses that
must not, and the trivial policies whose score is the floor.
"""

import hashlib
import inspect
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.task import LEVELS, SPLITS, Level, Split, Task

__all__ = ["Address", "Script", "TaskSource", "fingerprint_of", "parse_address", "play"]

Script = Generator[str, str, None]
"""Yields actions as text and is sent the observation that followed each."""


@dataclass(frozen=True, slots=True)
class Address:
    """A task id taken apart."""

    source: str
    template: str
    level: Level
    split: Split
    index: int

    def __str__(self) -> str:
        return f"{self.source}/{self.template}/{self.level}/{self.split}/{self.index:05d}"


def parse_address(task_id: str) -> Address:
    """Take a task id apart.

    Raises:
        UnknownTask: The id does not have five parts, or a part is not of its kind.
    """
    parts = task_id.split("/")
    if len(parts) != 5:
        raise UnknownTask(task_id, f"it has {len(parts)} parts, not five")
    source, template, level, split, index = parts
    if level not in LEVELS:
        raise UnknownTask(task_id, f"{level!r} is no level ({', '.join(LEVELS)})")
    if split not in SPLITS:
        raise UnknownTask(task_id, f"{split!r} is no split ({', '.join(SPLITS)})")
    if not (index.isascii() and index.isdigit()):
        raise UnknownTask(task_id, f"{index!r} is no index")
    return Address(source, template, level, split, int(index))


class TaskSource(ABC):
    """A named, versioned origin of tasks.

    Subclasses set `name`, `family` and `version` and implement `size`, `address`, `build` and
    `oracle`. `build` is pure: the same id (and salt) gives the same task in every process.
    """

    name: str
    family: str
    version: str

    @abstractmethod
    def size(self, split: Split, level: Level | None = None) -> int | None:
        """Return how many tasks the split holds; None where there is no end."""

    @abstractmethod
    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the id of the index-th task, so that any prefix covers templates and levels."""

    @abstractmethod
    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build one task; `salt` is the secret of a held-out round and is needed only there.

        Raises:
            UnknownTask: No task has this id.
        """

    @abstractmethod
    def oracle(self, task: Task) -> Script:
        """Solve the task through the public action interface alone."""

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """Return other right solutions, by name; each must score 1."""
        return {}

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Return near misses, by name; each must score 0."""
        return {}

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Return the family's trivial policies, by name, such as `dump` and `majority`."""
        return {}

    def thought(self, task: Task, heard: Sequence[str], action: str) -> str:
        """Return what a solver may say to itself before one of the oracle's actions.

        It says what the action rests on and holds nothing that a solver could not see; empty where
        there is nothing to say.

        Args:
            task: The task.
            heard: The observations so far, the opening first.
            action: What is done next.
        """
        return ""

    def fingerprint(self) -> str:
        """Return a SHA-256 (hex) over the code and data that decide the tasks."""
        return fingerprint_of(self)


def fingerprint_of(source: TaskSource) -> str:
    """Hash every source and data file in the folder of the source's own module."""
    module = sys.modules[type(source).__module__]
    path = Path(inspect.getfile(module))
    files = sorted(_content_files(path.parent)) if path.parent.name != "tasks" else [path]
    digest = hashlib.sha256(f"{source.name} {source.version}".encode())
    for file in files:
        content = file.read_bytes()
        digest.update(f"{file.relative_to(path.parent).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _content_files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def play(script: Script, respond: Callable[[str], str | None]) -> int:
    """Drive a script: `respond` takes an action and returns the observation, or None at the end.

    Returns:
        The number of actions taken.
    """
    actions = 0
    try:
        action = next(script)
        while True:
            actions += 1
            observation = respond(action)
            if observation is None:
                script.close()
                return actions
            action = script.send(observation)
    except StopIteration:
        return actions
