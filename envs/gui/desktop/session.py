"""A desktop: display, window manager, message buses and programs in one sandbox.

Everything the agent operates runs under the filter of `confined`. The shell that starts the
programs is connected to pipes of this process, which nothing on the desktop can reach. When it
ends, so does the sandbox. Independent of tasks and of what an agent sees.
"""

import contextlib
import mmap
import os
import shlex
import socket
import struct
import time
import weakref
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hexathlon.envs.errors import BackendMissing, DeadlineExceeded, EnvFault
from hexathlon.envs.gui.desktop.accessibility import AccessibilityTree
from hexathlon.envs.gui.desktop.bus import Bus
from hexathlon.envs.gui.desktop.confined import launch_line
from hexathlon.envs.gui.desktop.display import Display, picture
from hexathlon.envs.gui.desktop.home import SCREEN, desktop_image
from hexathlon.envs.gui.desktop.idleness import Processes
from hexathlon.envs.sandbox.base import SandboxPathError
from hexathlon.envs.sandbox.changes import Changes
from hexathlon.envs.sandbox.image import Entry
from hexathlon.envs.sandbox.init_sandbox import InitSandbox
from hexathlon.envs.sandbox.ladder import choose
from hexathlon.envs.sandbox.limits import MIB, SandboxLimits

__all__ = ["DesktopSession"]

_LIMITS = SandboxLimits(memory_bytes=1_536 * MIB, processes=512, disk_bytes=128 * MIB)
_FRAMEBUFFER = "/dev/shm/Xvfb_screen0"
_X, _SESSION, _ACCESS = "/tmp/.X11-unix/X1", "/run/user/bus", "/run/user/access"
_PAUSE_SECONDS = 0.01
_WAIT_SECONDS = 0.5
_SETTLE_SECONDS = 20.0


class DesktopSession:
    """A running desktop.

    Args:
        files: Absolute path → entry, in addition to the desktop's own files.
        look: Name of the look.
        seconds: Deadline of each wait.
        backend: Name of the sandbox backend.

    Raises:
        BackendMissing: If the sandbox is not available here.
        EnvFault: If the desktop does not start.
    """

    def __init__(
        self,
        files: Mapping[str, Entry],
        look: str = "light",
        *,
        seconds: float = 60.0,
        backend: str = "namespaces",
    ) -> None:
        self.size = SCREEN
        self._seconds = seconds
        self._closing = contextlib.ExitStack()
        self._finalizer = weakref.finalize(self, self._closing.close)
        sandbox = choose(backend).open(desktop_image(files, look), _LIMITS)
        self._closing.callback(sandbox.close)
        try:
            if not isinstance(sandbox, InitSandbox):
                raise BackendMissing(f"the desktop needs the sandbox 'namespaces', not {backend!r}")
            self._sandbox = sandbox
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        width, height = self.size
        self._sandbox.execute(
            f"Xvfb :1 -screen 0 {width}x{height}x24 -nolisten tcp -ac -br -fbdir /dev/shm "
            ">/tmp/display.log 2>&1 </dev/null &"
        )
        self._background("dbus-daemon --nofork --nopidfile --config-file=/etc/desktop/bus.conf "
                         f"--address=unix:path={_SESSION}")  # fmt: skip
        self._background("dbus-daemon --nofork --nopidfile --config-file=/etc/desktop/bus.conf "
                         f"--address=unix:path={_ACCESS}")  # fmt: skip
        link = self._link(_X, "the display")
        peer = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        self.processes = Processes.beside(peer[0])
        self.display = Display(link)
        self._closing.callback(self.display.close)
        store = self._sandbox.open_file(_FRAMEBUFFER)
        try:
            self._framebuffer = mmap.mmap(store, 0, access=mmap.ACCESS_READ)
        finally:
            os.close(store)
        self._closing.callback(self._framebuffer.close)
        self._background("openbox --config-file /etc/desktop/openbox.xml")
        self.wait_for("the window manager", self.display.managed)
        self._link(_SESSION, "the message bus").close()
        bus = Bus(self._link(_ACCESS, "the accessibility bus"), self._seconds)
        self._closing.callback(bus.close)
        # It ends at once if a bus is not there yet.
        self._background("/usr/libexec/at-spi2-registryd")
        self.tree = AccessibilityTree(bus)
        self.wait_for("the accessibility registry", lambda: self.tree.registered())

    def _background(self, arguments: str) -> None:
        self._sandbox.execute(launch_line(arguments, "/run/user/log"))

    def _link(self, path: str, name: str) -> socket.socket:
        """Connect to a socket in the sandbox once it exists."""
        found: list[socket.socket] = []

        def connected() -> bool:
            try:
                found.append(self._sandbox.connect(path))
            except SandboxPathError:
                return False
            return True

        self.wait_for(name, connected)
        return found[0]

    def wait_for(self, name: str, happened: Callable[[], bool]) -> None:
        """Wait until a condition holds.

        Raises:
            DeadlineExceeded: If it does not hold by the deadline; the message contains the name.
        """
        deadline = time.monotonic() + self._seconds
        while not happened():
            if time.monotonic() > deadline:
                raise DeadlineExceeded(
                    f"{name} of the desktop did not start in {self._seconds:g} seconds"
                )
            time.sleep(_PAUSE_SECONDS)

    def launch(self, command: Sequence[str]) -> None:
        """Start a program, confined, without waiting for its window."""
        self._background(shlex.join(command))

    def settle(self) -> bool:
        """Wait until every program sleeps; False if one never does, such as an animation."""
        return self.processes.settle(min(self._seconds, _SETTLE_SECONDS))

    def pause(self) -> None:
        """Wait half a second, for programs that react with a delay."""
        time.sleep(_WAIT_SECONDS)

    def write_entries(self, files: Mapping[str, Entry]) -> None:
        """Write files."""
        self._sandbox.write_entries(files)

    def exists(self, path: str) -> bool:
        """Whether a file or folder exists."""
        done = self._sandbox.execute(f"test -e {shlex.quote(path)}", self._seconds)
        return done.exit_status == 0

    def idle(self) -> bool:
        """Whether nothing has happened for a while, so that no more windows are expected."""
        return self.processes.settle(_WAIT_SECONDS, _WAIT_SECONDS)

    def pixels(self) -> NDArray[np.uint8]:
        """Return the screen, shape (height, width, 3)."""
        return picture(self._framebuffer)

    def running(self) -> tuple[str, ...]:
        """Return the command lines of all processes."""
        return tuple(process.command for process in self._sandbox.processes())

    def check(self) -> None:
        """Raise if the display is gone; a program closed by the agent is not a fault.

        Raises:
            EnvFault: If it is.
        """
        commands = self.running()
        for name in ("Xvfb", "openbox", "dbus-daemon", "at-spi2-registryd"):
            if not any(name in command.split(" ")[0] for command in commands):
                raise EnvFault(f"{name} ended unexpectedly", cause="display_ended")

    def changes(self) -> Changes:
        """Return how the files differ from the start."""
        with self._sandbox.snapshot() as state:
            return state.changes()

    def close(self) -> None:
        """End everything; idempotent. A session that is not closed ends when it is collected."""
        self._finalizer()
