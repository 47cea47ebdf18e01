"""Image builds: a task's Dockerfile steps on top of the sandbox's base.

Software that the Dockerfile would install must already be in the base. A task that needs more, or
uses unsupported instructions, is rejected with the list of its requirements.
"""

import posixpath
import shlex
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from types import MappingProxyType

from hexathlon.envs.errors import BackendMissing
from hexathlon.envs.sandbox.base import Sandbox, SandboxBackend, SandboxFault
from hexathlon.envs.sandbox.changes import covered
from hexathlon.envs.sandbox.image import HOST, Entry, SandboxImage
from hexathlon.envs.sandbox.ladder import choose
from hexathlon.envs.sandbox.limits import MIB, SandboxLimits
from hexathlon.tasks.terminal.dockerfile import Copy, ParsedDockerfile, Run, read_dockerfile
from hexathlon.tasks.terminal.harbor import HarborTask, files_below

__all__ = ["FILE_TIME", "FIXED", "ImageCache", "build_image", "limits_of", "open_directory"]

FILE_TIME = 1_772_323_200
"""Modification time of all files of an image."""

FIXED = {
    "GIT_AUTHOR_DATE": "2026-03-02T09:00:00Z",
    "GIT_AUTHOR_EMAIL": "agent@localhost",
    "GIT_AUTHOR_NAME": "agent",
    "GIT_COMMITTER_DATE": "2026-03-02T09:00:00Z",
    "GIT_COMMITTER_EMAIL": "agent@localhost",
    "GIT_COMMITTER_NAME": "agent",
    "GIT_PAGER": "cat",
    "LC_ALL": "C.UTF-8",
    "PAGER": "cat",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "SOURCE_DATE_EPOCH": "1772323200",
    "TIME_STYLE": "+",
}
"""Variables that keep clocks and randomness out of observations: the agent's commits get fixed
dates, `ls -l` shows no times."""

_COMMANDS = {
    "build-essential": "gcc make",
    "ca-certificates": "",
    "coreutils": "ls",
    "cron": "cron",
    "curl": "curl",
    "findutils": "find",
    "gawk": "gawk",
    "gcc": "gcc",
    "git": "git",
    "libc6-dev": "gcc",
    "make": "make",
    "mawk": "mawk",
    "procps": "ps",
    "python3": "python3",
    "python3-pip": "pip3",
    "python3-venv": "python3",
    "sqlite3": "sqlite3",
    "tzdata": "",
    "vim": "vim",
    "xz-utils": "xz",
    "zip": "zip",
}
"""Commands whose presence indicates a package, if the package's name is not a command."""

_HARNESS_FOLDERS = ("/logs", "/solution", "/tests")
"""Empty for the agent; created because a sandbox may be writable below known directories only."""

_BUILD_SECONDS = 120.0
_KEPT = 8


def limits_of(task: HarborTask, seconds: float) -> SandboxLimits:
    """Return the limits of an agent's sandbox."""
    memory = min(max(task.memory_mb or 512, 128), 4_096)
    disk = min(max(task.storage_mb or 256, 64), 1_024)
    return SandboxLimits(seconds=seconds, memory_bytes=memory * MIB, disk_bytes=disk * MIB)


def open_directory(
    name: str,
    folder: Path,
    seconds: float,
    *,
    workdir: str | None = None,
    variables: Mapping[str, str] = MappingProxyType({}),
    memory_mb: int | None = None,
    storage_mb: int | None = None,
) -> Sandbox:
    """Open a sandbox with the image of a task directory's `environment` in Harbor's form.

    Args:
        name: Name of the task, for errors.
        folder: The build context with its Dockerfile.
        seconds: Limit of a command.
        workdir: Working directory, if it is not the Dockerfile's.
        variables: Further environment variables.
        memory_mb: Memory of the sandbox.
        storage_mb: Disk space of the sandbox.

    Raises:
        BackendMissing: If no sandbox provides what the task needs; the message lists it.
    """
    task = HarborTask(
        name, "harbor", (), files_below(folder), workdir=workdir, variables=variables,
        memory_mb=memory_mb, storage_mb=storage_mb,
    )  # fmt: skip
    backend = choose(absolute_paths=True)
    return backend.open(build_image(backend, task, HOST), limits_of(task, seconds))


