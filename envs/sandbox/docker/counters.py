"""Resource denials of a container, read from the host side where permitted.

The files of a container's control group and namespaces are on this machine. With a remote engine,
or without permission, only the commands' own output is available.
"""

import contextlib
import os
import signal
from pathlib import Path
from typing import Any

from hexathlon.envs.sandbox.execution import Execution
from hexathlon.envs.sandbox.kernel.init import no_route_count
from hexathlon.envs.sandbox.limits import Stop
from hexathlon.envs.sandbox.running import limit_in_output

__all__ = ["Counters"]

_ROOT = Path("/sys/fs/cgroup")


class Counters:
    """Counters of one container.

    Args:
        container: A started container.
        folders: Its writable directories.
    """

    def __init__(self, container: Any, folders: tuple[str, ...]) -> None:
        container.reload()
        self._pid = int(container.attrs["State"]["Pid"])
        self._id = str(container.id)
        self._folders = folders
        self._files = self._find()
        self._times = self._find_times()
        self._last = self.counts()

    def _groups(self) -> dict[str, Path]:
        """Return the container's control groups by controller; version 2 has the name ''."""
        try:
            lines = Path(f"/proc/{self._pid}/cgroup").read_text().splitlines()
        except OSError:
            return {}
        folders: dict[str, Path] = {}
        for number, names, path in (line.split(":", 2) for line in lines):
            if self._id not in path:
                continue  # not our machine's process, or hidden from us
            for name in names.split(",") if number != "0" else ("",):
                base = _ROOT if number == "0" else _ROOT / names
                folders.setdefault(name, base / path.lstrip("/"))
        return folders

    def _find(self) -> tuple[Path, Path] | None:
        """Return the files that count killed and refused processes; None if inaccessible."""
        places = self._groups()
        if "" in places:
            places = {"memory": places[""], "pids": places[""]} | places
        if not {"memory", "pids"} <= set(places):
            return None
        memory = next(
            (
                places["memory"] / name
                for name in ("memory.events", "memory.oom_control")
                if (places["memory"] / name).is_file()
            ),
            None,
        )
        return (memory, places["pids"] / "pids.events") if memory is not None else None

    def _find_times(self) -> Path | None:
        """Return the file that counts processor time; None if inaccessible."""
        for name, file in (("", "cpu.stat"), ("cpuacct", "cpuacct.usage")):
            path = self._groups().get(name)
            if path is not None and (path / file).is_file():
                return path / file
        return None

    def cpu_seconds(self) -> float | None:
        """Return the container's processor time; None if it cannot be read."""
        if self._times is None:
            return None
        try:
            words = self._times.read_text().split()
        except OSError:
            return None
        return int(words[1]) / 1e6 if words[0] == "usage_usec" else int(words[0]) / 1e9

    def counts(self) -> tuple[int, int]:
        """Return the number of processes killed for memory and of refused process creations."""
        if self._files is None:
            return 0, 0
        return _count(self._files[0], "oom_kill"), _count(self._files[1], "max")

    def limit_hit(self, done: Execution) -> Stop | None:
        """Return the limit that a command hit."""
        kills, refusals = self.counts()
        before, self._last = self._last, (kills, refusals)
        if kills > before[0]:
            return Stop.MEMORY
        if refusals > before[1]:
            return Stop.PROCESSES
        for folder in self._folders if self._files is not None else ():
            with contextlib.suppress(OSError):
                space = os.statvfs(f"/proc/{self._pid}/root{folder}")
                if space.f_bavail == 0:
                    return Stop.DISK
                if space.f_favail == 0:
                    return Stop.INODES
        return limit_in_output(done.exit_status, done.output, counted=self._files is not None)

    def network_attempts(self) -> int:
        """Return the number of packets without a route."""
        return no_route_count(f"/proc/{self._pid}/net") if self._files is not None else 0

    def kill_shells(self, container: Any) -> None:
        """Kill everything but process 1 from outside or, if not permitted, the container."""
        if self._files is None or os.geteuid() != 0:
            container.kill()
            return
        tasks = self._files[1].parent / "cgroup.procs"
        for word in tasks.read_text().split():
            if int(word) != self._pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(word), signal.SIGKILL)


def _count(path: Path, key: str) -> int:
    with contextlib.suppress(OSError):
        for line in path.read_text().splitlines():
            word, _, number = line.partition(" ")
            if word == key:
                return int(number)
    return 0
