"""Task sources: generators and loaders of public formats behind one interface.

A source addresses its tasks by id, builds each on demand and provides the scripts that validate
it: an oracle that solves the task, alternative solutions that must also pass, near misses that must
fail, and trivial policies whose scores set the floor.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.fingerprint import fingerprint_of
from hexathlon.tasks.fingerprint.draws import draws_digest
from hexathlon.tasks.task import LEVELS, SPLITS, Level, Split, Task

__all__ = [
    "Preference", "Script", "TaskAddress", "TaskSource", "has_template", "parse_address", "play",
]  # fmt: skip

Script = Generator[str, str, None]
"""A generator that yields actions as text and receives each resulting observation."""


@dataclass(frozen=True, slots=True)
class TaskAddress:
    """The parts of a task id."""

    source: str
    template: str
    level: Level
    split: Split
    index: int

    def __str__(self) -> str:
        return f"{self.source}/{self.template}/{self.level}/{self.split}/{self.index:05d}"


def parse_address(task_id: str) -> TaskAddress:
    """Parse a task id.

    Raises:
        UnknownTask: If the id does not have five parts or a part is invalid.
    """
    parts = task_id.split("/")
    if len(parts) != 5:
        raise UnknownTask(task_id, f"it has {len(parts)} parts, not five")
    source, template, level, split, index = parts
    if level not in LEVELS:
        raise UnknownTask(task_id, f"{level!r} is not a level ({', '.join(LEVELS)})")
    if split not in SPLITS:
        raise UnknownTask(task_id, f"{split!r} is not a split ({', '.join(SPLITS)})")
    if not (index.isascii() and index.isdigit()):
        raise UnknownTask(task_id, f"{index!r} is not an index")
    return TaskAddress(source, template, level, split, int(index))


def has_template(task_id: str, prefix: str) -> bool:
    """Return whether the name of a task's template begins with `prefix`; any id if it is empty."""
    return not prefix or parse_address(task_id).template.startswith(prefix)


class Preference(NamedTuple):
    """Two replies to one question, the first of which is better by known truth."""

    question: str
    chosen: str
    rejected: str
    act: str
    """The kind of act that they differ in."""


class TaskSource(ABC):
    """A named, versioned origin of tasks.

    Subclasses set `name`, `family` and `version` and implement `size`, `address`, `build` and
    `oracle`. `build` is pure: the same id and salt give the same task in every process.
    """

    name: str
    family: str
    version: str
    """Incremented when an id may denote a different task, or a task's hash changes."""

    late_modules: ClassVar[Sequence[str]] = ()
    """Modules that determine the tasks but are imported by computed names; `package.*` stands for
    all modules of one package. Modules reached by import statements are found automatically."""

    tolerated: ClassVar[Mapping[str, str]] = {}
    """Small changes to the oracle's episodes that lead to a different final state and are
    nevertheless correct, with the reason. Keys are `drop:TOOL`, `repeat:TOOL`, `swap:TOOL` and
    `alter:TOOL.ARGUMENT`, prefixed by a template's name for that template alone, as in
    `TEMPLATE/drop:TOOL`; the conformance kit refuses all others that score 1."""

    def equivalent(self, task: Task, right: Any, other: Any) -> bool:
        """Whether two final states that score 1 differ only where the task asks for nothing.

        The conformance kit then takes them for the same solution. It also compares near misses
        with the oracle, so that the rule has to tell them apart without the score.
        """
        return False

    @abstractmethod
    def size(self, split: Split, level: Level | None = None) -> int | None:
        """Return the number of tasks in the split, or None if it is unbounded."""

    @abstractmethod
    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the id of the task at `index`; any prefix covers templates and levels."""

    @abstractmethod
    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build one task.

        Args:
            task_id: The task's id.
            salt: The secret of a held-out round; required only there.

        Raises:
            UnknownTask: If no task has this id.
        """

    @abstractmethod
    def oracle(self, task: Task) -> Script:
        """Solve the task through the public action interface only."""

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """Return alternative correct solutions by name; each must score 1."""
        return {}

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Return near misses by name; each must score 0."""
        return {}

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Return the family's trivial policies by name, such as `dump` and `majority`."""
        return {}

    def thought(self, task: Task, heard: Sequence[str], action: str) -> str:
        """Return the reasoning that a solver could give before one of the oracle's actions.

        It states the grounds for the action and uses only information that a solver can see; empty
        if there is nothing to state.

        Args:
            task: The task.
            heard: The observations so far, starting with the opening.
            action: The action that follows.
        """
        return ""

    def preference(self, task: Task) -> Preference | None:
        """Return two replies of which one is better, for training reward models; None without."""
        return None

    def public_facts(self, task: Task) -> Sequence[str]:
        """Return what the environment tells every agent after the instruction, such as its account.

        The conformance kit does not take these texts for leaks, and checks that the opening
        contains them.
        """
        return ()

    def data_files(self) -> Sequence[str]:
        """Return glob patterns of the package's data files that determine the tasks.

        Patterns are relative to the directory of the source's top-level package, for example
        `tasks/roleplay/settings/*.toml`.
        """
        return ()

    def dependencies(self) -> Mapping[str, str]:
        """Return digests, by package, of third-party behaviour that determines the tasks.

        Version numbers are not used as digests: a release with unchanged behaviour must give the
        same hash.
        """
        return {"numpy": draws_digest()}

    def fingerprint(self) -> str:
        """Return a SHA-256 (hex) of the code, data and dependencies that determine the tasks."""
        return fingerprint_of(
            f"{self.name} {self.version}",
            (type(self).__module__, *self.late_modules),
            self.data_files(),
            self.dependencies(),
        )


def play(script: Script, respond: Callable[[str], str | None]) -> int:
    """Run a script until it ends or the episode does.

    Args:
        script: The script to run.
        respond: Takes an action and returns the observation, or None at the end of the episode.

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
