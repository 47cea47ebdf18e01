"""The Docker engine: its client, base images, and cleanup of stale containers."""

import atexit
import contextlib
import hashlib
import io
import os
import socket
import tarfile
import tempfile
import threading
from pathlib import Path
from typing import Any

from hexathlon.envs.sandbox.base import SandboxFault
from hexathlon.envs.sandbox.docker.archives import archive_of, entries_of
from hexathlon.envs.sandbox.image import HOST, Entry
from hexathlon.envs.sandbox.kernel.hostroot import make_host_root

__all__ = ["ENGINES", "LABEL", "DockerEngine", "Prepared", "owner"]

LABEL = "org.hexathlon.sandbox"
"""Label of our containers; its value names the owning process."""

_USUAL = "unix:///var/run/docker.sock"
_SECONDS = 120
_REPOSITORY = "hexathlon-base"
_WRITABLE = (
    "/etc", "/home", "/media", "/mnt", "/opt", "/root", "/run", "/srv", "/tmp", "/usr/local",
    "/var",
)  # fmt: skip
ENGINES = ("/etc/hostname", "/etc/hosts", "/etc/resolv.conf")
"""Files that the engine creates and mounts itself."""
_MOST_BYTES, _MOST_ENTRIES = 1 << 30, 500_000


class Prepared:
    """A base image as prepared in the engine.

    Attributes:
        tag: The engine's name of the image.
        files: Initial contents of writable directories, written at each start.
        binds: Directories of this machine that are mounted read-only.
        folders: The writable directories.
    """

    def __init__(self, tag: str, files: dict[str, Entry], binds: dict[str, dict[str, str]]) -> None:
        self.tag = tag
        self.files = files
        self.binds = binds
        self.folders = tuple(path for path in _WRITABLE if path in files)


