"""Dockerfile parser: the steps from a base to the image, and any obstacles.

Supports FROM with a Debian or Python base, RUN, COPY and ADD of local files, WORKDIR and ENV.
Package installation is a requirement rather than a step: either the base has the packages, or the
task cannot run on it.
"""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Copy", "ParsedDockerfile", "Run", "read_dockerfile"]

_BASES = re.compile(
    r"^(docker\.io/)?(library/)?(debian|python|ubuntu|buildpack-deps)(:[\w.-]+)?$"
    r"|^ghcr\.io/laude-institute/t-bench/(ubuntu|python)-[\w.-]+(:[\w.-]+)?$"
)
_IGNORED = {"CMD", "ENTRYPOINT", "EXPOSE", "LABEL", "MAINTAINER", "STOPSIGNAL", "VOLUME", "SHELL"}
_INSTALL = re.compile(r"^(?:apt-get|apt|pip3?|python3? -m pip|uv pip)\b.*?\binstall\b(.*)$", re.S)
_HOUSEKEEPING = re.compile(
    r"^(apt-get|apt) (-\S+ )*(update|clean|autoclean|autoremove|upgrade)\b"
    r"|^rm -rf /var/(lib/apt|cache/apt)|^(true|:)$"
)


@dataclass(frozen=True)
class Copy:
    """Copy files from the build context."""

    sources: tuple[str, ...]
    target: str
    mode: int | None = None


@dataclass(frozen=True)
class Run:
    """Run a command, with the working directory and variables in effect at this point."""

    command: str
    workdir: str
    variables: Mapping[str, str]


@dataclass(frozen=True)
class ParsedDockerfile:
    """A parsed Dockerfile."""

    base: str = "debian:12"
    steps: tuple[Copy | Run, ...] = ()
    workdir: str = "/"
    variables: Mapping[str, str] = field(default_factory=dict)
    debian_packages: tuple[str, ...] = ()
    python_packages: tuple[str, ...] = ()
    obstacles: tuple[str, ...] = ()
    """Unsupported parts, in words."""


