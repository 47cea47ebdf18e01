"""Checks of the task source: ids match their tasks, and building a task is pure."""

from hexathlon.envs.testing.report import CheckFailed, CheckSkipped, ConformanceCheck
from hexathlon.envs.testing.subject import Subject
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.task import LEVELS, Level, Split, Task

__all__ = ["CHECKS"]

_REBUILT = 200
_SALTED = 4


def builds_are_pure(subject: Subject) -> None:
    """Build tasks again, in the reverse order, and compare the records."""
    for solved in reversed(subject.solved[:_REBUILT]):
        again = subject.source.build(solved.task.id)
        if again.hash != solved.task.hash:
            raise CheckFailed(f"{solved.task.id} becomes a different task when it is built again")


def addresses_kept(subject: Subject) -> None:
    """Compare split and level of the first and last tasks with the requested ones."""
    levels: tuple[Level | None, ...] = (None, *LEVELS)
    env = subject.make()
    try:
        for split in subject.splits:
            for level in levels:
                size = subject.source.size(split, level)
                if size == 0:
                    continue
                for index in (0, 7 if size is None else size - 1):
                    task = _addressed(subject, split, level, index)
                    options = {"split": split, "level": level, "index": index}
                    info = env.reset(seed=0, options=options)[1]
                    if info["task_hash"] != task.hash:
                        raise CheckFailed(f"reset(options={options}) did not open {task.id}")
    finally:
        env.close()


def _addressed(subject: Subject, split: Split, level: Level | None, index: int) -> Task:
    name = subject.source.address(split, index, level)
    asked = f"task {index} of {split}, level {level}"
    try:
        address, task = parse_address(name), subject.source.build(name)
    except Exception as error:
        raise CheckFailed(f"{asked} ({name}) cannot be built: {error!r}") from error
    wanted = (name, split, level or address.level)
    for got in ((name, address.split, address.level), (task.id, task.split, task.level)):
        if got != wanted:
            raise CheckFailed(f"{asked} should be {wanted}, it is {got}")
    return task


def salt_honoured(subject: Subject) -> None:
    """Build held-out tasks with two salts."""
    source = subject.source
    size = source.size("heldout")
    if size == 0:
        raise CheckSkipped("the source has no held-out split")
    count = _SALTED if size is None else min(_SALTED, size)
    ids = [source.address("heldout", index) for index in range(count)]
    contents = [[_content(source.build(name, salt)) for name in ids] for salt in ("a", "b")]
    same = sum(one == other for one, other in zip(*contents, strict=True))
    if same > count // 2:
        raise CheckFailed(f"{same} of {count} held-out tasks are the same with another salt")


def _content(task: Task) -> tuple[str, str]:
    return task.instruction, task.model_copy(update={"seed": 0, "canary": ""}).hash


CHECKS = (
    ConformanceCheck(
        "builds_are_pure",
        "let build() depend only on id and salt: no counter, no generator kept between calls",
        builds_are_pure,
    ),
    ConformanceCheck(
        "addresses_kept",
        "let address() return ids of the requested split and level, and build() keep them",
        addresses_kept,
    ),
    ConformanceCheck(
        "salt_honoured",
        "derive the seeds of held-out tasks from the salt: derive_seed(name, task_id, salt)",
        salt_honoured,
    ),
)
