"""Files of the cache: one per key, written whole, checked when read, bounded in total size.

A file starts with a digest of its key and its payload. Torn, foreign and renamed files do not match
it; they are removed and written anew. Every file is written beside its place and renamed, so
any number of processes can share a directory. What cannot be written is not cached.
"""

import hashlib
import os
import re
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from hexathlon.tasks.errors import TaskError

__all__ = ["CacheUsage", "DiskCache", "cache_location", "cache_size", "shared_cache"]

SIZE_VARIABLE = "HEXATHLON_CACHE_SIZE"
FOLDER_VARIABLE = "HEXATHLON_CACHE"
_VARIABLES = (FOLDER_VARIABLE, SIZE_VARIABLE, "XDG_CACHE_HOME", "HOME", "USERPROFILE")
DEFAULT_SIZE = 1_000_000_000
_MAGIC = b"hexathlon cache 1\n"
_OFF = "off"
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_KEPT = 0.9
"""Share of the size that remains after old entries were dropped."""
_CHECKED_EVERY = 50
"""The total is checked whenever a process has written this fraction of the size."""
_ABANDONED_S = 3600
"""Age of a temporary file whose writer must have crashed."""


class CacheUsage(NamedTuple):
    """What a cache directory contains."""

    entries: int
    size: int
    """Bytes."""


