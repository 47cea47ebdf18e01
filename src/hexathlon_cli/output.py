"""Terminal output: text, tables, reports."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from hexathlon.baselines.harness.report import Anchors, ReadRun, ReportTable

__all__ = ["note", "print_report", "print_table", "print_text", "signature", "write_file"]


def print_text(text: str) -> None:
    """Write text to standard output, unformatted."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def note(text: str) -> None:
    """Write a message to standard error."""
    sys.stderr.write(f"{text}\n")


def print_table(table: "ReportTable") -> None:
    """Draw a table; numbers are right-aligned, empty columns are left out."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    drawn = RichTable(
        title=table.title,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    shown = [i for i in range(len(table.headings)) if any(row[i] for row in table.rows)]
    for column in shown:
        figures = all(_is_figure(row[column]) for row in table.rows)
        justify: Literal["right", "left"] = "right" if figures else "left"
        drawn.add_column(table.headings[column], justify=justify, overflow="fold", no_wrap=figures)
    for row in table.rows:
        drawn.add_row(*(Text(_printable(row[column])) for column in shown))
    with console.capture() as drawing:
        console.print(drawn)
    print_text(drawing.get())


def print_report(run: "ReadRun", *, details: bool, anchors: "Anchors | None" = None) -> None:
    """Print a run's tables and notes; floor and ceiling default to its own anchor runs."""
    from hexathlon.baselines.harness.report import anchor_runs, anchors_of, notes, tables

    anchors = anchors or anchors_of([run, *anchor_runs(run.path)])
    for table in tables(run, anchors, details=details):
        print_table(table)
    for line in notes(run):
        print_text(line)
    print_text(f"Records: {run.path}")


def write_file(path: Path, text: str) -> None:
    """Write an output file.

    Raises:
        UsageError: If it cannot be written.
    """
    from hexathlon.baselines.harness.errors import UsageError

    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def signature(tool: Mapping[str, Any]) -> str:
    """Return a tool as one line: name, arguments with types, description."""
    schema = tool["parameters"]
    required = schema.get("required", ())
    parts = [
        f"{name}: {part.get('type', 'any')}" + ("" if name in required else "?")
        for name, part in schema.get("properties", {}).items()
    ]
    return f"{tool['name']}({', '.join(parts)})  {tool['description']}"


def _is_figure(cell: str) -> bool:
    return not cell or cell[0].isdigit() or cell[0] in "-–∞"


def _printable(text: str) -> str:
    """Replace control characters: a model's text must not control the terminal."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)
