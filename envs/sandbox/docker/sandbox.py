"""One container as a sandbox."""

import contextlib
import io
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hexathlon.envs.sandbox.base import (
    Sandbox,
    SandboxBackend,
    SandboxFault,
    SandboxPathError,
    SandboxSnapshot,
)
from hexathlon.envs.sandbox.changes import Changes, compare
from hexathlon.envs.sandbox.docker import scripts
from hexathlon.envs.sandbox.docker.archives import archive_of, entries_of
from hexathlon.envs.sandbox.docker.counters import Counters
from hexathlon.envs.sandbox.docker.engine import ENGINES, DockerEngine
from hexathlon.envs.sandbox.docker.exec_shell import OUTPUT, ExecShell, Frames
from hexathlon.envs.sandbox.execution import Evidence, Execution, Process, Screen, ShellState
from hexathlon.envs.sandbox.image import Entry, SandboxImage
from hexathlon.envs.sandbox.limits import MIB, SandboxLimits, Stop
from hexathlon.envs.sandbox.portable import PortableSnapshot
from hexathlon.envs.sandbox.running import absolute, run_in_shell
from hexathlon.envs.sandbox.shell import ShellEnded, quoted, setup_line
from hexathlon.envs.sandbox.terminal import COLUMNS, ROWS, Terminal

__all__ = ["DockerSandbox"]

_READY_SECONDS = 30.0
_HELP_SECONDS = 60.0
_STOP_SECONDS = 5.0
_TICKS = os.sysconf("SC_CLK_TCK")
_MOST_ENTRIES = 100_000
_ERRORS = {2: "No such file or directory", 22: "not a regular file"}


