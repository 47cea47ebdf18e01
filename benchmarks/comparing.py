"""Rows of the performance table: a figure beside a peer's, by round, with its target.

A script that serves the table takes `--rounds N --json` (`add_options`) and ends with one line of
JSON per row (`print_rows`), which `table.py` reads.
"""

import argparse
import json
import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from measuring import interval

__all__ = ["Row", "add_options", "compare", "print_rows", "read_rows", "single"]


class Row(NamedTuple):
    """One row of the table; figures are medians over the rounds."""

    name: str
    unit: str
    ours: float
    peer: float | None = None
    ratio: float | None = None
    """How many times better ours is than the peer: the median over the rounds' ratios."""

    low: float | None = None
    high: float | None = None
    """Interval of the ratio; without a peer, of our figure."""

    rounds: int | None = None
    beside: str = ""
    """The peer, or the other way of doing the same."""

    least: float | None = None
    """Target: a ratio of at least this."""

    most: float | None = None
    """Target: a figure of ours of at most this."""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without a target."""
        if self.least is not None and self.ratio is not None:
            return self.ratio >= self.least
        return None if self.most is None else self.ours <= self.most


def compare(
    name: str,
    unit: str,
    ours: Sequence[float],
    peer: Sequence[float],
    *,
    beside: str,
    least: float | None = None,
    rate: bool = False,
) -> Row:
    """Return the row of two figures measured in alternating rounds.

    Args:
        name: Of the row.
        unit: Of both figures.
        ours: Our figure, by round.
        peer: The peer's, by round.
        beside: Name of the peer.
        least: Target of the ratio.
        rate: Whether larger figures are better, as with steps per second; else smaller ones are.

    Raises:
        ValueError: If the two have different numbers of rounds, or none.
    """
    pairs = zip(ours, peer, strict=True)
    ratios = [one / other if rate else other / one for one, other in pairs]
    if not ratios:
        raise ValueError(f"{name}: no rounds; run at least one")
    low, high = interval(ratios)
    middle = statistics.median
    return Row(
        name,
        unit,
        middle(ours),
        middle(peer),
        middle(ratios),
        low,
        high,
        len(ratios),
        beside,
        least,
    )


def single(name: str, unit: str, ours: Sequence[float], *, most: float | None = None) -> Row:
    """Return the row of a figure that has a target but no peer."""
    low, high = interval(ours)
    middle = statistics.median(ours)
    return Row(name, unit, middle, low=low, high=high, rounds=len(ours), most=most)


def add_options(parser: argparse.ArgumentParser, rounds: int | None = 5) -> None:
    """Add `--json` and, unless the script has it under other names, `--rounds`."""
    if rounds is not None:
        parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--json", action="store_true", help="end with the rows of the table")


def print_rows(rows: Iterable[Row]) -> None:
    """Print one line of JSON per row."""
    for row in rows:
        print(json.dumps(row._asdict()), flush=True)


def read_rows(output: str) -> list[Row]:
    """Return the rows in what a script printed."""
    lines = [line for line in output.splitlines() if line.startswith('{"name"')]
    return [Row(**json.loads(line)) for line in lines]
