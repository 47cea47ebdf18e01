"""A small pytest that needs only the standard library, for sandboxes without network.

Written into the grader's sandbox as `pytest.py`. Supports test functions and classes, plain
asserts, `raises`, `approx`, `skip`, `fail`, `importorskip`, fixtures with `yield`, `parametrize`,
`skipif`, `xfail`, and the fixtures `tmp_path`, `monkeypatch` and `capsys`. Reads no configuration
and no `conftest.py`: files left by an agent cannot hook into it.
"""

# mypy: ignore-errors
# Runs under the sandbox's own Python, whatever its version; not part of the package's interface.

import contextlib
import importlib.util
import inspect
import io
import itertools
import json
import os
import pathlib
import re
import sys
import tempfile
import traceback


class _Outcome(BaseException):
    kind = "failed"


class _Skipped(_Outcome):
    kind = "skipped"


class _Failed(_Outcome):
    pass


def skip(reason="", **_):
    """End the test; it counts as skipped."""
    raise _Skipped(reason)


def fail(reason="", **_):
    """End the test; it counts as failed."""
    raise _Failed(reason)


def importorskip(name, **_):
    """Import a module, or skip the test."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise _Skipped(str(error)) from None


class _Raised:
    value = None

    def match(self, pattern):
        assert re.search(pattern, str(self.value)), f"{self.value} does not match {pattern}"


@contextlib.contextmanager
def _raising(kinds, match):
    info = _Raised()
    try:
        yield info
    except kinds as error:
        info.value = error
        if match is not None:
            info.match(match)
    else:
        raise _Failed(f"{kinds} was not raised")


def raises(kinds, *call, match=None, **named):
    """Assert that the block or the call raises an exception."""
    if not call:
        return _raising(kinds, match)
    with _raising(kinds, match) as info:
        call[0](*call[1:], **named)
    return info


class approx:  # noqa: N801
    """A number, or a sequence or mapping of numbers, within a tolerance."""

    def __init__(self, expected, rel=None, abs=None, nan_ok=False):  # noqa: A002
        self.expected, self.rel, self.abs = expected, rel, abs

    def _near(self, one, other):
        if not isinstance(one, (int, float)) or isinstance(one, bool):
            return one == other
        least = 1e-12 if self.abs is None else self.abs
        share = (1e-6 if self.rel is None else self.rel) if self.abs is None or self.rel else 0.0
        return one == other or abs(one - other) <= max(least, share * abs(one))

    def __eq__(self, other):
        if isinstance(self.expected, dict):
            return self.expected.keys() == other.keys() and all(
                self._near(self.expected[key], other[key]) for key in other
            )
        if isinstance(self.expected, (list, tuple)):
            return len(self.expected) == len(other) and all(map(self._near, self.expected, other))
        return self._near(self.expected, other)

    def __repr__(self):
        return f"approx({self.expected!r})"


class param(tuple):  # noqa: N801
    """One set of parameters with an id or marks."""

    def __new__(cls, *values, marks=(), id=None):  # noqa: A002
        """Store the values with their id and marks."""
        made = super().__new__(cls, values)
        made.marks = marks if isinstance(marks, (list, tuple)) else (marks,)
        made.name = id
        return made


class _Mark:
    def __init__(self, name, values=(), named=None):
        self.name, self.values, self.named = name, values, named or {}

    def __call__(self, *values, **named):
        if (
            len(values) == 1
            and not named
            and inspect.isroutine(values[0]) | inspect.isclass(values[0])
        ):
            values[0].__dict__.get("pytestmark")
            marks = [*getattr(values[0], "pytestmark", ()), self]
            values[0].pytestmark = marks
            return values[0]
        return _Mark(self.name, values, named)


class _Marks:
    def __getattr__(self, name):
        return _Mark(name)


mark = _Marks()


def fixture(function=None, **named):
    """Mark a function as a fixture; it is called once per test."""

    def marked(target):
        target.is_fixture = named.get("name") or target.__name__
        target.used_unasked = bool(named.get("autouse"))
        target.cases = named.get("params")
        return target

    return marked if function is None else marked(function)


class MonkeyPatch:
    """Changes that are reverted after the test."""

    def __init__(self):
        self.undoing = []

    def setattr(self, target, name, value=None, raising=True):
        """Set an attribute."""
        old = getattr(target, name)
        self.undoing.append(lambda: setattr(target, name, old))
        setattr(target, name, value)

    def setenv(self, name, value, prepend=None):
        """Set a variable."""
        self._keep(name)
        os.environ[name] = value

    def delenv(self, name, raising=True):
        """Remove a variable."""
        self._keep(name)
        os.environ.pop(name, None)

    def _keep(self, name):
        old = os.environ.get(name)

        def undo():
            os.environ.pop(name, None) if old is None else os.environ.__setitem__(name, old)

        self.undoing.append(undo)

    def chdir(self, path):
        """Change the working directory."""
        old = os.getcwd()
        self.undoing.append(lambda: os.chdir(old))
        os.chdir(path)

    def syspath_prepend(self, path):
        """Look for modules here first."""
        sys.path.insert(0, str(path))
        self.undoing.append(lambda: sys.path.remove(str(path)))

    def undo(self):
        """Revert all changes."""
        while self.undoing:
            self.undoing.pop()()


class _Captured:
    def __init__(self):
        self.out, self.err = io.StringIO(), io.StringIO()

    def readouterr(self):
        """Return what was printed since the last call."""
        made = type(
            "Captured", (tuple,), {"out": property(lambda s: s[0]), "err": property(lambda s: s[1])}
        )((self.out.getvalue(), self.err.getvalue()))
        for stream in (self.out, self.err):
            stream.seek(0)
            stream.truncate()
        return made


class _Request:
    def __init__(self, value):
        self.param = value


class _Run:
    """The fixtures of one test."""

    def __init__(self, module, owner):
        self.stack = contextlib.ExitStack()
        self.values = {}
        self.fixtures = {}
        for holder in (module, owner):
            for _, value in inspect.getmembers(holder) if holder is not None else ():
                name = getattr(value, "is_fixture", None)
                if isinstance(name, str):
                    self.fixtures[name] = value

    def value(self, name):
        if name not in self.values:
            self.values[name] = self._made(name)
        return self.values[name]

    def _made(self, name):
        if name in self.fixtures:
            return self._from(self.fixtures[name])
        if name in ("tmp_path", "tmpdir"):
            folder = self.stack.enter_context(tempfile.TemporaryDirectory())
            return pathlib.Path(folder)
        if name == "monkeypatch":
            made = MonkeyPatch()
            self.stack.callback(made.undo)
            return made
        if name == "capsys":
            made = _Captured()
            self.stack.enter_context(contextlib.redirect_stdout(made.out))
            self.stack.enter_context(contextlib.redirect_stderr(made.err))
            return made
        raise LookupError(f"this pytest has no fixture {name!r}")

    def _from(self, function):
        named = {}
        for name in inspect.signature(function).parameters:
            first = (function.cases or [None])[0]
            named[name] = _Request(first) if name == "request" else self.value(name)
        made = function(**named)
        if inspect.isgenerator(made):
            value = next(made)
            self.stack.callback(lambda: next(made, None))
            return value
        return made


def _marks(function, owner):
    return [*getattr(owner, "pytestmark", ()), *getattr(function, "pytestmark", ())]


def _cases(marks):
    """Every combination of parameters, with the name of the case."""
    axes = []
    for each in marks:
        if each.name == "parametrize":
            names = each.values[0]
            names = [n.strip() for n in names.split(",")] if isinstance(names, str) else names
            axis = []
            for place, row in enumerate(each.values[1]):
                values = row if isinstance(row, param) or len(names) > 1 else (row,)
                own = getattr(row, "name", None)
                axis.append((own or str(place), dict(zip(names, values, strict=True))))
            axes.append(axis)
    for combined in itertools.product(*axes):
        name = "-".join(part for part, _ in combined)
        yield f"[{name}]" if name else "", {k: v for _, own in combined for k, v in own.items()}


def _play(module, owner, function, marks, parameters):
    for each in marks:
        if each.name == "skip" or (each.name == "skipif" and each.values and each.values[0]):
            return "skipped", ""
        if each.name == "xfail":
            return "xfail", ""
    run = _Run(module, owner)
    run.values.update(parameters)
    try:
        with run.stack:
            instance = owner() if owner is not None else None
            for hook in ("setup_method", "setUp"):
                if hasattr(instance, hook):
                    method = getattr(instance, hook)
                    method(*[function] * len(inspect.signature(method).parameters))
            for name, value in run.fixtures.items():
                if value.used_unasked:
                    run.value(name)
            bound = getattr(instance, function.__name__) if instance is not None else function
            wanted = inspect.signature(bound).parameters
            result = bound(**{name: run.value(name) for name in wanted})
            if inspect.iscoroutine(result):
                import asyncio

                asyncio.run(result)
    except _Outcome as outcome:
        return outcome.kind, str(outcome)
    except (KeyboardInterrupt, SystemExit) as error:
        return "failed", f"{type(error).__name__}"
    except BaseException:  # any exception is the test's outcome
        return "failed", traceback.format_exc(limit=-3)
    return "passed", ""


def _tests(module):
    for name, value in list(vars(module).items()):
        if name.startswith("test") and inspect.isfunction(value):
            if not hasattr(value, "is_fixture"):
                yield name, None, value
        elif inspect.isclass(value) and name.startswith("Test"):
            for method, function in inspect.getmembers(value, inspect.isfunction):
                if method.startswith("test"):
                    yield f"{name}::{method}", value, function


def _load(path, number):
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(f"tests_{number}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _files(arguments):
    for argument in arguments or ["."]:
        path, _, chosen = argument.partition("::")
        path = pathlib.Path(path)
        found = [path] if path.is_file() else sorted(path.rglob("test_*.py"))
        if not found:
            raise SystemExit(f"no tests in {argument}")
        for file in found:
            yield file, chosen


def _arguments(words):
    """Paths, and the file for a report in common form; other options are ignored."""
    paths, report, words = [], None, list(words)
    while words:
        word = words.pop(0)
        if word == "--ctrf":
            report = words.pop(0)
        elif word.startswith("--ctrf="):
            report = word.partition("=")[2]
        elif word in ("-k", "-m", "--deselect", "--ignore"):
            raise SystemExit(f"this pytest does not choose tests by {word}")
        elif word in ("-p", "-o", "-c", "--rootdir", "--tb", "-W", "--timeout"):
            words.pop(0)
        elif not word.startswith("-"):
            paths.append(word)
    return paths, report


def main(words):
    """Run tests; the exit status is 0 if at least one ran and all passed."""
    paths, report = _arguments(words)
    outcomes = []
    for number, (path, chosen) in enumerate(_files(paths)):
        try:
            module = _load(path, number)
        except BaseException:  # a failed import is reported as an error
            outcomes.append((f"{path}::", "error", traceback.format_exc(limit=-3)))
            continue
        for name, owner, function in _tests(module):
            if chosen and name != chosen and not name.startswith(f"{chosen}::"):
                continue
            marks = [*_marks(module, None), *_marks(function, owner)]
            for suffix, parameters in _cases(marks):
                outcome, text = _play(module, owner, function, marks, parameters)
                outcomes.append((f"{path}::{name}{suffix}", outcome, text))
    _report(outcomes, report)
    good = outcomes and all(outcome == "passed" for _, outcome, _ in outcomes)
    return 0 if good else 5 if not outcomes else 1


def _report(outcomes, report):
    for name, _, text in outcomes:
        if text:
            print(f"____ {name}\n{text}")
    for name, outcome, _ in outcomes:
        print(outcome.upper(), name)
    counted = {kind: sum(o == kind for _, o, _ in outcomes) for _, kind, _ in outcomes}
    print("=== " + ", ".join(f"{count} {kind}" for kind, count in sorted(counted.items())), "===")
    own = os.environ.get("HEXATHLON_OUTCOMES")
    if own:
        with open(own, "w", encoding="utf-8") as file:
            json.dump([[name, outcome] for name, outcome, _ in outcomes], file)
    if report:
        tests = [{"name": name, "status": outcome, "duration": 0} for name, outcome, _ in outcomes]
        with open(report, "w", encoding="utf-8") as file:
            json.dump({"results": {"tool": {"name": "pytest"}, "tests": tests}}, file)


if __name__ == "__main__":
    sys.modules["pytest"] = sys.modules["__main__"]
    raise SystemExit(main(sys.argv[1:]))
