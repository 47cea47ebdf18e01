"""Difference between layers and the layers below them, read as data.

Nothing is followed: every step opens one name in an already open directory. An agent's files are
thus read in place, whatever links, devices or odd names are among them.
"""

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from hexathlon.envs.sandbox.changes import Changes
from hexathlon.envs.sandbox.image import Entry

__all__ = ["export"]

_OPAQUE = ("trusted.overlay.opaque", "user.overlay.opaque")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_MOUNTED = ("/proc", "/dev", "/sys")
_LONGEST_PATH = 4096


@dataclass
class _Found:
    """Content of the layers, before file contents are read."""

    places: dict[str, tuple[str, os.stat_result]] = field(default_factory=dict)
    """Path → layer that contains it, and its status."""

    deleted: set[str] = field(default_factory=set)
    special: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    children: dict[str, set[str]] = field(default_factory=dict)
    """Directory → paths in it that were noted."""

    def note(self, path: str) -> None:
        """Remember a path as one of its directory's."""
        self.children.setdefault(path.rpartition("/")[0], set()).add(path)

    def forget(self, path: str) -> None:
        """Drop a path and everything below it."""
        waiting = [path]
        while waiting:
            each = waiting.pop()
            self.places.pop(each, None)
            self.special.pop(each, None)
            waiting += self.children.pop(each, ())


def export(
    upper: list[str], lower: list[str], owner: int, max_bytes: int, max_entries: int
) -> Changes:
    """Return the changes made by the upper layers.

    Args:
        upper: Directories of layers, topmost first.
        lower: Directories of the layers to compare with, topmost first.
        owner: Id on the machine that is mapped to 0 inside.
        max_bytes: Maximum total size of contents; the result says if it was exceeded.
        max_entries: Maximum number of paths.
    """
    found = _Found()
    for layer in reversed(upper):
        for path, status, opaque in _walk(layer):
            if len(found.places) + len(found.deleted) >= max_entries:
                found.cut = True
                break
            _note(found, layer, path, status, opaque)
    return _described(found, lower, owner, max_bytes)


def _note(found: _Found, layer: str, path: str, status: os.stat_result, opaque: bool) -> None:
    mode = status.st_mode
    if not _speakable(path):
        found.special[ascii(path)] = "name"
        return
    if stat.S_ISCHR(mode) and status.st_rdev == 0:
        found.forget(path)
        found.deleted.add(path)
        return
    if not stat.S_ISDIR(mode) or opaque:
        found.forget(path)
    if opaque:
        found.deleted.add(path)
    found.note(path)
    if stat.S_ISDIR(mode) or stat.S_ISREG(mode) or stat.S_ISLNK(mode):
        found.places[path] = (layer, status)
    else:
        found.special[path] = _kind(mode)


def _speakable(path: str) -> bool:
    """Whether a path is valid text; others cannot be written to a record."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return len(path) < _LONGEST_PATH


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "fifo"
    return "socket" if stat.S_ISSOCK(mode) else "device"


def _walk(layer: str) -> Iterator[tuple[str, os.stat_result, bool]]:
    """Yield path, status and whether it hides lower content, directories before their content."""
    waiting = [""]
    while waiting:
        path = waiting.pop()
        with contextlib.suppress(OSError), _opened(layer, path) as folder:
            for name in sorted(os.listdir(folder)):
                inside = f"{path}/{name}"
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if path == "" and inside in _MOUNTED:
                    continue
                if not stat.S_ISDIR(status.st_mode):
                    yield inside, status, False
                    continue
                yield inside, status, _hides(folder, name)
                if _speakable(inside):  # what lies deeper has no name in a record either
                    waiting.append(inside)


def _open_folder(layer: str, path: str) -> int:
    """Open a directory of a layer component by component, following no link."""
    folder = os.open(layer, _FOLDER)
    try:
        for part in path.split("/")[1:] if path else ():
            inner = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
    except BaseException:
        os.close(folder)
        raise
    return folder


@contextlib.contextmanager
def _opened(layer: str, path: str) -> Iterator[int]:
    folder = _open_folder(layer, path)
    try:
        yield folder
    finally:
        os.close(folder)


class _Folders:
    """Open directories of layers, the last one used of each: most files share theirs."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[str, int | None]] = {}

    def get(self, layer: str, path: str) -> int:
        """Return the descriptor of a directory; valid until the next call for this layer.

        Raises:
            FileNotFoundError: If the layer has no such directory.
        """
        known, folder = self._last.get(layer, (None, None))
        if known != path:
            self._close(folder)
            try:
                folder = _open_folder(layer, path)
            except OSError:
                folder = None
            self._last[layer] = (path, folder)
        if folder is None:
            raise FileNotFoundError(path)
        return folder

    def close(self) -> None:
        """Close all."""
        for _, folder in self._last.values():
            self._close(folder)
        self._last = {}

    def _close(self, folder: int | None) -> None:
        if folder is not None:
            os.close(folder)


