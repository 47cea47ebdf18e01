"""Waiting for files that other processes write: the kernel reports changes, nothing is polled."""

import asyncio
import ctypes
import os
import select
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

__all__ = ["Changes", "files_written", "wait_for_files"]

DEADLINE = 240.0
_CHANGED = 0x2 | 0x8 | 0x80 | 0x100 | 0x200
"""IN_MODIFY, IN_CLOSE_WRITE, IN_MOVED_TO, IN_CREATE, IN_DELETE."""

_EVENT = struct.Struct("iIII")
_LIBC = ctypes.CDLL(None, use_errno=True)


class Changes:
    """Changes in a directory and in those below it, as a file descriptor (inotify).

    Args:
        root: The directory; created if it is missing.
    """

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.descriptor = _checked(_LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        self._folders: dict[int, Path] = {}
        self._watch(root)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self.descriptor)

    def read(self) -> None:
        """Discard the changes reported so far; new directories are watched from now on."""
        try:
            data = os.read(self.descriptor, 1 << 16)
        except BlockingIOError:
            return
        place = 0
        while place < len(data):
            watch, _, _, size = _EVENT.unpack_from(data, place)
            name = data[place + _EVENT.size : place + _EVENT.size + size].rstrip(b"\0")
            place += _EVENT.size + size
            if watch in self._folders and name:
                self._watch(self._folders[watch] / os.fsdecode(name))

    def _watch(self, place: Path) -> None:
        if not place.is_dir():
            return
        watch = _LIBC.inotify_add_watch(self.descriptor, os.fsencode(place), _CHANGED)
        if watch < 0:  # the directory has been deleted
            return
        self._folders[watch] = place
        for inner in list(place.iterdir()):
            self._watch(inner)


def wait_for_files(
    root: Path,
    met: Callable[[], object],
    process: "subprocess.Popen[bytes] | subprocess.Popen[str] | None" = None,
    seconds: float = DEADLINE,
) -> None:
    """Wait until a condition on the files below a directory holds.

    Args:
        root: The directory.
        met: The condition, evaluated after every change.
        process: The process that writes the files.
        seconds: The deadline.

    Raises:
        AssertionError: If the process ends before the condition holds, or the deadline passes.
    """
    until = time.monotonic() + seconds
    with Changes(root) as changes:
        waiting = select.poll()
        waiting.register(changes.descriptor, select.POLLIN)
        end = None if process is None else os.pidfd_open(process.pid)
        try:
            if end is not None:
                waiting.register(end, select.POLLIN)
            while True:
                ended = process is not None and process.poll() is not None
                if met():
                    return
                assert not ended, "the process has ended"
                left = until - time.monotonic()
                assert left > 0, f"the expected files did not appear in {root}"
                waiting.poll(1000 * left)
                changes.read()
        finally:
            if end is not None:
                os.close(end)


async def files_written(root: Path, met: Callable[[], object], seconds: float = DEADLINE) -> None:
    """Wait on the event loop until a condition on the files below a directory holds.

    Raises:
        TimeoutError: If the deadline passes.
    """
    loop, news = asyncio.get_running_loop(), asyncio.Event()
    with Changes(root) as changes:

        def changed() -> None:
            changes.read()
            news.set()

        loop.add_reader(changes.descriptor, changed)
        try:
            async with asyncio.timeout(seconds):
                while not met():
                    await news.wait()
                    news.clear()
        finally:
            loop.remove_reader(changes.descriptor)


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), "inotify is not available")
    return result
