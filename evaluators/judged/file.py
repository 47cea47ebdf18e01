"""Files of judged scores: append-only and hash-chained, stored beside a run's records.

A file `judged/NAME.jsonl` starts with a header that identifies the run, the judge, the rubric and
the audit. NAME is the header's hash, so a judge with a rubric has one file, which is continued by
the same command. One line per trial or planted control follows, with the hash of the line before.
"""

import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.evaluators.closing import Closing
from hexathlon.evaluators.records.canonical import canonical_bytes, content_hash
from hexathlon.evaluators.records.reader import parse_line, torn_bytes
from hexathlon.evaluators.records.regular import irregularity
from hexathlon.evaluators.records.trial import record_key

__all__ = [
    "JUDGED_FOLDER",
    "JudgedError",
    "JudgedFile",
    "JudgedWriter",
    "is_infra_failure",
    "judged_files",
    "last_of_controls",
    "last_of_trials",
    "read_judged",
]

JUDGED_FOLDER = "judged"
JUDGED_SCHEMA = "hexathlon.judged/1"
_UNHASHED = ("hash", "timing")


class JudgedError(Exception):
    """A judged file is invalid or was changed."""


class JudgedFile(NamedTuple):
    """A judged file, read and checked."""

    path: Path
    header: Mapping[str, Any]
    lines: tuple[dict[str, Any], ...]


class JudgedWriter(Closing):
    """Appends lines to the judged file with this header, creating it if necessary.

    Raises:
        JudgedError: If the file was changed after it was written, or another process writes to it.
    """

    def __init__(self, run: Path, header: Mapping[str, Any]) -> None:
        header = {"schema": JUDGED_SCHEMA, **header}
        digest = content_hash(header)
        self.path = run / JUDGED_FOLDER / f"{digest[:16]}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.done: tuple[dict[str, Any], ...] = ()
        self._head = ""
        fault = irregularity(self.path)
        if fault:
            raise JudgedError(f"{self.path} {fault}")
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._file = os.open(self.path, flags, 0o644)
        try:
            self._continue(header)
        except BaseException:
            os.close(self._file)
            raise

    def append(self, line: Mapping[str, Any]) -> None:
        """Write one line."""
        self._write({**line, "prev": self._head})

    def close(self) -> None:
        """Sync and close; idempotent."""
        if self._file >= 0:
            os.fsync(self._file)
            os.close(self._file)
            self._file = -1

    def _continue(self, header: dict[str, Any]) -> None:
        """Lock the file and read its last hash, or write the header."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise JudgedError(f"{self.path} is being written by another process") from None
        _drop_torn_line(self.path)
        if self.path.stat().st_size == 0:
            self._write(header)
            return
        existing = read_judged(self.path)
        self.done = existing.lines
        self._head = str((existing.lines[-1] if existing.lines else existing.header)["hash"])

    def _write(self, line: dict[str, Any]) -> None:
        line["hash"] = self._head = _hash(line)
        data = canonical_bytes(line) + b"\n"
        if os.write(self._file, data) != len(data):
            raise OSError(f"only part of a line could be written to {self.path}")


def judged_files(run: Path) -> list[Path]:
    """Return the judged files of a run, by name."""
    folder = run / JUDGED_FOLDER
    return sorted(path for path in folder.glob("*.jsonl") if path.is_file())


def read_judged(path: Path) -> JudgedFile:
    """Read a judged file and check its chain; an unfinished last line is ignored.

    Raises:
        JudgedError: If a line was changed, removed, inserted or moved.
    """
    rows = list(_rows(path))
    if not rows or rows[0].get("schema") != JUDGED_SCHEMA:
        raise JudgedError(f"{path} has no header with schema {JUDGED_SCHEMA!r}")
    before = ""
    for number, row in enumerate(rows, start=1):
        if row.get("hash") != _hash(row):
            raise JudgedError(f"{path}, line {number} was changed after it was written")
        if number > 1 and row.get("prev") != before:
            raise JudgedError(f"{path}, line {number} does not follow the line before it")
        before = str(row["hash"])
    return JudgedFile(path, rows[0], tuple(rows[1:]))


def last_of_trials(lines: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the last line of each trial."""
    by_key = {record_key(line): line for line in lines if "key" in line}
    return list(by_key.values())


def last_of_controls(lines: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the last row of each planted control."""
    by_id = {line["control"]["id"]: line["control"] for line in lines if "control" in line}
    return list(by_id.values())


def is_infra_failure(line: Mapping[str, Any]) -> bool:
    """Return whether the judge's server failed on a trial, which should then be judged again."""
    group = line.get("group")
    if group is not None:
        return line["score"] is None and group["answered"] < group["calls"]
    return any(row.get("why") == "provider" for row in line["judges"])


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            row = parse_line(line)
            if row is None:
                raise JudgedError(f"{path}, line {number} is not a JSON object")
            yield row


def _hash(line: Mapping[str, Any]) -> str:
    return content_hash({name: value for name, value in line.items() if name not in _UNHASHED})


def _drop_torn_line(path: Path) -> None:
    """Remove an unfinished last line; its trial is judged again."""
    torn = torn_bytes(path)
    if torn:
        with path.open("rb+") as file:
            file.truncate(path.stat().st_size - len(torn))