class DockerSandbox(Sandbox):
    """A container with an idle main process, and the shells that run in it.

    The engine has no time limits for processes in a container, so they are enforced here: a late
    command is killed by a helper in the container or, if no helper can start, together with the
    container.
    """

    backend = "docker"

    def __init__(
        self,
        backend: SandboxBackend,
        engine: DockerEngine,
        container: Any,
        image: SandboxImage,
        limits: SandboxLimits,
        before: Mapping[str, Entry],
        folders: tuple[str, ...],
    ) -> None:
        self.image = image
        self.limits = limits
        self._backend = backend
        self._engine = engine
        self._container: Any = container
        self._api = engine.client.api
        self._before = before
        self._folders = folders
        self._shell: ExecShell | None = None
        self._shell_exec = ""
        self._terminal: Terminal | None = None
        self._terminal_exec = ""
        self._stops: list[Stop] = []
        self._counters = Counters(container, folders)

    def opener(self) -> SandboxBackend:
        """Return the backend that opened this sandbox."""
        return self._backend

    # Interface for the shell driver.

    def fileno(self) -> int:
        """Return -1: the end of the shell shows as the end of its stream."""
        return -1

    def shell_end(self) -> int | None:
        """Return the exit code of the persistent shell."""
        deadline = time.monotonic() + 5.0
        while time.monotonic() < deadline:
            code = self._api.exec_inspect(self._shell_exec)["ExitCode"]
            if code is not None:
                return int(code) if code <= 128 else 128 - int(code)
        return None

    def stop(self, since: float, number: int, shell: bool) -> None:
        """Signal processes that the shell started since a time."""
        pid = self._shell.pid if self._shell is not None else 0
        arguments = [pid, int(since * _TICKS), number, "yes" if shell else "no"]
        try:
            self._help(scripts.STOP, *arguments, seconds=_STOP_SECONDS)
        except SandboxFault:  # no process can be started in the container
            self._counters.kill_shells(self._container)

    def start_shell(self, state: ShellState | None) -> None:
        """Start the persistent shell."""
        variables = self.image.variables()
        made = self._api.exec_create(
            self._container.id,
            ["/bin/bash", "-c", scripts.WAIT_THEN_SHELL],
            stdin=True,
            environment=variables,
            workdir=self.image.workdir,
        )
        self._shell_exec = made["Id"]
        shell = ExecShell(_raw(self._api.exec_start(made["Id"], socket=True)), self)
        line = b"\n" + setup_line()
        if state is not None and state.script:
            line += b"eval $'" + quoted(state.script) + b"' </dev/null >/dev/null 2>&1\n"
        try:
            up = shell.begin(line, _READY_SECONDS)
        except ShellEnded as ended:
            shell.close()
            raise SandboxFault(f"the shell does not start ({ended.code})") from ended
        if not up:
            shell.close()
            raise SandboxFault("the shell does not start")
        if state is not None:  # restored after the shell has reported that it is ready
            shell.previous = state.previous
            shell.errexit = b"\nset -o errexit\n" in state.script
        self._shell = shell

    def _drop_shell(self) -> None:
        if self._shell is not None:
            self._shell.close()
            self._shell = None

    def _help(
        self,
        script: str,
        *arguments: object,
        data: bytes | None = None,
        most: int = MIB,
        seconds: float = _HELP_SECONDS,
    ) -> tuple[int, bytes, bool]:
        """Run a helper; return its exit status, its output and whether that was truncated.

        Standard error is considered only if the helper fails: a loader configured by the agent
        may print anything there.

        Raises:
            SandboxFault: If it cannot be started or does not end.
        """
        import docker

        words = ["/bin/bash", "-c", script, "help", *(str(argument) for argument in arguments)]
        path = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        try:
            made = self._api.exec_create(
                self._alive().id, words, stdin=data is not None, environment=path, workdir="/"
            )
            connection = _raw(self._api.exec_start(made["Id"], socket=True))
        except docker.errors.APIError as error:
            message = f"nothing can be run in the container: {str(error)[:200]}"
            raise SandboxFault(message) from error
        with contextlib.closing(connection):
            output, errors, cut = _exchange(connection, data or b"", most, seconds)
        if cut:
            return 0, output, True
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = self._api.exec_inspect(made["Id"])
            code = found["ExitCode"]
            if code is not None:
                return code, output + errors if code else output, False
        raise SandboxFault("a helper in the container does not end")

    def _alive(self) -> Any:
        if self._container is None:
            raise SandboxFault("the sandbox is closed")
        return self._container

    def execute(self, command: str, timeout: float | None = None) -> Execution:
        """Run a command in the persistent shell."""
        self._alive()
        if self._shell is None:
            self.start_shell(None)
        assert self._shell is not None
        done = run_in_shell(self._shell, command, self.limits, timeout)
        hit = self._counters.limit_hit(done)
        stop = hit if done.stop is None or hit in (Stop.MEMORY, Stop.PROCESSES) else done.stop
        if done.restarted:
            self._drop_shell()
            self._require_container()
            self.start_shell(None)
            stop = stop or Stop.SHELL_ENDED
        if stop is not None:
            self._stops.append(stop)
        return replace(done, stop=stop)

    def _require_container(self) -> None:
        self._container.reload()
        if self._container.status != "running":
            raise SandboxFault("the container has ended", cause="sandbox_ended")

    def keys(self, text: str) -> None:
        """Type into the terminal."""
        if self._terminal is None or self._terminal.ended:
            made = self._api.exec_create(
                self._alive().id,
                ["/bin/bash", "--noprofile", "--norc", "-i"],
                stdin=True,
                tty=True,
                environment=self.image.variables(),
                workdir=self.image.workdir,
            )
            connection = _raw(self._api.exec_start(made["Id"], tty=True, socket=True))
            self._terminal_exec = made["Id"]
            self._api.exec_resize(self._terminal_exec, height=ROWS, width=COLUMNS)
            self._terminal = Terminal(connection.detach())
            self._terminal.look(0.2, 5.0, first=5.0)  # keys come after the prompt
        self._terminal.type(text)

    def resize(self, rows: int | None = None, columns: int | None = None) -> None:
        """Change the size of the terminal's screen."""
        if self._terminal is None:
            self.keys("")
        assert self._terminal is not None
        height, width = self._terminal.resize(rows, columns)
        self._api.exec_resize(self._terminal_exec, height=height, width=width)

    def screen(self, quiet: float = 0.05, timeout: float = 2.0, until: str | None = None) -> Screen:
        """Return the terminal's screen."""
        if self._terminal is None:
            self.keys("")
        assert self._terminal is not None
        return self._terminal.look(quiet, timeout, until=until)

    def read(self, path: str, max_bytes: int = 16 * MIB) -> bytes:
        """Return a regular file's content."""
        name = absolute(path)
        status, data, _ = self._help(scripts.READ, name, max_bytes + 1, most=max_bytes + 2)
        if status:
            reason = _ERRORS.get(status, data.decode("utf-8", "replace").strip()[-200:])
            raise SandboxPathError(f"{path[:200]}: {reason}")
        if len(data) > max_bytes:
            raise SandboxPathError(f"{path[:200]}: longer than {max_bytes:,} bytes")
        return data

    def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Write a file."""
        name = absolute(path)
        status, output, _ = self._help(scripts.WRITE, name, len(data), format(mode, "o"), data=data)
        if status:
            reason = _ERRORS.get(status, output.decode("utf-8", "replace").strip()[-200:])
            raise SandboxPathError(f"{path[:200]}: {reason}")

    def write_entries(self, files: Mapping[str, Entry]) -> None:
        """Write files, directories and links."""
        named = {absolute(path): entry for path, entry in files.items()}
        self.unpack(named, tuple(path for path, entry in named.items() if not entry.folder))

    def unpack(self, files: Mapping[str, Entry], deleted: tuple[str, ...] = ()) -> None:
        """Delete files and directories, then write entries at paths that are free."""
        foreign = [path for path, entry in files.items() if entry.owner]
        if foreign:
            raise SandboxPathError(f"{foreign[0]}: only id 0 exists in this sandbox")
        names = b"\0".join(path.encode() for path in deleted)
        data = names + archive_of(files)
        status, output, _ = self._help(
            scripts.UNPACK, len(names), len(data) - len(names), data=data
        )
        if status:
            raise SandboxPathError(output.decode("utf-8", "replace")[-500:])

    def processes(self) -> tuple[Process, ...]:
        """Return the processes inside, by the machine's ids."""
        found = self._alive().top(ps_args="-eo pid,ppid,stat,args")
        own = self._own_pids()
        rows = [(int(row[0]), int(row[1]), row[2][:1], row[3]) for row in found["Processes"]]
        return tuple(Process(*row) for row in rows if row[0] not in own and row[2] != "Z")

    def _own_pids(self) -> set[int]:
        pids = {int(self._api.inspect_container(self._container.id)["State"]["Pid"])}
        if self._shell is not None:
            pids.add(int(self._api.exec_inspect(self._shell_exec)["Pid"]))
        return pids

    def freeze(self) -> None:
        """Suspend all processes inside."""
        self._alive().pause()

    def thaw(self) -> None:
        """Resume all processes inside."""
        self._alive().unpause()

    def kill_all(self) -> tuple[Process, ...]:
        """Kill everything inside but process 1."""
        found = self.processes()
        deadline = time.monotonic() + 10.0
        while time.monotonic() < deadline:
            with contextlib.suppress(SandboxFault):
                self._help(scripts.KILL_ALL, seconds=_STOP_SECONDS)
            left = self.processes()
            if not left:
                self._drop_shell()  # last: a shell may still act when its input ends
                self._drop_terminal()
                return found
            self._counters.kill_shells(self._container)
        raise SandboxFault("still alive after they were killed: " + left[0].command[:100])

    def cpu_seconds(self) -> float | None:
        """Return the processor time of all processes so far."""
        return self._counters.cpu_seconds()

    def evidence(self) -> Evidence:
        """Return the counters since the sandbox was opened."""
        kills, refusals = self._counters.counts()
        return Evidence(self._counters.network_attempts(), kills, refusals, tuple(self._stops))

    def snapshot(self) -> SandboxSnapshot:
        """Return the state of files and shell, as data."""
        lost = self.processes()
        shell = None
        if self._shell is not None:
            script = self._shell.dump(_READY_SECONDS)
            if script is None:
                raise SandboxFault("the shell does not report its state")
            shell = ShellState(script, self._shell.previous)
        return PortableSnapshot(self.image, self.limits, self._changes(), shell, lost)

    def _changes(self) -> Changes:
        most = 2 * self.limits.disk_bytes + 64 * MIB
        names = " ".join(folder.strip("/") for folder in self._folders)
        script = f"cd / && exec tar -c --numeric-owner --warning=no-file-ignored -f - {names}"
        _, data, cut = self._help(script + " 2>/dev/null", most=most)
        found, special, short = entries_of(io.BytesIO(data), most, _MOST_ENTRIES)
        found = {path: entry for path, entry in found.items() if path not in ENGINES}
        return compare(self._before, found, special, cut or short)

    def restore(self, snapshot: SandboxSnapshot) -> None:
        """Kill everything, then continue from the snapshot."""
        fresh = self._backend.open_snapshot(snapshot)
        assert isinstance(fresh, DockerSandbox)
        self._become(fresh)

    def reset(self) -> None:
        """Kill everything, then start again from the image."""
        fresh = self._backend.open(self.image, self.limits)
        assert isinstance(fresh, DockerSandbox)
        self._become(fresh)

    def _become(self, other: "DockerSandbox") -> None:
        self.close()
        self.__dict__.update(other.__dict__)
        if self._shell is not None:
            self._shell.follow(self)
        other._container = other._shell = other._terminal = None

    def _drop_terminal(self) -> None:
        if self._terminal is not None:
            self._terminal.close()
            self._terminal = None

    def close(self) -> None:
        """Remove the container."""
        self._drop_shell()
        self._drop_terminal()
        if self._container is not None:
            container, self._container = self._container, None
            self._engine.remove(container)


