"""Task sources: generators of our own and loaders of public formats, behind one interface.

A source addresses its tasks by id, builds each on demand, and brings the scripts that prove the
task sound: an oracle that solves it, other solutions that must count as well, near misses that
must not, and the trivial policies whose score is the floor.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.fingerprint import fingerprint_of
from hexathlon.tasks.fingerprint.draws import draws_digest
from hexathlon.tasks.task import LEVELS, SPLITS, Level, Split, Task

__all__ = ["Address", "Script", "TaskSource", "parse_address", "play"]

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
    """Rises when the same id can mean another task, or the same task another hash."""

    late_modules: ClassVar[Sequence[str]] = ()
    """Modules that decide the tasks and are imported by computed names; `package.*` is all of one
    package. What import statements reach is found without being named here."""

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

    def data_files(self) -> Sequence[str]:
        """Return patterns of the package's data files that decide the tasks.

        They are relative to the folder of the source's top-level package, such as
        `tasks/roleplay/settings/*.toml`.
        """
        return ()

    def dependencies(self) -> Mapping[str, str]:
        """Return digests of what other packages do that decides the tasks, by package.

        Versions are no digests: a release that does the same must give the same hash.
        """
        return {"numpy": draws_digest()}

    def fingerprint(self) -> str:
        """Return a SHA-256 (hex) over the code, data and dependencies that decide the tasks."""
        return fingerprint_of(
            f"{self.name} {self.version}",
            (type(self).__module__, *self.late_modules),
            self.data_files(),
            self.dependencies(),
        )


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
