"""Verification of a record file's hash chain, with the location of every fault.

A chain reveals that records were changed, removed, inserted or re-ordered after they were written.
It cannot reveal that a whole file was fabricated with matching hashes: replaying the actions does
that. Records name images and files by hash, so their stored bytes are checked as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.evaluators.records.canonical import canonical_json, content_hash
from hexathlon.evaluators.records.media import MediaStore, has_parts, media_parts
from hexathlon.evaluators.records.plan import TrialKey
from hexathlon.evaluators.records.reader import parse_line, parse_sealed, records_file
from hexathlon.evaluators.records.regular import irregularity
from hexathlon.evaluators.records.trial import record_fault, record_key


@dataclass(frozen=True, slots=True)
class ChainFault:
    """One fault of a record file, with its location."""

    line: int
    """Line number in the record file, from 1."""
    field: str
    """The faulty field, as exactly as the hashes allow."""
    message: str

    def __str__(self) -> str:
        return f"line {self.line}, field {self.field!r}: {self.message}"


class CheckedLine(NamedTuple):
    """A line of a record file, with its faults."""

    number: int
    """From 1."""
    line: bytes
    record: dict[str, Any] | None
    """None if the line is unfinished or not a JSON object."""
    faults: tuple[ChainFault, ...]
    has_parts: bool = False
    """Whether contents of the record have parts, which may name images or files."""


def check_chain(path: Path | str, plan_hash: str) -> list[ChainFault]:
    """Return every fault of a record file, in file order; an empty list means a sound chain.

    Each fault is reported once: after a broken link the check continues from the hash stated in
    the record itself. Memory grows by one key per record, not with record size.
    """
    return [fault for one in checked_lines(path, plan_hash) for fault in one.faults]


def checked_lines(path: Path | str, plan_hash: str) -> Iterator[CheckedLine]:
    """Yield every line of a record file with its record and its faults, in one pass.

    Later lines are checked after a fault, too; see `check_chain`.
    """
    source = records_file(Path(path))
    fault = irregularity(source)
    if fault:
        yield CheckedLine(1, b"", None, (ChainFault(1, "line", f"{source.name} {fault}"),))
    elif source.exists():
        yield from _checked(source, plan_hash)


def chain_head(path: Path | str, plan_hash: str) -> str:
    """Return the hash stated in the last complete record, which identifies the whole file."""
    head = plan_hash
    source = records_file(Path(path))
    if source.is_file():
        with source.open("rb") as file:
            for line in file:
                record = parse_line(line) if line.endswith(b"\n") else None
                head = str(record["hash"]) if record and "hash" in record else head
    return head


def _checked(source: Path, plan_hash: str) -> Iterator[CheckedLine]:
    links: tuple[str, ...] = (plan_hash,)  # hashes that ``prev`` may name; () after a lost line
    seen: dict[TrialKey, tuple[int, int, str]] = {}
    media = _MediaCheck(MediaStore.beside(source))
    with source.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                torn = ChainFault(number, "line", f"unfinished record of {len(line)} bytes")
                yield CheckedLine(number, line, None, (torn,))
                return
            record, digest = parse_sealed(line)
            if record is None:
                lost = ChainFault(number, "line", "is not a JSON object")
                yield CheckedLine(number, line, None, (lost,))
                links = ()
                continue
            shape = record_fault(record)
            fault = (
                _content_fault(number, record, digest, shape)
                or _link_fault(number, record, links)
                or _repeat_fault(number, record, seen)
            )
            parts = shape is None and has_parts(record)
            found = () if fault is None else (fault,)
            stored = tuple(media.faults(number, record)) if parts else ()
            yield CheckedLine(number, line, record, found + stored, parts)
            links = (str(record.get("hash")), digest)


class _MediaCheck:
    """Checks every stored image and file once, at its first reference."""

    def __init__(self, store: MediaStore) -> None:
        self._store = store
        self._seen: set[str] = set()

    def faults(self, number: int, record: dict[str, Any]) -> Iterator[ChainFault]:
        for place, part in media_parts(record):
            named = canonical_json(part)
            if named not in self._seen:
                self._seen.add(named)
                fault = self._store.fault(part)
                if fault:
                    yield ChainFault(number, place, fault)


def _content_fault(
    number: int, record: dict[str, Any], digest: str, shape: tuple[str, str] | None
) -> ChainFault | None:
    if shape is not None:
        return ChainFault(number, shape[0], shape[1])
    for name in ("prev", "hash"):
        if not isinstance(record.get(name), str):
            return ChainFault(number, name, "is missing")
    if record["hash"] == digest:
        return None
    state_hash = content_hash(record["final_state"])
    if record["final_state_hash"] != state_hash:
        stated = record["final_state_hash"]
        return ChainFault(number, "final_state", f"gives {state_hash}, the record names {stated}")
    return ChainFault(
        number,
        "hash",
        f"the record was changed: its content gives {digest}, it names {record['hash']}",
    )


def _link_fault(number: int, record: dict[str, Any], links: tuple[str, ...]) -> ChainFault | None:
    if not links or record["prev"] in links:
        return None
    before = "the record before it has" if number > 1 else "the plan has"
    return ChainFault(
        number,
        "prev",
        f"names {record['prev']}, {before} {links[0]}: "
        "a record was changed, removed, inserted or moved here",
    )


def _repeat_fault(
    number: int, record: dict[str, Any], seen: dict[TrialKey, tuple[int, int, str]]
) -> ChainFault | None:
    """Report a repeated trial, unless its first record was an infrastructure failure."""
    key, attempt = record_key(record), record["attempt"]
    first = seen.get(key)
    seen[key] = (number, attempt, record["status"])
    if first is None:
        return None
    line, earlier, status = first
    if status != "infra":
        return ChainFault(
            number, "key", f"trial {key} has a {status} record on line {line} already"
        )
    if attempt <= earlier:
        return ChainFault(
            number, "attempt", f"is {attempt}, line {line} has attempt {earlier} of this trial"
        )
    return None
