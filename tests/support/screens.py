"""Programs on a terminal of 80 columns and 24 rows, and the content of its screen."""

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pyte

ROWS, COLUMNS = 24, 80
DEADLINE = 240.0
PROMPTS = ("> ", "for more --")
_CODE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Screen:
    """A Python module running on a pseudo-terminal.

    Args:
        module: The module and its arguments.
    """

    def __init__(self, *module: str) -> None:
        self._screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self._screen)
        self._said = ""
        self._process, self._terminal = pty.fork()
        if self._process == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
            os.chdir(Path(__file__).resolve().parents[1])
            os.environ["TERM"] = "xterm"
            os.execv(sys.executable, [sys.executable, "-m", *module])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.kill(self._process, 9)
        os.waitpid(self._process, 0)
        os.close(self._terminal)

    @property
    def lines(self) -> Sequence[str]:
        """The screen's rows, without trailing blanks."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def text(self) -> str:
        """The screen as one line of words."""
        return " ".join(" ".join(self.lines).split())

    def until(self, *endings: str) -> str:
        """Read until the screen ends with a prompt or another given ending; return its text."""
        deadline = time.monotonic() + DEADLINE
        while not _CODE.sub("", self._said).endswith(endings or PROMPTS):
            left = deadline - time.monotonic()
            assert left > 0, "\n".join(self.lines)
            if select.select([self._terminal], [], [], left)[0]:
                data = os.read(self._terminal, 65536)
                self._said += data.decode("utf-8", "replace")
                self._stream.feed(data)
        return self.text

    def type(self, line: str, *endings: str) -> str:
        """Type a line, and read until the screen ends with a prompt or another given ending."""
        self._said = ""
        os.write(self._terminal, f"{line}\n".encode())
        return self.until(*endings)
