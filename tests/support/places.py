"""Directories accessible to processes of another user."""

import os
import stat
import tempfile
from pathlib import Path

import pytest

__all__ = ["may_be_entered", "open_to_all"]


def open_to_all() -> str:
    """Return a temporary directory accessible to other users; skip the test if there is none.

    Only root starts processes as other users; everyone else gets the default directory.
    """
    folders = (tempfile.gettempdir(), "/var/tmp", "/dev/shm")
    for folder in folders:
        path = Path(folder)
        if os.getuid() or (path.is_dir() and may_be_entered(path)):
            return folder
    pytest.skip(f"none of {', '.join(folders)} is accessible to other users")


def may_be_entered(folder: Path) -> bool:
    """Return whether every user may enter a directory."""
    return all(place.stat().st_mode & stat.S_IXOTH for place in (folder, *folder.parents))
