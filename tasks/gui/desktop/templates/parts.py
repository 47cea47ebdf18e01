"""Parts of drafts: expected documents, and scripts that end with a report."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hexathlon.tasks.gui.desktop.documents import DocumentRow, cell_values
from hexathlon.tasks.gui.desktop.draft import DesktopSolver
from hexathlon.tasks.gui.desktop.pilot import DesktopPilot
from hexathlon.tasks.source import Script

__all__ = ["answering", "cells", "done", "finishing", "lines", "page", "refusing", "text"]


def lines(*each: str) -> str:
    """Join lines, each followed by a line break."""
    return "".join(f"{line}\n" for line in each)


def text(content: str) -> dict[str, Any]:
    """Return the expectation for a text file; a final line break does not count."""
    return {"kind": "text", "content": content.removesuffix("\n")}


def page(content: str) -> dict[str, Any]:
    """Return the expectation for a notebook page, without its header and outer spaces."""
    return {"kind": "page", "content": content.strip()}


def cells(sheets: Mapping[str, Sequence[DocumentRow]]) -> dict[str, Any]:
    """Return the expectation for a workbook."""
    return {"kind": "cells", "content": {name: cell_values(rows) for name, rows in sheets.items()}}


def done(make: Callable[[DesktopPilot], Script], answer: str | None = None) -> DesktopSolver:
    """Return a solver that makes changes and reports the task as complete."""

    def solve(pilot: DesktopPilot) -> Script:
        yield from make(pilot)
        yield from pilot.finish(answer)

    return solve


def answering(answer: str) -> DesktopSolver:
    """Return a solver that answers and changes nothing."""
    return lambda pilot: pilot.finish(answer)


def finishing() -> DesktopSolver:
    """Return a solver that only reports the task as complete."""
    return lambda pilot: pilot.finish()


def refusing(reason: str, record: str) -> DesktopSolver:
    """Return a solver that reports the task as infeasible."""
    return lambda pilot: pilot.refuse(reason, record)
