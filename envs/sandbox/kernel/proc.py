"""The process table, read from `/proc` as this process sees it."""

import os
from typing import NamedTuple

__all__ = ["ProcessInfo", "command_of", "descendants", "table"]


class ProcessInfo(NamedTuple):
    """One process."""

    pid: int
    parent: int
    state: str
    started: int
    """Clock ticks after the machine's start."""
    name: str
    ticks: int = 0
    """Processor time of the process and of all children that it has waited for."""


def table() -> list[ProcessInfo]:
    """Return every process in this view, zombies included, in order of process id."""
    rows = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            row = _row(int(name))
            if row is not None:
                rows.append(row)
    return sorted(rows)


def _row(pid: int) -> ProcessInfo | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            head, _, rest = file.read().rpartition(b")")
    except OSError:
        return None  # it ended during the scan
    fields = rest.split()
    name = head.partition(b"(")[2].decode(errors="replace")
    ticks = sum(map(int, fields[11:15]))
    return ProcessInfo(pid, int(fields[1]), fields[0].decode(), int(fields[19]), name, ticks)


def command_of(row: ProcessInfo) -> str:
    """Return a process's command line, or its short name if it has none."""
    try:
        with open(f"/proc/{row.pid}/cmdline", "rb") as file:
            line = file.read(4096)
    except OSError:
        line = b""
    return line.rstrip(b"\0").replace(b"\0", b" ").decode(errors="replace") or row.name


def descendants(rows: list[ProcessInfo], ancestors: set[int]) -> list[ProcessInfo]:
    """Return the descendants of the given processes."""
    found: list[ProcessInfo] = []
    below = set(ancestors)
    grown = True
    while grown:
        grown = False
        for row in rows:
            if row.parent in below and row.pid not in below:
                below.add(row.pid)
                found.append(row)
                grown = True
    return found
