"""Events and the sizes of their task sets, as `list` and `show` print them."""

from typing import TYPE_CHECKING, Any

from hexathlon.baselines.harness.errors import CommandError
from hexathlon.envs.registry import EnvironmentInfo, missing_extra, short
from hexathlon.tasks.sizes import PUBLIC_SPLITS, known_sizes, missing_data

if TYPE_CHECKING:
    from hexathlon.tasks.task import Split

__all__ = ["MISSING", "SPLITS", "UNBOUNDED", "describe_event", "sizes_of"]

SPLITS = PUBLIC_SPLITS

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
    try:
        sizes = known_sizes(taskset) or _counted(info, taskset)
    except CommandError as error:
        return {MISSING: str(error)}
    return {split: UNBOUNDED if size is None else size for split, size in sizes.items()}


def _counted(info: EnvironmentInfo, taskset: str) -> "dict[Split, int | None]":
    """Return the sizes by split, from the source itself."""
    from hexathlon.baselines.harness.environments import open_taskset

    return {split: open_taskset(info, taskset, split, None, None).size for split in SPLITS}
