"""Operations in desktop programs, shared by several templates."""

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
    """Save in the editor, whose title has a star until the file is saved."""
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
    while pilot.has("push button", "Save"):  # ignored while the folder is read
        yield from pilot.click("push button", "Save")
        if pilot.heard.startswith("Error:"):  # the dialog has closed by itself
            yield from pilot.act("wait")
    yield from pilot.gone("frame", "*", starts=True)


def go_to_cell(pilot: DesktopPilot, address: str) -> Script:
    """Select a cell of the open workbook by typing its address."""
    field = next((each for each in pilot.elements()
                  if each.role == "text" and re.fullmatch(r"[A-Z]+\d+(:[A-Z]+\d+)?", each.value)),
                 None)  # fmt: skip
    if field is None:
        raise UnexpectedScreen(f"no field with a cell's address:\n{pilot.screen}")
    yield from pilot.act("click", index=field.number)
    yield from pilot.keys("ctrl+a")
    yield from pilot.type(f"{address}\n")


def set_cells(pilot: DesktopPilot, path: str, cells: Mapping[str, str], *,
              save: bool = True) -> Script:  # fmt: skip
    """Open a workbook and type into its cells."""
    yield from pilot.open("Spreadsheet", path)
    yield from pilot.until("frame", path.rpartition("/")[2], starts=True)
    yield from write_cells(pilot, cells, save=save)


def write_cells(pilot: DesktopPilot, cells: Mapping[str, str], *, save: bool = True) -> Script:
    """Type into cells of the open workbook."""
    for address, text in cells.items():
        yield from go_to_cell(pilot, address)
        yield from pilot.type(f"{text}\n")
    if save:
        yield from pilot.keys("ctrl+s")
        yield from pilot.gone("frame", "*", starts=True)


def in_order(scripts: Sequence[Script]) -> Script:
    """Run scripts in sequence."""
    for script in scripts:
        yield from script


# Files -----------------------------------------------------------------------------------------


def look_into(pilot: DesktopPilot, folder: str) -> Script:
    """Open a folder in the file manager."""
    yield from pilot.open("Files", folder)
    yield from pilot.until("frame", folder.rpartition("/")[2])


def rename(pilot: DesktopPilot, old: str, new: str) -> Script:
    """Rename a file of the open folder."""
    yield from pilot.click("table cell", old)
    yield from pilot.keys("f2")
    yield from pilot.until("dialog", "Rename File")
    yield from pilot.keys("ctrl+a")
    yield from pilot.type(f"{new}\n")
    yield from pilot.gone("dialog", "Rename File")
    yield from pilot.until("table cell", new)


def make_folder(pilot: DesktopPilot, name: str) -> Script:
    """Create a folder in the open folder."""
    yield from pilot.keys("ctrl+shift+n")
    yield from pilot.until("dialog", "Creating New Folder")
    yield from pilot.keys("ctrl+a")
    yield from pilot.type(f"{name}\n")
    yield from pilot.gone("dialog", "Creating New Folder")
    yield from pilot.until("table cell", name)


def delete(pilot: DesktopPilot, name: str) -> Script:
    """Move a file of the open folder to the trash."""
    yield from pilot.click("table cell", name)
    yield from pilot.keys("delete")
    yield from pilot.until("alert")
    yield from pilot.keys("enter")
    yield from pilot.gone("alert")
    yield from pilot.gone("table cell", name)


def carry(pilot: DesktopPilot, name: str, folder: str, *, copy: bool = False) -> Script:
    """Move or copy a file of the open folder into a folder beside it, and return."""
    yield from pilot.click("table cell", name)
    yield from pilot.keys("ctrl+c" if copy else "ctrl+x")
    yield from pilot.act("double_click", index=pilot.find("table cell", folder).number)
    yield from pilot.until("frame", folder)
    yield from pilot.keys("ctrl+v")
    yield from pilot.until("table cell", name)
    yield from pilot.keys("alt+up")
    yield from pilot.gone("frame", folder)


