"""Resource counts of a process: threads, child processes, open descriptors, temporary files."""

import gc
import os
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Census", "private_temporary_folder", "take_census"]

_PROC = Path("/proc/self/fd")


@dataclass(frozen=True, slots=True)
class Census:
    """Resource counts at one moment."""

    threads: Counter[str]
    processes: Counter[str]
    files: Counter[str]
    temporary: Counter[str]

    def grown(self, kind: str, since: "Census") -> list[str]:
        """Return the resources of one kind that were added since an earlier census."""
        return sorted((getattr(self, kind) - getattr(since, kind)).elements())


def take_census() -> Census:
    """Collect garbage, then count the resources of this process."""
    gc.collect()
    return Census(
        threads=Counter(thread.name for thread in threading.enumerate()),
        processes=Counter(_children()),
        files=Counter(_files()),
        temporary=Counter(path.name for path in Path(tempfile.gettempdir()).iterdir()),
    )


@contextmanager
def private_temporary_folder() -> Iterator[None]:
    """Redirect temporary files of this process to a private directory."""
    before, variable = tempfile.tempdir, os.environ.get("TMPDIR")
    with tempfile.TemporaryDirectory(prefix="hexathlon-kit-") as folder:
        tempfile.tempdir = os.environ["TMPDIR"] = folder
        try:
            yield
        finally:
            tempfile.tempdir = before
            if variable is None:
                del os.environ["TMPDIR"]
            else:
                os.environ["TMPDIR"] = variable


def _files() -> Iterator[str]:
    """Yield the targets of open descriptors; empty on systems that do not list them."""
    if not _PROC.is_dir():
        return
    for link in list(_PROC.iterdir()):
        try:
            target = os.readlink(link)
        except OSError:
            continue  # the descriptor used to list the directory itself
        yield target.split(":[")[0] if ":[" in target else target


def _children() -> Iterator[str]:
    own = str(os.getpid())
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, rest = stat.read_text().rpartition(")")
        except OSError:
            continue  # the process ended during the scan
        if rest.split()[1] == own:
            yield head.partition("(")[2]
