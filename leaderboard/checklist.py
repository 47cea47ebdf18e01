"""Self-assessment: the state of each point of the checklist, from a report of its tests.

A point without a test is open.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from hexathlon.evaluators.settings_text import read_settings_text
from hexathlon.leaderboard.checklist_points import CHECKLIST, Point
from hexathlon.tasks.validation import reason

__all__ = ["ReportError", "SuiteReport", "assess"]


class ReportError(Exception):
    """A test report that cannot be read."""


class SuiteReport(NamedTuple):
    """Results of a test run by test file."""

    results: dict[str, Counter[str]]
    """``passed``, ``failed`` and ``skipped`` by file."""

    @classmethod
    def read(cls, path: Path) -> SuiteReport:
        """Read a JUnit file, as ``pytest --junitxml`` writes it.

        Raises:
            ReportError: If it is not one.
        """
        try:
            data = read_settings_text(path, most=256)
        except (OSError, UnicodeDecodeError) as error:
            raise ReportError(f"cannot read the test report {path}: {reason(error)}") from None
        if "<!DOCTYPE" in data or "<!ENTITY" in data:
            raise ReportError(f"{path}: expected a test report without entities")
        try:
            cases = ElementTree.fromstring(data).iter("testcase")
        except ElementTree.ParseError as error:
            raise ReportError(f"{path} is not a test report: {error}") from None
        results: dict[str, Counter[str]] = {}
        for case in cases:
            parts = (case.get("classname") or "").split(".")
            end = next((n for n, part in enumerate(parts, 1) if part.startswith("test_")), None)
            file = "/".join(parts[:end]) + ".py"
            kinds = {child.tag for child in case}
            kind = "failed" if kinds & {"failure", "error"} else "passed"
            results.setdefault(file, Counter())["skipped" if "skipped" in kinds else kind] += 1
        return cls(results)


def assess(report: SuiteReport | None) -> list[tuple[Point, str, list[tuple[str, Counter[str]]]]]:
    """Return each point with its state and the counts of its tests.

    The state is ``proved``, ``failed``, ``not run`` or ``open``.
    """
    found = []
    for point in CHECKLIST:
        results = report.results if report else {}
        counts = [(test, results.get(test, Counter())) for test in point.tests]
        total: Counter[str] = sum((count for _, count in counts), Counter())
        if not point.tests:
            state = "open"
        elif total["failed"]:
            state = "failed"
        else:
            state = "proved" if all(count["passed"] for _, count in counts) else "not run"
        found.append((point, state, counts))
    return found