def build_image(
    backend: SandboxBackend, task: HarborTask, base: str, found: set[str] | None = None
) -> SandboxImage:
    """Build the image from the task's Dockerfile.

    Args:
        backend: Opens the sandbox in which the image is built.
        task: The task.
        base: Base of the sandbox.
        found: Packages known to be in this base; newly found ones are added.

    Raises:
        BackendMissing: If the sandbox cannot provide what the task needs; the message lists it.
        SandboxFault: If a step of the Dockerfile failed.
    """
    found = set() if found is None else found
    dockerfile = task.environment.get("Dockerfile", b"FROM debian:12\n")
    recipe = read_dockerfile(dockerfile.decode("utf-8", "replace"))
    obstacles = [*task.obstacles, *recipe.obstacles]
    composed = [n for n in task.environment if posixpath.basename(n) in _COMPOSED]
    obstacles += [f"several containers ({name})" for name in composed]
    if obstacles:
        raise BackendMissing(f"{task.name} needs {'; '.join(obstacles)}", cause="task_needs")
    workdir = task.workdir or recipe.workdir
    variables = {**FIXED, **recipe.variables, **task.variables}
    files, rest = _leading_copies(recipe, task.environment)
    for folder in _HARNESS_FOLDERS:
        files.setdefault(folder, Entry(folder=True, mode=0o755, mtime=FILE_TIME))
    image = SandboxImage(base, files, workdir, variables)
    needed = [*recipe.debian_packages, *recipe.python_packages]
    if not rest and found.issuperset(needed):
        return image
    limits = SandboxLimits(seconds=_BUILD_SECONDS, memory_bytes=1_024 * MIB)
    with backend.open(image, limits) as sandbox:
        _require_packages(sandbox, task, recipe)
        found.update(needed)
        if not rest:
            return image
        for step in rest:
            _take(sandbox, step, task, recipe.base)
        return _frozen(sandbox, image)


_COMPOSED = ("docker-compose.yaml", "docker-compose.yml", "compose.yaml", "compose.yml")


def _leading_copies(
    recipe: ParsedDockerfile, context: Mapping[str, bytes]
) -> tuple[dict[str, Entry], list[Copy | Run]]:
    """Split off the copies before the first command, which need no sandbox."""
    files: dict[str, Entry] = {}
    steps = list(recipe.steps)
    while steps and (isinstance(steps[0], Copy) or steps[0].command.startswith("mkdir -p /")):
        step = steps.pop(0)
        if isinstance(step, Copy):
            files.update(_copied(step, context))
        else:
            files[shlex.split(step.command)[-1]] = Entry(folder=True, mode=0o755, mtime=FILE_TIME)
    return files, steps


def _copied(step: Copy, context: Mapping[str, bytes]) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for source in step.sources:
        name = posixpath.normpath(source).strip("/")
        folder = "" if name == "." else f"{name}/"
        inner = {path: data for path, data in context.items() if path.startswith(folder)}
        if name in context:
            into = step.target.endswith("/") or len(step.sources) > 1
            target = posixpath.join(step.target, posixpath.basename(name)) if into else step.target
            inner = {target: context[name]}
        elif inner:
            inner = {
                posixpath.join(step.target, p.removeprefix(folder)): d
                for p, d in inner.items()
                if p != "Dockerfile" or folder
            }
        else:
            raise SandboxFault(f"the Dockerfile copies {source!r}, which does not exist")
        for path, data in inner.items():
            mode = step.mode or (0o755 if data.startswith(b"#!") else 0o644)
            entries[posixpath.normpath(path)] = Entry(data, mode, mtime=FILE_TIME)
    return entries


