"""Writing entries into this process's file tree, which is already the sandbox's.

The last component of a path is never followed; directories on the way are.
"""

import os
import shutil
import stat

from hexathlon.envs.sandbox.changes import Changes
from hexathlon.envs.sandbox.image import Entry

__all__ = ["apply", "write_entry", "make_parents", "remove"]


def apply(changes: Changes) -> None:
    """Apply a difference: deletions, then writes."""
    for path in changes.deleted:
        remove(path)
    folders = []
    for path, entry in changes.written.items():
        write_entry(path, entry)
        if entry.folder:
            folders.append((path, entry))
    for path, entry in reversed(folders):  # last, since writing into a directory changes its times
        os.utime(path, (entry.mtime, entry.mtime))


def write_entry(path: str, entry: Entry) -> None:
    """Write one entry, replacing an existing one; a directory keeps its content."""
    if entry.folder:
        make_parents(path)
        if not _is_folder(path):
            remove(path)
            os.mkdir(path)
        _dress(path, entry)
        return
    if entry.link is not None:
        make_parents(path)
        remove(path)
        os.symlink(entry.link, path)
        os.utime(path, (entry.mtime, entry.mtime), follow_symlinks=False)
        if entry.owner:
            os.lchown(path, entry.owner, entry.owner)
        return
    with open(_new_file(path), "wb", buffering=0) as file:
        rest = memoryview(entry.data)
        while rest:
            rest = rest[file.write(rest) :]
        _dress(file.fileno(), entry)


def _new_file(path: str) -> int:
    """Create a file; what usually is not there is looked for only when creating it fails."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o600)
    except OSError:
        make_parents(path)
        remove(path)
        return os.open(path, flags, 0o600)


def _dress(place: str | int, entry: Entry) -> None:
    if entry.owner:
        os.chown(place, entry.owner, entry.owner)
    os.chmod(place, entry.mode)  # after chown, which clears the set-id bits
    os.utime(place, (entry.mtime, entry.mtime))


def make_parents(path: str) -> None:
    """Create the missing parent directories of a path."""
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        make_parents(folder)
        os.mkdir(folder, 0o755)


def remove(path: str) -> None:
    """Remove whatever is at a path, if anything."""
    if _is_folder(path):
        shutil.rmtree(path)
        return
    try:
        os.unlink(path)
    except (FileNotFoundError, NotADirectoryError):
        return


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False
