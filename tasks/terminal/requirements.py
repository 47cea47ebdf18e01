"""Packages that a Dockerfile or a script installs, read from a single command.

Some packages are never a requirement: tools of the benchmarks' own harnesses (terminal recorders,
pytest), and tools that only fetch other packages.
"""

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hexathlon.tasks.terminal.dockerfile_text import expand

__all__ = [
    "Installation",
    "needed_debian",
    "needed_python",
    "project_name",
    "read_installation",
    "requirements_of_scripts",
]

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
    "-i -t --target-release -o --option --timeout --retries "
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
        elif _takes_value(word):
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


_IN_SCRIPTS = re.compile(
    r"^[ \t]*(?:(?:python3?|uv)\s+(?:-m\s+)?)?pip3?\s+install\s+(?P<pip>.*)$"
    r"|^[ \t]*uv\s+add\s+(?P<add>.*)$"
    r"|(?:uvx|uv\s+run)\s(?P<run>.*)$",
    re.M,
)


def requirements_of_scripts(tests: Mapping[str, bytes], context: Mapping[str, bytes]) -> list[str]:
    """Return the Python requirements that a task's test scripts install, lists in files included.

    Args:
        tests: The step's test files.
        context: The build context, in which lists of requirements may lie.
    """
    found: list[str] = []
    for path, data in sorted(tests.items()):
        if not path.endswith(".sh"):
            continue
        for match in _IN_SCRIPTS.finditer(data.decode("utf-8", "replace")):
            found += _installed_by(match, {**context, **tests})
    return [text for text in needed_python(dict.fromkeys(found)) if _PYTHON.match(text)]


def _installed_by(match: re.Match[str], files: Mapping[str, bytes]) -> list[str]:
    rest = match["pip"] or match["add"] or match["run"] or ""
    rest = re.split(r"\s(?:&&|\|\|?|;|\d?>)|[;|`]", _REDIRECTION.sub(" ", f"{rest} "))[0]
    try:
        words = shlex.split(rest)
    except ValueError:
        return []
    found: list[str] = []
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        if before in ("-r", "--requirement"):
            found += _listed(word, files)
        elif match["run"] is not None:
            found += word.split(",") if before in ("-w", "--with") else []
        elif not word.startswith("-") and not (_takes_value(before) or before in _UNUSUAL):
            found.append(word)
    return found


def _listed(name: str, files: Mapping[str, bytes]) -> list[str]:
    """Return the requirements in a file named relative to a directory that is not known."""
    tail = "/" + name.removeprefix("/").removeprefix("app/").removeprefix("./")
    paths = sorted((path for path in files if f"/{path}".endswith(tail)), key=len)
    if not paths:
        return []
    lines = files[paths[0]].decode("utf-8", "replace").splitlines()
    plain = [re.split(r"\s[#;]|;|\s--hash|\s\\", line)[0].strip() for line in lines]
    return [line.replace(" ", "") for line in plain if line and not line.startswith(("#", "-"))]


def _takes_value(option: str) -> bool:
    """Whether the next word is an option's value, such as the address of an index."""
    return option in _WITH_VALUE or re.fullmatch(r"--[a-z-]+-url", option) is not None


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
