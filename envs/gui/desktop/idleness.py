"""Idleness: whether every process of a desktop sleeps, so that its screen has settled.

A process that is runnable but waiting for a CPU counts as busy, so the answer does not depend on
the speed or the load of the machine. Timers are the exception: a program that sleeps until a timer
fires (a tooltip, a delayed search) counts as idle; callers that need its effect have to wait.
"""

import contextlib
import os
import time
from pathlib import Path

__all__ = ["Processes"]

_WINDOW_SECONDS = 0.03
"""Time without activity; longer than a frame of a toolkit's clock (1/60 s)."""

_PAUSE_SECONDS = 0.002
_LISTS_CHILDREN = os.path.exists(f"/proc/self/task/{os.getpid()}/children")
"""Whether this kernel lists the children of a thread; otherwise all processes are searched."""


class Processes:
    """The descendants of a process, seen from outside.

    Args:
        ancestor: Id of the process, which is not one of them.
    """

    def __init__(self, ancestor: int) -> None:
        self._ancestor = ancestor

    @classmethod
    def beside(cls, pid: int) -> "Processes":
        """Return all processes of the sandbox in which a process runs."""
        while (parent := _parent(pid)) and _number_inside(pid) != 1:
            pid = parent
        return cls(pid)

    def ids(self) -> list[int]:
        """Return their ids."""
        found: list[int] = []
        waiting = [self._ancestor]
        while waiting:
            pid = waiting.pop()
            children = _children(pid)
            found += children
            waiting += children
        return found

    def settle(self, seconds: float, window: float = _WINDOW_SECONDS) -> bool:
        """Wait until nothing has run for `window` seconds.

        Args:
            seconds: Deadline.
            window: Length of the interval without activity, in seconds.

        Returns:
            Whether there was such an interval before the deadline.
        """
        deadline = time.monotonic() + seconds
        since, before = time.monotonic(), self._activity()
        while time.monotonic() < deadline:
            time.sleep(_PAUSE_SECONDS)
            now = self._activity()
            if now is None or now != before:
                since, before = time.monotonic(), now
            elif time.monotonic() - since > window - _PAUSE_SECONDS:
                return True
        return False

    def _activity(self) -> dict[str, bytes] | None:
        """Return how often each thread has run so far; None if one is running or runnable."""
        counts = {}
        for pid in self.ids():
            with contextlib.suppress(OSError):
                for thread in os.listdir(f"/proc/{pid}/task"):
                    folder = f"/proc/{pid}/task/{thread}"
                    state = Path(f"{folder}/stat").read_bytes().rpartition(b")")[2].split()[0]
                    if state in (b"R", b"D"):
                        return None
                    counts[thread] = Path(f"{folder}/schedstat").read_bytes().split()[-1]
        return counts


def _children(pid: int) -> list[int]:
    if not _LISTS_CHILDREN:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()
                and _parent(int(name)) == pid]  # fmt: skip
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            text = Path(f"/proc/{pid}/task/{thread}/children").read_text()
            found += map(int, text.split())
    return found


def _parent(pid: int) -> int:
    return int(_status(pid, "PPid:") or 0)


def _number_inside(pid: int) -> int:
    """Return the process's id in its own, innermost pid namespace."""
    return int((_status(pid, "NSpid:") or "0").split()[-1])


def _status(pid: int, name: str) -> str:
    """Return a line of a process's status; empty if the process or the line is missing."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(name):
                return line.removeprefix(name).strip()
    return ""