def _take(sandbox: Sandbox, step: Copy | Run, task: HarborTask, base: str) -> None:
    if isinstance(step, Copy):
        sandbox.write_entries(_copied(step, task.environment))
        return
    setting = " ".join(f"{name}={shlex.quote(value)}" for name, value in step.variables.items())
    place = shlex.quote(step.workdir)
    command = f"cd {place} && {setting} bash -c {shlex.quote(step.command)}"
    done = sandbox.execute(f"( {command} )", timeout=_BUILD_SECONDS)
    if done.exit_status != 0:
        end = done.output[-400:].decode("utf-8", "replace").strip()
        raise SandboxFault(
            f"building {task.name} over {base}: {step.command[:120]!r} ended with "
            f"{done.exit_status if done.stop is None else done.stop.value}: {end}",
            cause="task_build",
        )


def _require_packages(sandbox: Sandbox, task: HarborTask, recipe: ParsedDockerfile) -> None:
    missing = [name for name in recipe.debian_packages if not _present(sandbox, name)]
    wanted = " ".join(shlex.quote(_module(name)) for name in recipe.python_packages)
    if wanted:
        probe = (
            "import importlib.util as u, sys; print([m for "
            "m in sys.argv[1:] if not u.find_spec(m)])"
        )
        done = sandbox.execute(f"python3 -c {shlex.quote(probe)} {wanted}")
        absent = done.output.decode("utf-8", "replace").strip()
        missing += [f"Python packages {absent}"] if absent != "[]" else []
    if missing:
        raise BackendMissing(
            f"{task.name} needs, but the sandbox's base lacks: {', '.join(missing)}; install them "
            "on this machine, or name a base that has them",
            cause="task_needs",
        )


def _present(sandbox: Sandbox, package: str) -> bool:
    commands = _COMMANDS.get(package, package).split()
    tests = " && ".join(f"command -v {shlex.quote(name)}" for name in commands) or "true"
    known = f"dpkg-query -W -f '${{db:Status-Status}}' {shlex.quote(package)} 2>&1"
    done = sandbox.execute(f"({tests}) >/dev/null 2>&1 || {known} | grep -qx installed")
    return done.exit_status == 0


def _module(requirement: str) -> str:
    name = requirement
    for mark in "=<>~![; ":
        name = name.partition(mark)[0]
    known = {"pyyaml": "yaml", "pillow": "PIL", "beautifulsoup4": "bs4", "scikit-learn": "sklearn"}
    return known.get(name.lower(), name.replace("-", "_"))


def _frozen(sandbox: Sandbox, image: SandboxImage) -> SandboxImage:
    """Return the image with the changes of the build."""
    with sandbox.snapshot() as state:
        changes = state.changes()
    if changes.cut:
        raise SandboxFault("the build wrote more files than an image may hold", cause="task_build")
    gone = frozenset(changes.deleted)
    files = {path: entry for path, entry in image.files.items() if not covered(path, gone)}
    files.update(changes.written)
    for scratch in [path for path in files if path.startswith(("/tmp/", "/dev/", "/proc/"))]:
        del files[scratch]
    return SandboxImage(image.base, files, image.workdir, image.environment)


class ImageCache:
    """Most recently built images, shared by all environments of a process."""

    def __init__(self) -> None:
        self._images: dict[tuple[str, str, str], SandboxImage] = {}
        self._packages: dict[tuple[str, str], set[str]] = {}
        self._lock = Lock()

    def get(self, backend: SandboxBackend, key: str, task: HarborTask, base: str) -> SandboxImage:
        """Return the image of a task, building it if necessary."""
        identity = (backend.name, key, base)
        with self._lock:
            image = self._images.get(identity)
        if image is None:
            packages = self._packages.setdefault((backend.name, base), set())
            image = build_image(backend, task, base, packages)
            with self._lock:
                self._images[identity] = image
                while len(self._images) > _KEPT:
                    del self._images[next(iter(self._images))]
        return image
