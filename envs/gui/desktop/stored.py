"""Files of a task's desktop, from JSON to bytes."""

import base64
import sqlite3
from collections.abc import Mapping
from typing import Any

from hexathlon.envs.sandbox.image import Entry

__all__ = ["entries_of"]


def entries_of(files: Mapping[str, Mapping[str, Any]]) -> dict[str, Entry]:
    """Return the entries of a sandbox image.

    Args:
        files: Path → `{"text": …}`, `{"base64": …}`, `{"folder": true}` or `{"sql": …}`, a script
            that creates an SQLite database. Relative paths start at the home folder.
    """
    folder = Entry(folder=True, mode=0o755)
    entries: dict[str, Entry] = {}
    for path, stored in files.items():
        place = path if path.startswith("/") else f"/home/user/{path}"
        parent = place.rpartition("/")[0]
        while parent.startswith("/home/user/"):
            entries.setdefault(parent, folder)
            parent = parent.rpartition("/")[0]
        entries[place] = folder if stored.get("folder") else Entry(_content(stored))
    return entries


def _content(stored: Mapping[str, Any]) -> bytes:
    if "text" in stored:
        return str(stored["text"]).encode()
    if "sql" in stored:
        with sqlite3.connect(":memory:") as database:
            database.executescript(stored["sql"])
            return database.serialize()
    return base64.b64decode(stored["base64"])
