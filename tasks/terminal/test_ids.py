"""Ids of the tests that a step's own test files define, found by parsing, not by running."""

import ast
import re

from hexathlon.tasks.terminal.harbor import HarborStep, MalformedTask
from hexathlon.tasks.terminal.opening import native_checks

__all__ = ["expected_tests"]

_TEST_FILE = re.compile(r"(.*/)?(test_[^/]*|[^/]*_test)\.py$")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def expected_tests(step: HarborStep) -> list[str]:
    """Return the ids of tests that must pass: the probes', or a step's pytest functions.

    Empty if the test script does not use pytest; the step is then judged by its reward.
    """
    checks = native_checks(step.tests)
    if checks is not None:
        return [f"keep:{path}" for path in checks["keep"]] + [p["id"] for p in checks["probes"]]
    scripts = b"\n".join(step.tests.get(name, b"") for name in ("test.sh", "run-tests.sh"))
    if b"pytest" not in scripts:
        return []
    files = {n: data for n, data in step.tests.items() if _TEST_FILE.match(n)}
    named = {n: d for n, d in files.items() if n.encode() in scripts}
    return [found for name, data in (named or files).items() for found in _functions(name, data)]


def _functions(name: str, data: bytes) -> list[str]:
    try:
        module = ast.parse(data)
    except (SyntaxError, ValueError) as error:
        raise MalformedTask(f"tests/{name} is not valid Python: {error}") from None
    start = name.rpartition("/")[2]
    found: list[str] = []
    for node in module.body:
        if isinstance(node, _FUNCTIONS) and node.name.startswith("test"):
            found.append(f"{start}::{node.name}")
        elif isinstance(node, ast.ClassDef) and _is_test_class(node):
            found += [
                f"{start}::{node.name}::{item.name}"
                for item in node.body
                if isinstance(item, _FUNCTIONS) and item.name.startswith("test")
            ]
    return found


def _is_test_class(node: ast.ClassDef) -> bool:
    """Whether pytest collects a class: by its name, or as a `unittest` one."""
    bases = [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
             for base in node.bases]  # fmt: skip
    return node.name.startswith("Test") or "TestCase" in bases
