"""The ledger of a board: one line per event, hash-chained, never rewritten.

A row that is removed or rescored leaves its lines, with the reason and who did it. The chain shows
where a line was changed, dropped or moved; cutting off the end is found by comparing the lines with
the submissions beside them, and with a head that was published earlier.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.evaluators.records.canonical import canonical_bytes, content_hash
from hexathlon.leaderboard.signing import Signature, SigningError, check_signature, sign

__all__ = ["EVENTS", "HeldOutRound", "Ledger", "LedgerFault", "LedgerLine", "rounds", "standing"]

LEDGER_FILE = "ledger.jsonl"
SCHEMA = "hexathlon.ledger/1"
START = "0" * 64
EVENTS = ("added", "removed", "rescored", "re-run", "committed", "revealed")
"""A commitment is the hash of a held-out round's secret; revealing publishes the secret."""
_FIELDS = ("number", "date", "event", "submission", "name", "by", "why", "details")
_MAX_LINE = 1 << 20


class LedgerFault(Exception):
    """A ledger that was changed; the message names the line and field."""


class LedgerLine(NamedTuple):
    """One event."""

    number: int
    """From 1."""
    date: str
    event: str
    submission: str
    """Identifier of the submission; empty for events of a whole round."""
    name: str
    by: str
    why: str
    details: dict[str, Any]
    signature: Signature | None
    prev: str
    hash: str

    def content(self) -> dict[str, Any]:
        """Return the signed part."""
        return {"schema": SCHEMA, **{name: getattr(self, name) for name in _FIELDS}}


class HeldOutRound(NamedTuple):
    """What a ledger says about the secret of a held-out round."""

    commitment: str
    """Hash of the secret."""
    committed: LedgerLine | None
    """The first line that published the hash; None if there is none."""
    revealed: LedgerLine | None
    """The first line that published the secret."""


class Ledger:
    """The ledger file of a board.

    Args:
        folder: The board's directory.

    Raises:
        LedgerFault: If the file was changed.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / LEDGER_FILE
        self.lines: list[LedgerLine] = []
        if self.path.exists():
            self._read()

    @property
    def head(self) -> str:
        """Hash of the last line; publish it to make later cuts evident."""
        return self.lines[-1].hash if self.lines else START

    def append(
        self,
        event: str,
        *,
        date: str,
        by: str,
        submission: str = "",
        name: str = "",
        why: str = "",
        details: Mapping[str, Any] | None = None,
        key: Path | None = None,
    ) -> LedgerLine:
        """Append a line and return it; it is on disk when this returns.

        Args:
            event: One of `EVENTS`.
            date: Day of the event.
            by: Who decided it.
            submission: Identifier of the submission.
            name: Its name, for readers.
            why: The reason; required for everything but an addition.
            details: Further facts, such as hashes and scores.
            key: Private key of the maintainer, to sign the line.
        """
        if event not in EVENTS:
            raise ValueError(f"expected one of {', '.join(EVENTS)}, got {event!r}")
        if event not in ("added", "committed", "revealed") and not why.strip():
            raise ValueError(f"{event}: a reason is required")
        number, content = len(self.lines) + 1, dict(details or {})
        draft = LedgerLine(
            number, date, event, submission, name, by, why, content, None, self.head, ""
        )
        if key is not None:
            data = canonical_bytes(draft.content())
            draft = draft._replace(signature=sign(data, key, "maintainer", by, date))
        line = draft._replace(hash=content_hash(_hashed(draft)))
        with self.path.open("ab") as file:
            file.write(canonical_bytes({**_hashed(line), "hash": line.hash}) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.lines.append(line)
        return line

    def _read(self) -> None:
        head = START
        with self.path.open("rb") as file:
            for number, data in enumerate(file, start=1):
                line = _parse(number, data)
                if line.number != number:
                    raise LedgerFault(
                        f"{LEDGER_FILE}, line {number}, field 'number': is {line.number}: "
                        "a line was removed, inserted or moved"
                    )
                if line.prev != head:
                    raise LedgerFault(
                        f"{LEDGER_FILE}, line {number}, field 'prev': names {line.prev[:12]}…, "
                        f"the line before it has {head[:12]}…"
                    )
                head = line.hash
                self.lines.append(line)


def _hashed(line: LedgerLine) -> dict[str, Any]:
    signature = line.signature.as_json() if line.signature else None
    return {**line.content(), "signature": signature, "prev": line.prev}


def _parse(number: int, data: bytes) -> LedgerLine:
    place = f"{LEDGER_FILE}, line {number}"
    try:
        value = json.loads(data[:_MAX_LINE])
        stated = value.pop("hash")
        signature, prev = value.pop("signature"), value.pop("prev")
        fields = {name: value[name] for name in _FIELDS}
        if value["schema"] != SCHEMA or len(value) != len(_FIELDS) + 1:
            raise ValueError
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        raise LedgerFault(f"{place}: is not a line of a ledger") from None
    try:
        signed = None if signature is None else Signature.from_json(signature)
    except SigningError as error:
        raise LedgerFault(f"{place}, field 'signature': {error}") from None
    line = LedgerLine(**fields, signature=signed, prev=prev, hash=stated)
    actual = content_hash(_hashed(line))
    if actual != stated or data != canonical_bytes({**_hashed(line), "hash": stated}) + b"\n":
        raise LedgerFault(f"{place}, field 'hash': the line was changed after it was written")
    if signed is not None:
        fault = check_signature(signed, canonical_bytes(line.content()))
        if fault:
            raise LedgerFault(f"{place}, field 'signature': {fault}")
    return line


def standing(ledger: Ledger) -> dict[str, LedgerLine]:
    """Return the submissions on the board, each with the line that added it."""
    found: dict[str, LedgerLine] = {}
    for line in ledger.lines:
        if line.event == "added":
            found[line.submission] = line
        elif line.event in ("removed", "rescored"):
            found.pop(line.submission, None)
    return found


def rounds(lines: Sequence[LedgerLine], commitments: Sequence[str]) -> list[HeldOutRound]:
    """Return what the lines of a ledger say about these commitments."""

    def first(event: str, commitment: str) -> LedgerLine | None:
        found = (one for one in lines if one.event == event)
        return next((one for one in found if one.details.get("commitment") == commitment), None)

    return [
        HeldOutRound(one, first("committed", one), first("revealed", one)) for one in commitments
    ]
