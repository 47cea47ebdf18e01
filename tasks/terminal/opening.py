"""The Harbor directory of a task, whether generated or read from disk."""

import hashlib
import json
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from hexathlon.tasks.errors import MissingData
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.task import Task
from hexathlon.tasks.terminal.harbor import HarborTask, files_below, read_harbor
from hexathlon.tasks.terminal.harbor_form import TEST_SCRIPT
from hexathlon.tasks.terminal.source import files_of
from hexathlon.tasks.terminal.terminal_bench import is_terminal_bench, read_terminal_bench

__all__ = ["content_digest", "directories_root", "native_checks", "open_task", "read_folder"]


def directories_root() -> Path:
    """Return the directory of the user's public data sets: HEXATHLON_DATA, else `data`."""
    return Path(os.environ.get("HEXATHLON_DATA", "data"))


def open_task(task: Task) -> HarborTask:
    """Return the directory of a task.

    Raises:
        MissingData: If its directory is absent from this machine or has changed.
    """
    if task.params["kind"] == "generated":
        return read_harbor(parse_address(task.id).template, files_of(task))
    return _opened(task.params["path"], task.params["digest"])


@lru_cache(maxsize=16)
def _opened(path: str, digest: str) -> HarborTask:
    folder = Path(path) if path.startswith("/") else directories_root() / path
    if not folder.is_dir():
        raise MissingData(f"there is no task directory {folder}")
    files = files_below(folder)
    if content_digest(files) != digest:
        raise MissingData(f"the task directory {folder} has changed since the task was made")
    return parse_files(folder.name, files)


def read_folder(folder: Path) -> tuple[HarborTask, str]:
    """Read a directory of either format; return it with the digest of its content."""
    files = files_below(folder)
    return parse_files(folder.name, files), content_digest(files)


def parse_files(name: str, files: Mapping[str, bytes]) -> HarborTask:
    """Parse the files of a directory of either format."""
    if is_terminal_bench(files):
        return read_terminal_bench(name, files)
    return read_harbor(name, files)


def content_digest(files: Mapping[str, bytes]) -> str:
    """Return the SHA-256 (hex) of paths and contents."""
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path}\0{len(files[path])}\0".encode())
        digest.update(files[path])
    return digest.hexdigest()


def native_checks(tests: Mapping[str, bytes]) -> dict[str, Any] | None:
    """Return the probes of a generated task, or None for any other task."""
    if tests.get("test.sh") != TEST_SCRIPT.encode() or "checks.json" not in tests:
        return None
    checks: dict[str, Any] = json.loads(tests["checks.json"])
    return checks
