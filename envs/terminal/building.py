"""Image builds: a task's Dockerfile steps on top of the sandbox's base.

Software that the Dockerfile would install must already be in the base or in the user's package
folder. A task that needs more, or uses unsupported instructions, is rejected with the reason. Tasks
of other makers get the rights of a container's root (`SandboxImage.full_root`).
"""

import posixpath
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from types import MappingProxyType

from hexathlon.envs.errors import TaskUnsupported
from hexathlon.envs.sandbox.base import Sandbox, SandboxBackend, SandboxPathError
from hexathlon.envs.sandbox.changes import covered
from hexathlon.envs.sandbox.execution import Execution
from hexathlon.envs.sandbox.image import HOST, Entry, SandboxImage
from hexathlon.envs.sandbox.ladder import choose
from hexathlon.envs.sandbox.limits import MIB, SandboxLimits
from hexathlon.envs.terminal.build_tools import ASKED, TOOLS_SETTING, build_tools
from hexathlon.envs.terminal.copying import FILE_TIME, copied, leading_copies
from hexathlon.envs.terminal.packages import (
    MODULE_PATH,
    debian_files,
    missing_debian,
    missing_python,
    python_site,
    site_entries,
)
from hexathlon.envs.terminal.root_files import account_files
from hexathlon.tasks.terminal.dockerfile import (
    Copy,
    ParsedDockerfile,
    Run,
    is_archive,
    read_dockerfile,
)
from hexathlon.tasks.terminal.harbor import HarborTask, files_below
from hexathlon.tasks.terminal.opening import native_checks
from hexathlon.tasks.terminal.requirements import (
    needed_debian,
    needed_python,
    requirements_of_scripts,
)

__all__ = ["FIXED", "Builder", "ImageCache", "build_image", "limits_of", "open_directory"]

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

_HARNESS_FOLDERS = ("/logs", "/solution", "/tests")
"""Empty for the agent; created because a sandbox may be writable below known directories only."""

_BUILD_SECONDS = 120.0
_BUILD_BYTES, _BUILD_ENTRIES = 512 * MIB, 30_000
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
        BackendMissing: If no sandbox provides what the task needs (`TaskUnsupported`), or there is
            no sandbox; the message says which.
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
        TaskUnsupported: If the sandbox cannot provide what the task needs, or a step of the
            Dockerfile failed; the message says which.
    """
    found = set() if found is None else found
    dockerfile = task.environment.get("Dockerfile", b"FROM debian:12\n")
    recipe = read_dockerfile(dockerfile.decode("utf-8", "replace"))
    obstacles = [*task.obstacles, *recipe.obstacles]
    composed = [n for n in task.environment if posixpath.basename(n) in _COMPOSED]
    obstacles += [f"several containers ({name})" for name in composed]
    if recipe.user and backend.name != "namespaces":
        obstacles.append(f"the user {recipe.user}, which only the backend namespaces provides")
    if obstacles:
        raise TaskUnsupported(f"{task.name} needs {'; '.join(obstacles)}")
    workdir = task.workdir or recipe.workdir
    files, rest = leading_copies(recipe, task.environment, task.named)
    for folder in _HARNESS_FOLDERS:
        files.setdefault(folder, Entry(folder=True, mode=0o755, mtime=FILE_TIME))
    variables = {**FIXED, **recipe.variables, **task.variables}
    image = SandboxImage(base, files, workdir, variables)
    if not _generated(task):
        accounts = account_files() if base == HOST and backend.name == "namespaces" else {}
        home = {} if recipe.user in ("", *variables) else _home_of(recipe.user, variables)
        image = replace(
            image, files={**accounts, **files}, environment={**home, **variables}, full_root=True
        )
    scripted = [
        name
        for step in task.steps
        for name in requirements_of_scripts(step.tests, task.environment)
    ]
    recipe = replace(recipe, python_packages=(*recipe.python_packages, *scripted))
    needed = [*recipe.debian_packages, *recipe.python_packages]
    if not rest and found.issuperset(needed):
        return replace(image, user=recipe.user)
    return replace(Builder(backend, task, recipe, image, found).build(rest), user=recipe.user)


def _generated(task: HarborTask) -> bool:
    """Whether a task is this package's own, or only a build context without tests."""
    return all(native_checks(step.tests) is not None for step in task.steps)


def _home_of(user: str, variables: Mapping[str, str]) -> dict[str, str]:
    name = user.partition(":")[0]
    if name.isdigit():
        return {}
    return {"HOME": f"/home/{name}", "USER": name, "LOGNAME": name}


