"""Files as one block of bytes, for transfer between a sandbox's processes.

A bundle is a line of JSON that names the entries, followed by their contents in order.
"""

import json
import os
from collections.abc import Mapping

from hexathlon.envs.sandbox.changes import Changes
from hexathlon.envs.sandbox.image import Entry
from hexathlon.envs.sandbox.kernel.wire import stored

__all__ = ["bundle_of", "pack", "unpack"]


def pack(changes: Changes) -> int:
    """Return the descriptor of an in-memory file that contains the changes."""
    entries = [
        [path, entry.mode, entry.owner, entry.link, entry.folder, entry.mtime, len(entry.data)]
        for path, entry in changes.written.items()
    ]
    head = {
        "entries": entries,
        "deleted": list(changes.deleted),
        "special": dict(changes.special),
        "cut": changes.cut,
    }
    blocks = [json.dumps(head).encode(), b"\n"]
    blocks += [entry.data for entry in changes.written.values() if entry.data]
    return stored(b"".join(blocks))


def unpack(descriptor: int) -> Changes:
    """Read a bundle and close its descriptor."""
    with open(descriptor, "rb") as file:
        file.seek(0, os.SEEK_SET)
        head = json.loads(file.readline())
        written: dict[str, Entry] = {}
        for path, mode, owner, link, folder, mtime, size in head["entries"]:
            data = file.read(size) if size else b""
            written[path] = Entry(data, mode, owner, link, folder, mtime)
    return Changes(written, tuple(head["deleted"]), head["special"], head["cut"])


def bundle_of(files: Mapping[str, Entry]) -> int:
    """Return the descriptor of a bundle of entries to write, without deletions."""
    return pack(Changes(files))
