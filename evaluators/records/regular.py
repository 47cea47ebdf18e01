"""Rejection of irregular files: opening a named pipe blocks, reading a device never ends."""

from __future__ import annotations

import stat
from pathlib import Path

__all__ = ["irregularity"]

_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def irregularity(path: Path) -> str:
    """Return words for what is at a path other than a regular file; empty for a regular file.

    Links are followed. A missing or unreadable path has no irregularity: opening it fails at once.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return ""
    return next((f"is {name}, not a regular file" for is_kind, name in _KINDS if is_kind(mode)), "")
