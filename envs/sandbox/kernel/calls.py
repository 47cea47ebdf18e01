"""System calls that Python's standard library lacks."""

import ctypes
import os
import platform
from collections.abc import Collection

__all__ = [
    "CLONE_NEWCGROUP",
    "CLONE_NEWIPC",
    "CLONE_NEWNET",
    "CLONE_NEWNS",
    "CLONE_NEWPID",
    "CLONE_NEWUSER",
    "CLONE_NEWUTS",
    "MNT_DETACH",
    "MS_BIND",
    "MS_MOVE",
    "MS_NODEV",
    "MS_NOEXEC",
    "MS_NOSUID",
    "MS_RDONLY",
    "MS_REC",
    "MS_REMOUNT",
    "MS_SLAVE",
    "become_owner",
    "die_with_parent",
    "drop_capabilities",
    "libc",
    "mount",
    "mount_with_ids_of",
    "no_new_privileges",
    "pivot_root",
    "prctl",
    "set_name",
    "set_undumpable",
    "setns",
    "syscall",
    "umount",
    "unshare",
]

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_MOVE, MS_REC, MS_SLAVE = 4096, 8192, 16384, 1 << 19
MNT_DETACH = 2

_AT_FDCWD, _AT_EMPTY_PATH, _AT_RECURSIVE = -100, 0x1000, 0x8000
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
_OPEN_TREE_CLONE, _OPEN_TREE_CLOEXEC = 1, os.O_CLOEXEC
_MOVE_MOUNT_F_EMPTY_PATH = 4
_MOUNT_ATTR_IDMAP = 0x00100000
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}

_PR_SET_SECUREBITS, _NO_SETUID_FIXUP = 28, 4
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NAME = 1, 4, 15
_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 24, 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_CAPABILITY_VERSION = 0x20080522
_SIGKILL = 9

libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(number: int, *arguments: object, what: str = "") -> int:
    """Make a system call by number; raise OSError on failure."""
    return _checked(libc.syscall(ctypes.c_long(number), *arguments), what or f"syscall {number}")


def unshare(flags: int) -> None:
    """Move this process (or, for pid namespaces, its next child) into new namespaces."""
    _checked(libc.unshare(flags), f"unshare {flags:#x}")


def setns(descriptor: int, kind: int) -> None:
    """Enter the namespace that a descriptor refers to."""
    _checked(libc.setns(descriptor, kind), f"setns {kind:#x}")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount, bind, move or remount."""
    result = libc.mount(
        os.fsencode(source),
        os.fsencode(target),
        kind.encode() or None,
        ctypes.c_ulong(flags),
        os.fsencode(options) or None,
    )
    _checked(result, f"mount {kind or 'bind'} {source} on {target} ({options})")


def umount(target: str, flags: int = 0) -> None:
    """Unmount; as umount2(2)."""
    _checked(libc.umount2(os.fsencode(target), flags), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root and put the old one at `old`."""
    number = _PIVOT_ROOT[platform.machine()]
    syscall(number, os.fsencode(new), os.fsencode(old), what=f"pivot_root {new}")


def mount_with_ids_of(source: str, target: str, user_namespace: int) -> None:
    """Bind `source` at `target`, with owners mapped through a user namespace."""
    tree = syscall(
        _OPEN_TREE,
        ctypes.c_int(_AT_FDCWD),
        os.fsencode(source),
        ctypes.c_uint(_OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC),
        what=f"open_tree {source}",
    )
    try:
        attributes = (ctypes.c_uint64 * 4)(_MOUNT_ATTR_IDMAP, 0, 0, user_namespace)
        syscall(
            _MOUNT_SETATTR,
            ctypes.c_int(tree),
            b"",
            ctypes.c_uint(_AT_EMPTY_PATH),
            attributes,
            ctypes.c_size_t(ctypes.sizeof(attributes)),
            what="mount_setattr",
        )
        syscall(
            _MOVE_MOUNT,
            ctypes.c_int(tree),
            b"",
            ctypes.c_int(_AT_FDCWD),
            os.fsencode(target),
            ctypes.c_uint(_MOVE_MOUNT_F_EMPTY_PATH),
            what="move_mount",
        )
    finally:
        os.close(tree)


def prctl(option: int, *values: int) -> int:
    """Change a setting of this process."""
    padded = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    return _checked(libc.prctl(ctypes.c_int(option), *padded), f"prctl {option}")


def become_owner(user: int) -> None:
    """Make a user the owner of namespaces that this process creates; its capabilities stay."""
    prctl(_PR_SET_SECUREBITS, _NO_SETUID_FIXUP)
    os.setresuid(-1, user, -1)


def set_name(name: str) -> None:
    """Set the name of this process as shown by `ps`."""
    buffer = ctypes.create_string_buffer(name.encode()[:15])
    _checked(libc.prctl(_PR_SET_NAME, buffer, 0, 0, 0), "prctl name")


def set_undumpable() -> None:
    """Hide this process's memory and descriptors from other processes of the same user."""
    prctl(_PR_SET_DUMPABLE, 0)


def die_with_parent() -> None:
    """Have this process killed when its parent ends; call after the last change of credentials."""
    prctl(_PR_SET_PDEATHSIG, _SIGKILL)


def no_new_privileges() -> None:
    """Never gain privileges by executing a file."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities(kept: Collection[int] = ()) -> None:
    """Drop capabilities permanently, the bounding set included.

    Args:
        kept: Numbers of the capabilities that stay, as in linux/capability.h; below 32.
    """
    prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(64):
        if capability in kept:
            continue
        if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            break  # past the kernel's last one
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    low = sum(1 << capability for capability in kept)
    # Effective, permitted, inheritable; then the same for the capabilities from 32 on.
    sets = (ctypes.c_uint32 * 6)(low, low, 0, 0, 0, 0)
    _checked(libc.capset(header, sets), "capset")
