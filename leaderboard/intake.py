"""A board's directory: submissions, their runs and the ledger; acceptance and verification.

    BOARD/ledger.jsonl
    BOARD/keys.json                        known public keys, by key; optional
    BOARD/submissions/ID/submission.json   also signatures.json and run.zip
    BOARD/runs/ID/                         extracted; can be rebuilt from the archive

Everything that a submission states about its records is recomputed before a line is added.
"""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.evaluators.records.canonical import sha256_hex
from hexathlon.leaderboard.archive import ArchiveError, extract, files_of
from hexathlon.leaderboard.entry import MAX_BYTES, EntryError, SubmissionFile, parse_submission
from hexathlon.leaderboard.ledger import Ledger, LedgerFault, LedgerLine, standing
from hexathlon.leaderboard.preparing import (
    ARCHIVE,
    SIGNATURES,
    STATEMENT,
    card_of,
    results_of,
    write_signatures,
)
from hexathlon.leaderboard.signing import Signature, SigningError, check_signature, public_key
from hexathlon.leaderboard.submission import Submission, SubmissionRejected, load_submission
from hexathlon.tasks.validation import reason

__all__ = [
    "BoardFolder",
    "SubmissionEntry",
    "IntakeError",
    "LedgerFault",
    "check_statements",
    "read_entry",
    "same_results",
]

_MAX_SIGNATURES = 16
_IDENTIFIER = re.compile(r"[a-z0-9-]{1,64}")


class IntakeError(Exception):
    """A submission that is not accepted; the message names the file and the place."""


class SubmissionEntry(NamedTuple):
    """A submission with its signatures."""

    identifier: str
    stated: SubmissionFile
    signatures: tuple[Signature, ...]
    known: tuple[str, ...]
    """Names of the known keys that signed it."""


def read_entry(folder: Path, keys: dict[str, str] | None = None) -> SubmissionEntry:
    """Read a submission's directory and check its form and its signatures.

    Args:
        folder: With ``submission.json`` and ``signatures.json``.
        keys: Names of known public keys.

    Raises:
        IntakeError: If the form is wrong, or a signature does not match.
    """
    if not _IDENTIFIER.fullmatch(folder.name):
        raise IntakeError(f"{folder.name!r:.80}: expected a name of a-z, 0-9 and -")
    data = _bytes(folder / STATEMENT, MAX_BYTES)
    try:
        stated = parse_submission(data)
    except EntryError as error:
        raise IntakeError(f"{folder.name}: {error}") from None
    signatures = _signatures(folder, data)
    known = tuple((keys or {})[one.key] for one in signatures if one.key in (keys or {}))
    return SubmissionEntry(folder.name, stated, signatures, known)


def _bytes(path: Path, longest: int) -> bytes:
    if path.is_symlink() or not path.is_file():
        raise IntakeError(f"{path.parent.name}: {path.name} is missing or is not a regular file")
    if path.stat().st_size > longest:
        raise IntakeError(f"{path.parent.name}: {path.name} has more than {longest:,} bytes")
    return path.read_bytes()


def _signatures(folder: Path, data: bytes) -> tuple[Signature, ...]:
    place = f"{folder.name}: {SIGNATURES}"
    try:
        listed = json.loads(_bytes(folder / SIGNATURES, 1 << 16))
    except ValueError:
        raise IntakeError(f"{place} is not JSON") from None
    if not isinstance(listed, list) or len(listed) > _MAX_SIGNATURES:
        raise IntakeError(f"{place}: expected a list of at most {_MAX_SIGNATURES} signatures")
    found = []
    for number, value in enumerate(listed, start=1):
        try:
            one = Signature.from_json(value)
        except SigningError as error:
            raise IntakeError(f"{place}, signature {number}: {error}") from None
        fault = check_signature(one, data)
        if fault:
            raise IntakeError(f"{place}, signature {number} ({one.role}): {fault}")
        found.append(one)
    return tuple(found)


