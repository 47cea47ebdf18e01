"""Dockerfile parser: the steps from a base to the image, and any obstacles.

Package installation is a requirement rather than a step: either the base has the packages, or
the user's package folder provides them, or the task cannot run. Installations that only the shell
can expand (in a loop, from a list in a file) stay steps.
"""

import json
import posixpath
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from hexathlon.tasks.terminal.dockerfile_text import (
    Instruction,
    expand,
    read_instructions,
    split_words,
)
from hexathlon.tasks.terminal.requirements import read_installation

__all__ = ["BASH", "Copy", "ParsedDockerfile", "Run", "is_archive", "read_dockerfile"]

BASH = ("bash", "-c")

_BASES = re.compile(
    r"^(docker\.io/)?(library/)?(debian|python|ubuntu|buildpack-deps)(:[\w.-]+)?$"
    r"|^ghcr\.io/laude-institute/t-bench/[\w.-]+(:[\w.-]+)?$"
)
_LANGUAGES = {
    "gcc": ("gcc", "g++", "make"),
    "golang": ("golang-go",),
    "maven": ("maven",),
    "node": ("nodejs", "npm"),
    "openjdk": ("default-jdk",),
    "eclipse-temurin": ("default-jdk",),
    "perl": ("perl",),
    "r-base": ("r-base",),
    "ruby": ("ruby",),
    "rust": ("cargo",),
}
"""Images of a language on Debian, and the packages that a plain Debian needs instead."""
_LANGUAGE = re.compile(r"^(?:docker\.io/)?(?:library/)?([a-z-]+)(?::[\w.-]+)?$")
_IGNORED = {
    "CMD", "ENTRYPOINT", "EXPOSE", "HEALTHCHECK", "LABEL", "MAINTAINER", "STOPSIGNAL", "VOLUME",
}  # fmt: skip
"""What concerns the image's own program, which is not started."""
_HOUSEKEEPING = re.compile(
    r"^(apt-get|apt) (-\S+ )*(update|clean|autoclean|autoremove|upgrade)\b"
    r"|^rm -rf /var/(lib/apt|cache/apt)|^(true|:)$"
    r"|^(pip3?|python3? -m pip) cache purge$|^add-apt-repository\b"
)
_ARCHIVE = re.compile(r"\.(tar|tgz|tbz2|txz|tar\.(gz|bz2|xz))$")
_HARMLESS_MOUNTS = ("cache", "tmpfs")
_PLATFORM = {
    "BUILDPLATFORM": "linux/amd64", "TARGETARCH": "amd64", "TARGETOS": "linux",
    "TARGETPLATFORM": "linux/amd64",
}  # fmt: skip
_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Copy:
    """Copy files from the build context, from an earlier stage, or from here-documents."""

    sources: tuple[str, ...]
    target: str
    mode: int | None = None
    owner: str = ""
    """`user`, `user:group` or their numbers; empty for root."""

    stage: int | None = None
    """Number of an earlier stage; None for the build context."""

    documents: Mapping[str, str] = field(default_factory=dict)
    """Texts of those sources that are here-documents."""

    unpack: bool = False
    """Whether archives are unpacked into the target, as ADD does."""


@dataclass(frozen=True)
class Run:
    """Run a command, with the working directory and variables in effect at this point."""

    command: str
    workdir: str
    variables: Mapping[str, str]
    shell: tuple[str, ...] = BASH
    user: str = ""
    """`user` or `user:group` that runs it; empty for root."""


@dataclass(frozen=True)
class ParsedDockerfile:
    """A parsed Dockerfile, or one of its stages."""

    base: str = "debian:12"
    steps: tuple[Copy | Run, ...] = ()
    workdir: str = "/"
    variables: Mapping[str, str] = field(default_factory=dict)
    debian_packages: tuple[str, ...] = ()
    python_packages: tuple[str, ...] = ()
    obstacles: tuple[str, ...] = ()
    """Unsupported parts, in words."""

    user: str = ""
    """The user that the image runs as; empty for root."""

    stages: tuple["ParsedDockerfile", ...] = ()
    """Earlier stages, in order."""


