"""Tools for running a task's own tests, and parsing of their reports.

Public tasks download pytest before they test. There is no network here: the grader provides
`pytest` (`grader_pytest`), and stubs for the installers that the scripts call.
"""

import json
import re
import shlex
from collections.abc import Iterable, Mapping

from hexathlon.envs.messages import scrub
from hexathlon.envs.sandbox.base import Sandbox, SandboxPathError
from hexathlon.envs.sandbox.image import Entry
from hexathlon.envs.terminal.build_tools import OFFLINE
from hexathlon.envs.terminal.grader_pytest import PLUGIN_LIST, pytest_files

__all__ = ["OUTCOMES", "clear_away", "grader_files", "read_outcomes", "test_command"]

_TOOLS = "/hexathlon/bin"
_LIBRARY = "/hexathlon/lib"
_HOME = "/root"
OUTCOMES = "/hexathlon/outcomes.json"
"""Written by our pytest inside: test ids and outcomes."""
_PATH = f"{_TOOLS}:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin"
_RUN = "import sys; sys.path[0] = sys.argv.pop(1); import pytest; sys.exit(pytest.main())"
_PYTEST = f"""#!/bin/sh
exec python3 -c '{_RUN}' {_LIBRARY} -p no:cacheprovider "$@"
"""
_UV = """#!/bin/bash
# Runs the program that would have been fetched, if the grader has it.
while [ $# -gt 0 ]; do
  case "$1" in
    pytest) shift; exec pytest "$@" ;;
    python|python3) exec "$@" ;;
    init|venv|add|pip|sync|tool|self|python) exit 0 ;;
  esac
  shift
done
echo "the grader has no network and no such program" >&2
exit 1
"""
_PYTHON = f"""#!/bin/sh
# Scripts that set PYTHONPATH themselves still find pytest. For `-m pytest`, after any options, the
# working directory joins the path once pytest and its plug-ins have been imported.
real=$(PATH=${{PATH#{_TOOLS}:}} command -v python3) || exit 127
state=first here=1
for word; do
  case "$state" in first) set --; state=options ;; esac
  case "$state:$word" in
    value:*) state=options ;;
    options:-[WX]|options:--check-hash-based-pycs) state=value ;;
    options:-[WX]*) ;;
    options:-[!-]*)
      flags=${{word%%m*}}
      case "$flags" in *[!-bBdEiIOPqsSuvx]*) state=other ;; *[IP]*) here= ;; esac
      case "$state:$word" in
        options:*m*)
          case "$flags" in -?*) set -- "$@" "$flags" ;; esac
          word=${{word#*m}} state=module
          if [ -z "$word" ]; then continue; fi ;;
      esac ;;
    options:*) state=other ;;
  esac
  case "$state:$word" in
    module:pytest|module:py.test)
      set -- "$@" -c '{_RUN}' {_LIBRARY} -p no:cacheprovider
      state=pytest ;;
    module:*) set -- "$@" -m "$word"; state=other ;;
    *) set -- "$@" "$word" ;;
  esac
done
case "$state" in
  pytest) HEXATHLON_HERE=$here exec "$real" "$@" ;;
  module) set -- "$@" -m ;;
esac
PYTHONPATH="${{PYTHONPATH:+$PYTHONPATH:}}{_LIBRARY}" exec "$real" "$@"
"""
_FETCH = f"""#!/bin/bash
# Servers of the task answer on the loopback; anything else would be an installation.
for word; do
  case "$word" in
    *localhost*|*127.0.0.1*|*"[::1]"*|file:*) PATH=${{PATH#{_TOOLS}:}} exec "${{0##*/}}" "$@" ;;
  esac
done
exit 0
"""
_NOTHING = "#!/bin/sh\nexit 0\n"

_COMMANDS: Mapping[str, str] = {
    "pytest": _PYTEST,
    "py.test": _PYTEST,
    **dict.fromkeys(("uv", "uvx"), _UV),
    **dict.fromkeys(("python", "python3"), _PYTHON),
    **dict.fromkeys(("curl", "wget"), _FETCH),
    **dict.fromkeys(("apt-get", "apt", "pip", "pip3"), _NOTHING),
}


