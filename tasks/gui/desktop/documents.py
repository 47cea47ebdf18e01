"""Documents in the formats of the desktop's programs: workbooks, household books, notebooks.

The text depends on the arguments alone. Formats: Gnumeric's XML (uncompressed), HomeBank's
XML (version 1.4), Zim's notebook of text files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from xml.sax.saxutils import escape, quoteattr

__all__ = [
    "Books",
    "Operation",
    "DocumentRow",
    "cell_values",
    "day_number",
    "letters",
    "notebook",
    "workbook",
]

DocumentRow = Sequence[Any]


def letters(column: int) -> str:
    """Return the letters of a column, counted from 0.

    >>> letters(0), letters(26)
    ('A', 'AA')
    """
    text = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text


def cell_values(rows: Sequence[DocumentRow]) -> dict[str, Any]:
    """Return the filled cells of a sheet by address."""
    return {
        f"{letters(column)}{row + 1}": float(value) if isinstance(value, int) else value
        for row, cells in enumerate(rows)
        for column, value in enumerate(cells)
        if value is not None
    }


def workbook(sheets: Mapping[str, Sequence[DocumentRow]]) -> str:
    """Return a workbook.

    Args:
        sheets: Name → rows of cells: text, numbers, or None for an empty cell.
    """
    names = "".join(
        f'<gnm:SheetName gnm:Cols="256" gnm:Rows="65536">{escape(name)}</gnm:SheetName>'
        for name in sheets
    )
    bodies = "".join(_sheet(name, rows) for name, rows in sheets.items())
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<gnm:Workbook xmlns:gnm="http://www.gnumeric.org/v10.dtd">'
        '<gnm:Version Epoch="1" Major="12" Minor="55" Full="1.12.55"/>'
        f"<gnm:SheetNameIndex>{names}</gnm:SheetNameIndex>"
        f"<gnm:Sheets>{bodies}</gnm:Sheets></gnm:Workbook>\n"
    )


def _sheet(name: str, rows: Sequence[DocumentRow]) -> str:
    cells = "".join(
        f'<gnm:Cell Row="{row}" Col="{column}" ValueType="{_value_type(value)}">'
        f"{escape(str(value))}</gnm:Cell>"
        for row, line in enumerate(rows)
        for column, value in enumerate(line)
        if value is not None
    )
    widths = "".join(
        f'<gnm:ColInfo No="{column}" Unit="110" HardSize="1"/>'
        for column in range(max(map(len, rows), default=1))
    )
    return (
        f"<gnm:Sheet><gnm:Name>{escape(name)}</gnm:Name>"
        f"<gnm:MaxCol>{max(map(len, rows), default=1) - 1}</gnm:MaxCol>"
        f"<gnm:MaxRow>{max(len(rows), 1) - 1}</gnm:MaxRow><gnm:Zoom>1</gnm:Zoom>"
        f'<gnm:Cols DefaultSizePts="48">{widths}</gnm:Cols>'
        f"<gnm:Cells>{cells}</gnm:Cells></gnm:Sheet>"
    )


def _value_type(value: Any) -> int:
    return 60 if isinstance(value, str) else 40


@dataclass(frozen=True)
class Operation:
    """One entry of an account."""

    day: date
    amount: float
    account: str
    payee: str
    category: str
    memo: str = ""

    def row(self) -> list[Any]:
        """Return the entry as a verifier compares it."""
        return [day_number(self.day), round(self.amount, 2), self.account, self.payee,
                self.category, self.memo]  # fmt: skip


@dataclass(frozen=True)
class Books:
    """A household's books."""

    accounts: Sequence[str]
    payees: Sequence[str]
    categories: Sequence[str]
    operations: Sequence[Operation]

    def text(self) -> str:
        """Return the text of the file."""
        lines = [
            '<?xml version="1.0"?>', '<homebank v="1.4" d="050504">',
            '<properties title="Household" curr="1" auto_smode="1" auto_weekday="1"/>',
            '<cur key="1" flags="0" iso="EUR" name="Euro" symb="€" syprf="0" dchar="." gchar=","'
            ' frac="2" rate="0" mdate="0"/>',
        ]  # fmt: skip
        for key, name in enumerate(self.accounts, 1):
            lines.append(
                f'<account key="{key}" pos="{key}" type="1" curr="1" name={quoteattr(name)} '
                'initial="0" minimum="0"/>'
            )
        lines += [f'<pay key="{key}" name={quoteattr(name)}/>'
                  for key, name in enumerate(self.payees, 1)]  # fmt: skip
        lines += [f'<cat key="{key}" name={quoteattr(name)}/>'
                  for key, name in enumerate(self.categories, 1)]  # fmt: skip
        for each in self.operations:
            memo = f" wording={quoteattr(each.memo)}" if each.memo else ""
            lines.append(
                f'<ope date="{day_number(each.day)}" amount="{each.amount:.2f}" '
                f'account="{self.accounts.index(each.account) + 1}" '
                f'payee="{self.payees.index(each.payee) + 1}" '
                f'category="{self.categories.index(each.category) + 1}"{memo}/>'
            )
        return "\n".join([*lines, "</homebank>", ""])

    def content(self) -> dict[str, Any]:
        """Return the books as a verifier compares them."""
        return {
            "accounts": sorted(self.accounts),
            "payees": sorted(self.payees),
            "categories": sorted(self.categories),
            "operations": sorted((each.row() for each in self.operations), key=repr),
        }


def day_number(day: date) -> int:
    """Return a date as HomeBank stores it: days since 31 December of the year 0."""
    return day.toordinal()


def notebook(folder: str, pages: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the files of a notebook.

    Args:
        folder: Its folder.
        pages: Name → text.
    """
    settings = (
        "[Notebook]\nversion=0.4\nname=Notes\ninterwiki=\nhome=Home\nicon=\nshared=False\n"
        "endofline=unix\ndisable_trash=False\nprofile=\n"
    )
    header = "Content-Type: text/x-zim-wiki\nWiki-Format: zim 0.6\n\n"
    files = {f"{folder}/notebook.zim": {"text": settings}}
    for name, text in pages.items():
        files[f"{folder}/{name.replace(' ', '_')}.txt"] = {"text": f"{header}{text}"}
    return files
