"""Writer of trial records: append-only, hash-chained, one JSON line per trial.

A run directory contains ``plan.json`` and ``records.jsonl``. Each line has the hash of the line
before it (the first one that of the plan), so changing, removing or reordering lines is detected.
A line is written with one system call and counts only with its newline: the next writer moves an
unfinished line to ``records.torn``, and its trial is played again. Images and files of messages are
stored once, by hash, in the directory ``media``.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from hexathlon.evaluators.closing import Closing
from hexathlon.evaluators.records.canonical import (
    canonical_json,
    encode_text,
    find_non_string_key,
    sha256_hex,
)
from hexathlon.evaluators.records.media import (
    MediaStore,
    media_parts,
)
from hexathlon.evaluators.records.reader import (
    RECORDS_FILE,
    last_line,
    parse_line,
    torn_bytes,
)
from hexathlon.evaluators.records.regular import irregularity
from hexathlon.evaluators.records.trial import (
    RecordError,
    TrialRecord,
    hashed_text,
    record_fault,
    record_hash,
)

__all__ = ["RecordWriter", "RunLocked", "recover_torn_line"]

TORN_FILE = "records.torn"
LOCK_FILE = "records.lock"

FsyncPolicy = Literal["record", "close", "never"]


class RunLocked(RecordError):
    """Another process writes to the run directory."""


class RecordWriter(Closing):
    """Appends trial records to a run directory's ``records.jsonl``.

    Args:
        path: The run directory, or the record file itself.
        plan_hash: Hash of the run's plan, the ``prev`` of the first record.
        fsync: ``"record"`` syncs after every record (a power cut loses nothing that was
            reported), ``"close"`` once at the end (a killed process loses nothing, a power cut
            may), ``"never"`` leaves it to the system.

    Holds an exclusive lock on the run directory until closed; a second writer gets `RunLocked`.
    Opening moves a torn last line to ``records.torn`` (`torn` then contains its bytes) and checks
    both ends of the chain; use `check_chain` for all of it.
    """

    def __init__(self, path: Path | str, plan_hash: str, fsync: FsyncPolicy = "record") -> None:
        path = Path(path)
        self.path = path / RECORDS_FILE if path.suffix != ".jsonl" else path
        self.path.parent.mkdir(parents=True, exist_ok=True)
        for file in (self.path, self.path.parent / LOCK_FILE, self.path.parent / TORN_FILE):
            fault = irregularity(file)
            if fault:
                raise RecordError(f"{file} {fault}: this run cannot be written")
        self._fsync = fsync
        self._media = MediaStore.beside(self.path)
        self._stored: set[str] = set()
        self._thread_lock = threading.Lock()
        self._lock_file = _lock(self.path.parent)
        try:
            self.torn = recover_torn_line(self.path)
            self.head = _chain_head(self.path, plan_hash)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._file = os.open(self.path, flags, 0o644)
        except BaseException:
            os.close(self._lock_file)
            raise
        self._closed = False

    def append(
        self, record: TrialRecord | Mapping[str, Any], media: Mapping[str, bytes] | None = None
    ) -> dict[str, Any]:
        """Write one record and return it with ``prev`` and ``hash`` set.

        Args:
            record: The trial.
            media: Bytes of the images and files named in the record, by hash; those already stored
                by the run may be omitted. They are on disk before the record is.

        Raises:
            RecordError: If the record is malformed or bytes are missing; nothing is written.
        """
        with self._thread_lock:
            if self._closed:
                raise RecordError(f"{self.path} was closed: open a new writer to continue")
            chained: dict[str, Any] = {**record, "prev": self.head}
            chained.pop("hash", None)
            line, digest = _line(chained)
            self._store(chained, media or {})
            self._write(line)
            self.head = chained["hash"] = digest
            return chained

    def _store(self, record: dict[str, Any], media: Mapping[str, bytes]) -> None:
        for place, part in media_parts(record):
            digest, named = part["sha256"], canonical_json(part)
            if named in self._stored:
                continue
            fault = self._media.fault(part)
            if fault and digest in media:
                self._media.add(part, media[digest], sync=self._fsync != "never")
            elif fault:
                raise RecordError(f"record {record['key']!r}: field {place!r}: {fault}")
            self._stored.add(named)

    def _write(self, line: bytes) -> None:
        start = os.fstat(self._file).st_size
        written = os.write(self._file, line)
        if written != len(line):
            os.ftruncate(self._file, start)
            raise OSError(errno.ENOSPC, "only part of a record could be written", str(self.path))
        if self._fsync == "record":
            os.fsync(self._file)

    def close(self) -> None:
        """Sync, close and release the lock; idempotent."""
        with self._thread_lock:
            if self._closed:
                return
            self._closed = True
            if self._fsync != "never":
                os.fsync(self._file)
            os.close(self._file)
            os.close(self._lock_file)


def _line(record: dict[str, Any]) -> tuple[bytes, str]:
    """Return the line of a record and its hash; both use the same JSON."""
    fault = record_fault(record)
    if fault is not None:
        raise RecordError(f"record {record.get('key')!r}: field {fault[0]!r} {fault[1]}")
    place = find_non_string_key(record)
    if place is not None:
        raise RecordError(f"record {record['key']!r}: {place.lstrip('.')} is not a string key")
    try:
        body = encode_text(hashed_text(record))
        timing = encode_text(canonical_json(record["timing"]))
    except (ValueError, TypeError) as error:
        raise RecordError(f"record {record['key']!r} is not JSON: {error}") from error
    digest = sha256_hex(body)
    head = b'{"hash":"%s","timing":%s,' % (digest.encode("ascii"), timing)
    return head + body[1:] + b"\n", digest


def _lock(folder: Path) -> int:
    handle = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.pread(handle, 32, 0).decode("ascii", "replace").strip() or "unknown"
        os.close(handle)
        raise RunLocked(
            f"{folder} is being written by another process (id {owner}): "
            "wait for it or choose another directory"
        ) from None
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"{os.getpid()}\n".encode("ascii"), 0)
    return handle


def _chain_head(path: Path, plan_hash: str) -> str:
    """Return the hash for the next record's ``prev``, after checking both ends of the file."""
    first = last = None
    if path.exists():
        with path.open("rb") as file:
            first = file.readline()
        last = last_line(path)
    if not first or not last:
        return plan_hash
    for line, name in ((first, "first"), (last, "last")):
        record = parse_line(line)
        if record is None or record.get("hash") != record_hash(record):
            raise RecordError(
                f"{path}: the {name} record was changed after it was written; "
                "this run cannot be continued, start a new one"
            )
        if name == "first" and record.get("prev") != plan_hash:
            raise RecordError(
                f"{path} belongs to another plan: its first record names {record.get('prev')!r}, "
                f"the plan's hash is {plan_hash!r}"
            )
        head = str(record["hash"])
    return head


def recover_torn_line(path: Path) -> bytes:
    """Move an unfinished last line to ``records.torn`` and return its bytes (empty if none).

    Only for the process that has the run's lock; otherwise a live writer may be writing the line.
    """
    if not path.exists():
        return b""
    torn = torn_bytes(path)
    if torn:
        with (path.parent / TORN_FILE).open("ab") as file:
            file.write(torn + b"\n")
            file.flush()
            os.fsync(file.fileno())
        with path.open("rb+") as file:
            file.truncate(path.stat().st_size - len(torn))
            os.fsync(file.fileno())
    return torn
