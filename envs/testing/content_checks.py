"""Checks of splits: tasks are unique within a split, and no two splits share one."""

import itertools
import re
from collections.abc import Hashable, Mapping

from hexathlon.envs.testing.report import CheckFailed, CheckSkipped, ConformanceCheck
from hexathlon.envs.testing.solving import Solved
from hexathlon.envs.testing.subject import Subject

__all__ = ["CHECKS"]

_NUMBER = re.compile(r"\d+")
_OFTEN = 8
"""Maximum mean number of copies of a task in a bounded split."""

_ALONE, _AGAIN = 0.9, 0.5
"""If at least the first share of a split's solutions have unique numbers, at most the second may
recur in another split."""

_SHARE = 0.01
"""Share of a split's tasks that may occur in another by chance, such as short tasks."""


def splits_apart(subject: Subject) -> None:
    """Compare instruction and solution of many tasks of each split with those of the others."""
    held: dict[str, dict[Hashable, str]] = {}
    numbers: dict[str, dict[Hashable, str]] = {}
    sizes: dict[str, int] = {}
    for solved in subject.solved:
        split = solved.task.split
        held.setdefault(split, {})[_content(solved)] = solved.task.id
        numbers.setdefault(split, {})[_numbers(solved)] = solved.task.id
        sizes[split] = sizes.get(split, 0) + 1
    if len(held) < 2:
        raise CheckSkipped("the source has tasks in one split only")
    splits = [split for split in ("dev", "test", "train") if split in held]
    for one, other in itertools.combinations(splits, 2):
        fewest = min(sizes[one], sizes[other])
        _require_few(held, one, other, _SHARE * fewest, "tasks")
        if all(len(numbers[each]) > _ALONE * sizes[each] for each in (one, other)):
            what = "solutions with the same numbers"
            _require_few(numbers, one, other, _AGAIN * fewest, what)


def _require_few(
    held: Mapping[str, Mapping[Hashable, str]], one: str, other: str, most: float, what: str
) -> None:
    shared = sorted(held[one].keys() & held[other].keys(), key=str)
    if len(shared) > most:
        raise CheckFailed(
            f"{len(shared)} {what} are in {one} and in {other}, such as "
            f"{held[one][shared[0]]} and {held[other][shared[0]]}"
        )


def tasks_differ(subject: Subject) -> None:
    """Count copies of tasks under different ids in a bounded split."""
    for split in subject.splits:
        solved = [each for each in subject.solved if each.task.split == split]
        different = len({_content(each) for each in solved})
        if subject.source.size(split) is not None and len(solved) > _OFTEN * different:
            raise CheckFailed(f"the first {len(solved)} ids of {split} name {different} tasks")


def _content(solved: Solved) -> Hashable:
    """Return what a policy that remembers tasks would remember."""
    return solved.task.instruction, solved.actions


def _numbers(solved: Solved) -> Hashable:
    """Return the numbers in a solution, which stay when names change."""
    return tuple(_NUMBER.findall(" ".join(solved.actions)))


CHECKS = (
    ConformanceCheck(
        "tasks_differ",
        "draw more values, or declare fewer tasks: copies of a task count several times",
        tasks_differ,
    ),
    ConformanceCheck(
        "splits_apart",
        "draw the splits from different entities or values, not only from different seeds",
        splits_apart,
    ),
)
