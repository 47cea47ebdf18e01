"""Opens a search index for reading, also where nothing may be written.

What an index contains is decided by `index.py`; nothing here changes a result.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hexathlon.tasks.shopping.world.catalogue.text import Language

if TYPE_CHECKING:
    import tantivy

__all__ = ["open_index"]

_LOCK = ".tantivy-meta.lock"
_PASSES = 3


def open_index(folder: Path, language: Language) -> "tantivy.Index":
    """Open the index of one language for reading.

    The library takes a lock file even to read. Where the folder cannot be written, the files are
    opened through links in a temporary folder, which is removed once they are mapped.

    Args:
        folder: The folder of a catalogue.
        language: Which of its indexes.
    """
    path = folder / f"index-{language}"
    if os.access(path / _LOCK, os.W_OK):
        return _open(path)
    with _mirror_of(path) as mirror:
        return _open(mirror)


def _open(path: Path) -> "tantivy.Index":
    import tantivy

    index = tantivy.Index.open(str(path))
    # A catalogue never changes, so the thread that looks for changes twice a second is stopped.
    index.config_reader("manual")
    return index


@contextmanager
def _mirror_of(path: Path) -> Iterator[Path]:
    """Make a writable folder of links to an index's files, without its lock."""
    mirror = Path(tempfile.mkdtemp(prefix="hexathlon-index-"))
    try:
        for file in path.iterdir():
            if file.name != _LOCK:
                (mirror / file.name).symlink_to(file.absolute())
        yield mirror
    finally:
        _remove(mirror)


def _remove(folder: Path) -> None:
    """Remove a folder in which the library may still be creating its lock file.

    Its thread reads the index once more just after the index was opened, and so can create the
    lock while the folder is being emptied. It does that at most once, so the next pass succeeds.
    """
    for _ in range(_PASSES):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
