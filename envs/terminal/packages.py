"""Packages of a task: presence in a sandbox's base, or in the user's package folder.

The folder is named by HEXATHLON_PACKAGES, else `packages` beside the task directories. Python
wheels lie in `wheels`, Debian packages in `debs`; the user fills both, by hand or with `hexathlon
terminal prefetch`. Nothing is downloaded while tasks run.
"""

import glob
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from hexathlon.envs.sandbox.base import Sandbox
from hexathlon.envs.sandbox.image import HOST, Entry
from hexathlon.tasks.terminal.opening import directories_root
from hexathlon.tasks.terminal.requirements import project_name

__all__ = [
    "MODULE_PATH",
    "debian_files",
    "missing_debian",
    "missing_python",
    "packages_folder",
    "python_site",
    "site_entries",
]

MODULE_PATH = "/opt/packages/python"
"""Place inside of the Python packages from the user's folder, read-only."""

_COMMANDS = {
    "bash": "bash",
    "binutils": "objdump",
    "bsdmainutils": "hexdump",
    "bsdutils": "logger",
    "build-essential": "gcc g++ make",
    "ca-certificates": "",
    "cargo": "cargo",
    "clang": "clang",
    "coreutils": "ls",
    "cron": "cron",
    "curl": "curl",
    "default-jdk": "javac",
    "default-jdk-headless": "javac",
    "default-jre": "java",
    "default-jre-headless": "java",
    "dnsutils": "dig",
    "findutils": "find",
    "g++": "g++",
    "gawk": "gawk",
    "gcc": "gcc",
    "git": "git",
    "golang": "go",
    "golang-go": "go",
    "iproute2": "ip",
    "iputils-ping": "ping",
    "libc-dev": "gcc",
    "libc6-dev": "gcc",
    "make": "make",
    "mawk": "mawk",
    "netcat": "nc",
    "netcat-openbsd": "nc",
    "nodejs": "node",
    "openssh-client": "ssh",
    "openssh-server": "sshd",
    "p7zip-full": "7z",
    "passwd": "useradd",
    "procps": "ps",
    "python3": "python3",
    "python3-dev": "python3-config",
    "python3-pip": "pip3",
    "python3-venv": "python3",
    "rustc": "rustc",
    "sqlite3": "sqlite3",
    "tzdata": "",
    "util-linux": "setpriv",
    "vim": "vim",
    "xz-utils": "xz",
    "zip": "zip",
}
"""Commands whose presence indicates a package, if the package's name is not a command."""

_PATTERNS = (
    (re.compile(r"^openjdk-\d+-jdk(-headless)?$"), "javac"),
    (re.compile(r"^openjdk-\d+-jre(-headless)?$"), "java"),
    (re.compile(r"^(python3\.\d+)-dev$"), r"\1-config"),
)
_MODULES = {
    "attrs": "attr", "beautifulsoup4": "bs4", "gitpython": "git", "grpcio": "grpc",
    "opencv-python": "cv2", "pillow": "PIL", "protobuf": "google.protobuf",
    "psycopg2-binary": "psycopg2", "pycryptodome": "Crypto", "pyjwt": "jwt", "pyopenssl": "OpenSSL",
    "python-dateutil": "dateutil", "pyyaml": "yaml", "scikit-image": "skimage",
    "scikit-learn": "sklearn", "typing-extensions": "typing_extensions",
}  # fmt: skip
_PROBE = """
import sys
from importlib import metadata, util
names = []
for pair in sys.argv[1:]:
    project, module = pair.split("=")
    try:
        metadata.distribution(project)
    except metadata.PackageNotFoundError:
        try:
            found = util.find_spec(module) is not None
        except ImportError:
            found = False
        if not found:
            names.append(project)
print("version", "%d.%d" % sys.version_info[:2])
print("missing", *names)
"""
_CHECKED = "/checked"
"""Last line of a check; no package has a slash in its name."""

_SECONDS = 300.0


def packages_folder() -> Path:
    """Return the user's package folder, which need not exist."""
    named = os.environ.get("HEXATHLON_PACKAGES")
    return Path(named) if named else directories_root() / "packages"


def missing_debian(sandbox: Sandbox, names: Iterable[str]) -> list[str]:
    """Return the Debian packages that are not in a sandbox's base.

    All of them count as missing if the check did not run to its end.
    """
    tests, checked = [], []
    for name in dict.fromkeys(names):
        if sandbox.image.base == HOST and _installed_here(name):
            continue
        known = f"dpkg-query -W -f '${{db:Status-Status}}' {shlex.quote(name)} 2>&1"
        commands = [f"command -v {shlex.quote(each)}" for each in _commands_of(name)]
        there = " && ".join(commands) or "true"
        checked.append(name)
        tests.append(
            f"{{ {{ {there}; }} >/dev/null 2>&1 || {known} | grep -qx installed; }} "
            f"|| echo {shlex.quote(name)}"
        )
    if not tests:
        return []
    done = sandbox.execute("\n".join([*tests, f"echo {_CHECKED}"]))
    *missing, end = done.output.decode("utf-8", "replace").split() or [""]
    return missing if end == _CHECKED else checked


def _commands_of(name: str) -> list[str]:
    if name in _COMMANDS:
        return _COMMANDS[name].split()
    for pattern, command in _PATTERNS:
        if pattern.match(name):
            return [pattern.sub(command, name)]
    return [name]