def grader_files() -> Mapping[str, Entry]:
    """Return what is written into the grader's sandbox before the tests run.

    Raises:
        BackendMissing: If pytest is not installed with the harness.
    """
    commands = {f"{_TOOLS}/{name}": Entry(text.encode(), 0o555) for name, text in _COMMANDS.items()}
    return {**commands, **pytest_files(_LIBRARY), f"{_HOME}/.local/bin/env": Entry(b"", 0o644)}


_LONGEST_NAME, _MOST_OUTCOMES = 300, 10_000
"""Bounds on what is stored of a report; a submission that runs in the tests can write one."""

_SUMMARY = re.compile(r"^(PASSED|FAILED|SKIPPED|ERROR|XFAIL|XPASS) (\S+::[^\s]+)", re.M)


def clear_away(logs: str) -> str:
    """Return the command that clears the paths of tests and rewards."""
    return f"/bin/rm -rf /tests {logs} {OUTCOMES}; /bin/mkdir -p {logs}"


def test_command(workdir: str, variables: Mapping[str, str], *, pristine: bool) -> str:
    """Return the command that runs a step's tests, with the grader's tools, if any, first."""
    words = [f"{name}={shlex.quote(value)}" for name, value in variables.items()]
    if pristine:
        own = [
            f"PATH={_PATH}",
            f"HOME={_HOME}",
            "LC_ALL=C.UTF-8",
            "TZ=UTC",
            "USER=root",
            f"PYTHONPATH={_LIBRARY}",
            "PYTHONNOUSERSITE=1",
            "PYTHONDONTWRITEBYTECODE=1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1",
            f"PYTEST_PLUGINS={pytest_files(_LIBRARY)[f'{_LIBRARY}/{PLUGIN_LIST}'].data.decode()}",
            "NO_COLOR=1",
            *OFFLINE.split(),
            f"HEXATHLON_OUTCOMES={OUTCOMES}",
        ]
        words = ["-i", *words, *own]
    # Absolute paths: an agent may have left other commands of these names in /usr/local.
    run = f"/usr/bin/env {' '.join(words)} /bin/bash /tests/test.sh"
    return f"( cd {shlex.quote(workdir)} && {run} )"


def read_outcomes(sandbox: Sandbox, output: bytes) -> tuple[tuple[str, str], ...]:
    """Return reported test ids and outcomes, with the cases of parametrised tests merged."""
    for path, parse in ((OUTCOMES, _own), ("/logs/verifier/ctrf.json", _ctrf)):
        try:
            found = parse(json.loads(sandbox.read(path)))
        except (SandboxPathError, ValueError, TypeError, KeyError, RecursionError):
            continue
        return _together(found)
    text = output.decode("utf-8", "replace")
    return _together((match[2], match[1].lower()) for match in _SUMMARY.finditer(text))


def _own(data: list[list[str]]) -> list[tuple[str, str]]:
    return [(str(name), str(outcome)) for name, outcome in data]


def _ctrf(data: dict[str, dict[str, list[dict[str, str]]]]) -> list[tuple[str, str]]:
    return [(str(test["name"]), str(test["status"])) for test in data["results"]["tests"]]


def _together(found: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return ids relative to the tests' directory; cases of a parametrised test count as one."""
    outcomes: list[tuple[str, str]] = []
    cases: dict[str, str] = {}
    for name, outcome in found:
        path, _, rest = name.partition("::")
        base, bracket, _ = rest.partition("[")
        key = scrub((f"{path.rpartition('/')[2]}::{base}" if rest else name)[:_LONGEST_NAME])
        outcome = scrub(outcome[:_LONGEST_NAME])
        if len(outcomes) + len(cases) >= _MOST_OUTCOMES:
            return (*outcomes, ("outcomes", "too_many"))
        if not bracket:
            outcomes.append((key, outcome))
        elif cases.get(key, "passed") == "passed":
            cases[key] = outcome
    return (*outcomes, *cases.items())
