"""What was changed over an image, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hexathlon.envs.sandbox.image import Entry

__all__ = ["Changes", "compare"]


@dataclass(frozen=True)
class Changes:
    """The difference between a sandbox's files and its image.

    Only files, folders and symbolic links are brought out, as data: nothing is followed,
    unpacked or run on the way. Everything else is named in `special`.
    """

    written: Mapping[str, Entry] = field(default_factory=dict)
    """Absolute path → what was added there, or what it was changed to; sorted by path."""

    deleted: tuple[str, ...] = ()
    """Paths of the image that are gone; what stood below a folder is gone with it."""

    special: Mapping[str, str] = field(default_factory=dict)
    """Path → why it was left behind: `fifo`, `socket`, `device`, `too_long`, `name`."""

    cut: bool = False
    """Whether the limits on bytes or entries were reached, so that something is missing."""


def compare(
    before: Mapping[str, Entry], after: Mapping[str, Entry], special: Mapping[str, str], cut: bool
) -> Changes:
    """Return what was added, changed and deleted; times do not count."""
    written = {}
    for path in sorted(after):
        old, new = before.get(path), after[path]
        if old is None or _face(old) != _face(new):
            written[path] = new
    deleted = [] if cut else [path for path in sorted(before) if path not in after]
    tops: list[str] = []
    for path in deleted:  # what stood below a folder is gone with it
        if not tops or not path.startswith(tops[-1] + "/"):
            tops.append(path)
    return Changes(written, tuple(tops), dict(special), cut)


def _face(entry: Entry) -> tuple[bytes, int, str | None, bool]:
    mode = 0 if entry.link is not None else entry.mode  # a link's own mode means nothing
    return entry.data, mode, entry.link, entry.folder
