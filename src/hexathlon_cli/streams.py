"""The process's streams, made safe for any text before a command writes to them."""

import io
import os
import sys
import threading
import time
import warnings
from typing import Any

__all__ = ["break_silence", "discard_output", "prepare_streams"]

_PATIENCE_S = 1.5


def prepare_streams() -> None:
    """Open closed streams, allow any character, and show warnings without source lines.

    A closed stream becomes the null device, so that no file that is opened later gets its number.
    Characters that the terminal's encoding lacks are replaced.
    """
    for number, mode, name in ((0, "r", "stdin"), (1, "w", "stdout"), (2, "w", "stderr")):
        if getattr(sys, name) is None:
            _open_null(number, os.O_RDONLY if mode == "r" else os.O_WRONLY)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))
        stream = getattr(sys, name)
        if mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    warnings.showwarning = _show_warning


def break_silence(seconds: float = _PATIENCE_S) -> None:
    """Write a line to the terminal every `seconds` seconds until something else is written.

    Commands that load much, such as PyTorch or a task set, would otherwise start silently.
    """
    if not sys.stderr.isatty():
        return
    streams: tuple[Any, ...] = (sys.stdout, sys.stderr)
    say = sys.stderr.write

    begun, spoken = time.monotonic(), threading.Event()
    turn = threading.RLock()  # reentrant: a signal handler may write, too

    def speak() -> None:
        while not spoken.wait(seconds):
            with turn:
                if spoken.is_set():
                    return
                say(f"working, {time.monotonic() - begun:.0f} s …\n")
                sys.stderr.flush()

    def first_write(stream: Any) -> Any:
        def write(text: str) -> int:
            with turn:
                spoken.set()
                for each in streams:
                    each.__dict__.pop("write", None)
            return int(stream.write(text))

        return write

    for stream in streams:
        stream.write = first_write(stream)
    threading.Thread(target=speak, name="silence", daemon=True).start()


def discard_output() -> None:
    """Point standard output at the null device, so that nothing is flushed at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_null(number: int, flags: int) -> None:
    opened = os.open(os.devnull, flags)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: object = None,
    line: str | None = None,
) -> None:
    sys.stderr.write(f"warning: {message}\n")
