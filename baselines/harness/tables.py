"""Tables of texts, which commands print and reports contain."""

from typing import NamedTuple

__all__ = ["ReportTable"]


class ReportTable(NamedTuple):
    """A table of texts, independent of the output medium."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