# Household books -------------------------------------------------------------------------------

_FIELDS = {"day": 0, "account": 1, "payee": 3, "category": 4, "memo": 5}
"""Positions of the text fields in the entry dialog."""


def fill_entry(pilot: DesktopPilot, fields: Mapping[str, str]) -> Script:
    """Fill in fields of the entry dialog; `amount` has no sign."""
    for name, value in fields.items():
        if name == "amount":
            yield from pilot.click("spin button")
        else:
            yield from pilot.click("text", None, _FIELDS[name])
        yield from pilot.keys("ctrl+a")
        yield from pilot.type(f"{value}\t")


def add_entry(pilot: DesktopPilot, path: str, fields: Mapping[str, str], *,
              save: bool = True) -> Script:  # fmt: skip
    """Enter an expense into the books."""
    yield from pilot.open("Accounts", path)
    yield from pilot.until("push button", "Add")
    yield from pilot.click("push button", "Add")
    yield from pilot.until("dialog", "Add transaction")
    yield from fill_entry(pilot, fields)
    yield from pilot.click("push button", "Add")
    yield from pilot.click("push button", "Close")
    yield from pilot.gone("dialog", "Add transaction")
    if save:
        yield from save_books(pilot)


def save_books(pilot: DesktopPilot) -> Script:
    """Save the books; the Save button is disabled afterwards."""
    yield from pilot.keys("ctrl+s")
    for _ in range(20):
        if "disabled" in pilot.find("push button", "Save").flags:
            return
        yield from pilot.act("wait")
    raise UnexpectedScreen(f"the books are not saved:\n{pilot.screen}")


def open_account(pilot: DesktopPilot, path: str, account: str) -> Script:
    """Open the entries of an account."""
    yield from pilot.open("Accounts", path)
    yield from pilot.until("table cell", account)
    named = [each for each in pilot.elements() if each.role == "table cell"
             and each.name == account]  # fmt: skip
    yield from pilot.act("double_click", index=named[-1].number)
    yield from pilot.until("frame", account, starts=True)


def leave_account(pilot: DesktopPilot, account: str, *, save: bool = True) -> Script:
    """Close the window of an account and save the books."""
    yield from pilot.keys("alt+f4")
    yield from pilot.gone("frame", account, starts=True)
    if save:
        yield from save_books(pilot)


def change_entry(pilot: DesktopPilot, memo: str, fields: Mapping[str, str]) -> Script:
    """Change the entry with the given memo in the open account."""
    yield from pilot.click("table cell", memo)
    yield from pilot.click("push button", "Edit")
    yield from pilot.until("dialog", "Edit transaction")
    yield from fill_entry(pilot, fields)
    yield from pilot.click("push button", "OK")
    yield from pilot.gone("dialog", "Edit transaction")


def drop_entry(pilot: DesktopPilot, memo: str) -> Script:
    """Delete the entry with the given memo from the open account."""
    yield from pilot.click("table cell", memo)
    yield from pilot.click("push button", "Delete")
    yield from pilot.until("alert")
    yield from pilot.click("push button", "Delete")
    yield from pilot.gone("alert")


# Notebooks -------------------------------------------------------------------------------------


def open_page(pilot: DesktopPilot, notebook: str, page: str) -> Script:
    """Open a page of a notebook, creating it if it does not exist."""
    yield from pilot.open("Notes", f"{notebook}/notebook.zim")
    yield from pilot.until("frame", "Home - Notes")
    yield from turn_to(pilot, page)


def turn_to(pilot: DesktopPilot, page: str) -> Script:
    """Turn to another page of the open notebook."""
    yield from pilot.keys("ctrl+j")
    yield from pilot.until("dialog", "Jump to")
    yield from pilot.type(f"{page}\n")
    yield from pilot.gone("dialog", "Jump to")
    yield from pilot.until("frame", f"{page} - Notes")


def save_page(pilot: DesktopPilot) -> Script:
    """Save the open page."""
    yield from pilot.keys("ctrl+s")
