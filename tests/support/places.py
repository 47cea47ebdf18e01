"""Directories accessible to processes of another user."""

import os
import stat
import tempfile
from pathlib import Path

import pytest

__all__ = ["may_be_entered", "open_to_all"]


def open_to_all() -> str:
    """Return a temporary directory that other users may enter; root's own may be closed to them.

    A non-root user starts no process as another user, and gets the usual one.
    """
    folders = (tempfile.gettempdir(), "/var/tmp", "/dev/shm")
    for folder in folders:
        path = Path(folder)
        if os.getuid() or (path.is_dir() and may_be_entered(path)):
            return folder
    pytest.skip(f"no folder of {', '.join(folders)} may be entered by another user")


def may_be_entered(folder: Path) -> bool:
    """Whether every user may enter a directory."""
    return all(place.stat().st_mode & stat.S_IXOTH for place in (folder, *folder.parents))
