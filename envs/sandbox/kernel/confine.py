"""Privilege drop of a process that is about to run the agent's commands."""

import contextlib
import os
import resource
from collections.abc import Collection
from dataclasses import dataclass

from hexathlon.envs.sandbox.kernel.calls import (
    CLONE_NEWUSER,
    die_with_parent,
    drop_capabilities,
    no_new_privileges,
    set_undumpable,
    setns,
    unshare,
)
from hexathlon.envs.sandbox.kernel.landlock import MAKE_DEVICES, MOVE, restrict
from hexathlon.envs.sandbox.kernel.seccomp import filter_system_calls

__all__ = [
    "ROOT_OF_FILES",
    "ROOT_OF_USERS",
    "ProcessLimits",
    "drop_privileges",
    "enter_user_namespace",
    "set_process_limits",
]

ROOT_OF_FILES = (0, 1, 3, 4)
"""CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID: over files whose owners are mapped."""

ROOT_OF_USERS = (5, 6, 7)
"""CAP_KILL, CAP_SETGID, CAP_SETUID: becoming other users of the user namespace, and back no more.

Only with control groups, since limits per user do not hold for a process that changes its user.
"""


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """Per-process limits, as in setrlimit(2); None leaves a limit as it is."""

    file_bytes: int
    open_files: int | None
    processes: int | None
    address_space: int | None


def enter_user_namespace(user_namespace: int | None) -> None:
    """Become user 0 of a user namespace: the given one, or a new one that maps only this user."""
    if user_namespace is not None:
        setns(user_namespace, CLONE_NEWUSER)
        os.setgroups([])
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
        return
    unshare(CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", "0 0 1"), ("gid_map", "0 0 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def drop_privileges(program: bytes, kept: Collection[int] = ()) -> int:
    """Drop capabilities, new privileges, devices and system calls; return Landlock's version.

    What remains is an ordinary user who owns its files and nothing else.

    Args:
        program: The system-call filter.
        kept: Capabilities that stay, within the user namespace.
    """
    drop_capabilities(kept)
    no_new_privileges()
    version = restrict(MAKE_DEVICES | MOVE, [("/", MOVE)], signals=False)
    set_undumpable()
    die_with_parent()
    filter_system_calls(program)
    return version


def set_process_limits(limits: ProcessLimits) -> None:
    """Set the limits of this process and its children; hard limits are never raised."""
    wanted = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_MEMLOCK, 64 << 10),
        (resource.RLIMIT_MSGQUEUE, 64 << 10),
        (resource.RLIMIT_NPROC, limits.processes),
        (resource.RLIMIT_AS, limits.address_space),
    ]
    for kind, value in wanted:
        if value is None:
            continue
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (value, value))
