"""Temporary folders of processes that may be killed, such as those with a replica's weights.

A folder belongs to the process that has locked a file in it. The system releases the lock when the
process ends, and the next process that creates such a folder deletes those without an owner.
"""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

__all__ = ["ScratchFolder"]

_LOCK = "owner.lock"


class ScratchFolder:
    """A temporary folder of this process, deleted by `close`, or later if the process is killed.

    Args:
        prefix: Beginning of its name; abandoned folders with the same beginning are deleted.

    Attributes:
        path: The folder.
    """

    def __init__(self, prefix: str) -> None:
        for other in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
            if _abandoned(other):
                shutil.rmtree(other, ignore_errors=True)
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        # Not inherited by programs that this process starts. Locked before it gets its name, so
        # that no other process finds it unlocked.
        unnamed = self.path / f"{_LOCK}.new"
        self._lock = os.open(unnamed, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        unnamed.rename(self.path / _LOCK)

    def close(self) -> None:
        """Delete the folder; idempotent."""
        shutil.rmtree(self.path, ignore_errors=True)
        lock, self._lock = self._lock, -1
        if lock >= 0:
            os.close(lock)


def _abandoned(folder: Path) -> bool:
    """Return whether a folder had an owner that is gone."""
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR)
    except OSError:
        return False  # another user's, or just being created
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True
