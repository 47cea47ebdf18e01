"""Process 1 of a sandbox: starts its shells, reaps zombies, and serves the caller's requests.

It runs inside, with the rights of the processes it starts, so it can reach nothing that the agent
could not reach; but its memory and descriptors are closed to the agent, and signals from inside
cannot touch it. When the caller's end of the socket closes, it ends, and everything in the sandbox
with it. On backends without a pid namespace it is the reaper of its descendants instead.

All imports happen at the start: later, the interpreter's own files cannot be reached.
"""

import errno
import fcntl
import os
import resource
import select
import signal
import socket
import stat
import struct
import termios
import time
from collections.abc import Callable
from typing import Any

from hexathlon.envs.sandbox.kernel import bundle, wire, writing
from hexathlon.envs.sandbox.kernel.proc import ProcessInfo, command_of, descendants, table

__all__ = ["Init", "no_route_count"]

_SHELL = "/bin/bash"
_DEADLINE_SECONDS = 2.0
_KILL_SECONDS = 20.0
_PAUSE_SECONDS = 0.001
_TICKS = os.sysconf("SC_CLK_TCK")


class Init:
    """Main loop of process 1.

    Args:
        connection: Socket to the caller.
        environment: Variables of the shells.
        workdir: Initial directory of the shells.
        membership_files: Control-group files by which a process moves itself: entries, then exits.
        counter_files: Control-group counters of killed and of refused processes and, if there is
            one, of processor time.
        whole: Whether every process but this one in `/proc` belongs to the sandbox.
        user: `user` or `user:group` of the shells; empty for this process's own.
        open_files: Limit on descriptors of the shells and their children; 0 for this process's own,
            which should be far higher: the kernel refuses to pass descriptors once more than the
            sender's limit are in flight for its user, whichever sandbox sent them.
    """

    def __init__(
        self,
        connection: socket.socket,
        environment: dict[str, str],
        workdir: str,
        membership_files: list[int],
        counter_files: list[int],
        *,
        whole: bool = True,
        user: str = "",
        open_files: int = 0,
    ) -> None:
        self._connection = connection
        self._environment = environment
        self._workdir = workdir
        self._membership_files = membership_files
        self._counter_files = counter_files
        self._whole = whole
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if hard != resource.RLIM_INFINITY:
            open_files = min(open_files, hard)
        self._open_files = open_files
        self._become = _becoming(user, open_files) if user else []
        self._shells: dict[int, str] = {}
        self._operations: dict[str, Callable[..., dict[str, Any]]] = {
            "shell": self.shell,
            "terminal": self._terminal,
            "limits_hit": self._limits_hit,
            "usage": self._usage,
            "stop": self._stop,
            "read": self._read,
            "write": self._write,
            "write_entries": self._write_entries,
            "processes": self._processes,
            "signal": self._signal_all,
            "kill": self._kill_all,
            "network": self._network,
            "connect": self._connect,
            "open": self._open,
        }
        self._out: list[int] = []
        self._pause_ms: int | None = None

    def _look(self) -> None:
        """Periodic maintenance while idle; for backends that need it."""

    def serve(self) -> None:
        """Serve requests until the caller disconnects."""
        woken, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        self._reap()
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        poll.register(woken, select.POLLIN)
        while True:
            ready = dict(poll.poll(self._pause_ms))
            if not ready:
                self._look()
            if woken in ready:
                os.read(woken, 4096)
                self._reap()
            if self._connection.fileno() in ready and not self._answer():
                return

    def _answer(self) -> bool:
        message = wire.receive(self._connection)
        if message is None:
            return False
        request, descriptors = message
        self._out = []
        self._perform(request.pop("do"), descriptors, request)
        for descriptor in descriptors:
            os.close(descriptor)
        return True

    def _perform(self, do: str, descriptors: list[int], request: dict[str, Any]) -> None:
        """Execute a request and answer."""
        try:
            reply = self._operations[do](descriptors, **request)
        except OSError as error:
            reply = {"error": error.strerror or str(error), "errno": error.errno}
        self._say(reply, self._out)
        for descriptor in self._out:
            os.close(descriptor)

    def _say(self, message: dict[str, Any], descriptors: list[int]) -> None:
        try:
            wire.send(self._connection, message, descriptors)
        except BrokenPipeError:
            return  # the caller has gone; the next read reports it
        except OSError as error:
            if not descriptors:
                raise
            self._say({"error": error.strerror or str(error), "errno": error.errno}, [])

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            kind = self._shells.pop(pid, None)
            if kind is not None:
                code = os.waitstatus_to_exitcode(status)
                self._say({"ended": kind, "pid": pid, "status": code}, [])

    def shell(self, descriptors: list[int]) -> dict[str, Any]:
        """Start the persistent shell; descriptors: input, output, status, and a script if any."""
        places = (0, 1, 2, 57)
        actions: list[Any] = [
            (os.POSIX_SPAWN_DUP2, source, place)
            for source, place in zip(descriptors, places, strict=False)
        ]
        arguments = ["bash", "--noprofile", "--norc", "--noediting", "-i"]
        return self._spawn("shell", arguments, actions)

    def _spawn(self, kind: str, arguments: list[str], actions: list[Any]) -> dict[str, Any]:
        ways = len(self._membership_files) // 2
        self._move(self._membership_files[:ways])  # a child starts in its parent's groups
        try:
            pid = self._start(arguments, actions)
        finally:
            self._move(self._membership_files[ways:])
        self._shells[pid] = kind
        return {"pid": pid}

    def _move(self, membership_files: list[int]) -> None:
        for file in membership_files:
            os.pwrite(file, b"0", 0)

    def _start(self, arguments: list[str], actions: list[Any]) -> int:
        """Start a shell and return its process id."""
        # posix_spawn cannot change directories, and this process has no other use for its own.
        os.chdir(self._workdir if os.path.isdir(self._workdir) else "/")
        try:
            program = self._become[0] if self._become else _SHELL
            pid = os.posix_spawn(
                program,
                [*self._become, _SHELL, *arguments[1:]] if self._become else arguments,
                self._environment,
                file_actions=actions,
                setsid=True,
                setsigmask=[],
                setsigdef=[signal.SIGXFSZ, signal.SIGPIPE, signal.SIGINT],
            )
        finally:
            os.chdir("/")
        if self._open_files and not self._become:  # no command has reached the shell yet
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (self._open_files, self._open_files))
        return pid

    def _terminal(self, descriptors: list[int], rows: int, columns: int) -> dict[str, Any]:
        master = os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        self._out.append(master)
        fcntl.ioctl(master, 0x40045431, struct.pack("i", 0))  # TIOCSPTLCK: unlock
        number = struct.unpack("i", fcntl.ioctl(master, 0x80045430, b"\0" * 4))[0]  # TIOCGPTN
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        slave = f"/dev/pts/{number}"
        # Opened by a new session's leader, it becomes the session's controlling terminal.
        actions: list[Any] = [(os.POSIX_SPAWN_OPEN, 0, slave, os.O_RDWR, 0)]
        actions += [(os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)]
        return self._spawn("terminal", ["bash", "--noprofile", "--norc", "-i"], actions)

    def _limits_hit(self, descriptors: list[int]) -> dict[str, Any]:
        space = os.statvfs(self._workdir if not self._whole else "/")
        counts = [_counter(handle) for handle in self._counter_files[:2]]
        free = space.f_bavail * space.f_frsize
        return {"counts": counts, "free": free, "inodes": space.f_favail}

    def _usage(self, descriptors: list[int]) -> dict[str, Any]:
        """Return the processor time of all processes, ended ones included."""
        if len(self._counter_files) > 2:
            return {"seconds": _processor_seconds(self._counter_files[2])}
        rows = table()
        if not self._whole:
            rows = [row for row in rows if row.pid == os.getpid()] + self._others()
        return {"seconds": sum(row.ticks for row in rows) / _TICKS}

    def _stop(
        self, descriptors: list[int], since: float, number: int, shell: bool
    ) -> dict[str, Any]:
        """Signal processes that the shell started since a time, and the shell itself if asked."""
        pids = {pid for pid, kind in self._shells.items() if kind == "shell"}
        first = int(since * _TICKS)
        signalled = 0
        for row in descendants(table(), pids):
            if row.started >= first and row.state != "Z":
                signalled += _kill(row.pid, number)
        if shell:
            for pid in pids:
                signalled += _kill(pid, number)
        return {"signalled": signalled}

    def _read(self, descriptors: list[int], path: str, most: int) -> dict[str, Any]:
        handle = _opened(path, os.O_RDONLY)
        with open(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return {"error": "not a regular file", "errno": errno.EINVAL}
            data = file.read(most + 1)
        if len(data) > most:
            return {"error": f"longer than {most:,} bytes", "errno": errno.EFBIG}
        self._out.append(wire.stored(data))
        return {}

    def _write(self, descriptors: list[int], path: str, mode: int) -> dict[str, Any]:
        writing.make_parents(path)
        handle = _opened(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with open(handle, "wb") as file, open(os.dup(descriptors[0]), "rb") as data:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return {"error": "not a regular file", "errno": errno.EINVAL}
            data.seek(0)
            file.write(data.read())
            os.fchmod(handle, mode)
        return {}

    def _write_entries(self, descriptors: list[int]) -> dict[str, Any]:
        writing.apply(bundle.unpack(os.dup(descriptors[0])))
        return {}

    def _others(self) -> list[ProcessInfo]:
        rows = [row for row in table() if row.pid != os.getpid()]
        return rows if self._whole else descendants(rows, {os.getpid()})

    def _processes(self, descriptors: list[int]) -> dict[str, Any]:
        found = [
            [row.pid, row.parent, row.state, command_of(row)]
            for row in self._others()
            if row.pid not in self._shells and row.state != "Z"
        ]
        terminal = "terminal" in self._shells.values()
        return {"processes": found, "terminal": terminal}

    def _signal_all(self, descriptors: list[int], number: int) -> dict[str, Any]:
        if self._whole:
            _kill(-1, number)
        else:
            for row in self._others():
                _kill(row.pid, number)
        if number == signal.SIGSTOP:
            self._await_standstill()
        return {}

    def _await_standstill(self) -> None:
        """Wait until no process runs: a stop takes effect when a process is next scheduled."""
        deadline = time.monotonic() + _DEADLINE_SECONDS
        while any(row.state in "RS" for row in self._others()) and time.monotonic() < deadline:
            time.sleep(_PAUSE_SECONDS)

    def _kill_all(self, descriptors: list[int]) -> dict[str, Any]:
        """Kill everything and wait until no process is left."""
        found = self._processes(descriptors)
        deadline = time.monotonic() + _KILL_SECONDS
        while True:
            self._signal_all(descriptors, signal.SIGKILL)
            self._reap()
            left = [command_of(row) for row in self._others()]
            if not left or time.monotonic() > deadline:
                return {**found, "left": left}
            time.sleep(_PAUSE_SECONDS)

    def _open(self, descriptors: list[int], path: str) -> dict[str, Any]:
        """Open a file for reading and pass it out."""
        handle = _opened(path, os.O_RDONLY)
        self._out.append(handle)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return {"error": "not a regular file", "errno": errno.EINVAL}
        return {}

    def _connect(self, descriptors: list[int], path: str) -> dict[str, Any]:
        """Connect to a local socket and pass the connection out."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
            link.settimeout(_DEADLINE_SECONDS)
            link.connect(path)
            link.settimeout(None)
            self._out.append(link.detach())
        return {}

    def _network(self, descriptors: list[int]) -> dict[str, Any]:
        return {"attempts": no_route_count("/proc/self/net")}


def _opened(path: str, flags: int, mode: int = 0o644) -> int:
    """Open a file for the caller, but nothing of this process in `/proc`.

    Its memory map names files of the machine, and its descriptors lead to control groups.
    """
    folder, name = os.path.split(path)
    _refuse_own(os.path.join(os.path.realpath(folder), name))
    _refuse_own(os.path.realpath(path))
    handle = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, mode)
    try:
        _refuse_own(os.readlink(f"/proc/self/fd/{handle}"))  # a link may have been replaced
    except BaseException:
        os.close(handle)
        raise
    return handle


def _becoming(user: str, open_files: int) -> list[str]:
    """Return the command before another that becomes a user."""
    name, _, group = user.partition(":")
    listed = not group and not name.isdigit()  # only a name has further groups
    groups = "--init-groups" if listed else "--clear-groups"
    limit = ["/usr/bin/prlimit", f"--nofile={open_files}:{open_files}"] if open_files else []
    return [*limit, "/usr/bin/setpriv", "--reuid", name, "--regid", group or name, groups]


def _refuse_own(path: str) -> None:
    if f"{path}/".startswith((f"/proc/{os.getpid()}/", "/proc/self/", "/proc/thread-self/")):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _kill(pid: int, number: int) -> int:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return 0
    return 1


def _counter(handle: int) -> int:
    for line in os.pread(handle, 4096, 0).splitlines():
        word, _, number = line.partition(b" ")
        if word in (b"oom_kill", b"max"):
            return int(number)
    return 0


def _processor_seconds(handle: int) -> float:
    """Read `cpuacct.usage` of version 1, in nanoseconds, or `cpu.stat` of version 2."""
    words = os.pread(handle, 4096, 0).split()
    if words[:1] == [b"usage_usec"]:
        return int(words[1]) / 1e6
    return int(words[0]) / 1e9


def no_route_count(folder: str) -> int:
    """Return the number of packets without a route in a network namespace.

    Args:
        folder: `/proc/<a process in it>/net`.
    """
    return _no_route(f"{folder}/snmp") + _no_route6(f"{folder}/snmp6")


def _no_route(path: str) -> int:
    """Return the number of IPv4 packets without a route."""
    try:
        with open(path) as file:
            lines = [line.split() for line in file if line.startswith("Ip:")]
    except OSError:
        return 0
    names, values = lines[0], lines[1]
    return int(values[names.index("OutNoRoutes")]) if "OutNoRoutes" in names else 0


def _no_route6(path: str) -> int:
    """Return the number of IPv6 packets without a route."""
    try:
        with open(path) as file:
            pairs = [line.split() for line in file]
    except OSError:
        return 0
    return sum(int(value) for name, value in pairs if name == "Ip6OutNoRoutes")
