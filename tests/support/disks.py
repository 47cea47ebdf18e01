"""Disks without room, as a process sees them: files of this process stop growing."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["largest_file"]


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let writes of this process beyond a file size fail with `OSError`, as on a full disk.

    Args:
        size: Largest size of a file, in bytes.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