class _Reader:
    """Reads one stage."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self.name = ""
        self.base = ""
        self.steps: list[Copy | Run] = []
        self.workdir = "/"
        self.variables: dict[str, str] = {}
        self.arguments: dict[str, str] = {}
        self.given = given
        self.user = ""
        self.shell: tuple[str, ...] = BASH
        self.debian: list[str] = []
        self.python: list[str] = []
        self.obstacles: list[str] = []
        self.stages: list[_Reader] = []

    def take(self, instruction: Instruction) -> None:
        method = getattr(self, f"_{instruction.word.lower()}", None)
        if method is not None:
            method(instruction)
        elif instruction.word not in _IGNORED:
            self.obstacles.append(f"the instruction {instruction.word}")

    def begin(self, rest: str, stages: "list[_Reader]") -> None:
        """Take FROM."""
        words = [word for word in split_words(rest, self.given) if not word.startswith("--")]
        self.base = words[0]
        if len(words) == 3 and words[1].lower() == "as":
            self.name = words[2].lower()
        self.stages = stages
        earlier = next((one for one in stages if one.name == words[0].lower()), None)
        if earlier is not None:
            self._continue(earlier)
        elif not _BASES.match(words[0]):
            match = _LANGUAGE.match(words[0])
            if match is None or match[1] not in _LANGUAGES:
                self.obstacles.append(f"the base image {words[0]}")
            else:
                self.debian += _LANGUAGES[match[1]]

    def _continue(self, earlier: "_Reader") -> None:
        self.base, self.workdir, self.shell = earlier.base, earlier.workdir, earlier.shell
        self.user = earlier.user
        self.steps, self.variables = list(earlier.steps), dict(earlier.variables)
        self.debian, self.python = list(earlier.debian), list(earlier.python)
        self.obstacles = list(earlier.obstacles)

    def values(self) -> dict[str, str]:
        return {"PATH": _DEFAULT_PATH, **_PLATFORM, **self.arguments, **self.variables}

    def parsed(self) -> ParsedDockerfile:
        stages = [stage.parsed() for stage in self.stages]
        used = {step.stage for step in self.steps if isinstance(step, Copy)} - {None}
        obstacles = [*self.obstacles, *(o for n in used for o in stages[n].obstacles)]  # type: ignore[index]
        debian = [*self.debian, *(p for n in used for p in stages[n].debian_packages)]  # type: ignore[index]
        python = [*self.python, *(p for n in used for p in stages[n].python_packages)]  # type: ignore[index]
        return ParsedDockerfile(
            base=self.base or "debian:12",
            steps=tuple(self.steps),
            workdir=self.workdir,
            variables=dict(self.variables),
            debian_packages=tuple(dict.fromkeys(debian)),
            python_packages=tuple(dict.fromkeys(python)),
            obstacles=tuple(dict.fromkeys(obstacles)),
            user=self.user,
            stages=tuple(stages),
        )

    def _arg(self, instruction: Instruction) -> None:
        for word in split_words(instruction.rest, self.values()):
            name, equals, value = word.partition("=")
            if equals or name in self.given:
                self.arguments[name] = value if equals else self.given[name]

    def _workdir(self, instruction: Instruction) -> None:
        path = expand(instruction.rest.strip("\"'"), self.values())
        self.workdir = posixpath.normpath(posixpath.join(self.workdir, path))
        self.steps.append(Run(f"mkdir -p {shlex.quote(self.workdir)}", "/", {}))

    def _env(self, instruction: Instruction) -> None:
        words = split_words(instruction.rest, self.values())
        if "=" in instruction.rest.split()[0]:
            self.variables |= {n: v for n, e, v in (w.partition("=") for w in words) if e}
        else:
            name, text = instruction.rest.split(None, 1)
            self.variables[name] = expand(text, self.values())

    def _user(self, instruction: Instruction) -> None:
        name = expand(instruction.rest, self.values())
        self.user = "" if name.partition(":")[0] in ("root", "0") else name

    def _shell(self, instruction: Instruction) -> None:
        self.shell = tuple(str(word) for word in json.loads(instruction.rest))

    def _copy(self, instruction: Instruction) -> None:
        self._take_files(instruction, unpack=False)

    def _add(self, instruction: Instruction) -> None:
        self._take_files(instruction, unpack=True)

    def _take_files(self, instruction: Instruction, *, unpack: bool) -> None:
        rest = instruction.rest
        flags = re.match(r"((?:--\S+\s+)*)", rest)
        assert flags is not None
        settings = dict(_flag(word) for word in split_words(flags[1], self.values()))
        rest = rest[flags.end() :]
        texts = instruction.documents
        if rest.startswith("["):
            words = [expand(str(word), self.values()) for word in json.loads(rest)]
        else:
            plain = re.sub(r"<<-?[ \t]*['\"]?([A-Za-z_]\w*)['\"]?", r"\1", rest) if texts else rest
            words = split_words(plain, self.values())
        if any("://" in word for word in words[:-1]) or len(words) < 2:
            self.obstacles.append(f"copying {rest[:60]!r}")
            return
        mode = settings.pop("chmod", "")
        stage = self._stage(settings.pop("from", None))
        owner = settings.pop("chown", "")
        settings.pop("link", None)
        self.obstacles += [f"the flag --{name}" for name in settings]
        if mode and not mode.isdigit():
            self.obstacles.append(f"the flag --chmod={mode}")
        target = words[-1]
        if not target.startswith("/"):
            target = f"{self.workdir.rstrip('/')}/{target.removeprefix('./')}"
        self.steps.append(
            Copy(
                tuple(words[:-1]),
                target,
                int(mode, 8) if mode.isdigit() else None,
                "" if owner.split(":")[0] in ("root", "0") else owner,
                stage,
                {n: expand(t, self.values()) if e else t for n, (t, e) in texts.items()},
                unpack and any(map(is_archive, words[:-1])),
            )
        )

    def _stage(self, name: str | None) -> int | None:
        if name is None:
            return None
        for number, stage in enumerate(self.stages):
            if name.lower() in (stage.name, str(number)):
                return number
        self.obstacles.append(f"copying from the image {name}")
        return None

    def _run(self, instruction: Instruction) -> None:
        rest, texts = instruction.rest, instruction.documents
        while match := re.match(r"--(\w+)(?:=(\S+))?\s+", rest):
            kind = re.search(r"type=(\w+)", match[2] or "")
            if match[1] == "mount" and kind is not None and kind[1] not in _HARMLESS_MOUNTS:
                self.obstacles.append(f"the flag {match[0].strip()}")
            elif match[1] not in ("mount", "network", "security"):
                self.obstacles.append(f"the flag {match[0].strip()}")
            rest = rest[match.end() :]
        if texts:
            self._append_run(_with_documents(rest, texts))
            return
        if rest.startswith("["):
            rest = shlex.join(json.loads(rest))
        kept = []
        for command in _commands(rest):
            found = read_installation(command, self.values())
            if found is not None:
                self.debian += found.debian
                self.python += found.python
            elif not _HOUSEKEEPING.match(command):
                kept.append(command)
        if kept:
            self._append_run(" && ".join(kept))

    def _append_run(self, command: str) -> None:
        variables = {**self.arguments, **self.variables}
        self.steps.append(Run(command, self.workdir, variables, self.shell, self.user))


def _flag(word: str) -> tuple[str, str]:
    name, _, value = word.removeprefix("--").partition("=")
    return name, value


def _with_documents(rest: str, texts: Mapping[str, tuple[str, bool]]) -> str:
    """Return a command with its here-documents; a lone document is itself the script."""
    if re.fullmatch(r"<<-?[ \t]*['\"]?[A-Za-z_]\w*['\"]?", rest):
        ((text, _),) = texts.values()
        if text.startswith("#!"):
            return f"cat > /tmp/.script <<'HEX_SCRIPT'\n{text}HEX_SCRIPT\nchmod +x /tmp/.script; " \
                "/tmp/.script"  # fmt: skip
        return text
    return rest + "\n" + "".join(f"{text}{name}\n" for name, (text, _) in texts.items())


def is_archive(path: str) -> bool:
    """Whether ADD unpacks a file of this name."""
    return _ARCHIVE.search(path) is not None


def read_dockerfile(text: str) -> ParsedDockerfile:
    """Parse a Dockerfile; unsupported parts are listed in `obstacles`."""
    given = dict(_PLATFORM)
    stages: list[_Reader] = []
    reader = _Reader(given)
    for instruction in read_instructions(text):
        try:
            if instruction.word == "FROM":
                if reader.base:
                    stages.append(reader)
                else:
                    given |= reader.arguments
                problems = [] if reader.base else reader.obstacles
                reader = _Reader(given)
                reader.obstacles += problems
                reader.begin(instruction.rest, list(stages))
            else:
                reader.take(instruction)
        except (ValueError, IndexError) as error:
            line = f"{instruction.word} {instruction.rest}"
            reader.obstacles.append(f"the line {line[:60]!r} ({error})")
    return reader.parsed()


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
