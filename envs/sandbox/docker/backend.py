"""Docker backend: opens containers."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

from hexathlon.envs.sandbox.base import (
    Sandbox,
    SandboxBackend,
    SandboxFault,
    SandboxSnapshot,
)
from hexathlon.envs.sandbox.docker import scripts
from hexathlon.envs.sandbox.docker.engine import ENGINES, LABEL, DockerEngine, Prepared, owner
from hexathlon.envs.sandbox.docker.sandbox import DockerSandbox
from hexathlon.envs.sandbox.execution import ShellState
from hexathlon.envs.sandbox.image import Entry, SandboxImage
from hexathlon.envs.sandbox.limits import MIB, SandboxLimits

__all__ = ["DockerBackend"]

_NEVER = {
    f"/{name}"
    for name in ("bin", "dev", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "sys", "usr")
}
_OWN_PROCESSES = 8
"""Headroom for process 1, the shells and a helper, so that a helper can start even at the limit."""


class DockerBackend(SandboxBackend):
    """Sandboxes in containers of an engine.

    Args:
        url: Address of the engine; None for the environment's setting (`DOCKER_HOST`).
    """

    name: ClassVar[str] = "docker"

    def __init__(self, url: str | None = None) -> None:
        self._url = url

    @cached_property
    def engine(self) -> DockerEngine:
        """The engine.

        Raises:
            SandboxFault: If no engine answers.
        """
        return DockerEngine(self._url)

    def properties(self, sandbox: Sandbox) -> Mapping[str, str | bool]:
        """Return the properties of this backend."""
        info = self.engine.client.info()
        return {
            "user": "engine",
            "limits": f"cgroup{info.get('CgroupVersion', '1')}",
            "owners": False,
            "absolute_paths": True,
            "network": "loopback",
            "engine": self.engine.version,
            "storage": info.get("Driver", ""),
        }

    def open(self, image: SandboxImage, limits: SandboxLimits | None = None) -> Sandbox:
        """Start a container and write the image's files."""
        return self._open(image, limits or SandboxLimits(), {}, (), None)

    def open_snapshot(
        self, snapshot: SandboxSnapshot, limits: SandboxLimits | None = None
    ) -> Sandbox:
        """Start a container and write the image's files and the changes."""
        changes = snapshot.changes()
        return self._open(
            snapshot.image,
            limits or snapshot.limits,
            dict(changes.written),
            changes.deleted,
            snapshot.shell,
        )

    def _open(
        self,
        image: SandboxImage,
        limits: SandboxLimits,
        written: dict[str, Entry],
        deleted: tuple[str, ...],
        shell: ShellState | None,
    ) -> Sandbox:
        import docker

        prepared = self.engine.prepare(image.base)
        files = _with_parents(image, prepared)
        folders = _folders(prepared, files)
        before = {
            path: entry
            for path, entry in {**prepared.files, **files}.items()
            if path not in ENGINES
            and any(path == folder or path.startswith(folder + "/") for folder in folders)
        }
        try:
            container = self._create(prepared, limits, folders)
        except docker.errors.DockerException as error:
            raise SandboxFault(f"no container: {str(error)[:300]}") from error
        try:
            container.start()
            sandbox = DockerSandbox(self, self.engine, container, image, limits, before, folders)
            sandbox.unpack(before)
            if deleted or written:
                paths = tuple(path for path, entry in written.items() if not entry.folder)
                sandbox.unpack(written, (*deleted, *paths))
            sandbox.start_shell(shell)
        except docker.errors.DockerException as error:
            self.engine.remove(container)
            raise SandboxFault(f"the container does not start: {str(error)[:300]}") from error
        except BaseException:
            self.engine.remove(container)
            raise
        return sandbox

    def _create(self, prepared: Prepared, limits: SandboxLimits, folders: tuple[str, ...]) -> Any:
        import docker

        ulimit = docker.types.Ulimit
        memory = limits.memory_bytes + limits.disk_bytes
        size = f"size={limits.disk_bytes},nr_inodes={limits.inodes + 4096},mode=755"
        return self.engine.client.containers.create(
            prepared.tag,
            ["/bin/bash", "-c", scripts.KEEP],
            labels={LABEL: owner()},
            hostname="sandbox",
            stdin_open=True,
            working_dir="/",
            entrypoint=[],
            user="0",
            network_mode="none",
            ipc_mode="private",
            read_only=True,
            tmpfs={folder: f"rw,exec,nosuid,nodev,{size}" for folder in folders},
            volumes=prepared.binds,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges:true"],
            pids_limit=limits.processes + _OWN_PROCESSES,
            mem_limit=memory,
            memswap_limit=memory,
            nano_cpus=int(limits.cpus * 1e9) if limits.cpus else None,
            shm_size=min(64 * MIB, limits.disk_bytes),
            log_config=docker.types.LogConfig(type="none"),
            ulimits=[
                ulimit(name="core", soft=0, hard=0),
                ulimit(name="fsize", soft=limits.file_bytes, hard=limits.file_bytes),
                ulimit(name="nofile", soft=limits.open_files, hard=limits.open_files),
            ],
        )


def _with_parents(image: SandboxImage, prepared: Prepared) -> dict[str, Entry]:
    """Return the image's files with those parent directories that the base lacks."""
    files = dict(image.files)
    files.setdefault(image.workdir, Entry(folder=True, mode=0o755))
    for path in list(files):
        above = path.rpartition("/")[0]
        while above and above not in files and above not in prepared.files:
            files[above] = Entry(folder=True, mode=0o755)
            above = above.rpartition("/")[0]
    return files


def _folders(prepared: Prepared, files: dict[str, Entry]) -> tuple[str, ...]:
    """Return the writable directories: the base's, and the top directories of the files."""
    tops = {"/" + path.split("/")[1] for path in files}
    tops -= {"/" + folder.split("/")[1] for folder in prepared.folders}
    tops -= _NEVER
    return tuple(sorted({*prepared.folders, *tops}))