class DiskCache:
    """A directory of values by key, the least recently used of which are dropped.

    Args:
        folder: The directory; created when something is stored, for its owner only.
        limit: Maximum total size in bytes. Processes that write at the same time can exceed it by
            2 % each.
    """

    def __init__(self, folder: Path, limit: int = DEFAULT_SIZE) -> None:
        self.folder = folder
        self.limit = limit
        self._unchecked = 0
        self._writable = True
        self._trusted: bool | None = None

    def get(self, key: str) -> bytes | None:
        """Return the value of a key, a SHA-256 in hex; None if there is no sound one."""
        path = self._path(key)
        if not self._usable():
            return None
        try:
            content = path.read_bytes()
        except OSError:
            return None
        value = _opened(key, content)
        with suppress(OSError):
            if value is None:
                path.unlink()
            else:
                os.utime(path)
        return value

    def put(self, key: str, value: bytes) -> None:
        """Store a value; without effect if the directory cannot be used or written."""
        if not self._writable or not self._usable():
            return
        content = _sealed(key, value)
        if len(content) > self.limit:
            return
        try:
            self._write(self._path(key), content)
            self._unchecked += len(content)
            if self._unchecked * _CHECKED_EVERY >= self.limit:
                self.trim()
        except OSError:
            self._writable = False

    def trim(self) -> None:
        """Drop the least recently used entries if the total exceeds the limit."""
        self._unchecked = 0
        files = sorted(self._files(), key=lambda file: file.used)
        total = sum(file.size for file in files)
        if total <= self.limit:
            return
        for file in files:
            if total <= _KEPT * self.limit:
                return
            with suppress(OSError):
                file.path.unlink()
            total -= file.size

    def usage(self) -> CacheUsage:
        """Return the number of entries and their total size."""
        sizes = [file.size for file in self._files()]
        return CacheUsage(len(sizes), sum(sizes))

    def clear(self) -> CacheUsage:
        """Remove all entries and return what was removed."""
        removed = [0, 0]
        for file in list(self._files()):
            with suppress(OSError):
                file.path.unlink()
                removed[0] += 1
                removed[1] += file.size
        return CacheUsage(*removed)

    def problem(self) -> str:
        """Return why entries of an existing directory are not used; empty if they are.

        Who can write to the directory can decide what is read from it.
        """
        try:
            status = self.folder.stat()
        except OSError:
            return ""
        if status.st_uid != os.getuid():
            return f"{self.folder} belongs to another user"
        if status.st_mode & 0o022:
            return f"other users can write to {self.folder}; run `chmod go-w {self.folder}`"
        return ""

    # -- files -----------------------------------------------------------------------------

    def _usable(self) -> bool:
        if self._trusted is None:
            self._trusted = not self.problem()
        return self._trusted

    def _path(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise ValueError(f"expected a SHA-256 in hex as key, got {key!r:.80}")
        return self.folder / key[:2] / key[2:]

    def _write(self, path: Path, content: bytes) -> None:
        self._make_folders(path.parent)
        handle, draft = tempfile.mkstemp(prefix=".", dir=path.parent)
        try:
            with open(handle, "wb") as file:
                file.write(content)
            os.replace(draft, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(draft)
            raise

    def _make_folders(self, folder: Path) -> None:
        if folder.is_dir():
            return
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        for each in (self.folder, folder):
            each.mkdir(mode=0o700, exist_ok=True)

    def _files(self) -> Iterator["_File"]:
        """Yield the entries; remove the temporary files of writers that crashed."""
        for folder in _folders(self.folder):
            with suppress(OSError), os.scandir(folder) as found:
                for entry in found:
                    with suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        if not entry.name.startswith("."):
                            yield _File(Path(entry.path), status.st_size, status.st_mtime_ns)
                        elif time.time() - status.st_mtime > _ABANDONED_S:
                            os.unlink(entry.path)


class _File(NamedTuple):
    path: Path
    size: int
    used: int
    """Time of the last use, in nanoseconds."""


_KEY = re.compile(r"[0-9a-f]{64}")


def _folders(folder: Path) -> list[Path]:
    """Return the subdirectories of a cache; files of other origin are not touched."""
    try:
        with os.scandir(folder) as found:
            return [Path(e.path) for e in found if re.fullmatch(r"[0-9a-f]{2}", e.name)]
    except OSError:
        return []


def _sealed(key: str, value: bytes) -> bytes:
    packed = zlib.compress(value, 1)
    return _MAGIC + _digest(key, packed) + packed


def _opened(key: str, content: bytes) -> bytes | None:
    """Return the value in a file's content; None unless it is whole and of this key."""
    start = len(_MAGIC)
    digest, packed = content[start : start + 32], content[start + 32 :]
    if not content.startswith(_MAGIC) or digest != _digest(key, packed):
        return None
    return zlib.decompress(packed)


def _digest(key: str, packed: bytes) -> bytes:
    return hashlib.sha256(key.encode() + packed).digest()


# -- settings ------------------------------------------------------------------------------


def shared_cache() -> DiskCache | None:
    """Return the cache that the environment variables describe; None if it is switched off.

    Raises:
        TaskError: If `HEXATHLON_CACHE_SIZE` is no size.
    """
    return _cache_of(*map(os.environ.get, _VARIABLES))


@lru_cache(maxsize=8)
def _cache_of(*variables: str | None) -> DiskCache | None:
    """Return the cache that the environment describes; `_VARIABLES` have these values."""
    size = cache_size()
    try:
        return _cache_in(cache_location(), size) if size else None
    except RuntimeError:  # there is no home directory
        return None


_cache_in = lru_cache(maxsize=8)(DiskCache)


def cache_location() -> Path:
    """Return the directory: `built` in HEXATHLON_CACHE, XDG_CACHE_HOME/hexathlon or ~/.cache."""
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named) / "built"
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "hexathlon" / "built"


def cache_size() -> int:
    """Return the maximum size in bytes from HEXATHLON_CACHE_SIZE; 0 if the cache is off.

    Raises:
        TaskError: If the variable is no size.
    """
    if os.environ.get(FOLDER_VARIABLE, "").lower() == _OFF:
        return 0
    return _size_of(os.environ.get(SIZE_VARIABLE, ""))


@lru_cache(maxsize=8)
def _size_of(text: str) -> int:
    if not text.strip():
        return DEFAULT_SIZE
    if text.strip().lower() == _OFF:
        return 0
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMGT]?)B?", text.strip().upper())
    if not match:
        raise TaskError(f"{SIZE_VARIABLE} is {text!r}; set it to a size such as 500MB, or to off")
    return int(float(match[1]) * _UNITS[match[2]])