def _hides(folder: int, name: str) -> bool:
    inner = os.open(name, _FOLDER, dir_fd=folder)
    try:
        for attribute in _OPAQUE:
            with contextlib.suppress(OSError):
                if os.getxattr(inner, attribute) == b"y":
                    return True
        return False
    finally:
        os.close(inner)


def _described(found: _Found, lower: list[str], owner: int, max_bytes: int) -> Changes:
    written: dict[str, Entry] = {}
    replaced = set[str]()
    left = max_bytes
    with contextlib.closing(_Folders()) as folders:
        for path in sorted(found.places):
            layer, status = found.places[path]
            if stat.S_ISREG(status.st_mode) and status.st_size > left:
                found.special[path] = "too_long"
                found.cut = True
                continue
            entry = _entry(folders, layer, path, status, owner)
            if entry is None:
                continue
            left -= len(entry.data)
            before = _below(folders, lower, path)
            if path in found.deleted or _differs(folders, entry, path, before, owner):
                written[path] = entry
            # A whiteout is not needed where a directory was replaced by something else.
            if before is not None and stat.S_ISDIR(before[1].st_mode) and not entry.folder:
                replaced.add(path)
        for path in found.special:
            before = _below(folders, lower, path) if path.startswith("/") else None
            if before is not None:
                replaced.add(path)
        hidden = {path for path in found.deleted if _below(folders, lower, path) is not None}
    gone = hidden - set(written)
    # A replaced directory or file: also deleted, so that a new directory drops the old content.
    gone |= {path for path in hidden & set(written) if written[path].folder}
    special = {path: found.special[path] for path in sorted(found.special)}
    return Changes(written, tuple(sorted(gone | replaced)), special, found.cut)


def _entry(
    folders: _Folders, layer: str, path: str, status: os.stat_result, owner: int
) -> Entry | None:
    """Read one path of a layer; None if it has disappeared."""
    mode, inner = stat.S_IMODE(status.st_mode), max(status.st_uid - owner, 0)
    mtime = int(status.st_mtime)
    if stat.S_ISDIR(status.st_mode):
        return Entry(b"", mode, inner, None, True, mtime)
    parent, _, name = path.rpartition("/")
    try:
        folder = folders.get(layer, parent)
        if stat.S_ISLNK(status.st_mode):
            target = os.readlink(name, dir_fd=folder)
            return Entry(b"", 0o777, inner, ascii_safe(target), False, mtime)
        with open(os.open(name, _FILE, dir_fd=folder), "rb") as file:
            return Entry(file.read(status.st_size), mode, inner, None, False, mtime)
    except OSError:
        return None


def ascii_safe(text: str) -> str:
    """Return text that can be encoded as UTF-8, invalid bytes replaced."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _below(folders: _Folders, lower: list[str], path: str) -> tuple[str, os.stat_result] | None:
    """Return the location of a path in the layers below, and its status."""
    parent, _, name = path.rpartition("/")
    for layer in lower:
        try:
            status = os.stat(name, dir_fd=folders.get(layer, parent), follow_symlinks=False)
        except OSError:
            continue
        return None if stat.S_ISCHR(status.st_mode) else (layer, status)
    return None


def _differs(
    folders: _Folders,
    entry: Entry,
    path: str,
    place: tuple[str, os.stat_result] | None,
    owner: int,
) -> bool:
    """Whether an entry differs from the image's; times are ignored."""
    if place is None:
        return True
    layer, status = place
    if stat.S_ISREG(status.st_mode) and status.st_size != len(entry.data):
        return True
    before = _entry(folders, layer, path, status, owner)
    if before is None:
        return True
    first = (entry.data, entry.mode, entry.owner, entry.link, entry.folder)
    return first != (before.data, before.mode, before.owner, before.link, before.folder)
