"""Task sets: named, versioned slices of a source, with a content hash.

A set is lazy: ids are computed arithmetically and a task is built on access. The held-out split is
drawn from a secret salt. `commitment(salt)` is published before a round and the salt itself
afterwards, so that anyone can rebuild the tasks and verify that they were fixed in advance.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator
from functools import lru_cache

from hexathlon.tasks.errors import TaskError, UnknownTask
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import TaskSource, parse_address
from hexathlon.tasks.stored.built import built
from hexathlon.tasks.task import LEVELS, SPLITS, Level, Split, Task
from hexathlon.tasks.validation import choice_problem

__all__ = ["TaskSet", "build_task", "commitment", "shared_taskset"]

_CACHED_TASKS = 256
_CACHED_IDS = 4096


def commitment(salt: str) -> str:
    """Return the SHA-256 (hex) of a held-out salt, published before the round."""
    return hashlib.sha256(f"hexathlon held-out salt\n{salt}".encode()).hexdigest()


class TaskSet:
    """An indexable, lazily built slice of a task source.

    Args:
        source: A source or its registered name.
        split: `train`, `dev`, `test` or `heldout`.
        level: Restricts the set to one level; None includes all.
        salt: The secret of a held-out round; required for `heldout`, rejected for other splits.

    Raises:
        TaskError: If `salt` is missing for `heldout` or given for another split.
    """

    def __init__(
        self,
        source: str | TaskSource,
        split: Split = "test",
        level: Level | None = None,
        salt: str | None = None,
    ) -> None:
        problem = choice_problem("split", split, SPLITS)
        if not problem and level is not None:
            problem = choice_problem("level", level, LEVELS)
        if problem:
            raise TaskError(problem)
        if (split == "heldout") != (salt is not None):
            raise TaskError(
                "the held-out split requires a salt, the other splits take none: "
                f"got split={split!r} and {'a' if salt else 'no'} salt"
            )
        self.source = get_source(source) if isinstance(source, str) else source
        self.split: Split = split
        self.level = level
        self._salt = salt
        self._cache: OrderedDict[str, Task] = OrderedDict()
        self._ids: dict[int, str] = {}
        self._lock = threading.Lock()
        self._building = threading.Lock()  # sources need not be thread-safe

    @property
    def name(self) -> str:
        """The source's name with split and level, such as `sql:test:hard`."""
        return ":".join(filter(None, [self.source.name, self.split, self.level]))

    @property
    def version(self) -> str:
        """The source's version."""
        return self.source.version

    @property
    def size(self) -> int | None:
        """The number of tasks, or None if the set is unbounded."""
        return self.source.size(self.split, self.level)

    def __len__(self) -> int:
        if self.size is None:
            raise TaskError(f"{self.name} is unbounded; ask for a number of tasks")
        return self.size

    def task_id(self, index: int) -> str:
        """Return the id of the task at `index` without building it."""
        if index < 0 or (self.size is not None and index >= self.size):
            raise IndexError(f"{self.name} has {self.size} tasks; there is no index {index}")
        return self.source.address(self.split, index, self.level)

    def ids(self, count: int | None = None) -> Iterator[str]:
        """Yield the first `count` ids, or all ids of a finite set."""
        end = len(self) if count is None else count
        if self.size is not None and end > self.size:
            raise TaskError(f"{self.name} has {self.size} tasks, but {end} were requested")
        return (self.task_id(index) for index in range(end))

    def __getitem__(self, index: int) -> Task:
        task_id = self._ids.get(index)
        if task_id is None:
            task_id = self.task_id(index)
            if len(self._ids) >= _CACHED_IDS:
                self._ids.clear()
            self._ids[index] = task_id
        return self.get(task_id)

    def __iter__(self) -> Iterator[Task]:
        return (self.get(task_id) for task_id in self.ids())

    def get(self, task_id: str) -> Task:
        """Return the task with this id, which must belong to the set.

        Raises:
            UnknownTask: If the id belongs to another source, split or level.
        """
        with self._lock:
            task = self._cache.get(task_id)
            if task is not None:
                self._cache.move_to_end(task_id)
                return task
        address = parse_address(task_id)
        wanted = (self.source.name, self.split, self.level or address.level)
        if (address.source, address.split, address.level) != wanted:
            raise UnknownTask(task_id, f"it is not in {self.name}")
        with self._building:
            task = built(self.source, task_id, self._salt)
        with self._lock:
            self._cache[task_id] = task
            if len(self._cache) > _CACHED_TASKS:
                self._cache.popitem(last=False)
        return task

    @property
    def content_hash(self) -> str:
        """SHA-256 (hex) of everything that determines the tasks.

        The hash covers the source's fingerprint (its code and data), version, split, level, size
        and, for a held-out round, the commitment to the salt. In addition, each record carries the
        hash of its own task.
        """
        parts = [self.name, self.version, str(self.size), self.source.fingerprint()]
        if self._salt is not None:
            parts.append(commitment(self._salt))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def build_task(task_id: str, salt: str | None = None) -> Task:
    """Build one task from its id, or read it from the cache on disk."""
    return built(get_source(parse_address(task_id).source), task_id, salt)


@lru_cache(maxsize=32)
def shared_taskset(
    source: str, split: Split = "test", level: Level | None = None, salt: str | None = None
) -> TaskSet:
    """Return the task set shared by all environments of this process, including its built tasks."""
    return TaskSet(source, split, level, salt)
