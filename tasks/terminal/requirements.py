"""Packages that a Dockerfile or a script installs, read from a single command.

Some packages are never a requirement: what the benchmarks' own harnesses use (terminal recorders,
pytest), and what only serves to fetch other packages.
"""

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hexathlon.tasks.terminal.dockerfile_text import expand

__all__ = ["Installation", "needed_debian", "needed_python", "project_name", "read_installation"]

_INSTALL = re.compile(
    r"^(?:sudo\s+)?(?:\w+=\S*\s+)*"
    r"(?P<tool>apt-get|apt|aptitude|(?:/\S*/)?pip3?|(?:/\S*/)?python3?(?:\.\d+)? -m pip|uv pip)\s"
    r"(?:(?!\binstall\b)[^|<>])*?\binstall\b(?P<rest>.*)$",
    re.S,
)
_DEBIAN = re.compile(r"^[a-z0-9][a-z0-9+.-]+(:[a-z0-9]+)?([=/].*)?$")
_PYTHON = re.compile(
    r"^[A-Za-z0-9][\w.-]*(\[[\w,.-]*\])?\s*((==|>=|<=|~=|!=|<|>)[\w.*+!-]+"
    r"(,(==|>=|<=|~=|!=|<|>)[\w.*+!-]+)*)?$"
)
_REDIRECTION = re.compile(r"\s(?:\d?>>?\s*(?:&\d|/dev/null)|&>\s*/dev/null)(?=\s|$)")
_WITH_VALUE = frozenset(
    "-i --index-url --extra-index-url -t --target-release -o --option --timeout --retries "
    "--trusted-host --progress-bar --default-timeout --root-user-action --cache-dir".split()
)
_UNUSUAL = frozenset("-r --requirement -c --constraint -e --editable -f --find-links".split())

_NEVER_DEBIAN = frozenset(
    "apt-transport-https apt-utils asciinema ca-certificates curl-ca-certificates dialog dirmngr "
    "gnupg gnupg2 locales lsb-release python3-pip python3-pytest python3-setuptools python3-venv "
    "python3-wheel python-is-python3 python3-distutils software-properties-common tmux tzdata "
    "ca-certificates-java".split()
)
_NEVER_PYTHON = frozenset(
    "pip pytest pytest-asyncio pytest-cov pytest-json-ctrf pytest-json-report pytest-mock "
    "pytest-timeout pytest-xdist setuptools uv virtualenv wheel".split()
)
_VENV = re.compile(r"^python3\.\d+-venv$")


class Installation(NamedTuple):
    """The packages of one installing command, as far as they are needed."""

    debian: tuple[str, ...] = ()
    python: tuple[str, ...] = ()


def read_installation(command: str, values: Mapping[str, str]) -> Installation | None:
    """Return what a command installs; None if it does something else, or only a shell can tell.

    Args:
        command: A command without `&&`, `;` and pipes.
        values: Variables that its words may refer to.
    """
    match = _INSTALL.match(command)
    if match is None:
        return None
    text = _REDIRECTION.sub(" ", f" {match['rest']} ")
    if re.search(r"[`|&;<>]\s|\$\(|`", text):
        return None
    try:
        words = shlex.split(expand(text, values))
    except ValueError:
        return None
    names, skip = [], False
    for word in words:
        if skip or word in _UNUSUAL:
            if not skip:
                return None
            skip = False
        elif word in _WITH_VALUE:
            skip = True
        elif not word.startswith("-"):
            names.append(word)
    if "apt" in match["tool"]:
        if not all(map(_DEBIAN.match, names)):
            return None
        return Installation(debian=needed_debian(names))
    if not all(map(_PYTHON.match, names)):
        return None
    return Installation(python=needed_python(names))


def needed_debian(names: Iterable[str]) -> tuple[str, ...]:
    """Return Debian packages without versions, and without those that are never needed."""
    plain = (re.split("[=/:]", name)[0] for name in names)
    return tuple(name for name in plain if name not in _NEVER_DEBIAN and not _VENV.match(name))


def needed_python(requirements: Iterable[str]) -> tuple[str, ...]:
    """Return Python requirements without those that are never needed."""
    return tuple(text for text in requirements if project_name(text) not in _NEVER_PYTHON)


def project_name(requirement: str) -> str:
    """Return the normalised name of a requirement such as `PyYAML[x]==6`."""
    name = re.split(r"[\[=<>~!; ]", requirement.strip())[0]
    return re.sub(r"[-_.]+", "-", name).lower()
