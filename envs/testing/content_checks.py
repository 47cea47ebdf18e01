"""Checks of what the splits hold: the same task must not be in train and in test."""

from collections.abc import Hashable

from hexathlon.envs.testing.report import CheckFailed, CheckSkipped, ConformanceCheck
from hexathlon.envs.testing.solving import Solved
from hexathlon.envs.testing.subject import Subject

__all__ = ["CHECKS"]

_SHARE = 0.01
"""Share of a split's tasks that may occur in another by chance, as short tasks do."""


def splits_apart(subject: Subject) -> None:
    """Compare instruction and solution of many tasks of each split with those of the others."""
    held: dict[str, dict[Hashable, str]] = {}
    sizes: dict[str, int] = {}
    for solved in subject.solved:
        split = solved.task.split
        held.setdefault(split, {})[_content(solved)] = solved.task.id
        sizes[split] = sizes.get(split, 0) + 1
    if len(held) < 2:
        raise CheckSkipped("the source has tasks in one split alone")
    splits = [split for split in ("dev", "test", "train") if split in held]
    for place, split in enumerate(splits):
        for other in splits[place + 1 :]:
            shared = sorted(held[split].keys() & held[other].keys(), key=str)
            if len(shared) > _SHARE * min(sizes[split], sizes[other]):
                raise CheckFailed(
                    f"{len(shared)} tasks are in {split} and in {other}, such as "
                    f"{held[split][shared[0]]} and {held[other][shared[0]]}"
                )


def _content(solved: Solved) -> Hashable:
    """Return what a policy that remembers tasks would remember."""
    return solved.task.instruction, solved.actions


CHECKS = (
    ConformanceCheck(
        "splits_apart",
        "draw the splits from different entities or values, not only from different seeds",
        splits_apart,
    ),
)
