"""Keys of cached values: what was derived, by which code, from which data, with which libraries.

The code's part is a digest of the files as they are, which is much faster than the fingerprint of a
source and changes whenever that can change. It covers the Python files and data of one family and
of everything that families share. There is no digest if one of them was changed after the process
started, since the code in memory may then be the one before the change.
"""

import hashlib
import os
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pydantic

__all__ = [
    "FAMILIES",
    "code_of_family",
    "family_of",
    "files_digest",
    "folder_digest",
    "key_of",
    "within",
]

FAMILIES = ("shopping", "sql", "terminal", "web", "gui", "roleplay")
"""The families' folders; none uses another's."""

_PACKAGE = "hexathlon.tasks"
_TASKS = Path(__file__).resolve().parents[1]
_STARTED = time.time()
_UNDECIDING = ("cache", "fingerprint", "stored")
"""Folders that cannot affect tasks."""


def key_of(kind: str, *parts: str) -> str:
    """Return the key (SHA-256, hex) of a value."""
    return hashlib.sha256("\0".join([kind, *parts]).encode()).hexdigest()


def family_of(module: str) -> str | None:
    """Return the family that a module of this package belongs to, None if to none.

    >>> family_of("hexathlon.tasks.gui.mined.source")
    'gui'
    """
    parts = module.split(".")
    own = ".".join(parts[:2]) == _PACKAGE and len(parts) > 2 and parts[2] in FAMILIES
    return parts[2] if own else None


def within(family: str, modules: Iterable[str], patterns: Iterable[str]) -> bool:
    """Return whether the digest of a family's files covers these modules and data files."""
    others = [name for name in FAMILIES if name != family]
    return all(
        f"{module}.".startswith(f"{_PACKAGE}.") and family_of(module) in (None, family)
        for module in modules
    ) and all(
        pattern.startswith("tasks/") and pattern.split("/")[1] not in others for pattern in patterns
    )


@cache
def code_of_family(family: str) -> str | None:
    """Return a digest of a family's code and data, and of the libraries that it runs on.

    None if a file was changed after the process started.
    """
    files = files_digest(family)
    versions = (sqlite3.sqlite_version, np.__version__, pydantic.VERSION)
    return None if files is None else key_of("family", files, *versions)


@cache
def files_digest(family: str) -> str | None:
    """Return a SHA-256 (hex) of the files that determine a family's tasks, and of the interpreter.

    It covers all files of the family and those that families share, by name and content; None if
    one was changed after the process started.
    """
    others = [name for name in (*FAMILIES, *_UNDECIDING) if name != family]
    files = folder_digest(_TASKS, others)
    return None if files is None else key_of("files", family, sys.version, files)


def folder_digest(folder: Path, without: Iterable[str] = ()) -> str | None:
    """Return a SHA-256 (hex) of the files below a directory, by name and content.

    None if one was changed after the process started.

    Args:
        folder: The directory.
        without: Names of directories directly inside that do not count.
    """
    left_out = {folder / name for name in without}
    digest = hashlib.sha256()
    for path in _files(folder, left_out):
        if path.stat().st_mtime > _STARTED:
            return None
        content = path.read_bytes()
        digest.update(f"\n{path.relative_to(folder).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _files(folder: Path, left_out: set[Path]) -> Iterator[Path]:
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        path = Path(entry.path)
        if not entry.is_dir():
            yield path
        elif path not in left_out and entry.name != "__pycache__":
            yield from _files(path, left_out)
