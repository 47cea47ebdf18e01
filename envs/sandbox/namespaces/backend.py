"""Namespaces backend: opens sandboxes on layers."""

from collections.abc import Callable, Mapping
from typing import ClassVar

from hexathlon.envs.sandbox.base import (
    Sandbox,
    SandboxBackend,
    SandboxSnapshot,
)
from hexathlon.envs.sandbox.execution import ShellState
from hexathlon.envs.sandbox.image import SandboxImage
from hexathlon.envs.sandbox.limits import SandboxLimits
from hexathlon.envs.sandbox.namespaces.client import Supervisor
from hexathlon.envs.sandbox.namespaces.sandbox import NamespaceSandbox
from hexathlon.envs.sandbox.namespaces.snapshot import LayeredSnapshot
from hexathlon.envs.sandbox.namespaces.stacks import Stack, Stacks

__all__ = ["NamespaceBackend"]


class NamespaceBackend(SandboxBackend):
    """Sandboxes in separate namespaces, over in-memory layers.

    Args:
        supervisor: Returns the supervisor to use; None for the supervisor shared by this process.
    """

    name: ClassVar[str] = "namespaces"

    def __init__(self, supervisor: Callable[[], Supervisor] | None = None) -> None:
        self._stacks = Stacks(supervisor)

    def properties(self, sandbox: Sandbox) -> Mapping[str, str | bool]:
        """Return the properties of this backend."""
        properties = self._stacks.supervisor().properties
        groups = str(properties["limits"])
        named = groups if groups.startswith("cgroup") else "rlimits"
        return {
            "user": "root" if properties["root"] else "user",
            "limits": named,
            "owners": bool(properties["root"]),
            "absolute_paths": True,
            "network": "loopback",
            "landlock": str(properties["landlock"]),
        }

    def open(self, image: SandboxImage, limits: SandboxLimits | None = None) -> Sandbox:
        """Start a sandbox."""
        return self._sandbox(self._stacks.stack_for(image), limits or SandboxLimits(), None)

    def open_snapshot(
        self, snapshot: SandboxSnapshot, limits: SandboxLimits | None = None
    ) -> Sandbox:
        """Start a sandbox from a snapshot."""
        own = limits or snapshot.limits
        if isinstance(snapshot, LayeredSnapshot) and snapshot.stack.supervisor.alive():
            return self._sandbox(snapshot.stack, own, snapshot.shell)
        stack = self._stacks.stack_for(snapshot.image)
        changed = self._stacks.add_layer(stack, snapshot.changes())
        return self._sandbox(changed, own, snapshot.shell)

    def _sandbox(
        self, stack: Stack, limits: SandboxLimits, shell: ShellState | None
    ) -> NamespaceSandbox:
        return NamespaceSandbox(self, self._stacks, stack, limits, shell)
