"""Landlock: file rights that a process drops for itself and its children."""

import ctypes
import os
from collections.abc import Iterable

from hexathlon.envs.sandbox.kernel.calls import syscall

__all__ = [
    "EXECUTE_AND_READ",
    "MAKE_DEVICES",
    "MOVE",
    "READ_AND_WRITE",
    "landlock_version",
    "restrict",
]

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1

_EXECUTE, _WRITE, _READ, _READ_FOLDER, _REMOVE_FOLDER, _REMOVE_FILE = (1 << n for n in range(6))
_MAKE_CHAR, _MAKE_FOLDER, _MAKE_FILE, _MAKE_SOCKET, _MAKE_FIFO, _MAKE_BLOCK, _MAKE_LINK = (
    1 << n for n in range(6, 13)
)
_REFER, _TRUNCATE, _IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
_FIRST_VERSION_OF = {_REFER: 2, _TRUNCATE: 3, _IOCTL_DEVICE: 5}

MAKE_DEVICES = _MAKE_CHAR | _MAKE_BLOCK
MOVE = _REFER
"""Renaming across directories; denied by every ruleset that does not grant it."""

EXECUTE_AND_READ = _EXECUTE | _READ | _READ_FOLDER
READ_AND_WRITE = (
    EXECUTE_AND_READ
    | _WRITE
    | _REMOVE_FOLDER
    | _REMOVE_FILE
    | _MAKE_FOLDER
    | _MAKE_FILE
    | _MAKE_SOCKET
    | _MAKE_FIFO
    | _MAKE_LINK
    | _REFER
    | _TRUNCATE
)
_FOR_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _IOCTL_DEVICE
_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS = 1, 2
_BIND, _CONNECT = 1, 2


def landlock_version() -> int:
    """Return the kernel's Landlock version, 0 if unsupported."""
    try:
        return syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(_VERSION_FLAG))
    except OSError:
        return 0


def restrict(
    handled: int, rules: Iterable[tuple[str, int]], *, network: bool = True, signals: bool = True
) -> int:
    """Drop the rights `handled` except where a rule grants them; return Landlock's version.

    Args:
        handled: Rights on files; those unknown to this kernel are ignored.
        rules: Path and the rights on it and below it.
        network: Whether TCP ports may be bound and connected to (deniable from version 4).
        signals: Whether signals and abstract sockets may leave the domain (deniable from 6).

    Requires no-new-privileges. Does nothing if Landlock is not available.
    """
    version = landlock_version()
    if not version:
        return 0
    for right, first in _FIRST_VERSION_OF.items():
        if version < first:
            handled &= ~right
    scoped = 0 if signals else _SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNALS
    attributes = (ctypes.c_uint64 * 3)(handled, 0 if network else _BIND | _CONNECT, scoped)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = syscall(
        _CREATE, attributes, ctypes.c_size_t(size), ctypes.c_uint(0), what="landlock ruleset"
    )
    try:
        for path, rights in rules:
            _allow(ruleset, path, rights & handled)
        syscall(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint(0), what="landlock restrict")
    finally:
        os.close(ruleset)
    return version


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("rights", ctypes.c_uint64), ("folder", ctypes.c_int32)]


def _allow(ruleset: int, path: str, rights: int) -> None:
    folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not os.path.isdir(path):
            rights &= _FOR_FILES
        rule = _Beneath(rights, folder)
        syscall(
            _ADD_RULE,
            ctypes.c_int(ruleset),
            ctypes.c_int(_PATH_BENEATH),
            ctypes.byref(rule),
            ctypes.c_uint(0),
            what=f"landlock rule for {path}",
        )
    finally:
        os.close(folder)
