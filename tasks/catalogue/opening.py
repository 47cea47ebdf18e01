"""Opening of search indexes for reading, including from read-only directories.

`index.py` determines the content of an index; nothing here affects results.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hexathlon.tasks.bilingual import Language

if TYPE_CHECKING:
    import tantivy

__all__ = ["open_index"]

_LOCK = ".tantivy-meta.lock"
_PASSES = 3


def open_index(folder: Path, language: Language) -> "tantivy.Index":
    """Open the index of one language for reading.

    The library takes a lock file even for reading. If the directory is not writable, the files are
    opened through links in a temporary directory, which is removed once they are mapped.

    Args:
        folder: The directory of a catalogue.
        language: The language of the index.
    """
    path = folder / f"index-{language}"
    if os.access(path / _LOCK, os.W_OK):
        return _open(path)
    with _mirror_of(path) as mirror:
        return _open(mirror)


def _open(path: Path) -> "tantivy.Index":
    import tantivy

    index = tantivy.Index.open(str(path))
    # A catalogue never changes, so stop the thread that polls for changes twice a second.
    index.config_reader("manual")
    return index


@contextmanager
def _mirror_of(path: Path) -> Iterator[Path]:
    """Create a writable directory of links to an index's files, except its lock."""
    mirror = Path(tempfile.mkdtemp(prefix="hexathlon-index-"))
    try:
        for file in path.iterdir():
            if file.name != _LOCK:
                (mirror / file.name).symlink_to(file.absolute())
        yield mirror
    finally:
        _remove(mirror)


def _remove(folder: Path) -> None:
    """Remove a directory in which the library may still be creating its lock file.

    Its thread reads the index once more just after opening, and may create the lock while the
    directory is being emptied. It does so at most once, so the second pass succeeds.
    """
    for _ in range(_PASSES):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
