"""Self-assessment: the points of the Agentic Benchmark Checklist, each with the tests that prove it.

The checklist is that of *Establishing Best Practices for Building Rigorous Agentic Benchmarks*
(arXiv 2507.02825), in our words. A point without a test is shown as open.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from hexathlon.evaluators.settings_text import read_settings_text
from hexathlon.tasks.validation import reason

__all__ = ["CHECKLIST", "Point", "ReportError", "SuiteReport", "assess"]


class Point(NamedTuple):
    """One point of the checklist."""

    part: str
    """``Task validity``, ``Outcome validity`` or ``Reporting``."""
    statement: str
    answer: str
    """What this benchmark does about it."""
    tests: tuple[str, ...]
    """Test files, relative to the repository, whose tests prove the answer; none if open."""


_TASK, _OUTCOME, _REPORT = "Task validity", "Outcome validity", "Reporting"
CHECKLIST = (
    Point(_TASK, "Versions of tools and packages are fixed.",
          "Task sets and environments are versioned and content-hashed; images are built from pinned packages.",
          ("tests/tasks/test_taskset.py", "tests/test_repository.py")),
    Point(_TASK, "Interfaces outside the benchmark stay available.",
          "Nothing outside this machine is used: every world is simulated or runs in the sandbox.",
          ("tests/envs/testing/test_registered.py",)),
    Point(_TASK, "The agent's environment is isolated from the truth.",
          "Expected answers never enter the process, page or file system that an agent can reach.",
          ("tests/envs/terminal/test_red_team.py",)),
    Point(_TASK, "State is cleared between tasks.",
          "Trials are independent of their order and of each other; parallel runs give the same bytes.",
          ("tests/envs/testing/test_registered.py",)),
    Point(_TASK, "Every task can be solved.",
          "An oracle solves each task through the agent's own interface, and sets the ceiling.",
          ("tests/envs/testing/test_registered.py",)),
    Point(_OUTCOME, "An agent that does nothing, or lists everything, fails.",
          "Eight trivial agents are run on every event; the best of them is the floor beside every score.",
          ("tests/baselines/test_report.py",)),
    Point(_OUTCOME, "Near misses fail, and other right answers pass.",
          "Each template has near misses that must score 0 and an alternative solution that must score 1.",
          ("tests/envs/testing/test_registered.py",)),
    Point(_OUTCOME, "The grader cannot be manipulated.",
          "The grader starts after the agent's processes are dead, from a pristine snapshot.",
          ("tests/envs/terminal/test_red_team.py",)),
    Point(_OUTCOME, "Judges are validated.",
          "Judges are audited against known labels; planted controls decide whether a judged file counts.",
          ("tests/leaderboard/test_judged.py",)),
    Point(_OUTCOME, "Infrastructure failures are no failures of the agent.",
          "They are counted apart, bounded on both sides, and cost the rank above 2 %.",
          ("tests/evaluators/test_summary.py", "tests/leaderboard/test_boards.py")),
    Point(_REPORT, "Code and data are open.",
          "Records, plans and the commands that repeat a run are on every system's page.",
          ("tests/leaderboard/test_build.py",)),
    Point(_REPORT, "Contamination is addressed.",
          "Held-out rounds are drawn from a secret whose hash is published first; training data is declared.",
          ("tests/cli/test_boards.py", "tests/leaderboard/test_board_folder.py")),
    Point(_REPORT, "Statistical significance is reported.",
          "Intervals on effective n, paired tests with Holm's correction, rank ranges, detectable differences.",
          ("tests/evaluators/test_statistics_units.py", "tests/leaderboard/test_resolution.py")),
    Point(_REPORT, "Baselines of no intelligence are reported.",
          "Floor and ceiling stand beside every score.",
          ("tests/leaderboard/test_boards.py",)),
    Point(_REPORT, "Results can be verified by others.",
          "Recorded actions are replayed; forged runs, ledgers and signatures are refused with the place.",
          ("tests/baselines/test_forgeries.py", "tests/leaderboard/test_board_folder.py")),
    Point(_REPORT, "Pages display submissions without executing them.",
          "A corpus of hostile texts is put into every field and opened in a real browser.",
          ("tests/leaderboard/test_injection.py",)),
)  # fmt: skip


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
