"""Cache of judges' replies, keyed by the hash of judge and question.

The file has one JSON line per valid reply, each appended in one write; an unfinished last line is
ignored. Invalid replies are not cached, since a retry may succeed.
"""

import json
import os
from pathlib import Path
from typing import Any

from hexathlon.evaluators.records.canonical import canonical_bytes

__all__ = ["VerdictCache"]


class VerdictCache:
    """Replies by content hash.

    Args:
        path: The file; without one, replies are cached in memory only.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.hits = 0
        self._replies: dict[str, str] = {}
        self._file = -1
        if path is not None:
            self._load(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._file = os.open(path, flags, 0o644)
            self._end_torn_line(path)

    def get(self, key: str) -> str | None:
        """Return the cached reply to a question, or None."""
        reply = self._replies.get(key)
        self.hits += reply is not None
        return reply

    def put(self, key: str, reply: str) -> None:
        """Cache a reply."""
        self._replies[key] = reply
        if self._file >= 0:
            os.write(self._file, canonical_bytes({"key": key, "reply": reply}) + b"\n")

    def close(self) -> None:
        """Close the file; idempotent."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __len__(self) -> int:
        return len(self._replies)

    def _load(self, path: Path) -> None:
        if not path.exists():
            return
        with path.open("rb") as file:
            for line in file:
                row = _row(line)
                if row is not None:
                    self._replies[row[0]] = row[1]

    def _end_torn_line(self, path: Path) -> None:
        size = path.stat().st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            os.write(self._file, b"\n")


def _row(line: bytes) -> tuple[str, str] | None:
    try:
        data: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    key, reply = data.get("key"), data.get("reply")
    return (key, reply) if isinstance(key, str) and isinstance(reply, str) else None
