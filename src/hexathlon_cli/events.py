"""Events and the sizes of their task sets, as `list` and `show` print them."""

from typing import Any

from hexathlon.baselines.harness.environments import open_taskset, short
from hexathlon.baselines.harness.errors import CommandError
from hexathlon.envs.registry import EnvironmentInfo, missing_extra
from hexathlon.tasks.sizes import GENERATED_SIZES, missing_data
from hexathlon.tasks.task import SPLITS as ALL_SPLITS

__all__ = ["MISSING", "SPLITS", "UNBOUNDED", "describe_event", "sizes_of"]

SPLITS = tuple(split for split in ALL_SPLITS if split != "heldout")
"""Splits that need no secret."""

MISSING, UNBOUNDED = "needs", "unbounded"
"""Key for what a set lacks on this machine; size of an unbounded set."""


def describe_event(info: EnvironmentInfo) -> dict[str, Any]:
    """Return an event's names, its task sets and, if not installed, its extra."""
    return {
        "id": info.id,
        "name": short(info.id),
        "title": info.title,
        "tasksets": list(info.tasksets),
        "install": missing_extra(info),
    }


def sizes_of(info: EnvironmentInfo, taskset: str) -> dict[str, Any]:
    """Return a task set's number of tasks by split, or what is missing under `MISSING`."""
    install = missing_extra(info)
    if install:
        return {MISSING: install}
    missing = missing_data(taskset)
    if missing:
        return {MISSING: missing}
    known = GENERATED_SIZES.get(taskset)
    sizes: dict[str, Any] = {}
    for split in SPLITS:
        try:
            size = known[split] if known else open_taskset(info, taskset, split, None, None).size
        except CommandError as error:
            return {MISSING: str(error)}
        sizes[split] = UNBOUNDED if size is None else size
    return sizes
