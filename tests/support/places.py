"""Folders that a process of another user may enter."""

import os
import stat
import tempfile
from pathlib import Path

import pytest

__all__ = ["open_to_all"]


def open_to_all() -> str:
    """A temporary folder that other users may enter; root's own may be closed to them.

    Whoever is not root starts no process as another user, and gets the usual one.
    """
    folders = (tempfile.gettempdir(), "/var/tmp", "/dev/shm")
    for folder in folders:
        path = Path(folder)
        if os.getuid() or (path.is_dir() and all(_enterable(p) for p in (path, *path.parents))):
            return folder
    pytest.skip(f"no folder of {', '.join(folders)} may be entered by another user")


def _enterable(folder: Path) -> bool:
    return bool(folder.stat().st_mode & stat.S_IXOTH)
