"""Filling of the user's package folder with what task directories install."""

import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hexathlon.envs.sandbox.base import SandboxBackend
from hexathlon.envs.sandbox.image import SandboxImage
from hexathlon.envs.sandbox.limits import MIB, SandboxLimits
from hexathlon.envs.terminal.packages import missing_debian, missing_python, packages_folder
from hexathlon.tasks.errors import TaskError
from hexathlon.tasks.terminal.dockerfile import read_dockerfile
from hexathlon.tasks.terminal.opening import read_folder
from hexathlon.tasks.terminal.requirements import project_name, requirements_of_scripts

__all__ = ["Lacking", "fetch", "lacking_packages"]

_SECONDS = 600.0


@dataclass(frozen=True)
class Lacking:
    """Packages that directories install and a base lacks, with the number of directories."""

    debian: Counter[str]
    python: Counter[str]
    """Requirements with their versions."""

    version: str
    """Python's `major.minor` in the sandbox."""

    def only(self, names: Iterable[str]) -> "Lacking":
        """Return the part with these Debian packages and Python projects."""
        kept = set(names)
        debian = Counter({name: n for name, n in self.debian.items() if name in kept})
        python = Counter({text: n for text, n in self.python.items() if project_name(text) in kept})
        return Lacking(debian, python, self.version)


def lacking_packages(folders: Iterable[Path], backend: SandboxBackend, base: str) -> Lacking:
    """Return what the directories install and the sandbox's base lacks."""
    debian: Counter[str] = Counter()
    python: Counter[str] = Counter()
    for folder in folders:
        try:
            task, _ = read_folder(folder)
        except TaskError:
            continue
        text = task.environment.get("Dockerfile", b"").decode("utf-8", "replace")
        recipe = read_dockerfile(text)
        debian.update(set(recipe.debian_packages))
        scripted = [
            name
            for step in task.steps
            for name in requirements_of_scripts(step.tests, task.environment)
        ]
        python.update({*recipe.python_packages, *scripted})
    with backend.open(SandboxImage(base), SandboxLimits(memory_bytes=1_024 * MIB)) as sandbox:
        absent = set(missing_debian(sandbox, debian))
        needed, version = missing_python(sandbox, list(python))
    debian = Counter({name: n for name, n in debian.items() if name in absent})
    return Lacking(debian, Counter({text: python[text] for text in needed}), version)


def fetch(lacking: Lacking) -> Iterator[tuple[str, str]]:
    """Download packages into the user's folder; yields each name and why it failed, or nothing.

    Wheels come through pip and its settings, with their dependencies; Debian packages through
    apt-get and its settings, with those dependencies that this machine lacks.
    """
    folder = packages_folder()
    wheels, debs = folder / "wheels", folder / "debs"
    if lacking.python:
        wheels.mkdir(parents=True, exist_ok=True)
    for requirement in sorted(lacking.python):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:"]
        command += ["--disable-pip-version-check", "--implementation=cp", "--dest", str(wheels)]
        command += [f"--python-version={lacking.version}", "--find-links", str(wheels)]
        yield requirement, _failure([*command, requirement])
    if lacking.debian:
        (debs / "partial").mkdir(parents=True, exist_ok=True)
    for name in sorted(lacking.debian):
        if shutil.which("apt-get") is None:
            yield name, "this machine has no apt-get; copy the package into debs"
            continue
        command = ["apt-get", "-qq", "-y", "--download-only", "--no-install-recommends"]
        command += ["-o", "Debug::NoLocking=1", "-o", f"Dir::Cache::archives={debs.resolve()}"]
        yield name, _failure([*command, "install", name])


def _failure(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no end within {_SECONDS:g} s"
    if done.returncode == 0:
        return ""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return (lines or [f"ended with {done.returncode}"])[-1][:200]
