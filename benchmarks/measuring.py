"""Runs child processes, measures their resources, and prints figures with their targets.

It imports only the standard library, so that scripts that compare processes stay small.
"""

import json
import math
import os
import statistics
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

__all__ = [
    "ChildReport",
    "Figure",
    "interval",
    "print_findings",
    "quantile",
    "ratio_of_pairs",
    "run_child",
]


class ChildReport(NamedTuple):
    """Resources and output of a child process."""

    cpu_s: float
    """User and system CPU seconds, including startup."""

    peak_mb: float
    said: dict[str, Any]
    """The JSON object in the last line of its output, if any."""


class Figure(NamedTuple):
    """One figure with its target."""

    name: str
    value: float
    unit: str = ""
    least: float | None = None
    """Target: at least this."""

    most: float | None = None
    """Target: at most this."""

    @property
    def judged(self) -> str:
        """The target, and whether it is met."""
        if self.least is not None:
            return _judged("at least", self.least, self.value >= self.least)
        if self.most is not None:
            return _judged("at most", self.most, self.value <= self.most)
        return ""


def _judged(word: str, bound: float, met: bool) -> str:
    return f"target: {word} {bound:,.4g}: {'met' if met else 'NOT MET'}"


def run_child(command: Sequence[str | Path]) -> ChildReport:
    """Run a command until it exits.

    Raises:
        RuntimeError: If it failed; the end of its errors is in the message.
    """
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            list(map(str, command)),
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=Path(__file__).parent,
        )
        assert process.stdout is not None
        output = process.stdout.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise RuntimeError(f"{command} failed: {errors.read().decode()[-2000:]}")
    last = output.strip().rpartition("\n")[2]
    said = json.loads(last) if last.startswith("{") else {}
    peak = said.get("peak_mb", usage.ru_maxrss / 1024)
    return ChildReport(usage.ru_utime + usage.ru_stime, peak, said)


def ratio_of_pairs(ones: Sequence[float], others: Sequence[float]) -> float:
    """Return the median over repetitions of the ratio of two figures."""
    return statistics.median(one / other for one, other in zip(ones, others, strict=True))


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return order statistics that cover the median with a probability of at least 95 %.

    Of fewer than six values, this is their range, which covers it with less: of five, with 94 %.
    """
    ordered, count = sorted(values), len(values)
    tail, place = 0.0, 0
    while tail + math.comb(count, place) / 2**count <= 0.025:
        tail += math.comb(count, place) / 2**count
        place += 1
    place = max(place - 1, 0)
    return ordered[place], ordered[-1 - place]


def quantile(values: Iterable[float], share: float) -> float:
    """Return a quantile of the values."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def print_findings(findings: Iterable[Figure]) -> None:
    """Print one line per figure."""
    rows = list(findings)
    width = max(len(row.name) for row in rows)
    for row in rows:
        value = f"{row.value:,.4g} {row.unit}"
        print(f"{row.name:<{width}}  {value:<16} {row.judged}".rstrip())
