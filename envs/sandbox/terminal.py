"""The screen behind a pseudo-terminal, kept by `pyte`."""

import fcntl
import os
import select
import struct
import termios
import time
import weakref
from contextlib import suppress
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

_PROMPT_S = 0.3
"""Silence after which a shell that waits at its prompt ends every wait."""

_TIOCGSID = 0x5429

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
        self._typed_in = -1

    def close(self) -> None:
        """Hang up; idempotent."""
        self._closing()

    def type(self, text: str) -> None:
        """Type; input that the program does not read is lost, as the keyboard's buffer is small."""
        self._typed_in = self._screen.scrolled + self._screen.cursor.y
        data = text.encode("utf-8", "replace")
        deadline = time.monotonic() + 2.0
        while data and not self.ended and time.monotonic() < deadline:
            data = data[self._send(data) :]
            if data:
                self._draw(0.01)
        self._unanswered = bool(text)

    def resize(self, rows: int | None, columns: int | None) -> tuple[int, int]:
        """Change the size of the screen, of which programs are told; return rows and columns."""
        screen = self._screen
        screen.resize(rows, columns)
        with suppress(OSError):  # a socket: its other end has to be told
            size = struct.pack("HHHH", screen.lines, screen.columns, 0, 0)
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)
        self._unanswered = True
        return screen.lines, screen.columns

    def look(
        self, quiet: float, timeout: float, first: float = 0.0, until: str | None = None
    ) -> Screen:
        """Render output until the foreground program waits and none has come for `quiet` seconds.

        Args:
            quiet: Seconds without output after which the screen is taken to be complete.
            timeout: Longest time in seconds; the screen is then returned as it is.
            first: Longest wait for the first output, in seconds, such as that of a new shell.
            until: Text to wait for instead: anywhere on the page of a full-screen program,
                otherwise below the line that was last typed into.
        """
        deadline = time.monotonic() + timeout
        first = max(first, _ANSWER_S if self._unanswered else 0.0)
        self._unanswered = False
        if first and not self.ended:
            self._draw(first)
        silent = 0.0
        while not self.ended and (left := deadline - time.monotonic()) > 0:
            if until is not None and self._shows(until):
                break
            if self._draw(min(quiet, left, _PROMPT_S)):
                silent = 0.0
                continue
            silent += min(quiet, left, _PROMPT_S)
            if silent >= _PROMPT_S and self._at_prompt():
                break
            if silent >= quiet and until is None and not self._computes():
                break
        screen = self._screen
        lines = tuple(line.rstrip() for line in screen.display)
        column = min(screen.cursor.x, screen.columns - 1)
        return Screen(lines, screen.cursor.y, column, screen.alternate)

    def _shows(self, text: str) -> bool:
        """Whether the screen shows a text that the last keys did not type."""
        screen = self._screen
        below = 0 if screen.alternate else max(0, self._typed_in + 1 - screen.scrolled)
        return any(text in row for row in screen.display[below:])

    def _at_prompt(self) -> bool:
        """Whether the shell waits and no program runs in the foreground."""
        try:
            session = fcntl.ioctl(self._master, _TIOCGSID, bytes(4))
            leads = os.tcgetpgrp(self._master) == struct.unpack("i", session)[0]
        except OSError:  # a socket
            return False
        return leads and not self._computes()

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
            self.scrolled = 0
            self._page: Any = None
            self._answer = answer
            super().__init__(columns, rows)

        def resize(self, lines: int | None = None, columns: int | None = None) -> None:
            # The library drops rows at the top; other terminals first drop those below the cursor.
            lines, columns = lines or self.lines, columns or self.columns
            gone = max(0, self.cursor.y + 1 - lines)
            rows = {y - gone: self.buffer[y] for y in sorted(self.buffer)}
            self.buffer.clear()
            self.buffer.update({y: row for y, row in rows.items() if 0 <= y < lines})
            self.scrolled += gone
            self.lines, self.columns = lines, columns
            self.set_margins()
            self.cursor.y -= gone
            self.cursor.x = min(self.cursor.x, columns - 1)
            self.dirty.update(range(lines))

        def index(self) -> None:
            self.scrolled += self.cursor.y == (self.margins or (0, self.lines - 1))[1]
            super().index()

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