_COMPOSED = ("docker-compose.yaml", "docker-compose.yml", "compose.yaml", "compose.yml")


class Builder:
    """One build of an image: a sandbox in which the steps of a Dockerfile run.

    Args:
        backend: Opens the sandbox.
        task: The task.
        recipe: Its Dockerfile, or a stage of it.
        image: The image so far: base and leading copies.
        found: Packages known to be in the base; newly found ones are added.
    """

    def __init__(
        self,
        backend: SandboxBackend,
        task: HarborTask,
        recipe: ParsedDockerfile,
        image: SandboxImage,
        found: set[str],
    ) -> None:
        self._backend, self._task, self._recipe = backend, task, recipe
        self._image, self._found = image, found
        self._stages: dict[int, SandboxImage] = {}

    def build(self, rest: Sequence[Copy | Run]) -> SandboxImage:
        """Check the packages, run the remaining steps, and return the image."""
        needed = [*self._recipe.debian_packages, *self._recipe.python_packages]
        debs: Mapping[str, Path] = {}
        if not self._found.issuperset(needed):
            debs = self._provide(self._recipe.debian_packages, self._recipe.python_packages)
        if not rest and not debs:
            return self._image
        with self._open() as sandbox:
            self._unpack(sandbox, debs)
            for step in rest:
                if isinstance(step, Copy):
                    self._copy(sandbox, step)
                else:
                    self._run(sandbox, step)
            return _frozen(sandbox, self._image)

    def _open(self) -> Sandbox:
        limits = SandboxLimits(
            seconds=_BUILD_SECONDS,
            memory_bytes=2_048 * MIB,
            disk_bytes=_BUILD_BYTES,
            open_files=1_024,
        )
        if _generated(self._task):
            limits = SandboxLimits(seconds=_BUILD_SECONDS, memory_bytes=1_024 * MIB)
        return self._backend.open(self._image, limits)

    def _provide(self, debian: Sequence[str], python: Sequence[str]) -> Mapping[str, Path]:
        """Provide the packages that the base lacks; returns Debian packages yet to be unpacked.

        Raises:
            TaskUnsupported: If the user's folder lacks them, too.
        """
        with self._backend.open(self._image, SandboxLimits(memory_bytes=1_024 * MIB)) as sandbox:
            lacking = missing_debian(sandbox, debian)
            absent, version = missing_python(sandbox, python) if python else ([], "")
        debs = debian_files(lacking)
        reasons = [name for name in lacking if name not in debs]
        if absent:
            site, why = python_site(absent, version) if version else (None, "there is no Python")
            if site is None or self._backend.name != "namespaces":
                why = why or f"the backend {self._backend.name} does not install wheels"
                reasons.append(f"Python packages {absent} ({why})")
            else:
                files = {**self._image.files, **site_entries(site, version)}
                binds = {**self._image.binds, MODULE_PATH: str(site)}
                self._image = replace(self._image, files=files, binds=binds)
        if reasons:
            raise TaskUnsupported(
                f"{self._task.name} needs, but the sandbox's base lacks: {', '.join(reasons)}; "
                "install them on this machine, put wheels and Debian packages into the package "
                "folder (`hexathlon terminal prefetch`), or name a base that has them"
            )
        self._found.update({*debian, *python} - {*lacking, *absent})
        return debs

    def _unpack(self, sandbox: Sandbox, debs: Mapping[str, Path]) -> None:
        for path in debs.values():
            sandbox.write_entries({"/tmp/.package.deb": Entry(path.read_bytes())})
            self._require(sandbox, sandbox.execute(_UNPACK, timeout=_BUILD_SECONDS), path.name)
        if debs:
            sandbox.execute("cd /; ldconfig")

    def _copy(self, sandbox: Sandbox, step: Copy) -> None:
        if step.stage is not None:
            entries = copied(replace(step, stage=None), self._stage_files(step.stage))
        else:
            entries = copied(step, self._task.environment, self._task.named)
        archives = {p: e for p, e in entries.items() if step.unpack and is_archive(p)}
        target = step.target if step.target.endswith("/") or len(entries) > 1 else None
        for path, entry in archives.items():
            del entries[path]
            place = shlex.quote(target or posixpath.dirname(path))
            sandbox.write_entries({"/tmp/.archive": entry})
            line = f"mkdir -p {place} && tar -xf /tmp/.archive -C {place} && rm /tmp/.archive"
            self._require(sandbox, sandbox.execute(line, timeout=_BUILD_SECONDS), f"ADD {path}")
        sandbox.write_entries(entries)
        if step.owner and entries:
            owner, _, group = step.owner.partition(":")
            paths = "\0".join(entries).encode()
            sandbox.write_entries({"/tmp/.paths": Entry(paths)})
            # As the builder does, a user without a group gives both.
            both = shlex.quote(f"{owner}:{group or owner}")
            line = f"xargs -0 chown -h {both} < /tmp/.paths && rm /tmp/.paths"
            self._require(sandbox, sandbox.execute(line), f"--chown={step.owner}")

    def _stage_files(self, number: int) -> Mapping[str, bytes | Entry]:
        """Return the files that an earlier stage made, by path without the leading slash."""
        if number not in self._stages:
            recipe = self._recipe.stages[number]
            files, rest = leading_copies(recipe, self._task.environment, self._task.named)
            image = replace(
                self._image, files={**self._image.files, **files}, workdir=recipe.workdir
            )
            stage = Builder(self._backend, self._task, recipe, image, self._found)
            self._stages[number] = stage.build(rest)
        return {path.strip("/"): e for path, e in self._stages[number].files.items()}

    def _run(self, sandbox: Sandbox, step: Run) -> None:
        own = {} if _generated(self._task) else build_tools()
        setting = " ".join(f"{name}={shlex.quote(value)}" for name, value in step.variables.items())
        place = shlex.quote(step.workdir)
        command = f"{shlex.join(step.shell)} {shlex.quote(step.command)}"
        if step.user:
            name, _, group = step.user.partition(":")
            command = f"setpriv --reuid {name} --regid {group or name} --clear-groups {command}"
        if own:
            sandbox.write_entries(own)
            setting = f"env {setting} {TOOLS_SETTING}"
        done = sandbox.execute(f"( cd {place} && {setting} {command} )", timeout=_BUILD_SECONDS)
        if own:
            self._check_asked(sandbox)
        self._require(sandbox, done, repr(step.command[:120]))

    def _check_asked(self, sandbox: Sandbox) -> None:
        """Provide the packages that a step asked its stand-ins to install."""
        try:
            lines = sandbox.read(ASKED).decode("utf-8", "replace").splitlines()
        except SandboxPathError:
            return
        sandbox.execute(f"rm -f {ASKED}")
        asked = [line.partition(" ")[::2] for line in lines]
        debian = needed_debian(name for kind, name in asked if kind == "debian")
        python = needed_python(name for kind, name in asked if kind == "python")
        lacking = missing_debian(sandbox, debian) if debian else []
        absent = missing_python(sandbox, python)[0] if python else []
        if lacking or absent:
            raise TaskUnsupported(
                f"{self._task.name} needs, but the sandbox's base lacks: "
                f"{', '.join([*lacking, *absent])}"
            )

    def _require(self, sandbox: Sandbox, done: Execution, what: str) -> None:
        if done.exit_status == 0:
            return
        end = done.output[-400:].decode("utf-8", "replace").strip()
        network = " (the build has no network)" if _NO_NETWORK.search(end) else ""
        raise TaskUnsupported(
            f"building {self._task.name} over {self._recipe.base}: {what} ended with "
            f"{done.exit_status if done.stop is None else done.stop.value}: {end}{network}",
            cause="task_build",
        )


