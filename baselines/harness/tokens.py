"""The tokens of an evaluation, kept beside its records: `tokens.jsonl`, one line per trial.

A line holds the trial's key, the hash of its record, and the token tree. It is written after the
record, so a process that was killed may leave a record without tokens, never the reverse.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from hexathlon.baselines.tokens.tree import TokenTree
from hexathlon.evaluators.records.canonical import canonical_bytes
from hexathlon.evaluators.records.plan import TrialKey

__all__ = ["TOKENS_FILE", "KeptTokens", "TokenLog", "read_tokens"]

TOKENS_FILE = "tokens.jsonl"


class KeptTokens(NamedTuple):
    """The tokens of one trial."""

    key: TrialKey
    record_hash: str
    tree: TokenTree


class TokenLog:
    """Appends the tokens of trials to a run; what a killed process left unfinished is dropped.

    Args:
        run: The run folder.

    Raises:
        OSError: If the file cannot be written.
    """

    def __init__(self, run: Path) -> None:
        self._file = (run / TOKENS_FILE).open("a+b")
        self._file.truncate(_whole(self._file.tell(), run / TOKENS_FILE))

    def keep(self, record: Mapping[str, Any], tree: TokenTree) -> None:
        """Write the tokens of a trial whose record has been written."""
        line = {"key": record["key"], "record": record["hash"], "tokens": tree.as_json()}
        self._file.write(canonical_bytes(line) + b"\n")
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()


def read_tokens(run: Path) -> Iterator[KeptTokens]:
    """Yield the kept tokens of a run, in the order of its records.

    Raises:
        FileNotFoundError: If the run kept none.
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
    """Return how many bytes of a file are whole lines."""
    with path.open("rb") as file:
        place = size
        while place > 0:
            begin = max(place - 65536, 0)
            file.seek(begin)
            end = file.read(place - begin).rfind(b"\n")
            if end >= 0:
                return begin + end + 1
            place = begin
    return 0
