"""Terminal output: text, tables, reports."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rich.table import Table

    from hexathlon.baselines.harness.report import Anchors, ReadRun
    from hexathlon.baselines.harness.tables import ReportTable

__all__ = [
    "OutputFailed",
    "flush_output",
    "note",
    "print_report",
    "print_table",
    "print_text",
    "signature",
    "write_file",
]

_WIDEST = 10_000
_LONGEST_WORD = 16
"""Letters of a table word that are not broken apart on a narrow terminal."""


class OutputFailed(Exception):
    """Standard output cannot be written; the message gives the reason."""


def print_text(text: str) -> None:
    """Write text to standard output, unformatted.

    Raises:
        OutputFailed: If it cannot be written, such as to a full disk.
        BrokenPipeError: If the reader has closed the pipe.
    """
    try:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputFailed(_output_problem(error)) from None


def flush_output() -> None:
    """Write what is buffered for standard output; errors as for `print_text`."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputFailed(_output_problem(error)) from None


def note(text: str) -> None:
    """Write a message to standard error."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def print_table(table: "ReportTable") -> None:
    """Draw a table; numbers are right-aligned, empty columns are left out."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    drawn = _drawn(table, 1)
    needed = console.measure(drawn, options=console.options.update(max_width=_WIDEST)).minimum
    if needed > console.width:
        drawn = _drawn(table, 0)
    with console.capture() as drawing:
        console.print(drawn)
    print_text(drawing.get())


def _drawn(table: "ReportTable", gap: int) -> "Table":
    """Lay out a table with a gap beside each column; words are broken only for lack of room."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    drawn = Table(
        title=table.title,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        padding=(0, gap, 0, 0),
        pad_edge=False,
    )
    shown = [i for i in range(len(table.headings)) if any(row[i] for row in table.rows)]
    for column in shown:
        cells = [row[column] for row in table.rows]
        figures = all(map(_is_figure, cells))
        justify: Literal["right", "left"] = "right" if figures else "left"
        texts = [table.headings[column], *cells]
        words = " ".join(texts).split()
        longest = min(max(map(len, words)), _LONGEST_WORD)
        drawn.add_column(
            table.headings[column],
            justify=justify,
            overflow="fold",
            no_wrap=figures,
            min_width=max(map(len, texts)) if figures else longest,
        )
    for row in table.rows:
        drawn.add_row(*(Text(_printable(row[column])) for column in shown))
    return drawn


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
    from hexathlon.tasks.validation import reason

    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {reason(error)}") from None


def signature(tool: Mapping[str, Any]) -> str:
    """Return a tool as one line: name, arguments with types, description."""
    schema = tool["parameters"]
    required = schema.get("required", ())
    parts = [
        f"{name}: {part.get('type', 'any')}" + ("" if name in required else "?")
        for name, part in schema.get("properties", {}).items()
    ]
    return f"{tool['name']}({', '.join(parts)})  {tool['description']}"


def _output_problem(error: OSError) -> str:
    problem = (error.strerror or str(error)).lower()
    return f"cannot write to standard output: {problem}; free space or redirect it elsewhere"


def _is_figure(cell: str) -> bool:
    return not cell or cell[0].isdigit() or cell[0] in "-–∞"


def _printable(text: str) -> str:
    """Replace control characters: a model's text must not control the terminal."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
