"""The Landlock backend, and the unsandboxed shell, which has to be requested by name."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from hexathlon.envs.sandbox.base import (
    Sandbox,
    SandboxBackend,
    SandboxFault,
    SandboxPathError,
    SandboxSnapshot,
)
from hexathlon.envs.sandbox.changes import Changes, compare
from hexathlon.envs.sandbox.execution import Process, ShellState
from hexathlon.envs.sandbox.image import HOST, Entry, SandboxImage
from hexathlon.envs.sandbox.init_sandbox import InitSandbox
from hexathlon.envs.sandbox.kernel import wire
from hexathlon.envs.sandbox.limits import MIB, SandboxLimits
from hexathlon.envs.sandbox.link import InitLink
from hexathlon.envs.sandbox.namespaces.export import export
from hexathlon.envs.sandbox.portable import PortableSnapshot
from hexathlon.envs.sandbox.running import absolute

__all__ = ["LandlockBackend", "UnconfinedBackend"]

_PROGRAM = (
    "import sys, types; package = types.ModuleType('hexathlon'); "
    "package.__path__ = [sys.argv[2]]; sys.modules['hexathlon'] = package; "
    "from hexathlon.envs.sandbox.landlocked.process import main; main(int(sys.argv[1]))"
)
_END_SECONDS = 20.0
_DUMP_SECONDS = 10.0
_MOST_ENTRIES = 100_000
_PLACES = tuple(b"declare -x %s=" % name for name in (b"SANDBOX_ROOT", b"HOME", b"TMPDIR"))
_FOLDERS = {"/root": 0o700, "/tmp": 0o1777}


class LandlockBackend(SandboxBackend):
    """Sandboxes without namespaces: one writable directory, and no sockets."""

    name: ClassVar[str] = "landlock"
    confined: ClassVar[bool] = True

    def properties(self, sandbox: Sandbox) -> Mapping[str, str | bool]:
        """Return the properties of this backend."""
        assert isinstance(sandbox, FolderSandbox)
        return {
            "user": "root" if os.geteuid() == 0 else "user",
            "limits": str(sandbox.properties["limits"]),
            "owners": False,
            "absolute_paths": False,
            "network": "none" if self.confined else "whole",
            "confined": self.confined,
        }

    def open(self, image: SandboxImage, limits: SandboxLimits | None = None) -> Sandbox:
        """Start a sandbox in a new temporary directory."""
        return FolderSandbox(self, image, limits or SandboxLimits(), Changes(), None)

    def open_snapshot(
        self, snapshot: SandboxSnapshot, limits: SandboxLimits | None = None
    ) -> Sandbox:
        """Start a sandbox in a new temporary directory, with the content of a snapshot."""
        own = limits or snapshot.limits
        return FolderSandbox(self, snapshot.image, own, snapshot.changes(), snapshot.shell)


class UnconfinedBackend(LandlockBackend):
    """No sandbox: commands have all permissions of this user. Used only if a flag requests it."""

    name: ClassVar[str] = "none"
    confined: ClassVar[bool] = False


class FolderSandbox(InitSandbox):
    """A sandbox whose files are a temporary directory of this machine."""

    def __init__(
        self,
        backend: LandlockBackend,
        image: SandboxImage,
        limits: SandboxLimits,
        changes: Changes,
        shell: ShellState | None,
    ) -> None:
        if image.base != HOST:
            raise SandboxFault(
                f"the {backend.name} backend has no base image except the machine's own files"
            )
        super().__init__(image, limits)
        self.backend = backend.name
        self._backend = backend
        self.properties: Mapping[str, Any] = {}
        self._folder = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._ending: weakref.finalize[..., FolderSandbox] | None = None
        self._before = _whole(image)
        self._start(changes, shell)

    def opener(self) -> SandboxBackend:
        """Return the backend that opened this sandbox."""
        return self._backend

    def _live(self) -> InitLink:
        if self._link is None:
            raise SandboxFault("the sandbox is closed")
        return self._link

    def _start(self, changes: Changes, shell: ShellState | None) -> None:
        self._folder = os.path.realpath(tempfile.mkdtemp(prefix="hexathlon-sandbox-"))
        ours, theirs = wire.pair()
        with theirs:
            process = subprocess.Popen(
                _words(theirs.fileno()),
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
                env={},
            )
        self._link = InitLink(ours)
        self._own(process)
        try:
            wire.send(ours, self._spec(), [])
            self.properties = self._link.started()
            self.write_entries(self._before)
            self._delete(changes.deleted)
            self.write_entries(changes.written)
            started = self._start_shell(shell.script if shell is not None else None)
            started.previous = shell.previous if shell is not None else 0
        except BaseException:
            self._end()
            raise

    def _own(self, process: "subprocess.Popen[bytes]") -> None:
        """End the process and remove the directory with this object, unless closed before."""
        assert self._link is not None
        self._process = process
        self._ending = weakref.finalize(self, _end, self._link.close, process, self._folder)

    def _spec(self) -> dict[str, Any]:
        limits, root = self.limits, self._folder
        variables = self.image.variables() | {"SANDBOX_ROOT": root, "TMPDIR": f"{root}/tmp"}
        variables |= {"HOME": f"{root}{variables['HOME']}", "PWD": f"{root}{self.image.workdir}"}
        alone = os.geteuid() == 0  # then limits need control groups, or the backend is refused
        return {
            "confined": self._backend.confined,
            "folder": root,
            "workdir": root + self.image.workdir,
            "environment": variables,
            "bytes": limits.disk_bytes + sum(len(e.data) for e in self._before.values()),
            "inodes": limits.inodes + len(self._before),
            "group": {
                "memory": limits.memory_bytes,
                "processes": limits.processes,
                "cpus": limits.cpus,
            },
            "process_limits": {
                "file_bytes": limits.file_bytes,
                "open_files": limits.open_files,
                "processes": None if alone else limits.processes,
                "address_space": None if alone else limits.memory_bytes,
            },
        }

    def _inside(self, path: str) -> str:
        """Return the path on this machine of an absolute path inside."""
        name = absolute(path)
        if ".." in name.split("/"):
            raise SandboxPathError(f"{path[:200]}: goes upwards")
        return name if name.startswith(self._folder + "/") else self._folder + name

    def read(self, path: str, max_bytes: int = 16 * MIB) -> bytes:
        """Return a regular file's content."""
        return super().read(self._inside(path), max_bytes)

    def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Write a file."""
        super().write(self._inside(path), data, mode)

    def write_entries(self, files: Mapping[str, Entry]) -> None:
        """Write files, directories and links."""
        if files:
            super().write_entries({self._inside(path): entry for path, entry in files.items()})

    def _delete(self, paths: tuple[str, ...]) -> None:
        for path in paths:
            place = Path(self._inside(path))
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            else:
                place.unlink(missing_ok=True)

    def snapshot(self) -> SandboxSnapshot:
        """Return the state of files and shell, as data."""
        lost = tuple(Process(*row) for row in self._live().ask("processes")[0]["processes"])
        shell = None
        if self._shell is not None:
            script = self._shell.dump(_DUMP_SECONDS)
            if script is None:
                raise SandboxFault("the shell does not report its state")
            shell = ShellState(_moved(script, self._folder), self._shell.previous)
        most = 2 * self.limits.disk_bytes + 64 * MIB
        now = export([self._folder], [], os.geteuid(), most, _MOST_ENTRIES)
        changes = compare(self._before, now.written, now.special, now.cut)
        return PortableSnapshot(self.image, self.limits, changes, shell, lost)

    def restore(self, snapshot: SandboxSnapshot) -> None:
        """Kill everything, then continue from the snapshot."""
        self._become(self._backend.open_snapshot(snapshot))

    def reset(self) -> None:
        """Kill everything, then start again from the image."""
        self._become(self._backend.open(self.image, self.limits))

    def _become(self, fresh: Sandbox) -> None:
        assert isinstance(fresh, FolderSandbox)
        self._end()
        process, ending = fresh._process, fresh._ending
        assert process is not None and ending is not None
        ending.detach()
        self.__dict__.update(fresh.__dict__)
        self._own(process)
        fresh._link = fresh._shell = fresh._terminal = fresh._process = fresh._ending = None

    def close(self) -> None:
        """End all processes and remove the directory."""
        self._end()

    def _end(self) -> None:
        ending, self._ending, self._process = self._ending, None, None
        if ending is not None:
            self._hang_up()
            ending()


def _end(hang_up: Callable[[], object], process: "subprocess.Popen[bytes]", folder: str) -> None:
    """End process 1, which kills everything, and remove the directory."""
    hang_up()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    _remove(folder)


def _words(descriptor: int) -> list[str]:
    package = str(Path(__file__).parents[3])
    return [sys.executable, "-I", "-S", "-B", "-c", _PROGRAM, str(descriptor), package]


def _whole(image: SandboxImage) -> dict[str, Entry]:
    """Return the image's files with all parent directories."""
    files = {path: Entry(folder=True, mode=mode) for path, mode in _FOLDERS.items()}
    files |= image.files
    files.setdefault(image.workdir, Entry(folder=True, mode=0o755))
    for path in list(files):
        above = path.rpartition("/")[0]
        while above and above not in files:
            files[above] = Entry(folder=True, mode=0o755)
            above = above.rpartition("/")[0]
    return dict(sorted(files.items()))


def _moved(script: bytes, folder: str) -> bytes:
    """Return a shell's state without the name of its temporary directory."""
    kept = []
    for line in script.split(b"\n"):
        if line.startswith(_PLACES):
            continue
        kept.append(line.replace(folder.encode(), b"$SANDBOX_ROOT"))
    return b"\n".join(kept)


def _remove(folder: str) -> None:
    """Remove a directory whatever its modes; nothing above it is touched."""

    def retry(function: Any, path: str, error: Any) -> None:
        with contextlib.suppress(OSError):
            if path != folder:
                os.chmod(os.path.dirname(path), 0o700)
            os.chmod(path, 0o700, follow_symlinks=False)
        with contextlib.suppress(OSError):
            function(path)

    shutil.rmtree(folder, onerror=retry)
    shutil.rmtree(folder, ignore_errors=True)
