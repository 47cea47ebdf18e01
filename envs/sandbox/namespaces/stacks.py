"""Stacks of layers, and process 1 started on them.

Independent of the sandboxes on top of a stack and of their shells.
"""

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from hexathlon.envs.sandbox.changes import Changes
from hexathlon.envs.sandbox.image import HOST, Entry, SandboxImage
from hexathlon.envs.sandbox.kernel import bundle, wire
from hexathlon.envs.sandbox.limits import MIB, SandboxLimits
from hexathlon.envs.sandbox.link import InitLink
from hexathlon.envs.sandbox.namespaces.client import Layer, Supervisor, shared_supervisor

__all__ = ["Opened", "Stack", "Stacks"]

_IMAGES = 32
"""Maximum number of images with layers kept in memory; the least recently used is evicted."""

_MEMORY_FILES = 64 * MIB
_PAGE = 4096
_OWN_PROCESSES = 2


@dataclass(frozen=True)
class Stack:
    """The read-only layers below a sandbox: frozen ones above the image's own."""

    supervisor: Supervisor
    image: SandboxImage
    above: tuple[Layer, ...] = ()
    """Frozen layers, the topmost first."""

    image_layers: tuple[Layer, ...] = ()
    bytes_used: int = 0
    inodes_used: int = 0

    def numbers(self) -> list[int]:
        """Return the numbers of all layers, the topmost first."""
        return [layer.number for layer in (*self.above, *self.image_layers)]


@dataclass
class Opened:
    """A started process 1 and the layer it writes to.

    The process ends once nothing references the link.
    """

    pid: int
    link: InitLink
    upper: Layer
    abandoning: "weakref.finalize[[int], InitLink]"


class Stacks:
    """The stacks of one backend.

    Args:
        supervisor: Returns the supervisor to use; None for the one that this process shares.
    """

    def __init__(self, supervisor: Callable[[], Supervisor] | None = None) -> None:
        self.supervisor = supervisor or shared_supervisor
        self._images: OrderedDict[tuple[int, str], Stack] = OrderedDict()
        self._lock = threading.Lock()

    def stack_for(self, image: SandboxImage) -> Stack:
        """Return the layers of an image, made once for all sandboxes of it."""
        supervisor = self.supervisor()
        key = (id(supervisor), image.digest())
        with self._lock:
            if key in self._images:
                self._images.move_to_end(key)
                return self._images[key]
        mounted = [*image.mounts, *image.binds]
        places = {path: Entry(folder=True, mode=0o755) for path in mounted}
        files = {**places, **image.files}
        if image.workdir not in files:
            files = {image.workdir: Entry(folder=True, mode=0o755), **files}
        stack = self.add_layer(Stack(supervisor, image), Changes(files), of_image=True)
        with self._lock:
            self._images[key] = stack
            while len(self._images) > _IMAGES:
                self._images.popitem(last=False)
        return stack

    def add_layer(self, stack: Stack, changes: Changes, *, of_image: bool = False) -> Stack:
        """Return a stack with one more layer, written by a privileged process inside."""
        entries = changes.written.values()
        pages = sum(-(-len(entry.data) // _PAGE) for entry in entries)
        parents = sum(path.count("/") for path in changes.written)
        inodes = len(changes.written) + len(changes.deleted) + parents + 64
        size = (pages + inodes) * _PAGE + MIB
        store = bundle.pack(changes)
        try:
            opened = self.start(stack, SandboxLimits(), (size, inodes), [store], write_bundle=True)
        finally:
            os.close(store)
        self.end(stack.supervisor, opened)
        if of_image:
            return Stack(stack.supervisor, stack.image, (), (opened.upper,))
        used = (stack.bytes_used + pages * _PAGE, stack.inodes_used + len(changes.written))
        return Stack(
            stack.supervisor, stack.image, (opened.upper, *stack.above), stack.image_layers, *used
        )

    def start(
        self,
        stack: Stack,
        limits: SandboxLimits,
        size: tuple[int, int],
        descriptors: list[int],
        *,
        write_bundle: bool = False,
    ) -> Opened:
        """Start process 1 on a stack and a new layer over it.

        Args:
            stack: The layers below.
            limits: Resource limits.
            size: Bytes and inodes of the new layer.
            descriptors: The shell's pipe ends and optionally a script, or a bundle to write.
            write_bundle: Whether to write a bundle instead of starting a shell.
        """
        supervisor = stack.supervisor
        number = supervisor.new_number()
        ours, theirs = wire.pair()
        try:
            with theirs:
                reply = supervisor.ask(
                    "open",
                    [theirs.fileno(), *descriptors],
                    layers=[number, *stack.numbers()],
                    sizes=size,
                    **_spec(supervisor, stack.image, limits, write_bundle),
                )
            upper, link = Layer(number, supervisor), InitLink(ours)
            abandoning = weakref.finalize(link, supervisor.abandon, reply["pid"])
            opened = Opened(reply["pid"], link, upper, abandoning)
        except BaseException:
            ours.close()
            raise
        try:
            link.started()
        except BaseException:
            self.end(supervisor, opened)
            raise
        return opened

    def end(self, supervisor: Supervisor, opened: Opened, *, wait: bool = True) -> tuple[int, int]:
        """Kill a process 1 and all its descendants; return the counters of its control groups.

        Args:
            supervisor: The supervisor that started it.
            opened: The process.
            wait: Whether to return only after every process has exited.
        """
        opened.abandoning.detach()
        kills, refusals = supervisor.ask("end", pid=opened.pid, wait=wait)["counters"]
        opened.link.close()
        return kills, refusals


def _spec(
    supervisor: Supervisor, image: SandboxImage, limits: SandboxLimits, write_bundle: bool
) -> dict[str, object]:
    groups = str(supervisor.properties["limits"]).startswith("cgroup")
    return {
        "base": image.base,
        "mounts": {} if write_bundle else {**{p: p for p in image.mounts}, **image.binds},
        "host": image.base == HOST,
        "environment": image.variables(),
        "workdir": image.workdir,
        "memory_files": min(_MEMORY_FILES, limits.disk_bytes),
        "full_root": image.full_root,
        "user": image.user if image.full_root else "",
        "shell": not write_bundle,
        "write_bundle": write_bundle,
        "group": {
            "memory": limits.memory_bytes + (limits.disk_bytes if not write_bundle else 1 << 40),
            "processes": limits.processes + _OWN_PROCESSES,
            "cpus": limits.cpus,
        },
        "process_limits": {
            "file_bytes": limits.file_bytes,
            "open_files": limits.open_files,
            "processes": None if groups else limits.processes + _OWN_PROCESSES,
            "address_space": None if groups else limits.memory_bytes,
        },
    }
