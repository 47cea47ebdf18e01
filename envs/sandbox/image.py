"""What a sandbox starts from: a read-only base and the files laid over it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

__all__ = ["DEFAULT_ENVIRONMENT", "HOST", "Entry", "Image"]

HOST = "host"
"""The base that is this machine's own `/usr`, read-only, and a small made-up rest."""

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
    """One file, folder or symbolic link to lay in; its path is the key beside it."""

    data: bytes = b""
    """Content of a file; empty for folders and links."""

    mode: int = 0o644
    """Permission bits."""

    owner: int = 0
    """User and group id inside; only id 0 exists where the sandbox has no more (see Probe)."""

    link: str | None = None
    """Target, if this is a symbolic link."""

    folder: bool = False
    """Whether this is a folder; missing parents of anything are made with mode 755."""

    mtime: int = 1_767_225_600
    """Modification time, seconds since 1970; the same everywhere by default."""


@dataclass(frozen=True)
class Image:
    """A base and what is laid over it.

    Two images that are equal share one read-only layer while sandboxes of them are open, so
    opening and resetting cost the same whatever the number of files.
    """

    base: str = HOST
    """`"host"`, the path of a root tree (a folder), or a tag of the docker engine."""

    files: Mapping[str, Entry] = field(default_factory=dict)
    """Absolute path inside → entry."""

    workdir: str = "/root"
    """Where shells start; made if missing."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables over `DEFAULT_ENVIRONMENT`."""

    def variables(self) -> dict[str, str]:
        """Return the whole environment of a new shell."""
        return {**DEFAULT_ENVIRONMENT, **self.environment, "PWD": self.workdir}

    def digest(self) -> str:
        """Return a hash of the base and the files; two images that share it share a layer."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        sha = hashlib.sha256(json.dumps([self.base, self.workdir]).encode())
        for path in sorted(self.files):
            entry = self.files[path]
            head = [path, entry.mode, entry.owner, entry.link, entry.folder, entry.mtime]
            sha.update(json.dumps([*head, len(entry.data)]).encode())
            sha.update(entry.data)
        return sha.hexdigest()
