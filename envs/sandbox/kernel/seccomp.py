"""System-call filter: denies calls that no task needs and that could enable an escape.

All other calls are allowed, as ordinary programs must run unchanged. Denied calls fail with
"Operation not permitted"; `clone3` with "not implemented", after which the C library uses `clone`,
whose flags a filter can read.
"""

import ctypes
import platform
import struct

from hexathlon.envs.sandbox.kernel.calls import libc

__all__ = ["filter_system_calls", "seccomp_program"]

# name: (x86_64, aarch64); None where the architecture has no such call
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lookup_dcookie": (212, 18),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}
_SOCKET, _CLONE, _IOCTL = (41, 198), (56, 220), (16, 29)
_CLONE3 = 435
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000

_NAMESPACES = 0x7E020000
_FAMILIES = (1, 2, 10)  # unix, IPv4, IPv6
_NETLINK, _TIOCSTI, _TIOCLINUX = 16, 0x5412, 0x541C

_LOAD, _EQUAL, _AT_LEAST, _ANY_OF, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16


def seccomp_program(machine: str | None = None, *, network: bool = True) -> bytes:
    """Return the filter as instructions of the kernel's packet filter.

    Args:
        machine: As `platform.machine()`; None for this one.
        network: Whether sockets may be created. An empty network namespace makes them harmless;
            without one they must be denied, since local ones reach the machine's servers too.
    """
    machine = machine or platform.machine()
    column = ("x86_64", "aarch64").index(machine)
    code: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, _AUDIT_ARCH[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        code += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _ERRNO | _ENOSYS)]
    for name in sorted(_REFUSED):
        number = _REFUSED[name][column]
        if number is not None:
            code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | _EPERM)]
    code += [(_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _ERRNO | _ENOSYS)]
    code += _argument_check(_CLONE[column], 0, [(_ANY_OF, _NAMESPACES)], _EPERM)
    code += _argument_check(_IOCTL[column], 1, [(_EQUAL, _TIOCSTI), (_EQUAL, _TIOCLINUX)], _EPERM)
    code += _family_check(_SOCKET[column], network)
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _argument_check(
    number: int, argument: int, tests: list[tuple[int, int]], error: int
) -> list[tuple[int, int, int, int]]:
    """Deny a call if the low half of an argument passes one of the tests."""
    body = [(_LOAD, 0, 0, _ARGUMENTS + 8 * argument)]
    for test, value in tests:
        body += [(test, 0, 1, value), (_RETURN, 0, 0, _ERRNO | error)]
    body.append((_RETURN, 0, 0, _ALLOW))
    return [(_EQUAL, 0, len(body), number), *body]


def _family_check(number: int, network: bool) -> list[tuple[int, int, int, int]]:
    """Allow a few kinds of sockets only; netlink for routes, which name resolution needs."""
    body = [(_LOAD, 0, 0, _ARGUMENTS)]
    for family in _FAMILIES if network else ():
        body += [(_EQUAL, 0, 1, family), (_RETURN, 0, 0, _ALLOW)]
    if network:
        body += [
            (_EQUAL, 0, 3, _NETLINK),
            (_LOAD, 0, 0, _ARGUMENTS + 16),
            (_EQUAL, 0, 1, 0),
            (_RETURN, 0, 0, _ALLOW),
        ]
    body.append((_RETURN, 0, 0, _ERRNO | _EAFNOSUPPORT))
    return [(_EQUAL, 0, len(body), number), *body]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def filter_system_calls(program: bytes) -> None:
    """Install the filter for this process and all its children; needs no-new-privileges."""
    header = _Program(len(program) // 8, program)
    set_seccomp, mode_filter = 22, 2
    if libc.prctl(set_seccomp, ctypes.c_ulong(mode_filter), ctypes.byref(header), 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "seccomp filter refused")
