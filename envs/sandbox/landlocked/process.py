"""Substitute for process 1 on machines without pid namespaces.

It stays outside the Landlock domain of the processes it starts, so that no signal of the agent
reaches it, and adopts their orphans. File operations are performed by a child inside the domain.
"""

import os
import shutil
import signal
import socket
from typing import Any

from hexathlon.envs.sandbox.kernel import wire
from hexathlon.envs.sandbox.kernel.calls import (
    die_with_parent,
    drop_capabilities,
    no_new_privileges,
    prctl,
    set_undumpable,
)
from hexathlon.envs.sandbox.kernel.cgroups import Family, find_family
from hexathlon.envs.sandbox.kernel.confine import ProcessLimits, set_process_limits
from hexathlon.envs.sandbox.kernel.init import Init
from hexathlon.envs.sandbox.kernel.landlock import (
    EXECUTE_AND_READ,
    MAKE_DEVICES,
    READ_AND_WRITE,
    landlock_version,
    restrict,
)
from hexathlon.envs.sandbox.kernel.proc import table
from hexathlon.envs.sandbox.kernel.seccomp import filter_system_calls, seccomp_program

__all__ = ["LEAST_VERSION", "main"]

LEAST_VERSION = 6
"""Minimum Landlock version: it confines signals; without it `kill -9 -1` would reach our user."""

_READABLE = (
    "/usr", "/bin", "/lib", "/lib32", "/lib64", "/sbin", "/proc", "/etc/alternatives",
    "/etc/group", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime",
    "/etc/magic", "/etc/mime.types", "/etc/nsswitch.conf", "/etc/passwd", "/etc/perl",
    "/etc/protocols", "/etc/services", "/etc/terminfo",
)  # fmt: skip
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
_TERMINALS = ("/dev/ptmx", "/dev/pts")
_WITH_FILES = frozenset({"read", "write", "write_entries"})
_SUBREAPER = 36
_LOOK_MILLISECONDS = 100


