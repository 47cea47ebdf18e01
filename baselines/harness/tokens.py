"""Token trees of an evaluation in `tokens.jsonl`, one line per trial.

A line contains the trial's key, the hash of its record, and the token tree. It is written after the
record, so a killed process may leave a record without tokens, never tokens without a record.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.baselines.tokens.tree import TokenTree
from hexathlon.evaluators.closing import Closing
from hexathlon.evaluators.records.canonical import canonical_bytes
from hexathlon.evaluators.records.plan import TrialKey

__all__ = ["TOKENS_FILE", "KeptTokens", "TokenLog", "read_tokens"]

TOKENS_FILE = "tokens.jsonl"


class KeptTokens(NamedTuple):
    """The token tree of one trial."""

    key: TrialKey
    record_hash: str
    tree: TokenTree


class TokenLog(Closing):
    """Appends token trees to a run; an unfinished last line is removed on opening.

    Args:
        run: The run directory.

    Raises:
        OSError: If the file cannot be written.
    """

    def __init__(self, run: Path) -> None:
        self._file = (run / TOKENS_FILE).open("a+b")
        self._file.truncate(_whole(self._file.tell(), run / TOKENS_FILE))

    def keep(self, record: Mapping[str, Any], tree: TokenTree) -> None:
        """Append the tokens of a trial whose record has been written."""
        line = {"key": record["key"], "record": record["hash"], "tokens": tree.as_json()}
        self._file.write(canonical_bytes(line) + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_tokens(run: Path) -> Iterator[KeptTokens]:
    """Yield the token trees of a run, in the order of its records.

    Raises:
        FileNotFoundError: If the run was made without `keep_tokens`.
    """
    with (run / TOKENS_FILE).open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                return
            row = json.loads(line)
            key = row["key"]
            yield KeptTokens(
                (key["env"], key["task"], key["seed"], key["trial"]),
                row["record"],
                TokenTree.from_json(row["tokens"]),
            )


def _whole(size: int, path: Path) -> int:
    """Return the length in bytes of the complete lines of a file."""
    with path.open("rb") as file:
        stop = size
        while stop > 0:
            start = max(stop - 65536, 0)
            file.seek(start)
            newline = file.read(stop - start).rfind(b"\n")
            if newline >= 0:
                return start + newline + 1
            stop = start
    return 0
