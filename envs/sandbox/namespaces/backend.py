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
from hexathlon.envs.sandbox.namespaces.caller import Keeper
from hexathlon.envs.sandbox.namespaces.sandbox import NamespaceSandbox
from hexathlon.envs.sandbox.namespaces.snapshot import LayeredSnapshot
from hexathlon.envs.sandbox.namespaces.stacks import Stack, Stacks

__all__ = ["NamespaceBackend"]


class NamespaceBackend(SandboxBackend):
    """Sandboxes in separate namespaces, over in-memory layers.

    Args:
        keeper: Returns the keeper to use; None for the keeper shared by this process.
    """

    name: ClassVar[str] = "namespaces"

    def __init__(self, keeper: Callable[[], Keeper] | None = None) -> None:
        self._stacks = Stacks(keeper)

    def properties(self, sandbox: Sandbox) -> Mapping[str, str | bool]:
        """Return the properties of this backend."""
        properties = self._stacks.keeper().properties
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
        if isinstance(snapshot, LayeredSnapshot) and snapshot.stack.keeper.alive():
            return self._sandbox(snapshot.stack, own, snapshot.shell)
        stack = self._stacks.stack_for(snapshot.image)
        changed = self._stacks.lay_over(stack, snapshot.changes())
        return self._sandbox(changed, own, snapshot.shell)

    def _sandbox(
        self, stack: Stack, limits: SandboxLimits, shell: ShellState | None
    ) -> NamespaceSandbox:
        return NamespaceSandbox(self, self._stacks, stack, limits, shell)
