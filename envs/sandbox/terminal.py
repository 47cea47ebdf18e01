"""The screen behind a pseudo-terminal, kept by `pyte`."""

import os
import select
import time
import weakref
from typing import Any

from hexathlon.envs.sandbox.execution import Screen

__all__ = ["COLUMNS", "ROWS", "Terminal"]

ROWS, COLUMNS = 24, 80
_READ = 1 << 16
_MOST_PER_LOOK = 1 << 18
"""Bytes rendered per look; earlier bytes of a burst have scrolled away and are dropped."""

_ANSWER_S = 0.5
"""Longest wait for the first output after keys. Most programs echo them within a millisecond, but a
busy kernel may take longer to hand them over, and meanwhile the program appears to be waiting for
keys.
"""

_ALTERNATE = frozenset({47, 1047, 1049})


class Terminal:
    """One terminal, its keyboard and its screen.

    Args:
        master: The terminal's master end; closed with it, or when it is unreferenced.
    """

    def __init__(self, master: int) -> None:
        self._master = master
        self._closing = weakref.finalize(self, os.close, master)
        os.set_blocking(master, False)
        self._poll = select.poll()
        self._poll.register(master, select.POLLIN)
        self._screen = _screen_class()(COLUMNS, ROWS, self._send)
        self._stream = _new_stream(self._screen)
        self.ended = False
        self._unanswered = False

    def close(self) -> None:
        """Hang up; idempotent."""
        self._closing()

    def type(self, text: str) -> None:
        """Type; input that the program does not read is lost, as the keyboard's buffer is small."""
        data = text.encode("utf-8", "replace")
        deadline = time.monotonic() + 2.0
        while data and not self.ended and time.monotonic() < deadline:
            data = data[self._send(data) :]
            if data:
                self._draw(0.01)
        self._unanswered = bool(text)

    def look(self, quiet: float, timeout: float, first: float = 0.0) -> Screen:
        """Render output until the foreground program waits and none has come for `quiet` seconds.

        Args:
            quiet: Seconds without output after which the screen is taken to be complete.
            timeout: Longest time in seconds; the screen is then returned as it is.
            first: Longest wait for the first output, in seconds, such as that of a new shell.
        """
        deadline = time.monotonic() + timeout
        first = max(first, _ANSWER_S if self._unanswered else 0.0)
        self._unanswered = False
        if first and not self.ended:
            self._draw(first)
        while not self.ended and time.monotonic() < deadline:
            if not self._draw(quiet) and not self._computes():
                break
        screen = self._screen
        lines = tuple(line.rstrip() for line in screen.display)
        return Screen(lines, screen.cursor.y, min(screen.cursor.x, COLUMNS - 1), screen.alternate)

    def _computes(self) -> bool:
        """Whether the foreground program is running or runnable, where the kernel reports it."""
        try:
            leader = os.tcgetpgrp(self._master)
            with open(f"/proc/{leader}/stat", "rb") as file:
                state = file.read().rpartition(b")")[2].split()[0]
        except (OSError, IndexError):  # a socket, or a process that is gone
            return False
        return state in (b"R", b"D")

    def _send(self, data: bytes) -> int:
        try:
            return os.write(self._master, data)
        except BlockingIOError:
            return 0
        except OSError:  # the last process on it is gone
            self.ended = True
            return len(data)

    def _draw(self, seconds: float) -> bool:
        if not self._poll.poll(seconds * 1000):
            return False
        data = b""
        while len(data) < _MOST_PER_LOOK:
            try:
                more = os.read(self._master, _READ)
            except BlockingIOError:
                break
            except OSError:
                self.ended = True
                break
            data += more
        self._feed(data)
        return True

    def _feed(self, data: bytes) -> None:
        try:
            self._stream.feed(data)
        except (TypeError, ValueError, IndexError, KeyError, OverflowError, AttributeError):
            # Some of the library's handlers fail on sequences with the wrong number of parameters.
            # A real terminal ignores such a sequence; the parser has to be restarted.
            self._stream = _new_stream(self._screen)


def _new_stream(screen: Any) -> Any:
    import pyte

    return pyte.ByteStream(screen)


def _screen_class() -> Any:
    import pyte

    class AlternatingScreen(pyte.Screen):
        """A screen with the alternate page that full-screen programs draw on."""

        def __init__(self, columns: int, rows: int, answer: Any) -> None:
            self.alternate = False
            self._page: Any = None
            self._answer = answer
            super().__init__(columns, rows)

        def write_process_input(self, data: str) -> None:
            self._answer(data.encode())

        def set_mode(self, *modes: int, **kwargs: Any) -> None:
            if kwargs.get("private") and _ALTERNATE & set(modes) and not self.alternate:
                self.alternate = True
                self._page = ({y: dict(row) for y, row in self.buffer.items()}, self.cursor)
                self.cursor = pyte.screens.Cursor(self.cursor.x, self.cursor.y)
                self.erase_in_display(2)
            super().set_mode(*modes, **kwargs)

        def reset_mode(self, *modes: int, **kwargs: Any) -> None:
            if kwargs.get("private") and _ALTERNATE & set(modes) and self.alternate:
                self.alternate = False
                self.erase_in_display(2)
                rows, self.cursor = self._page
                for y, row in rows.items():
                    self.buffer[y].update(row)
                self.dirty.update(range(self.lines))
            super().reset_mode(*modes, **kwargs)

    return AlternatingScreen
