"""Changes relative to an image, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hexathlon.envs.sandbox.image import Entry

__all__ = ["Changes", "compare", "covered"]


@dataclass(frozen=True)
class Changes:
    """Difference between a sandbox's files and its image.

    Contains only files, directories and symbolic links, as data: nothing is followed, unpacked or
    executed to obtain it. Everything else is listed in `special`.
    """

    written: Mapping[str, Entry] = field(default_factory=dict)
    """Absolute path → entry that was added or changed; sorted by path."""

    deleted: tuple[str, ...] = ()
    """Image paths that were deleted; deleting a directory includes its content.

    A directory that something else replaced is listed, too: it is deleted, then written.
    """

    special: Mapping[str, str] = field(default_factory=dict)
    """Path → why it was omitted: `fifo`, `socket`, `device`, `too_long`, `name`."""

    cut: bool = False
    """Whether the limits on bytes or entries were reached, so that entries are missing."""


def compare(
    before: Mapping[str, Entry], after: Mapping[str, Entry], special: Mapping[str, str], cut: bool
) -> Changes:
    """Return what was added, changed and deleted; times are ignored."""
    written = {}
    for path in sorted(after):
        old, new = before.get(path), after[path]
        if old is None or _face(old) != _face(new):
            written[path] = new
    deleted = (
        [] if cut else [path for path in sorted(before) if _lost(before[path], after.get(path))]
    )
    tops: list[str] = []
    for path in deleted:  # a deleted directory implies its content
        if not tops or not path.startswith(tops[-1] + "/"):
            tops.append(path)
    return Changes(written, tuple(tops), dict(special), cut)


def _lost(old: Entry, new: Entry | None) -> bool:
    return new is None or (old.folder and not new.folder)


def _face(entry: Entry) -> tuple[bytes, int, str | None, bool]:
    mode = 0 if entry.link is not None else entry.mode  # a link's mode is meaningless
    return entry.data, mode, entry.link, entry.folder


def covered(path: str, tops: frozenset[str]) -> bool:
    """Whether a path is one of the tops or below one, in time that does not depend on their number.

    >>> covered("/app/a/b", frozenset({"/app/a"})), covered("/app/ab", frozenset({"/app/a"}))
    (True, False)
    """
    end = len(path)
    while end > 0:
        if path[:end] in tops:
            return True
        end = path.rfind("/", 0, end)
    return False
