"""A command on a terminal says something within two seconds, whatever it loads or waits for."""

import errno
import os
import pty
import subprocess
import sys

import pytest

SLOW = """
import sys, threading
from hexathlon_cli import streams
streams.prepare_streams()
said = threading.Semaphore(0)
class Clock:
    def __init__(self):
        self.now = 0
    def monotonic(self):
        said.release()
        self.now += 2
        return self.now
streams.time = Clock()
streams.break_silence(seconds={patience})
{first}
sys.stdout.write("done\\n")
sys.stdout.flush()
"""
"""A program whose clock advances by two seconds per reading and signals each reading."""

LOADING = "said.acquire(); said.acquire(); said.acquire()"
"""Waits for the first reading, at the start, and those of two lines."""


def shown(program: str, *, errors_too: bool = True) -> str:
    """Run a program on a terminal and return what appears there."""
    ours, theirs = pty.openpty()
    try:
        subprocess.run(
            [sys.executable, "-c", program],
            stdout=theirs,
            stderr=theirs if errors_too else subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            check=True,
        )
        os.close(theirs)
        return everything(ours).decode().replace("\r\n", "\n")
    finally:
        os.close(ours)


def everything(terminal: int) -> bytes:
    """Read until the last descriptor of the other side is closed; a read returns any part."""
    parts = []
    while True:
        try:
            part = os.read(terminal, 65_536)
        except OSError as error:
            assert error.errno == errno.EIO
            return b"".join(parts)
        parts.append(part)


def test_a_silent_command_says_that_it_is_working() -> None:
    lines = shown(SLOW.format(patience=0.05, first=LOADING)).splitlines()
    assert lines[:1] == ["working, 2 s …"] and lines[-1] == "done"
    assert lines[1:-1] == [f"working, {2 * n} s …" for n in range(2, len(lines))]


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_command_that_has_spoken_says_nothing_more(stream: str) -> None:
    first = f"sys.{stream}.write('one\\n'); sys.{stream}.flush()"
    assert shown(SLOW.format(patience=60, first=first)) == "one\ndone\n"
    ended = "[t.join() for t in threading.enumerate() if t.name == 'silence']"
    assert shown(SLOW.format(patience=60, first=f"{first}; {ended}")) == "one\ndone\n"


def test_nothing_is_added_if_stderr_is_not_a_terminal() -> None:
    program = SLOW.format(patience=0.05, first="assert threading.active_count() == 1")
    assert shown(program, errors_too=False) == "done\n"


LEAVING = """
import atexit, gc
atexit.register(lambda: print(gc.get_freeze_count() > loaded // 2, flush=True))
from hexathlon_cli import main
try:
    main(["list"])
finally:
    loaded = len(gc.get_objects())
"""
"""A command, and after its own exit handlers whether its objects are exempt from collection."""


def test_objects_are_not_collected_at_exit() -> None:
    assert shown(LEAVING).splitlines()[-1] == "True"