class _Reader:
    def __init__(self) -> None:
        self.base = ""
        self.steps: list[Copy | Run] = []
        self.workdir = "/"
        self.variables: dict[str, str] = {}
        self.arguments: dict[str, str] = {}
        self.debian: list[str] = []
        self.python: list[str] = []
        self.obstacles: list[str] = []

    def take(self, word: str, rest: str) -> None:
        method = getattr(self, f"_{word.lower()}", None)
        if method is not None:
            method(rest)
        elif word not in _IGNORED:
            self.obstacles.append(f"the instruction {word}")

    def _from(self, rest: str) -> None:
        name = self._filled(rest.split()[0])
        if self.base:
            self.obstacles.append("a build in several stages")
        elif not _BASES.match(name):
            self.obstacles.append(f"the base image {name}")
        self.base = name

    def _arg(self, rest: str) -> None:
        name, _, value = rest.partition("=")
        self.arguments[name.strip()] = value.strip().strip("\"'")

    def _workdir(self, rest: str) -> None:
        path = self._filled(rest.strip().strip("\"'"))
        self.workdir = path if path.startswith("/") else f"{self.workdir.rstrip('/')}/{path}"
        self.steps.append(Run(f"mkdir -p {shlex.quote(self.workdir)}", "/", {}))

    def _env(self, rest: str) -> None:
        words = shlex.split(rest)
        pairs = [word.partition("=")[::2] for word in words if "=" in word]
        if "=" not in words[0]:
            pairs = [(words[0], rest.split(None, 1)[1].strip())]
        for name, value in pairs:
            self.variables[name] = self._filled(value)

    def _user(self, rest: str) -> None:
        if rest.strip() not in ("root", "0", "root:root", "0:0"):
            self.obstacles.append(f"the user {rest.strip()}")

    def _healthcheck(self, rest: str) -> None:
        if rest.strip() != "NONE":
            self.obstacles.append("a health check")

    def _copy(self, rest: str) -> None:
        self._add(rest)

    def _add(self, rest: str) -> None:
        words = json.loads(rest) if rest.startswith("[") else shlex.split(rest)
        flags = [word for word in words if word.startswith("--")]
        words = [self._filled(word) for word in words if not word.startswith("--")]
        mode = None
        for flag in flags:
            if flag.startswith("--chmod=") and flag[8:].isdigit():
                mode = int(flag[8:], 8)
            elif not flag.startswith("--chown=root") and not flag.startswith("--link"):
                self.obstacles.append(f"the flag {flag}")
        if any("://" in word for word in words) or len(words) < 2:
            self.obstacles.append(f"copying {rest[:60]!r}")
            return
        target = words[-1]
        if not target.startswith("/"):
            target = f"{self.workdir.rstrip('/')}/{target.removeprefix('./')}"
        self.steps.append(Copy(tuple(words[:-1]), target, mode))

    def _run(self, rest: str) -> None:
        if rest.startswith("["):
            rest = shlex.join(json.loads(rest))
        if rest.startswith("--"):
            flag, _, rest = rest.partition(" ")
            self.obstacles.append(f"the flag {flag}")
        kept = []
        for command in _commands(rest):
            found = _INSTALL.match(command)
            if found:
                self._packages(command, found[1])
            elif not _HOUSEKEEPING.match(command):
                kept.append(command)
        if kept:
            variables = {**self.arguments, **self.variables}
            self.steps.append(Run(" && ".join(kept), self.workdir, variables))

    def _packages(self, command: str, rest: str) -> None:
        names = [word for word in shlex.split(rest) if not word.startswith("-")]
        names = [name for name in names if name not in ("&&", ";")]
        if command.startswith("apt"):
            self.debian += [name.partition("=")[0] for name in names]
        else:
            self.python += names

    def _filled(self, text: str) -> str:
        values = {**self.arguments, **self.variables}
        return re.sub(r"\$\{?(\w+)\}?", lambda match: values.get(match[1], match[0]), text)


def read_dockerfile(text: str) -> ParsedDockerfile:
    """Parse a Dockerfile; unsupported parts are listed in `obstacles`."""
    reader = _Reader()
    for line in _lines(text):
        word, _, rest = line.partition(" ")
        try:
            reader.take(word.upper(), rest.strip())
        except (ValueError, IndexError) as error:
            reader.obstacles.append(f"the line {line[:60]!r} ({error})")
    return ParsedDockerfile(
        base=reader.base or "debian:12",
        steps=tuple(reader.steps),
        workdir=reader.workdir,
        variables=dict(reader.variables),
        debian_packages=tuple(dict.fromkeys(reader.debian)),
        python_packages=tuple(dict.fromkeys(reader.python)),
        obstacles=tuple(dict.fromkeys(reader.obstacles)),
    )


def _lines(text: str) -> list[str]:
    """Return logical lines: comments removed, continuations joined."""
    kept = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\[ \t]*\n", " ", "\n".join(kept))
    return [line.strip() for line in joined.splitlines() if line.strip()]


def _commands(text: str) -> list[str]:
    """Split a top-level chain of `&&` and `;` into commands; anything else is one command."""
    lexer = shlex.shlex(text, posix=False, punctuation_chars="&|;")
    lexer.whitespace_split = True
    lexer.commenters = ""
    commands: list[list[str]] = [[]]
    try:
        for word in lexer:
            if word in ("&&", ";"):
                commands.append([])
            elif set(word) <= set("&|;"):
                return [text.strip()]
            else:
                commands[-1].append(word)
    except ValueError:
        return [text.strip()]
    if any(words and words[0] in _COMPOUND for words in commands):
        return [text.strip()]
    return [" ".join(words) for words in commands if words]


_COMPOUND = {"for", "while", "if", "case", "{", "(", "do", "then", "until"}