class BoardFolder:
    """A board's directory.

    Args:
        path: Created with the first submission.

    Raises:
        LedgerFault: If its ledger was changed.
        IntakeError: If its list of keys cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ledger = Ledger(path)
        self.keys = self._known_keys()

    def exists(self) -> bool:
        """Whether it has a ledger or submissions."""
        return self.ledger.path.exists() or (self.path / "submissions").exists()

    def _known_keys(self) -> dict[str, str]:
        path = self.path / "keys.json"
        if not path.exists():
            return {}
        try:
            listed = dict(json.loads(path.read_bytes()))
        except (OSError, ValueError, TypeError) as error:
            why = "it is not an object" if isinstance(error, TypeError) else reason(error)
            raise IntakeError(f"cannot read {path}: {why}") from None
        return {str(key): str(name) for key, name in listed.items()}

    def run(self, identifier: str) -> Path:
        """Return the run directory of a submission, extracted from its archive if needed."""
        target = self.path / "runs" / identifier
        if not target.exists():
            entry = read_entry(self.path / "submissions" / identifier, self.keys)
            self._extract(entry, self.path / "submissions" / identifier, target)
        return target

    def _extract(self, entry: SubmissionEntry, folder: Path, target: Path) -> None:
        draft = target.with_name(f"{target.name}.part")
        shutil.rmtree(draft, ignore_errors=True)
        draft.parent.mkdir(parents=True, exist_ok=True)
        try:
            extract(folder / ARCHIVE, entry.stated.files, draft)
        except ArchiveError as error:
            shutil.rmtree(draft, ignore_errors=True)
            raise IntakeError(f"{folder.name}: {ARCHIVE}: {error}") from None
        draft.rename(target)

    def entries(self) -> Iterator[tuple[LedgerLine, Path]]:
        """Yield the ledger line and the directory of every submission on the board."""
        for identifier, line in standing(self.ledger).items():
            yield line, self.path / "submissions" / identifier

    def add(
        self, folder: Path, *, by: str, date: str, key: Path | None = None, replaces: str = "",
        why: str = "",
    ) -> LedgerLine:  # fmt: skip
        """Accept a submission: check everything, copy it, extract its run, append to the ledger.

        Args:
            folder: The submission's directory.
            by: Who accepts it.
            date: Day of acceptance.
            key: The maintainer's private key.
            replaces: Identifier of the submission that this one rescores.
            why: The reason for rescoring.

        Raises:
            IntakeError: If it is not accepted; nothing is changed then.
        """
        if key is not None:
            _check_key(key)
        entry = read_entry(folder, self.keys)
        on_board = standing(self.ledger)
        target = self.path / "submissions" / entry.identifier
        self._check_new(entry, on_board, replaces, why)
        self._check_kept(folder, target)
        run = self.path / "runs" / entry.identifier
        shutil.rmtree(run, ignore_errors=True)
        self._extract(entry, folder, run)
        try:
            submission = check_statements(entry, run)
        except IntakeError:
            shutil.rmtree(run)
            raise
        if target.resolve() != folder.resolve():
            target.mkdir(parents=True, exist_ok=True)
            for name in (STATEMENT, SIGNATURES, ARCHIVE):
                shutil.copyfile(folder / name, target / name)
        if replaces:
            details = {"by_submission": entry.identifier}
            self.ledger.append(
                "rescored", date=date, by=by, submission=replaces,
                name=on_board[replaces].name, why=why, details=details, key=key,
            )  # fmt: skip
        return self.ledger.append(
            "added", date=date, by=by, submission=entry.identifier, name=submission.name,
            why=why, details=_details(entry, folder), key=key,
        )  # fmt: skip

    @staticmethod
    def _check_kept(folder: Path, target: Path) -> None:
        """Refuse another statement under the name of a submission that was on the board."""
        before, now = target / STATEMENT, folder / STATEMENT
        if before.exists() and before.read_bytes() != now.read_bytes():
            raise IntakeError(f"{target.name} was on the board with another statement")

    def _check_new(
        self, entry: SubmissionEntry, on_board: dict[str, LedgerLine], replaces: str, why: str
    ) -> None:
        if replaces and not why.strip():
            raise IntakeError("rescoring needs a reason")
        if entry.identifier in on_board:
            raise IntakeError(f"{entry.identifier} is on the board already")
        if replaces and replaces not in on_board:
            raise IntakeError(f"{replaces} is not on the board")
        for line in on_board.values():
            if line.details.get("head") == entry.stated.head and line.submission != replaces:
                raise IntakeError(f"{entry.identifier} has the records of {line.submission}")

    def remove(
        self, identifier: str, *, why: str, by: str, date: str, key: Path | None = None
    ) -> LedgerLine:
        """Take a submission off the board; its lines and its files stay.

        Raises:
            IntakeError: If it is not on the board, or no reason is given.
        """
        line = standing(self.ledger).get(identifier)
        if line is None:
            raise IntakeError(f"{identifier} is not on the board")
        if not why.strip():
            raise IntakeError("a removal needs a reason")
        return self.ledger.append(
            "removed", date=date, by=by, submission=identifier, name=line.name, why=why, key=key
        )

    def countersign(self, identifier: str, signature: Signature) -> None:
        """Add a signature to a submission.

        Raises:
            IntakeError: If it does not match.
        """
        folder = self.path / "submissions" / identifier
        entry = read_entry(folder, self.keys)
        fault = check_signature(signature, (folder / STATEMENT).read_bytes())
        if fault:
            raise IntakeError(f"{identifier}: the signature {fault}")
        write_signatures(folder, [*entry.signatures, signature])

    def faults(self, head: str = "") -> Iterator[str]:
        """Yield what is wrong with the board, without replaying anything.

        Args:
            head: A head of the ledger that was published earlier, or its first digits.
        """
        heads = [line.hash for line in self.ledger.lines]
        if head and not any(one.startswith(head) for one in heads):
            yield f"ledger.jsonl: no line has the published head {head}: its end was cut off"
        for line, folder in self.entries():
            try:
                entry = read_entry(folder, self.keys)
                yield from _ledger_faults(line, entry, folder)
                check_statements(entry, self.run(entry.identifier))
            except IntakeError as error:
                yield str(error)
        folders = self.path / "submissions"
        known = {line.submission for line in self.ledger.lines}
        for folder in sorted(folders.iterdir()) if folders.is_dir() else ():
            if folder.name not in known:
                yield f"ledger.jsonl: no line names {folder.name}, whose files are here"


def _check_key(key: Path) -> None:
    """Reject a key that cannot sign before anything is copied.

    Raises:
        IntakeError: With the reason.
    """
    try:
        public_key(key)
    except SigningError as error:
        raise IntakeError(str(error)) from None


def _details(entry: SubmissionEntry, folder: Path) -> dict[str, Any]:
    stated = entry.stated
    return {
        "head": stated.head,
        "plan_hash": stated.plan_hash,
        "organisation": stated.organisation,
        "statement": sha256_hex((folder / STATEMENT).read_bytes()),
        "signed_by": [one.key for one in entry.signatures if one.role == "submitter"],
    }


def _ledger_faults(line: LedgerLine, entry: SubmissionEntry, folder: Path) -> Iterator[str]:
    place = f"ledger.jsonl, line {line.number}"
    now = _details(entry, folder)
    for name, stated in line.details.items():
        if name in now and now[name] != stated:
            yield f"{place}: {name} is not that of {entry.identifier}/{STATEMENT}"


def check_statements(entry: SubmissionEntry, run: Path) -> Submission:
    """Recompute what a submission states about its run and return the run's submission.

    Raises:
        IntakeError: With the first difference.
    """
    place, stated = entry.identifier, entry.stated
    try:
        submission = load_submission(run)
    except SubmissionRejected as error:
        raise IntakeError(f"{place}: {str(error).replace(str(run), run.name)}") from None
    if submission.contradiction:
        raise IntakeError(f"{place}: {submission.contradiction}")
    for name, actual in (
        ("plan_hash", submission.plan["plan_hash"]),
        ("head", submission.head),
        ("records", submission.summary.records),
    ):
        if getattr(stated, name) != actual:
            raise IntakeError(f"{place}: field {name}: the run gives {actual}")
    files = {file.path: file for file in files_of(run)}
    for file in stated.files:
        if files.get(file.path) != file:
            raise IntakeError(f"{place}: {file.path}: its bytes are not those of the stated hash")
    difference = same_results(
        [one.model_dump() for one in stated.results], results_of(submission.summary)
    )
    if difference:
        raise IntakeError(f"{place}: results, {difference}")
    card = card_of(submission)
    for name in type(card).model_fields:
        own, found = getattr(stated.card, name), getattr(card, name)
        local = name in ("template_hash", "tokenizer_hash")
        if own != found and not (local and not found):
            raise IntakeError(f"{place}: field card.{name}: the run gives {found!r}")
    return submission


def same_results(stated: list[dict[str, Any]], found: list[dict[str, Any]]) -> str | None:
    """Return the first difference between two lists of results, or None."""
    if len(stated) != len(found):
        return f"{len(stated)} events are stated, the run has {len(found)}"
    for one, other in zip(stated, found, strict=True):
        for name, value in other.items():
            claim = one[name]
            numbers = isinstance(value, float) and isinstance(claim, int | float)
            if claim != value and not (numbers and math.isclose(claim, value, abs_tol=1e-9)):
                return f"{other['env']}, {name}: {claim!r} is stated, the run gives {value!r}"
    return None
