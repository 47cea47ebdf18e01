"""Reader of trial record files, one record in memory at a time.

Read-only: an unfinished last line is handled by the writer, which holds the lock.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from hexathlon.evaluators.records.canonical import sha256_hex
from hexathlon.evaluators.records.plan import TrialKey
from hexathlon.evaluators.records.regular import irregularity
from hexathlon.evaluators.records.trial import (
    RecordError,
    record_fault,
    record_hash,
    record_key,
)

RECORDS_FILE = "records.jsonl"


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


class TornLineWarning(UserWarning):
    """The last line of a record file is unfinished."""


def records_file(path: Path) -> Path:
    """Return the record file of a run directory; a file path is returned unchanged."""
    return path / RECORDS_FILE if path.is_dir() else path


def read_records(path: Path | str) -> Iterator[dict[str, Any]]:
    """Yield the records of a run directory or record file, one in memory at a time.

    An unfinished last line is not yielded; a `TornLineWarning` reports it, and the next writer
    moves it aside.

    Raises:
        RecordError: If a complete line is not a record; the message has its line number.
    """
    for _, record in located_records(path):
        yield record


def located_records(path: Path | str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (byte offset of its line, record) for each record; otherwise as `read_records`."""
    source = records_file(Path(path))
    irregular = irregularity(source)
    if irregular:
        raise RecordError(f"{source} {irregular}: expected the records of a run")
    if not source.exists():
        return
    end = 0
    with source.open("rb") as file:
        for number, line in enumerate(file, start=1):
            start, end = end, end + len(line)
            if not line.endswith(b"\n"):
                warnings.warn(
                    f"{source}, line {number}: {len(line)} bytes of an unfinished record; "
                    "resuming the run puts them aside and repeats the trial",
                    TornLineWarning,
                    stacklevel=2,
                )
                return
            record = parse_line(line)
            if record is None:
                raise RecordError(f"{source}, line {number} is not a JSON object")
            fault = record_fault(record)
            if fault is not None:
                raise RecordError(f"{source}, line {number}: field {fault[0]!r} {fault[1]}")
            yield start, record


def record_at(path: Path | str, start: int) -> dict[str, Any]:
    """Return the record at a byte offset from `located_records`.

    Raises:
        RecordError: If no record begins there any more.
    """
    source = records_file(Path(path))
    with source.open("rb") as file:
        file.seek(start)
        record = parse_line(file.readline())
    if record is None:
        raise RecordError(f"{source}, byte {start}: no record begins there any more")
    return record


def completed_keys(path: Path | str, *, infra: bool = True) -> set[TrialKey]:
    """Return the keys that have a record.

    Args:
        path: Run directory or record file.
        infra: Whether infrastructure failures count as completed; False to retry them.
    """
    return {
        record_key(record) for record in read_records(path) if infra or record["status"] != "infra"
    }


def parse_line(line: bytes) -> dict[str, Any] | None:
    """Return the object in a line, or None."""
    try:
        record = _DECODER.decode(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def parse_sealed(line: bytes) -> tuple[dict[str, Any] | None, str]:
    """Return the object in a line and the hash of its content; empty if it cannot be hashed.

    Lines of `RecordWriter` begin with ``hash`` and ``timing``, followed by the hashed bytes. If
    those bytes give the stated hash, the record is not serialised again, which takes most of the
    time of a check.
    """
    sealed = _sealed(line)
    if sealed is not None:
        return sealed, str(sealed["hash"])
    record = parse_line(line)
    if record is None:
        return None, ""
    try:
        return record, record_hash(record)
    except (ValueError, RecursionError):  # numbers out of range
        return record, ""


def _decoded(data: bytes) -> Any:
    """Return the value of JSON bytes, as `_DECODER` reads it.

    Pydantic's parser takes half the time and rejects some of what the other reads (lone surrogates,
    deep nesting).
    """
    try:
        return from_json(data, allow_inf_nan=False)
    except ValueError:
        return _DECODER.decode(data.decode("utf-8"))


_TIMING_AT = len('{"hash":"","timing":') + 64


def _sealed(line: bytes) -> dict[str, Any] | None:
    """Return the record in a line whose bytes after its timing have the stated hash, or None."""
    if line[:9] != b'{"hash":"' or line[73:_TIMING_AT] != b'","timing":' or line[-1:] != b"\n":
        return None
    try:
        timing, end = _timing(line)
        if line[end : end + 1] != b"," or not line[:end].isascii():
            return None
        content = b"{" + line[end + 1 : -1]
        digest = sha256_hex(content)
        if digest.encode("ascii") != line[9:73]:
            return None
        record = _decoded(content)
    except (ValueError, IndexError, RecursionError):
        return None
    if not isinstance(record, dict) or "hash" in record or "timing" in record:
        return None
    record["hash"], record["timing"] = digest, timing
    return record


def _timing(line: bytes) -> tuple[Any, int]:
    """Return the timing of a line and the offset of its end."""
    end = line.find(b'},"', _TIMING_AT) + 1
    try:  # it has no objects inside, as the writer leaves it: then a fast parser can read it
        return from_json(line[_TIMING_AT:end], allow_inf_nan=False), end
    except ValueError:
        return _DECODER.raw_decode(line.decode("utf-8"), _TIMING_AT)


def last_line(path: Path, block: int = 1 << 16) -> bytes:
    """Return the last complete line of a file, without reading the earlier ones."""
    with path.open("rb") as file:
        position = file.seek(0, os.SEEK_END)
        tail = b""
        while position > 0:
            step = min(block, position)
            position -= step
            file.seek(position)
            tail = file.read(step) + tail
            lines = tail[: tail.rfind(b"\n") + 1].split(b"\n")
            if len(lines) > 2:
                return lines[-2]
            block *= 2
    return tail[: tail.rfind(b"\n") + 1].rstrip(b"\n")


def torn_bytes(path: Path) -> bytes:
    """Return the bytes after the last newline of a record file (empty for a sound one)."""
    with path.open("rb") as file:
        position = file.seek(0, os.SEEK_END)
        tail = b""
        while position > 0:
            step = min(1 << 16, position)
            position -= step
            file.seek(position)
            tail = file.read(step) + tail
            cut = tail.rfind(b"\n")
            if cut >= 0:
                return tail[cut + 1 :]
    return tail
