"""A pytest plug-in, run inside the grader's sandbox, that reports the outcome of every test.

Imports the standard library and pytest alone, and is not part of the package's interface.
"""

# mypy: ignore-errors

import argparse
import contextlib
import importlib
import json
import os
import sys

import pytest

_IGNORED = (
    ("--cov", "?"),
    ("--cov-report", "?"),
    ("--json-report", None),
    ("--json-report-file", 1),
    ("--html", 1),
    ("--self-contained-html", None),
    ("--timeout", 1),
    ("--timeout-method", 1),
    ("-n", 1),
    ("--numprocesses", 1),
    ("--dist", 1),
    ("--reruns", 1),
    ("--asyncio-mode", 1),
)
"""Options of plug-ins whose absence changes no outcome, and the number of their values."""

_LATER = (
    "cProfile", "code", "difflib", "doctest", "faulthandler", "getpass", "grp", "logging", "pdb",
    "pickle", "pkgutil", "pprint", "pwd", "readline", "shutil", "socket", "tempfile", "timeit",
    "tomllib", "trace", "tracemalloc", "unittest", "unittest.mock", "xml.etree.ElementTree",
)  # fmt: skip
"""Modules of the standard library that pytest imports while it runs."""

_outcomes = {}
_collected = []


def pytest_addoption(parser):
    """Accept the options of absent plug-ins, and that of reports in common form."""
    group = parser.getgroup("hexathlon")
    group.addoption("--ctrf", dest="hexathlon_ctrf", default=None)
    for name, values in _IGNORED:
        how = {"action": "store_true"} if values is None else {"action": "store"}
        if values == "?":
            how.update(nargs="?", const="")
        try:
            # Not addoption, which keeps letters such as -n for pytest itself.
            group._addoption(name, dest="ignored" + name.replace("-", "_"), default=None, **how)
        except (ValueError, argparse.ArgumentError):
            continue  # the plug-in is there


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests():
    """For `python -m pytest`, add the working directory to the path, as Python itself does.

    Python does so at the start, when a submission's modules could take the place of those that
    pytest imports.
    """
    if os.environ.pop("HEXATHLON_HERE", ""):
        for name in _LATER:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        sys.path.insert(0, os.getcwd())


def pytest_collection_finish(session):
    """Note every test before the first one runs: one that ends the process has not passed."""
    _collected.extend(item.nodeid for item in session.items)
    for item in session.items:
        _outcomes[item.nodeid] = "error"
    _write(session.config)


def pytest_collectreport(report):
    """Report a file that cannot be imported."""
    if report.failed:
        _outcomes[f"{report.nodeid}::"] = "error"


def pytest_runtest_logreport(report):
    """Report a test's call, or the setup or teardown that failed or skipped it."""
    expected = hasattr(report, "wasxfail")
    if report.when == "call" or report.outcome != "passed":
        kind = {"passed": "passed", "failed": "failed", "skipped": "skipped"}[report.outcome]
        if expected:
            kind = "xpass" if report.outcome == "passed" else "xfail"
        elif report.when != "call" and kind == "failed":
            kind = "error"
        _outcomes[report.nodeid] = kind


def pytest_sessionfinish(session):
    """Write the outcomes."""
    _write(session.config)


def _write(config):
    own = os.environ.get("HEXATHLON_OUTCOMES")
    if own:
        with open(own, "w", encoding="utf-8") as file:
            json.dump(list(_outcomes.items()), file)
    path = config.getoption("hexathlon_ctrf", None)
    if path:
        names = {"passed": "passed", "skipped": "skipped"}
        tests = [
            {"name": name, "status": names.get(kind, "failed"), "duration": 0}
            for name, kind in _outcomes.items()
        ]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"results": {"tool": {"name": "pytest"}, "tests": tests}}, file)
