"""What was changed over an image, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hexathlon.envs.sandbox.image import Entry

__all__ = ["Changes"]


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