def _raw(stream: Any) -> socket.socket:
    """Return the socket inside the package's response object, and close the rest."""
    inner: socket.socket = stream._sock
    connection = socket.socket(fileno=os.dup(inner.fileno()))
    response = getattr(stream, "_response", None)
    if response is not None:
        response.close()  # first, as it reads the unread remainder
    stream.close()
    inner.close()
    return connection


def _exchange(
    connection: socket.socket, data: bytes, most: int, seconds: float
) -> tuple[bytes, bytes, bool]:
    """Send everything and read to the end, both at once.

    Returns:
        Standard output, standard error, and whether either exceeded `most`.
    """
    import select

    connection.setblocking(False)
    frames, output, errors = Frames(), bytearray(), bytearray()
    unsent = memoryview(data)
    poll = select.poll()
    poll.register(connection, select.POLLIN | (select.POLLOUT if unsent else 0))
    deadline = time.monotonic() + seconds
    while True:
        ready = poll.poll(max(deadline - time.monotonic(), 0) * 1000)
        if not ready:
            raise SandboxFault("a helper in the container does not answer")
        if unsent and ready[0][1] & select.POLLOUT:
            with contextlib.suppress(BlockingIOError):
                unsent = unsent[connection.send(unsent[:65536]) :]
            if not unsent:
                poll.modify(connection, select.POLLIN)
        if ready[0][1] & (select.POLLIN | select.POLLHUP):
            try:
                more = connection.recv(1 << 18)
            except BlockingIOError:
                continue
            if not more:
                return bytes(output), bytes(errors), False
            for stream, block in frames.add(more):
                (output if stream == OUTPUT else errors).extend(block)
            if max(len(output), len(errors)) > most:
                return bytes(output[:most]), bytes(errors[:most]), True