def _installed_here(name: str) -> bool:
    """Whether this machine, whose `/usr` is the base, has a package."""
    pattern = f"/var/lib/dpkg/info/{glob.escape(name)}"
    return os.path.exists(f"{pattern}.list") or bool(glob.glob(f"{pattern}:*.list"))


def missing_python(sandbox: Sandbox, requirements: Sequence[str]) -> tuple[list[str], str]:
    """Return the Python requirements whose projects are absent, and Python's `major.minor`.

    Versions are not compared.
    """
    pairs = [f"{name}={_MODULES.get(name, name.replace('-', '_'))}"
             for name in dict.fromkeys(map(project_name, requirements))]  # fmt: skip
    words = " ".join(map(shlex.quote, pairs))
    done = sandbox.execute(f"cd / && python3 -c {shlex.quote(_PROBE)} {words}")
    lines = done.output.decode("utf-8", "replace").splitlines()
    found = dict(line.partition(" ")[::2] for line in lines)
    if "missing" not in found:
        return list(requirements), ""
    absent = set(found["missing"].split())
    return [text for text in requirements if project_name(text) in absent], found["version"]


def python_site(requirements: Sequence[str], version: str) -> tuple[Path | None, str]:
    """Return a directory with the installed requirements, from the user's wheels; or the reason.

    Args:
        requirements: As for pip.
        version: Python's `major.minor` in the sandbox.
    """
    wheels = packages_folder() / "wheels"
    names = sorted(path.name for path in wheels.glob("*.whl"))
    if not names:
        return None, f"there are no wheels in {wheels}"
    wanted = sorted(set(requirements))
    key = hashlib.sha256("\n".join([version, *wanted, "", *names]).encode()).hexdigest()[:16]
    site = packages_folder() / "sites" / key
    if site.is_dir():
        return site, ""
    site.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=site.parent, prefix=".part-") as part:
        target = Path(part) / "site"
        command = [sys.executable, "-m", "pip", "install", "--no-index", "--quiet"]
        command += ["--disable-pip-version-check", "--no-compile", "--no-warn-script-location"]
        command += ["--find-links", str(wheels), "--target", str(target), "--only-binary=:all:"]
        command += ["--implementation=cp", f"--python-version={version}"]
        try:
            done = _run([*command, *wanted])
            if done.returncode != 0:  # the base's own versions are not compared, either
                shutil.rmtree(target, ignore_errors=True)
                done = _run([*command, *dict.fromkeys(map(project_name, wanted))])
        except subprocess.TimeoutExpired:
            return None, f"pip did not end within {_SECONDS:g} s"
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            return None, (lines or done.stderr.splitlines() or ["pip failed"])[-1][:200]
        _own_scripts(target / "bin")
        try:
            target.rename(site)
        except OSError:  # another process was faster
            if not site.is_dir():
                raise
    return site, ""


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)


def _own_scripts(folder: Path) -> None:
    """Have scripts start the sandbox's Python, not the harness's."""
    for path in folder.glob("*") if folder.is_dir() else ():
        data = path.read_bytes()
        if data.startswith(b"#!") and b"python" in data.partition(b"\n")[0]:
            path.write_bytes(b"#!/usr/bin/env python3\n" + data.partition(b"\n")[2])


def site_entries(site: Path, version: str) -> Mapping[str, Entry]:
    """Return the files by which a sandbox's Python and `PATH` find the packages of a site."""
    place = f"/usr/local/lib/python{version}/dist-packages/packages.pth"
    entries = {place: Entry(f"{MODULE_PATH}\n".encode())}
    for path in sorted((site / "bin").glob("*")):
        entries[f"/usr/local/bin/{path.name}"] = Entry(link=f"{MODULE_PATH}/bin/{path.name}")
    return entries


def debian_files(names: Iterable[str]) -> dict[str, Path]:
    """Return the files of those packages, and of what they depend on, that the user's folder has.

    A package that depends on another one which is neither in the folder nor on this machine is
    still returned: Debian's dependencies name more than is used.
    """
    known = _known_debs(packages_folder() / "debs")
    found: dict[str, Path] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found or name not in known:
            continue
        found[name], depends = known[name]
        waiting += [other for other in depends if not _installed_here(other)]
    return found


def _known_debs(folder: Path) -> Mapping[str, tuple[Path, tuple[str, ...]]]:
    paths = sorted(folder.glob("*.deb"))
    return _read_debs(tuple((str(path), path.stat().st_mtime_ns) for path in paths))


@cache
def _read_debs(files: tuple[tuple[str, int], ...]) -> Mapping[str, tuple[Path, tuple[str, ...]]]:
    """Return path and dependencies of each package."""
    if not files or shutil.which("dpkg-deb") is None:
        return {}
    known = {}
    for path, _ in files:
        command = ["dpkg-deb", "-f", path, "Package", "Provides", "Depends", "Pre-Depends"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        fields = dict(line.partition(": ")[::2] for line in done.stdout.splitlines())
        depends = ", ".join(fields.get(each, "") for each in ("Depends", "Pre-Depends"))
        names = [part.split("|")[0].strip() for part in depends.split(",")]
        plain = tuple(re.split(r"[ :(]", name)[0] for name in names if name)
        known[fields.get("Package", "")] = (Path(path), plain)
    return known