_UNPACK = """( mkdir /tmp/.package && dpkg-deb -x /tmp/.package.deb /tmp/.package || exit 1
cd /tmp/.package
for folder in bin sbin lib lib64; do  # links into /usr
  [ ! -d $folder ] || { mkdir -p usr/$folder; cp -a $folder/. usr/$folder/; rm -r $folder; }
done
cp -a . / && cd / && rm -rf /tmp/.package* )"""

_NO_NETWORK = re.compile(
    r"ENOTCACHED|offline|No matching distribution|resolve host|name resolution|EAI_AGAIN"
    r"|ENOTFOUND|[Nn]etwork is unreachable|unable to resolve"
)


def _frozen(sandbox: Sandbox, image: SandboxImage) -> SandboxImage:
    """Return the image with the changes of the build."""
    with sandbox.snapshot() as state:
        changes = state.changes(_BUILD_BYTES, _BUILD_ENTRIES)
    if changes.cut:
        raise TaskUnsupported(
            "the build wrote more files than an image may hold", cause="task_build"
        )
    gone = frozenset(changes.deleted)
    files = {path: entry for path, entry in image.files.items() if not covered(path, gone)}
    files.update(changes.written)
    for scratch in [path for path in files if path.startswith(("/tmp/", "/dev/", "/proc/"))]:
        del files[scratch]
    return replace(image, files=files)


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
