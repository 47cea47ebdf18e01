"""File layers, held in the supervisor's own mount namespace only.

A layer is an in-memory file system of limited size. A sandbox writes into its top layer; lower
layers are read-only and may be shared: the base, the files of the image, the frozen layers of
snapshots. All are mounted below one directory, the stage, which hides `/sys` there.
"""

import os

from hexathlon.envs.sandbox.image import HOST
from hexathlon.envs.sandbox.kernel.calls import (
    MNT_DETACH,
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_RDONLY,
    MS_REC,
    MS_REMOUNT,
    mount,
    mount_with_ids_of,
    umount,
)
from hexathlon.envs.sandbox.kernel.hostroot import make_host_root

__all__ = ["STAGE", "Layers", "layer_option"]

STAGE = "/sys"

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")


class Layers:
    """The stage: bases, devices, and the layers of all sandboxes.

    Args:
        owner: User and group id mapped to 0 inside.
        users: Descriptor of the sandboxes' user namespace, if owners can be mapped; else None.
    """

    def __init__(self, owner: int, users: int | None) -> None:
        self._owner = owner
        self._users = users
        self._bases: dict[str, str] = {}
        self._mounts: dict[str, str] = {}
        mount("tmpfs", STAGE, "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755")
        os.chdir(STAGE)
        for folder in ("b", "l", "r", "d", "h", "m"):
            os.mkdir(folder)
        self._make_devices()

    def base(self, name: str) -> str:
        """Return the directory of a base's lowest layer, created on first use."""
        if name not in self._bases:
            folder = f"b/{len(self._bases)}"
            os.mkdir(folder)
            if name == HOST:
                self._make_host(folder)
            else:
                self._bind(name, folder)
            self._bases[name] = folder
        return self._bases[name]

    def mounted(self, path: str) -> str:
        """Return the place of a directory of the machine on the stage, read-only."""
        if path not in self._mounts:
            folder = f"m/{len(self._mounts)}"
            os.mkdir(folder)
            self._bind(path, folder)
            self._mounts[path] = folder
        return self._mounts[path]

    def add(self, number: int, size: int, inodes: int, *, system: bool) -> None:
        """Create an empty layer.

        Args:
            number: Its number.
            size: Its size in bytes.
            inodes: Maximum number of files and directories.
            system: Whether it also has a part for a writable `/usr`.
        """
        folder = f"l/{number}"
        os.mkdir(folder)
        options = f"size={max(size, 1 << 16)},nr_inodes={max(inodes, 16)},mode=755"
        mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, options)
        for part in ("u", "w", *(("s", "x") if system else ())):
            os.mkdir(f"{folder}/{part}")
            os.chmod(f"{folder}/{part}", 0o755)
            os.chown(f"{folder}/{part}", self._owner, self._owner)

    def drop(self, number: int) -> None:
        """Release a layer; it vanishes with the last sandbox that uses it."""
        umount(f"l/{number}", MNT_DETACH)
        os.rmdir(f"l/{number}")

    def _bind(self, source: str, target: str) -> None:
        if self._users is not None:
            mount_with_ids_of(source, target, self._users)
        else:
            mount(source, target, flags=MS_BIND | MS_REC)
        mount("", target, flags=MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)

    def _make_host(self, root: str) -> None:
        os.mkdir("usr")
        self._bind("/usr", "usr")
        make_host_root(root)
        self._own(root)

    def _make_devices(self) -> None:
        """Create one `/dev` for all; every sandbox mounts its terminals and shared memory on it."""
        mount("tmpfs", "d", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=64k")
        for name in _DEVICES:
            os.close(os.open(f"d/{name}", os.O_CREAT | os.O_WRONLY, 0o666))
            mount(f"/dev/{name}", f"d/{name}", flags=MS_BIND)
        for name in ("pts", "shm"):
            os.mkdir(f"d/{name}")
        links = {"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "/proc/self/fd/0"}
        links |= {"stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
        for name, target in links.items():
            os.symlink(target, f"d/{name}")
        mount("", "d", flags=MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NOEXEC, options="size=64k")

    def _own(self, root: str) -> None:
        for folder, folders, files in os.walk(root):
            for name in [".", *folders, *files]:
                os.lchown(f"{folder}/{name}", self._owner, self._owner)


def layer_option(layers: list[int], base: str, parts: str = "uw") -> str:
    """Return the overlay options for a stack; the first layer is the writable one.

    Args:
        layers: Their numbers.
        base: Directory of the lowest layer.
        parts: Names of a layer's directory of files and of its working directory: `uw` for the
            root, `sx` for `/usr`.
    """
    top, *below = layers
    files, work = parts[0], parts[1]
    lower = ":".join([*(f"l/{number}/{files}" for number in below), base])
    return f"lowerdir={lower},upperdir=l/{top}/{files},workdir=l/{top}/{work}"
