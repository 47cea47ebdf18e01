"""Keys of cached values: what was derived, by which code, from which data, with which libraries.

The code's part is a digest of the files as they are, which is much faster than the fingerprint of a
source and changes whenever that can change. It covers the Python files and data of the source's
family and of everything that families share.
"""

import hashlib
import os
import sqlite3
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pydantic

from hexathlon.tasks.source import TaskSource

__all__ = ["CACHED_SOURCES", "code_of_source", "files_digest", "key_of"]

CACHED_SOURCES = frozenset(
    {"sql", "shopping", "terminal", "web", "gui", "gui-mined", "gui-pixels"}
)
"""Sources whose tasks depend only on the code and data in this package; those whose tasks are built
in less time than they could be read in (role-play, desktop) are left out."""

_TASKS = Path(__file__).resolve().parents[1]
_APART = ("shopping", "sql", "terminal", "web", "gui", "roleplay")
"""The families' folders; none uses another's."""
_UNDECIDING = ("cache", "fingerprint", "__pycache__")


def key_of(kind: str, *parts: str) -> str:
    """Return the key (SHA-256, hex) of a value."""
    return hashlib.sha256("\0".join([kind, *parts]).encode()).hexdigest()


@cache
def code_of_source(source: TaskSource) -> str | None:
    """Return a digest of what determines a source's tasks; None if they are not cached."""
    package = "hexathlon.tasks."
    if source.name not in CACHED_SOURCES or not type(source).__module__.startswith(package):
        return None
    family = type(source).__module__.removeprefix(package).partition(".")[0]
    others = tuple(name for name in _APART if name != family)
    libraries = [f"{name} {digest}" for name, digest in sorted(source.dependencies().items())]
    own = [source.name, source.version, type(source).__qualname__]
    return key_of("code", *own, files_digest(_TASKS, others), *_runtime(), *libraries)


@cache
def files_digest(folder: Path, without: tuple[str, ...] = ()) -> str:
    """Return a SHA-256 (hex) of all files below a directory, by name and content.

    Args:
        folder: The directory.
        without: Names of subdirectories, directly inside, that do not count.
    """
    digest = hashlib.sha256()
    left_out = {folder / name for name in (*without, *_UNDECIDING)}
    for path in _files(folder, left_out):
        content = path.read_bytes()
        digest.update(f"\n{path.relative_to(folder).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _files(folder: Path, left_out: set[Path]) -> Iterator[Path]:
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        path = Path(entry.path)
        if entry.is_dir():
            if path not in left_out and entry.name != "__pycache__":
                yield from _files(path, left_out)
        else:
            yield path


def _runtime() -> tuple[str, ...]:
    """Return the versions of the interpreter and of the libraries that build tasks."""
    return sys.version, sqlite3.sqlite_version, np.__version__, pydantic.VERSION