class DockerEngine:
    """One engine; thread-safe.

    Args:
        url: Its address; None for the environment's setting.
    """

    def __init__(self, url: str | None = None) -> None:
        try:
            import docker
        except ImportError as error:
            message = "the package `docker` is missing: pip install hexathlon[docker]"
            raise SandboxFault(message) from error
        _require_listener(url or os.environ.get("DOCKER_HOST") or _USUAL)
        try:
            if url is None:
                self.client: Any = docker.from_env(timeout=_SECONDS)
            else:
                self.client = docker.DockerClient(base_url=url, timeout=_SECONDS)
            self.version = self.client.version()["Version"]
        except docker.errors.DockerException as error:
            raise SandboxFault(f"no engine answers: {str(error)[:200]}") from error
        self._prepared: dict[str, Prepared] = {}
        self._lock = threading.Lock()
        self.reap()
        atexit.register(self.remove_own)

    def prepare(self, base: str) -> Prepared:
        """Return a base, built or pulled by the engine on first use."""
        with self._lock:
            if base not in self._prepared:
                if base == HOST:
                    self._prepared[base] = self._host()
                elif base.startswith("/"):
                    self._prepared[base] = self._tree(base)
                else:
                    self._prepared[base] = self._tagged(base)
            return self._prepared[base]

    def _host(self) -> Prepared:
        """A root without programs; the machine's `/usr` is mounted, directory by directory."""
        files = _host_files()
        tops = {path: entry for path, entry in files.items() if path.count("/") == 1}
        binds = {}
        for folder in sorted(Path("/usr").iterdir()):
            if folder.is_dir() and not folder.is_symlink() and folder.name != "local":
                tops[str(folder)] = Entry(folder=True, mode=0o755)
                binds[str(folder)] = {"bind": str(folder), "mode": "ro"}
            elif folder.is_symlink():
                tops[str(folder)] = Entry(link=os.readlink(folder))
        tops["/usr/local"] = Entry(folder=True, mode=0o755)
        archive = archive_of(tops)
        tag = self._import("host-" + hashlib.sha256(archive).hexdigest()[:16], archive)
        return Prepared(tag, files, binds)

    def _tree(self, path: str) -> Prepared:
        status = os.stat(path)
        name = hashlib.sha256(f"{path} {status.st_ino} {status.st_mtime_ns}".encode()).hexdigest()
        tag = f"tree-{name[:16]}"
        with tempfile.TemporaryFile() as store:
            with tarfile.open(fileobj=store, mode="w") as archive:
                archive.add(path, arcname=".")
            store.seek(0)
            return self._tagged(self._import(tag, store))

    def _tagged(self, tag: str) -> Prepared:
        """Read an image's content of writable directories; the rest stays in the image."""
        import docker

        try:
            container = self.client.containers.create(tag, "true", labels={LABEL: owner()})
        except docker.errors.DockerException as error:
            raise SandboxFault(f"no container of {tag!r}: {str(error)[:200]}") from error
        files: dict[str, Entry] = {}
        try:
            for folder in _WRITABLE:
                with contextlib.suppress(docker.errors.NotFound):
                    chunks, _ = container.get_archive(folder)
                    found, _, _ = entries_of(
                        io.BytesIO(b"".join(chunks)),
                        _MOST_BYTES,
                        _MOST_ENTRIES,
                        os.path.dirname(folder).rstrip("/"),
                    )
                    files |= found
        finally:
            container.remove(force=True)
        return Prepared(tag, files, {})

    def _import(self, name: str, archive: Any) -> str:
        """Import a base unless the engine already has it; return its tag."""
        import docker

        tag = f"{_REPOSITORY}:{name}"
        if self.client.images.list(name=tag):
            return tag

        data = archive if isinstance(archive, bytes) else archive.read()
        try:
            self.client.api.import_image_from_data(data, repository=_REPOSITORY, tag=name)
        except docker.errors.APIError as error:
            raise SandboxFault(f"the base {name!r} cannot be imported: {error}") from error
        return tag

    def remove(self, container: Any) -> None:
        """Remove a container with everything in it."""
        import docker

        with contextlib.suppress(docker.errors.NotFound):
            container.remove(force=True, v=True)

    def reap(self) -> int:
        """Remove containers whose owner process on this machine has ended; return their number."""
        removed = 0
        for container in self.client.containers.list(all=True, filters={"label": LABEL}):
            if not _lives(container.labels.get(LABEL, "")):
                removed += _remove(container)
        return removed

    def close(self) -> None:
        """Remove every container of this process and close the connection."""
        self.remove_own()
        atexit.unregister(self.remove_own)
        self.client.close()

    def remove_own(self) -> None:
        """Remove every container of this process."""
        with contextlib.suppress(Exception):  # at exit: the engine may be gone already
            for container in self.client.containers.list(
                all=True, filters={"label": f"{LABEL}={owner()}"}
            ):
                _remove(container)


def _require_listener(url: str) -> None:
    """Require a listening server; otherwise making the client would leak its socket."""
    scheme, _, path = url.partition("://")
    if scheme not in ("unix", "http+unix"):
        return
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(path)
        except OSError as error:
            raise SandboxFault(f"no engine answers at {url}: {error.strerror or error}") from error


def owner() -> str:
    """Return a name for this process that is unique since the machine's boot."""
    return f"{_boot()}:{os.getpid()}:{_started(os.getpid())}"


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _started(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def _lives(name: str) -> bool:
    boot, _, rest = name.partition(":")
    pid, _, started = rest.partition(":")
    return boot == _boot() and pid.isdigit() and _started(int(pid)) == started


def _remove(container: Any) -> int:
    import docker

    with contextlib.suppress(docker.errors.APIError):
        container.remove(force=True, v=True)
        return 1
    return 0


def _host_files() -> dict[str, Entry]:
    with tempfile.TemporaryDirectory() as folder:
        make_host_root(folder)
        store = io.BytesIO()
        with tarfile.open(fileobj=store, mode="w") as archive:
            archive.add(folder, arcname=".")
    store.seek(0)
    files, _, _ = entries_of(store, _MOST_BYTES, _MOST_ENTRIES)
    files.pop("/", None)
    files.pop("/.", None)
    return files
