"""Snapshots of layered sandboxes: a stack of frozen layers and a script for the shell."""

from typing import Any

from hexathlon.envs.sandbox.base import SandboxSnapshot
from hexathlon.envs.sandbox.changes import Changes
from hexathlon.envs.sandbox.execution import Process, ShellState
from hexathlon.envs.sandbox.kernel import bundle, wire
from hexathlon.envs.sandbox.limits import MIB, SandboxLimits
from hexathlon.envs.sandbox.link import answer_on
from hexathlon.envs.sandbox.namespaces.stacks import Stack
from hexathlon.envs.sandbox.portable import PortableSnapshot

__all__ = ["LayeredSnapshot", "changes_of"]

_SECONDS = 120.0


class LayeredSnapshot(SandboxSnapshot):
    """Frozen layers, shared with every sandbox that uses them."""

    def __init__(
        self,
        stack: Stack,
        limits: SandboxLimits,
        shell: ShellState | None,
        lost: tuple[Process, ...],
    ) -> None:
        self.stack = stack
        self.image = stack.image
        self.limits = limits
        self.shell = shell
        self.lost = lost

    def changes(self, max_bytes: int = 64 * MIB, max_entries: int = 50_000) -> Changes:
        """Return the difference from the image."""
        return changes_of(self.stack, max_bytes, max_entries)

    def close(self) -> None:
        """Release the layers."""
        self.stack = Stack(self.stack.supervisor, self.image, (), self.stack.image_layers)

    def __reduce__(self) -> tuple[Any, ...]:
        portable = (self.image, self.limits, self.changes(), self.shell, self.lost)
        return PortableSnapshot, portable


def changes_of(stack: Stack, max_bytes: int, max_entries: int) -> Changes:
    """Return the changes that the layers above an image make to it."""
    ours, theirs = wire.pair()
    with ours:
        with theirs:
            stack.supervisor.ask(
                "changes",
                [theirs.fileno()],
                above=[layer.number for layer in stack.above],
                image=[layer.number for layer in stack.image_layers],
                base=stack.image.base,
                max_bytes=max_bytes,
                max_entries=max_entries,
            )
        (store,) = answer_on(ours, "reading the changes", _SECONDS)
    return bundle.unpack(store)
