"""One sandbox in namespaces, over layers."""

import contextlib
import os
import signal
import socket

from hexathlon.envs.sandbox.base import SandboxBackend, SandboxFault, SandboxSnapshot
from hexathlon.envs.sandbox.execution import Evidence, Process, ShellState
from hexathlon.envs.sandbox.init_sandbox import InitSandbox, ShellPipes
from hexathlon.envs.sandbox.kernel import wire
from hexathlon.envs.sandbox.limits import SandboxLimits
from hexathlon.envs.sandbox.link import InitLink, answer_on
from hexathlon.envs.sandbox.namespaces.client import Layer
from hexathlon.envs.sandbox.namespaces.snapshot import LayeredSnapshot
from hexathlon.envs.sandbox.namespaces.stacks import Opened, Stack, Stacks

__all__ = ["NamespaceSandbox"]

_DUMP_SECONDS = 10.0
_COPY_SECONDS = 120.0
_LISTEN_SECONDS = 20.0
_DEEPEST = 64
"""Maximum number of frozen layers above the image; a deeper stack is copied into one layer."""


class NamespaceSandbox(InitSandbox):
    """A sandbox whose files are a stack of layers; the first is its own.

    Taking a snapshot freezes that layer, in constant time whatever its content. The sandbox then
    continues in a new process 1 on a new layer, with the same shell state. If background
    processes are alive, the layer is copied instead, and the processes stay.
    """

    backend = "namespaces"

    def __init__(
        self,
        backend: SandboxBackend,
        stacks: Stacks,
        stack: Stack,
        limits: SandboxLimits,
        shell: ShellState | None,
    ) -> None:
        super().__init__(stack.image, limits)
        self._backend = backend
        self._stacks = stacks
        self._stack = stack
        self._frozen: LayeredSnapshot | None = None
        self._opened: Opened | None = None
        self._killed = (0, 0)
        self._start(shell)

    def opener(self) -> SandboxBackend:
        """Return the backend that opened this sandbox."""
        return self._backend

    def _live(self) -> InitLink:
        if self._frozen is not None:
            frozen, self._frozen = self._frozen, None
            self._end()
            self._stack = frozen.stack
            self._start(frozen.shell)
        if self._link is None:
            raise SandboxFault("the sandbox is closed")
        return self._link

    def _start(self, state: ShellState | None) -> None:
        script = state.script if state is not None else b""
        pipes = ShellPipes()
        store = [wire.stored(script)] if script else []
        try:
            self._opened = self._stacks.start(
                self._stack, self.limits, self._room(), [*pipes.theirs, *store]
            )
        except BaseException:
            pipes.close()
            raise
        finally:
            for descriptor in store:
                os.close(descriptor)
        pipes.close_theirs()
        self._link = self._opened.link
        self._counts = (0, 0)
        try:
            shell = self._adopt(pipes, bool(script))
        except BaseException:
            self._end()
            raise
        if state is not None:
            shell.previous = state.previous

    def _room(self) -> tuple[int, int]:
        limits, stack = self.limits, self._stack
        return limits.disk_bytes - stack.bytes_used, limits.inodes - stack.inodes_used

    def _end(self, *, wait: bool = True) -> None:
        if self._opened is None:
            return
        opened, self._opened = self._opened, None
        if not self._stack.supervisor.alive():  # gone, or another process's: nothing here is ours
            self._hang_up()
            return
        self._count_network()
        kills = refusals = 0
        # First the end, then the pipes: a shell that sees its input end would run its traps.
        with contextlib.suppress(SandboxFault):  # the supervisor is gone, and its layers with it
            kills, refusals = self._stacks.end(self._stack.supervisor, opened, wait=wait)
        self._hang_up()
        self._killed = (self._killed[0] + kills, self._killed[1] + refusals)

    def _count_network(self) -> None:
        if self._link is not None:
            try:
                self._attempts += self._link.ask("network")[0]["attempts"]
            except SandboxFault:
                return  # process 1 has ended, and its counters with it

    def listen(self, port: int) -> socket.socket:
        """Return a socket that listens on the sandbox's loopback."""
        self._live()
        assert self._opened is not None
        ours, theirs = wire.pair()
        with ours:
            with theirs:
                descriptors, pid = [theirs.fileno()], self._opened.pid
                self._stack.supervisor.ask("listen", descriptors, pid=pid, port=port)
            (descriptor,) = answer_on(ours, "opening a port", _LISTEN_SECONDS)
        return socket.socket(fileno=descriptor)

    def snapshot(self) -> SandboxSnapshot:
        """Return the state of files and shell."""
        if self._frozen is not None:
            frozen = self._frozen
            return LayeredSnapshot(frozen.stack, self.limits, frozen.shell, frozen.lost)
        reply, _ = self._live().ask("processes")
        lost = tuple(Process(*row) for row in reply["processes"])
        shell = self._shell_state()
        if lost or reply["terminal"] or len(self._stack.above) >= _DEEPEST:
            return LayeredSnapshot(self._stack_with(self._copied()), self.limits, shell, lost)
        assert self._opened is not None
        self._frozen = LayeredSnapshot(self._stack_with(self._opened.upper), self.limits, shell, ())
        return LayeredSnapshot(self._frozen.stack, self.limits, shell, ())

    def _shell_state(self) -> ShellState:
        shell = self._shell
        if shell is None:
            return ShellState(b"", 0)
        script = shell.dump(_DUMP_SECONDS)
        if script is None:
            raise SandboxFault("the shell does not report its state")
        return ShellState(script, shell.previous)

    def _stack_with(self, layer: Layer) -> Stack:
        used_bytes, used_inodes = self._used()
        stack = self._stack
        return Stack(
            stack.supervisor,
            stack.image,
            (layer, *stack.above),
            stack.image_layers,
            stack.bytes_used + used_bytes,
            stack.inodes_used + used_inodes,
        )

    def _used(self) -> tuple[int, int]:
        """Return bytes and inodes of the writable layer."""
        assert self._link is not None
        reply, _ = self._link.ask("limits_hit")
        size, inodes = self._room()
        return max(size - reply["free"], 0), max(inodes - reply["inodes"], 0)

    def _copied(self) -> Layer:
        """Copy the writable layer while all processes are suspended."""
        assert self._opened is not None and self._link is not None
        supervisor = self._stack.supervisor
        number = supervisor.new_number()
        self._link.ask("signal", number=int(signal.SIGSTOP))
        ours, theirs = wire.pair()
        try:
            with theirs:
                supervisor.ask(
                    "copy",
                    [theirs.fileno()],
                    layer=self._opened.upper.number,
                    to=number,
                    sizes=self._room(),
                )
            layer = Layer(number, supervisor)
            answer_on(ours, "copying files", _COPY_SECONDS)
        finally:
            ours.close()
            self._link.ask("signal", number=int(signal.SIGCONT))
        return layer

    def restore(self, snapshot: SandboxSnapshot) -> None:
        """Kill everything, then continue from the snapshot."""
        fresh = self._backend.open_snapshot(snapshot)
        assert isinstance(fresh, NamespaceSandbox)
        self._become(fresh)

    def reset(self) -> None:
        """Kill everything, then start again from the image."""
        self._end(wait=False)  # the old sandbox shares nothing with the new one
        self._frozen = None
        self._stack = self._stacks.stack_for(self.image)
        self._stops, self._attempts, self._killed = [], 0, (0, 0)
        self._start(None)

    def _become(self, other: "NamespaceSandbox") -> None:
        """Take over all resources of another sandbox."""
        self._end(wait=False)
        self.__dict__.update(other.__dict__)
        other._opened = other._link = other._shell = other._terminal = None

    def evidence(self) -> Evidence:
        """Return the counters since the sandbox was opened."""
        seen = super().evidence()
        counters = (0, 0)
        if self._opened is not None:
            counters = self._stack.supervisor.ask("counters", pid=self._opened.pid)["counters"]
        kills, refusals = (old + new for old, new in zip(self._killed, counters, strict=True))
        return Evidence(seen.network_attempts, kills, refusals, seen.stops)

    def close(self) -> None:
        """End all processes and release all resources."""
        self._end()
        self._frozen = None
        supervisor = self._stack.supervisor
        self._stack = Stack(supervisor, self.image)
        supervisor.tidy()
