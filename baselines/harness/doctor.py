"""Checks of what this machine can run; nothing is installed or changed."""

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from hexathlon.baselines.engines.served.settings import usable_cores
from hexathlon.baselines.harness.errors import EnvironmentUnavailable
from hexathlon.baselines.harness.listing import all_environments
from hexathlon.envs.registry import ENVIRONMENTS, missing_extra

__all__ = ["DoctorCheck", "probes"]

_EXTRAS = {
    "docker": ("docker",),
    "duckdb": ("duckdb",),
    "postgres": ("psycopg",),
    "web": ("playwright", "starlette", "uvicorn", "python_multipart"),
    "gui": ("android_env", "immutabledict"),
    "desktop": ("jeepney", "Xlib"),
}
_CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_SQLITE_WANTED = (3, 35, 0)
_DEADLINE = 10.0


class DoctorCheck(NamedTuple):
    """Result of checking one requirement."""

    name: str
    state: Literal["yes", "no", "limited"]
    detail: str
    remedy: str = ""
    """How to provide it; empty if it is present or optional."""


def probes() -> Iterator[DoctorCheck]:
    """Check everything that an event may need."""
    yield _python()
    yield DoctorCheck("platform", "yes", f"{platform.system()} {platform.machine()}")
    yield _cores()
    yield _memory()
    yield from _sqlite()
    for extra, modules in _EXTRAS.items():
        yield _extra(extra, modules)
    yield _ray()
    yield _docker()
    yield _namespaces()
    yield _program("bubblewrap", ("bwrap",), "apt-get install bubblewrap")
    yield _program("chromium", _CHROMIUM, "apt-get install chromium-headless-shell")
    yield _postgres()
    yield _vllm()
    try:
        environments = all_environments()
    except EnvironmentUnavailable as error:
        yield DoctorCheck("plugins", "no", str(error), "fix or uninstall the plugin")
        environments = list(ENVIRONMENTS.values())
    for info in environments:
        install = missing_extra(info)
        yield DoctorCheck(info.id, "no" if install else "yes", info.title, install or "")


def _python() -> DoctorCheck:
    return DoctorCheck("python", "yes", f"{platform.python_version()} at {sys.executable}")


def _cores() -> DoctorCheck:
    return DoctorCheck("cores", "yes", f"{usable_cores()} usable of {os.cpu_count()}")


def _memory() -> DoctorCheck:
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    state: Literal["yes", "limited"] = "yes" if total >= 2 else "limited"
    return DoctorCheck("memory", state, f"{total:.1f} GiB, {free:.1f} GiB free")


def _sqlite() -> Iterator[DoctorCheck]:
    version = sqlite3.sqlite_version
    new = sqlite3.sqlite_version_info >= _SQLITE_WANTED
    yield DoctorCheck(
        "sqlite", "yes" if new else "no", version, "" if new else "needs 3.35 or later"
    )
    connection = sqlite3.connect(":memory:")
    try:
        options = {row[0] for row in connection.execute("PRAGMA compile_options")}
    finally:
        connection.close()
    serialise = hasattr(connection, "serialize")
    yield DoctorCheck(
        "sqlite serialize",
        "yes" if serialise else "no",
        "resets and forks databases",
        "" if serialise else "use a Python whose sqlite3 has Connection.serialize()",
    )
    text = "ENABLE_FTS5" in options
    yield DoctorCheck(
        "sqlite full text", "yes" if text else "limited", "FTS5, for the shop's search"
    )


def _extra(extra: str, modules: tuple[str, ...]) -> DoctorCheck:
    installed = all(importlib.util.find_spec(name) is not None for name in modules)
    remedy = "" if installed else f"pip install 'hexathlon[{extra}]'"
    state: Literal["yes", "no"] = "yes" if installed else "no"
    return DoctorCheck(f"extra [{extra}]", state, ", ".join(modules), remedy)


def _ray() -> DoctorCheck:
    # The version is read without importing Ray, which takes seconds.
    try:
        version = importlib.metadata.version("ray")
    except importlib.metadata.PackageNotFoundError:
        return DoctorCheck("ray", "no", "for --cluster", "pip install 'hexathlon[cluster]'")
    return DoctorCheck("ray", "yes", f"{version}, for --cluster")


def _docker() -> DoctorCheck:
    socket = Path("/var/run/docker.sock")
    program = shutil.which("docker")
    if program is None:
        return DoctorCheck("docker engine", "no", "no docker program", "install Docker or Podman")
    result = _run(program, "info", "--format", "{{.ServerVersion}}")
    if result is None or result.returncode != 0:
        why = f"{socket} is not usable" if socket.exists() else "no engine answers"
        return DoctorCheck("docker engine", "no", why, "start the engine; join the group 'docker'")
    return DoctorCheck("docker engine", "yes", result.stdout.strip())


def _namespaces() -> DoctorCheck:
    program = shutil.which("unshare")
    if program is None:
        return DoctorCheck("namespaces", "no", "no unshare program", "apt-get install util-linux")
    result = _run(program, "-Urmpfn", "true")
    if result is None or result.returncode != 0:
        why = "the kernel denies user namespaces" + (f": {result.stderr.strip()}" if result else "")
        return DoctorCheck("namespaces", "no", why, "sysctl kernel.unprivileged_userns_clone=1")
    return DoctorCheck("namespaces", "yes", "user, mount, process and network")


def _program(name: str, programs: tuple[str, ...], remedy: str) -> DoctorCheck:
    path = next(filter(None, map(shutil.which, programs)), None)
    if path is None:
        return DoctorCheck(name, "no", "not on PATH", remedy)
    return DoctorCheck(name, "yes", path)


def _postgres() -> DoctorCheck:
    path = shutil.which("postgres")
    installations = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if path or installations:
        return DoctorCheck("postgresql", "yes", path or str(installations[-1]))
    return DoctorCheck("postgresql", "no", "no server program", "apt-get install postgresql")


def _vllm() -> DoctorCheck:
    """Check the environment from which `eval --engine vllm` and recipes start servers."""
    from hexathlon.baselines.engines.errors import EngineMissing
    from hexathlon.baselines.engines.served.server import vllm_python, vllm_version

    try:
        return DoctorCheck("vllm", "yes", f"{vllm_version()} at {vllm_python()}")
    except EngineMissing as error:
        detail, _, remedy = str(error).partition(": ")
        return DoctorCheck("vllm", "no", detail, remedy)


def _run(*command: str) -> "subprocess.CompletedProcess[str] | None":
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=_DEADLINE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
