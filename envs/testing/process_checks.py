"""Checks of independence from the process: the same episodes elsewhere have the same bytes.

Each check plays the same episodes here and in a fresh process that does not load the kit and in
which something else differs: hash seed and user, the machine, or the clock.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hexathlon.envs.testing import shifted_clock, shifted_machine, twin
from hexathlon.envs.testing.report import CheckFailed, CheckSkipped, ConformanceCheck
from hexathlon.envs.testing.subject import Subject
from hexathlon.envs.testing.tracing import probe_actions
from hexathlon.envs.testing.twin import MARK, digest

__all__ = ["CHECKS"]

_USER = {
    "PYTHONHASHSEED": "4711",
    "LANG": "C",
    "LC_ALL": "C",
    "USER": "elsewhere",
    "LOGNAME": "elsewhere",
    "HOSTNAME": "elsewhere",
    "COLUMNS": "47",
    "LINES": "11",
}
"""Environment variables of another user's process."""

_MACHINE = {
    **dict.fromkeys(("EDITOR", "VISUAL", "PAGER", "BROWSER"), "ed"),
    "SHELL": "/bin/sh",
    "TERM": "vt100",
    "HOST": "elsewhere",
    "HOSTNAME": "elsewhere",
    "NUMBER_OF_PROCESSORS": "47",
}
"""Environment variables of another machine; the home and the temporary folder are added."""

_ABSENT = (
    "CI GITHUB_ACTIONS GITLAB_CI BUILD_ID JENKINS_URL VIRTUAL_ENV CONDA_PREFIX SSH_CLIENT SSH_TTY "
    "SSH_CONNECTION TMUX STY PS1 OLDPWD HISTFILE XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME "
    "XDG_STATE_HOME"
).split()
"""Environment variables that another machine lacks."""

_BUILDS = 100
"""Maximum number of tasks that are built."""

_CLOCK_SHIFT, _CLOCK_ZONE = 1_000 * 86_400 + 7 * 3_600 + 7 * 60, "XST-05:45"


def two_processes(subject: Subject) -> None:
    """Play the same episodes in a fresh process with another hash seed, user and folder.

    This process has played many episodes by then, so the check also finds state kept between them.
    """
    fault = (
        "a fresh process, without the kit, with another hash seed, locale, user and folder got "
        "different bytes"
    )
    try:
        _require_same_elsewhere(subject, fault, _USER)
    except CheckFailed:
        subject.__dict__["_differs_elsewhere"] = True
        raise


def machine_hidden(subject: Subject) -> None:
    """Play the same episodes in a fresh process that seems to run on another machine."""
    _skip_if_different(subject)
    fault = "a process with another home, host name and number of CPUs got different bytes"
    start = f"{_text_of(shifted_machine)}\nshift_machine('elsewhere')\n"
    _require_same_elsewhere(subject, fault, _MACHINE, start, absent=_ABSENT)


def clock_hidden(subject: Subject) -> None:
    """Play the same episodes in a fresh process with another clock and time zone."""
    _skip_if_different(subject)
    fault = "a process with another clock and time zone got different bytes, so the time is visible"
    start = f"{_text_of(shifted_clock)}\nshift_clock({_CLOCK_SHIFT}, {_CLOCK_ZONE!r})\n"
    _require_same_elsewhere(subject, fault, _USER, start, builds=False)


def _skip_if_different(subject: Subject) -> None:
    if subject.__dict__.get("_differs_elsewhere"):
        raise CheckSkipped("a fresh process got different bytes already")


def _require_same_elsewhere(
    subject: Subject,
    fault: str,
    variables: Mapping[str, str],
    start: str = "",
    *,
    builds: bool = True,
    absent: tuple[str, ...] | list[str] = (),
) -> None:
    """Compare this process with a fresh one.

    Args:
        subject: The environment.
        fault: Meaning of a difference.
        variables: Environment variables that are set there.
        start: Source code that is run there first.
        builds: Whether both build tasks, too.
        absent: Environment variables that are not set there.
    """
    episodes, built, here = _seen_here(subject)
    asked = built if builds else []
    there = _seen_there(subject, episodes, asked, variables, start, absent)
    pairs = zip(here["builds"][: len(asked)], there["builds"], strict=True)
    changed = [a[0] for a, b in pairs if a != b]
    if changed:
        raise CheckFailed(f"{fault}: {len(changed)} tasks were built differently: {changed[0]}, …")
    if there["episodes"] != here["episodes"]:
        raise CheckFailed(fault)


def _seen_here(subject: Subject) -> tuple[list[Any], list[str], dict[str, Any]]:
    """Return episodes, tasks to build, and their digests in this process; computed once."""
    known: tuple[list[Any], list[str], dict[str, Any]] | None = subject.__dict__.get("_seen_here")
    if known is None:
        episodes = [[task.id, 7, probe_actions(subject, task, 30)] for task in subject.tasks[:3]]
        step = -(-len(subject.solved) // _BUILDS)
        built = [each.task.id for each in subject.solved[::step]]
        env = subject.make()
        try:
            known = episodes, built, digest(env, episodes, built)
        finally:
            env.close()
        subject.__dict__["_seen_here"] = known
    return known


def _seen_there(
    subject: Subject,
    episodes: list[Any],
    builds: list[str],
    variables: Mapping[str, str],
    start: str,
    absent: tuple[str, ...] | list[str],
) -> dict[str, Any]:
    paths = [os.path.abspath(place) for place in sys.path]
    own = {} if subject.spec is None else subject.spec.kwargs
    request = {
        "path": paths,
        "entry_point": subject.entry_point,
        "kwargs": {**own, **subject.kwargs},
        "episodes": episodes,
        "builds": builds,
    }
    program = f"import sys\nsys.path[:] = {paths!r}\n{start}\n{_text_of(twin)}"
    dropped = {name for name in os.environ if name.startswith("PYTEST_")}.union(absent)
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    with tempfile.TemporaryDirectory(prefix="there-") as folder:
        if absent:
            variables = {**variables, **_own_folders(Path(folder))}
        other = subprocess.run(
            [sys.executable, "-c", program],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            env={**kept, **variables},
            cwd=folder,
            timeout=300,
        )
    if other.returncode != 0:
        raise CheckFailed(f"the other process failed: {other.stderr.strip()[-300:]}")
    printed, _, result = other.stdout.rpartition(MARK)
    if printed:
        raise CheckFailed(f"an episode wrote to standard output: {printed!r:.80}")
    seen: dict[str, Any] = json.loads(result)
    return seen


def _own_folders(folder: Path) -> dict[str, str]:
    """Make a home and a temporary folder and return them as environment variables."""
    places = {"HOME": folder / "home", "TMPDIR": folder / "temporary"}
    for place in places.values():
        place.mkdir()
    return {name: str(place) for name, place in places.items()}


def _text_of(module: Any) -> str:
    return Path(module.__file__).read_text(encoding="utf-8")


CHECKS = (
    ConformanceCheck(
        "two_processes",
        "do not depend on hash(), the order of sets, environment variables, the folder, "
        "loaded modules, or what else the process has done",
        two_processes,
    ),
    ConformanceCheck(
        "machine_hidden",
        "reveal nothing about the machine: no home, host name, number of CPUs or temporary folder",
        machine_hidden,
    ),
    ConformanceCheck(
        "clock_hidden",
        "show only simulated dates and times of day, a function of (task, seed)",
        clock_hidden,
    ),
)
