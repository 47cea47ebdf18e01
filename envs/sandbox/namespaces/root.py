"""Construction of a sandbox's root by its process 1, with the rights of the supervisor."""

import fcntl
import os
import socket
import stat
import struct
from collections.abc import Mapping

from hexathlon.envs.sandbox.kernel.calls import (
    CLONE_NEWCGROUP,
    CLONE_NEWIPC,
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWUTS,
    MNT_DETACH,
    MS_BIND,
    MS_MOVE,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_REC,
    mount,
    pivot_root,
    umount,
    unshare,
)
from hexathlon.envs.sandbox.namespaces.layers import STAGE, layer_option

__all__ = ["build_root"]

_NAMESPACES = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP
_TERMINALS = 64
"""Pseudo-terminals of one sandbox; the kernel has a few thousand for the whole machine."""

_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1


def build_root(
    layers: list[int],
    base: str,
    mounts: Mapping[str, str],
    *,
    host: bool,
    memory_files: int,
    root: bool,
    writable: bool = False,
) -> None:
    """Leave every namespace of the machine and make the layers this process's root.

    Args:
        layers: Numbers of the layers, the writable one first.
        base: Directory of the lowest layer on the stage.
        mounts: Path inside → directory on the stage.
        host: Whether to mount the machine's own `/usr` on top.
        writable: Whether the machine's `/usr` is the lowest layer of an overlay, not read-only.
        memory_files: Size of `/dev/shm` in bytes.
        root: Whether the supervisor is the machine's root; otherwise the overlay's marks are stored
            where an ordinary user may write them.
    """
    unshare(_NAMESPACES)
    _raise_loopback()
    socket.sethostname("sandbox")
    os.chdir(STAGE)
    marks = "" if root else ",userxattr"
    mount("overlay", "r", "overlay", MS_NOSUID | MS_NODEV, layer_option(layers, base) + marks)
    if host:
        _require_folder("r/usr/local")
        mount("r/usr/local", "h", flags=MS_BIND)
        if writable:
            options = layer_option(layers, "usr", "sx") + marks
            mount("overlay", "r/usr", "overlay", MS_NOSUID | MS_NODEV, options)
        else:
            mount("usr", "r/usr", flags=MS_BIND | MS_REC)
        mount("h", "r/usr/local", flags=MS_MOVE)
    for path, source in mounts.items():
        _require_folder(f"r{path}")
        mount(source, f"r{path}", flags=MS_BIND | MS_REC)
    _require_folder("r/proc")
    mount("proc", "r/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    _require_folder("r/dev")
    mount("d", "r/dev", flags=MS_BIND | MS_REC)
    flags = MS_NOSUID | MS_NOEXEC
    mount(
        "devpts",
        "r/dev/pts",
        "devpts",
        flags,
        f"newinstance,ptmxmode=0666,mode=620,max={_TERMINALS}",
    )
    mount("tmpfs", "r/dev/shm", "tmpfs", flags | MS_NODEV, f"mode=1777,size={memory_files}")
    os.chdir("r")
    pivot_root(".", ".")
    umount(".", MNT_DETACH)
    os.chdir("/")


def _require_folder(path: str) -> None:
    """Require a mount point to be a real directory, not a link left by an agent."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        os.mkdir(path, 0o755)
        return
    if not stat.S_ISDIR(mode):
        raise NotADirectoryError(f"{path[1:]} is not a folder in this image")


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16xH14x", fcntl.ioctl(probe, _GET_FLAGS, request))[0]
        fcntl.ioctl(probe, _SET_FLAGS, struct.pack("16sH14x", b"lo", flags | _UP))
