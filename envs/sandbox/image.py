"""Initial content of a sandbox: a read-only base and files on top."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

__all__ = ["DEFAULT_ENVIRONMENT", "HOST", "Entry", "SandboxImage"]

HOST = "host"
"""The base made of this machine's own `/usr`, read-only, and a small synthetic rest."""

DEFAULT_ENVIRONMENT = {
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "LOGNAME": "root",
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "SHELL": "/bin/bash",
    "TERM": "xterm-256color",
    "TZ": "UTC",
    "USER": "root",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One file, directory or symbolic link to write; the mapping key is its path."""

    data: bytes = b""
    """Content of a file; empty for directories and links."""

    mode: int = 0o644
    """Permission bits."""

    owner: int = 0
    """User and group id inside; only id 0 exists if the sandbox supports no others (see Probe)."""

    link: str | None = None
    """Target of a symbolic link; None for other entries."""

    folder: bool = False
    """Whether this is a directory; missing parents of any entry are created with mode 755."""

    mtime: int = 1_767_225_600
    """Modification time, seconds since 1970; constant by default."""


@dataclass(frozen=True)
class SandboxImage:
    """A base and the files on top of it.

    Equal images share one read-only layer while sandboxes of them are open, so the cost of opening
    and resetting does not depend on the number of files.
    """

    base: str = HOST
    """`"host"`, the path of a root tree (a directory), or a tag of the Docker engine."""

    files: Mapping[str, Entry] = field(default_factory=dict)
    """Absolute path inside → entry."""

    workdir: str = "/root"
    """Initial directory of shells; created if missing."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables added to or overriding `DEFAULT_ENVIRONMENT`."""

    mounts: tuple[str, ...] = ()
    """Directories of this machine that are visible at the same path, read-only; only with
    namespaces. Their content is not part of `digest`."""

    binds: Mapping[str, str] = field(default_factory=dict)
    """Further such directories: path inside → directory of this machine."""

    full_root: bool = False
    """Whether user 0 is as in a container: `/usr` is writable, files may be given to other users,
    processes may become them. Only with namespaces; elsewhere ignored."""

    user: str = ""
    """`user` or `user:group` of the shells, with `full_root`; empty for user 0."""

    def variables(self) -> dict[str, str]:
        """Return the full environment of a new shell."""
        return {**DEFAULT_ENVIRONMENT, **self.environment, "PWD": self.workdir}

    def digest(self) -> str:
        """Return a hash of the base and the files; images with equal hashes share a layer."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        head = [self.base, self.workdir, *self.mounts]
        if self.binds:
            head += [f"{path} {source}" for path, source in sorted(self.binds.items())]
        if self.full_root:
            head.append(f"full root, user {self.user}")
        sha = hashlib.sha256(json.dumps(head).encode())
        for path in sorted(self.files):
            entry = self.files[path]
            line = [path, entry.mode, entry.owner, entry.link, entry.folder, entry.mtime]
            sha.update(json.dumps([*line, len(entry.data)]).encode())
            sha.update(entry.data)
        return sha.hexdigest()
