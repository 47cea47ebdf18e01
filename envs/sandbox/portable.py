"""Snapshots as plain data, which any backend can open."""

from hexathlon.envs.sandbox.base import SandboxSnapshot
from hexathlon.envs.sandbox.changes import Changes
from hexathlon.envs.sandbox.execution import Process, ShellState
from hexathlon.envs.sandbox.image import SandboxImage
from hexathlon.envs.sandbox.limits import MIB, SandboxLimits

__all__ = ["PortableSnapshot"]


class PortableSnapshot(SandboxSnapshot):
    """A snapshot that contains its changes relative to the image."""

    def __init__(
        self,
        image: SandboxImage,
        limits: SandboxLimits,
        changes: Changes,
        shell: ShellState | None = None,
        lost: tuple[Process, ...] = (),
    ) -> None:
        self.image = image
        self.limits = limits
        self._changes = changes
        self.shell = shell
        self.lost = lost

    def changes(self, max_bytes: int = 64 * MIB, max_entries: int = 50_000) -> Changes:
        """Return the difference from the image."""
        return self._changes

    def close(self) -> None:
        """Do nothing: there is nothing to release."""