def main(descriptor: int) -> None:
    """Serve one sandbox until the caller disconnects, then kill its remaining processes."""
    connection = socket.socket(fileno=descriptor)
    connection.set_inheritable(False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    heard = wire.receive(connection)
    if heard is None:
        return
    spec, _ = heard
    family = find_family() if spec["confined"] else "not asked for"
    try:
        problem = _refusal(spec, family)
        if problem:
            wire.send(connection, {"error": problem}, [])
            return
        pid = os.fork()
        if pid == 0:
            try:
                _serve(connection, spec, family)
            finally:
                os._exit(0)
        connection.close()
        os.waitpid(pid, 0)
    finally:
        # Removing control groups needs rights that the other process dropped.
        if isinstance(family, Family):
            family.close()


def _refusal(spec: dict[str, Any], family: Family | str) -> str:
    if not spec["confined"]:
        return ""
    if landlock_version() < LEAST_VERSION:
        return f"Landlock {LEAST_VERSION} is needed, this kernel has {landlock_version()}"
    if os.geteuid() == 0 and isinstance(family, str):
        return f"root's processes cannot be limited in number here: {family}"
    return ""


def _serve(connection: socket.socket, spec: dict[str, Any], family: Family | str) -> None:
    group = family.make() if isinstance(family, Family) else None
    membership_files: list[int] = []
    counter_files: list[int] = []
    if group is not None:
        group.limit(**spec["group"])
        membership_files, counter_files = group.membership_files(), group.counter_files()
    if spec["confined"]:
        drop_capabilities()
        no_new_privileges()
    prctl(_SUBREAPER, 1)
    set_undumpable()
    die_with_parent()
    supervisor = _Supervisor(connection, spec, membership_files, counter_files)
    limits = family.kind if isinstance(family, Family) else "rlimits"
    wire.send(connection, {"limits": limits, "landlock": landlock_version()}, [])
    try:
        supervisor.serve()
    finally:
        supervisor.end()
        shutil.rmtree(spec["folder"], ignore_errors=True)  # in case the caller is gone


class _Supervisor(Init):
    def __init__(
        self,
        connection: socket.socket,
        spec: dict[str, Any],
        membership_files: list[int],
        counter_files: list[int],
    ) -> None:
        super().__init__(
            connection,
            spec["environment"],
            spec["workdir"],
            membership_files,
            counter_files,
            whole=False,
        )
        self._folder = spec["folder"]
        self._confined = spec["confined"]
        self._process_limits = dict(spec["process_limits"])
        self._room = spec["bytes"], spec["inodes"]
        self._program = seccomp_program(network=False)
        self._pause_ms = _LOOK_MILLISECONDS

    def end(self) -> None:
        """Kill every process that was started."""
        self._kill_all([])

    def _perform(self, do: str, descriptors: list[int], request: dict[str, Any]) -> None:
        if do not in _WITH_FILES:
            super()._perform(do, descriptors, request)
            return
        try:
            pid = os.fork()
        except OSError as error:
            self._say({"error": error.strerror or "no process", "errno": error.errno}, [])
            return
        if pid == 0:
            try:
                self._confine()
                super()._perform(do, descriptors, request)
            finally:
                os._exit(0)
        os.waitpid(pid, 0)

    def _start(self, arguments: list[str], actions: list[Any]) -> int:
        """Start a shell inside the domain; a plain fork, as the domain is entered before exec."""
        pid = os.fork()
        if pid == 0:
            try:
                self._become_shell(arguments, actions)
            finally:
                os._exit(127)
        return pid

    def _become_shell(self, arguments: list[str], actions: list[Any]) -> None:
        os.setsid()
        for action in actions:
            if action[0] == os.POSIX_SPAWN_OPEN:
                os.dup2(os.open(action[2], action[3]), action[1])
            else:
                os.dup2(action[1], action[2])
        for number in (signal.SIGXFSZ, signal.SIGPIPE, signal.SIGINT, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        os.chdir(self._workdir if os.path.isdir(self._workdir) else self._folder)
        self._confine()
        os.execve("/bin/bash", arguments, self._environment)

    def _confine(self) -> None:
        limits = dict(self._process_limits)
        if limits["processes"] is not None:  # counted per user: our own come on top
            limits["processes"] += sum(_is_ours(row.pid) for row in table())
        set_process_limits(ProcessLimits(**limits))
        if not self._confined:
            return
        rules = [(path, EXECUTE_AND_READ) for path in _READABLE if os.path.exists(path)]
        rules += [(path, READ_AND_WRITE) for path in _DEVICES + _TERMINALS if os.path.exists(path)]
        rules.append((self._folder, READ_AND_WRITE))
        restrict(READ_AND_WRITE | MAKE_DEVICES, rules, network=False, signals=False)
        filter_system_calls(self._program)

    def _look(self) -> None:
        """Kill processes that fill the disk: there is no quota on this backend."""
        if min(self._left()) <= 0 and any(row.state != "Z" for row in self._others()):
            self._signal_all([], signal.SIGKILL)

    def _left(self) -> tuple[int, int]:
        """Return the remaining bytes and inodes."""
        size = count = 0
        for folder, folders, files in os.walk(self._folder):
            count += len(folders) + len(files)
            for name in files:
                try:
                    size += os.lstat(os.path.join(folder, name)).st_blocks * 512
                except OSError:
                    continue  # removed during the scan
        return self._room[0] - size, self._room[1] - count

    def _limits_hit(self, descriptors: list[int]) -> dict[str, Any]:
        free, inodes = self._left()
        counts = super()._limits_hit(descriptors)["counts"]
        return {"counts": counts, "free": free, "inodes": inodes}

    def _network(self, descriptors: list[int]) -> dict[str, Any]:
        return {"attempts": 0}  # no socket can be created, so there is nothing to count


def _is_ours(pid: int) -> bool:
    try:
        return os.stat(f"/proc/{pid}").st_uid == os.geteuid()
    except OSError:
        return False
