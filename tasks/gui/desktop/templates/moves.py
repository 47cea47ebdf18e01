"""Moves in the programs of the desktop that several templates use."""

import re
from collections.abc import Mapping, Sequence

from hexathlon.tasks.gui.desktop.pilot import DesktopPilot, UnexpectedScreen
from hexathlon.tasks.source import Script

__all__ = ["append_line", "go_to_cell", "rewrite", "save_new", "set_cells", "write_cells"]


def rewrite(pilot: DesktopPilot, path: str, text: str, *, save: bool = True) -> Script:
    """Replace a text file's content in the editor."""
    yield from pilot.open("Text Editor", path)
    yield from pilot.until("text")
    yield from pilot.keys("ctrl+a")
    yield from pilot.type(text)
    if save:
        yield from save_text(pilot)


def append_line(pilot: DesktopPilot, path: str, line: str, *, save: bool = True) -> Script:
    """Type a line at the end of a text file that ends with a line break."""
    yield from pilot.open("Text Editor", path)
    yield from pilot.until("text")
    yield from pilot.keys("ctrl+end")
    yield from pilot.type(line)
    if save:
        yield from save_text(pilot)


def save_text(pilot: DesktopPilot) -> Script:
    """Save in the editor, whose title has a star until it is done."""
    yield from pilot.keys("ctrl+s")
    yield from pilot.gone("frame", "*", starts=True)


def save_new(pilot: DesktopPilot, path: str, text: str) -> Script:
    """Write a new text file."""
    yield from pilot.open("Text Editor")
    yield from pilot.until("text")
    yield from pilot.type(text)
    yield from pilot.keys("ctrl+shift+s")
    yield from pilot.until("push button", "Save")
    yield from pilot.keys("ctrl+a")
    yield from pilot.type(f"/home/user/{path}")
    yield from pilot.keys("enter")
    yield from pilot.gone("push button", "Save")
    yield from pilot.gone("frame", "*", starts=True)


def go_to_cell(pilot: DesktopPilot, address: str) -> Script:
    """Select a cell of the workbook in front, through the field with its address."""
    field = next((each for each in pilot.elements()
                  if each.role == "text" and re.fullmatch(r"[A-Z]+\d+(:[A-Z]+\d+)?", each.value)),
                 None)  # fmt: skip
    if field is None:
        raise UnexpectedScreen(f"no field with a cell's address:\n{pilot.screen}")
    yield from pilot.act("click", index=field.index)
    yield from pilot.keys("ctrl+a")
    yield from pilot.type(f"{address}\n")


def set_cells(pilot: DesktopPilot, path: str, cells: Mapping[str, str], *,
              save: bool = True) -> Script:  # fmt: skip
    """Type into cells of a workbook."""
    yield from pilot.open("Spreadsheet", path)
    yield from pilot.until("frame", path.rpartition("/")[2], starts=True)
    yield from write_cells(pilot, cells, save=save)


def write_cells(pilot: DesktopPilot, cells: Mapping[str, str], *, save: bool = True) -> Script:
    """Type into cells of the workbook in front."""
    for address, text in cells.items():
        yield from go_to_cell(pilot, address)
        yield from pilot.type(f"{text}\n")
    if save:
        yield from pilot.keys("ctrl+s")
        yield from pilot.gone("frame", "*", starts=True)


def in_order(scripts: Sequence[Script]) -> Script:
    """Run scripts one after the other."""
    for script in scripts:
        yield from script
