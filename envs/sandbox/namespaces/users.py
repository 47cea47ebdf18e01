"""User namespaces of sandboxes whose supervisor is the machine's root.

All map the same ids, since sandboxes share layers. Each sandbox has its own nevertheless, with an
owner of its own: the kernel limits watches, pending signals and timers for each namespace and
owner, and no sandbox uses up what others may have.
"""

import os
import signal

from hexathlon.envs.sandbox.kernel import wire
from hexathlon.envs.sandbox.kernel.calls import CLONE_NEWUSER, become_owner, unshare

__all__ = ["FIRST_ID", "UserNamespaces"]

FIRST_ID = 1_000_000_000
"""Id on the machine of user 0 inside; it owns nothing outside."""

_IDS = 65_536
_FIRST_OWNER = 2_000_000_000


class UserNamespaces:
    """One namespace for mounts, and a supply of others that sandboxes use one after the other."""

    def __init__(self) -> None:
        self.common = _made()
        """Descriptor of the namespace by whose ids directories of the machine are mounted."""

        self._count = 0
        self._free: list[int] = []

    def take(self) -> int:
        """Return the descriptor of a namespace that no process is in."""
        if self._free:
            return self._free.pop()
        self._count += 1
        return _made(_FIRST_OWNER + self._count % _IDS)

    def give_back(self, descriptor: int) -> None:
        """Take back a namespace whose processes have all ended."""
        self._free.append(descriptor)


def _made(owner: int | None = None) -> int:
    """Create a user namespace with the ids of the sandboxes and return its descriptor.

    Args:
        owner: User id on the machine that owns it; None for this process's own.
    """
    ours, theirs = wire.pair()
    pid = os.fork()
    if pid == 0:
        try:
            if owner is not None:
                become_owner(owner)
            unshare(CLONE_NEWUSER)
            wire.send(theirs, {}, [])
            wire.receive(theirs)
        finally:
            os._exit(0)
    theirs.close()  # so that the end of a child that failed is noticed
    try:
        if wire.receive(ours) is None:
            raise OSError("no user namespace could be created")
        for name in ("uid_map", "gid_map"):
            with open(f"/proc/{pid}/{name}", "w") as file:
                file.write(f"0 {FIRST_ID} {_IDS}")
        return os.open(f"/proc/{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        ours.close()
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
