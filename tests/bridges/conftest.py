"""Fails tests that `scripts/bridges NAME` skips because the package of that door is missing."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

_DOOR = os.environ.get("HEXATHLON_BRIDGE", "")


def _wanting(report: Any) -> bool:
    """Whether a report is a skip whose reason names the door that is under test."""
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
    words = str(reason).partition("scripts/bridges ")[2].split()
    return bool(report.skipped) and _DOOR in words


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: Any) -> Iterator[None]:
    report: Any = yield
    return _failed(report)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Iterator[None]:
    report: Any = yield
    return _failed(report)


def _failed(report: Any) -> Any:
    if _DOOR and _wanting(report):
        report.outcome = "failed"
        report.longrepr = f"the package of the door {_DOOR} is not installed: {report.longrepr[2]}"
    return report
