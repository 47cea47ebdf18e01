"""Incremental reader of a JSON Lines file that another process writes."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

__all__ = ["AppendedLines"]


class AppendedLines:
    """Reads each complete line of a file once.

    Args:
        path: The file; it need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._inode: int | None = None

    def read(self) -> tuple[list[dict[str, Any]], bool]:
        """Return the objects appended since the last call, and whether earlier ones still count.

        They do not if the file was replaced or truncated; it is then read from its start. An
        incomplete last line is left for the next call.
        """
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            replaced = self._inode is not None
            self._offset, self._inode = 0, None
            return [], not replaced
        with file:
            continued = self._continues(file)
            if not continued:
                self._offset = 0
            file.seek(self._offset)
            data = file.read()
        complete = data[: data.rfind(b"\n") + 1]
        self._offset += len(complete)
        return list(_objects(complete)), continued

    def _continues(self, file: BinaryIO) -> bool:
        """Whether the file is the one read before, and no shorter."""
        status, known = os.fstat(file.fileno()), self._inode
        self._inode = status.st_ino
        return known in (None, status.st_ino) and status.st_size >= self._offset


def _objects(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.splitlines():
        with suppress(ValueError):
            value = json.loads(line)
            if isinstance(value, dict):
                yield value
