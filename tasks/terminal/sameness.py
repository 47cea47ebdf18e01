"""When two working directories hold the same result of a task."""

from collections.abc import Collection, Mapping

__all__ = ["same_result"]


def same_result(right: Mapping[str, str], other: Mapping[str, str], given: Collection[str]) -> bool:
    """Whether a directory holds the changes of a right one, and at most new files besides.

    Tasks ask for contents, and for programs that run: rights of users other than the owner are
    compared by probes where a task is about them. Changes of the task's own files count.

    Args:
        right: For each changed path `MODE DIGEST`, or `deleted`.
        other: The same of the other directory.
        given: Paths of the files that the task brings.
    """
    if any(_owned(other.get(path, "")) != _owned(what) for path, what in right.items()):
        return False
    added = other.keys() - right.keys()
    return not any(path in given or other[path] == "deleted" for path in added)


def _owned(change: str) -> str:
    """Return a change without the mode bits of group and others."""
    mode, gap, digest = change.partition(" ")
    return f"{int(mode, 8) >> 6:o} {digest}" if gap else change
