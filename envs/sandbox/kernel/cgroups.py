"""Control groups, version 1 or 2, depending on what is writable on this machine.

A `Family` is a directory of groups that one process creates and removes; `ControlGroups` limit the
memory, processes and processor time of one sandbox and count its denials.
"""

import contextlib
import os
import time
from collections.abc import Iterable
from pathlib import Path

__all__ = ["ControlGroups", "Family", "find_family"]

_ROOT = Path("/sys/fs/cgroup")
_PREFIX = "hexathlon-"
_REMOVAL_SECONDS = 2.0


class ControlGroups:
    """The control groups of one sandbox; one directory (version 2) or one per controller (1)."""

    def __init__(self, folders: dict[str, Path], version: int) -> None:
        self._folders = folders
        self._version = version

    def limit(self, *, memory: int, processes: int, cpus: float | None) -> None:
        """Set the limits."""
        period = 100_000
        quota = int(period * cpus) if cpus else None
        if self._version == 2:
            self._write("memory", "memory.max", memory)
            self._try_write("memory", "memory.swap.max", 0)
            self._write("pids", "pids.max", processes)
            if quota:
                self._try_write("cpu", "cpu.max", f"{quota} {period}")
            return
        self._write("memory", "memory.limit_in_bytes", memory)
        self._try_write("memory", "memory.memsw.limit_in_bytes", memory)
        self._write("pids", "pids.max", processes)
        if quota and "cpu" in self._folders:
            self._try_write("cpu", "cpu.cfs_quota_us", quota)

    def membership_files(self) -> list[int]:
        """Open the files through which a process moves itself: entries first, then exits.

        Version 1 has a file for single threads, and a thread that moves itself takes no
        machine-wide lock there; any other move waits until every processor has been idle once.
        """
        name = "tasks" if self._version == 1 else "cgroup.procs"
        folders = sorted(set(self._folders.values()))
        paths = [f"{folder}/{name}" for folder in folders]
        paths += [f"{folder}/../../{name}" for folder in folders]
        return [os.open(path, os.O_WRONLY | os.O_CLOEXEC) for path in paths]

    def counter_files(self) -> list[int]:
        """Open the counters of killed and refused processes, and of processor time if it is there.

        The order is that of this sentence.
        """
        name = "memory.events" if self._version == 2 else "memory.oom_control"
        paths = [self._folders["memory"] / name, self._folders["pids"] / "pids.events"]
        if self._version == 2:
            paths.append(self._folders["memory"] / "cpu.stat")
        elif "cpuacct" in self._folders:
            paths.append(self._folders["cpuacct"] / "cpuacct.usage")
        return [os.open(path, os.O_RDONLY | os.O_CLOEXEC) for path in paths]

    def counters(self) -> tuple[int, int]:
        """Return the number of processes killed for memory, and of refused process creations."""
        name = "memory.events" if self._version == 2 else "memory.oom_control"
        return (
            self._count("memory", name, "oom_kill"),
            self._count("pids", "pids.events", "max"),
        )

    def remove(self) -> bool:
        """Remove the directories; False while processes in them are still ending."""
        done = True
        for folder in sorted(set(self._folders.values())):
            try:
                folder.rmdir()
            except FileNotFoundError:
                continue
            except OSError:
                done = False
        return done

    def _write(self, controller: str, name: str, value: object) -> None:
        (self._folders[controller] / name).write_text(str(value))

    def _try_write(self, controller: str, name: str, value: object) -> None:
        if controller in self._folders:
            with contextlib.suppress(OSError):
                self._write(controller, name, value)

    def _count(self, controller: str, name: str, key: str) -> int:
        with contextlib.suppress(OSError):
            for line in (self._folders[controller] / name).read_text().splitlines():
                word, _, number = line.partition(" ")
                if word == key:
                    return int(number)
        return 0


class Family:
    """The groups of one owner process, in directories named by its process id."""

    def __init__(self, folders: dict[str, Path], version: int) -> None:
        self._folders = folders
        self.version = version
        self._serial = 0
        self._dying: list[ControlGroups] = []

    @property
    def kind(self) -> str:
        """`cgroup1` or `cgroup2`."""
        return f"cgroup{self.version}"

    def make(self) -> ControlGroups:
        """Create the groups of one sandbox, without limits."""
        self._serial += 1
        folders = {name: path / str(self._serial) for name, path in self._folders.items()}
        for folder in sorted(set(folders.values())):
            folder.mkdir()
        return ControlGroups(folders, self.version)

    def remove(self, group: ControlGroups) -> None:
        """Remove a sandbox's groups, now or once the kernel has released them."""
        self._dying = [old for old in (*self._dying, group) if not old.remove()]

    def close(self) -> None:
        """Remove everything, waiting briefly for processes that are still ending."""
        deadline = time.monotonic() + _REMOVAL_SECONDS
        mine = ControlGroups(self._folders, self.version)
        while True:
            for folder in sorted(set(self._folders.values())):
                _remove_all(folder.glob("*/"))
            if mine.remove() or time.monotonic() > deadline:
                return
            time.sleep(0.005)

    def anchored(self) -> "Family":
        """Return a copy based on open directories, which works where the paths are hidden."""
        anchors: dict[Path, Path] = {}
        for folder in self._folders.values():
            if folder not in anchors:
                handle = os.open(folder, os.O_PATH | os.O_CLOEXEC)
                anchors[folder] = Path(f"/proc/self/fd/{handle}")
        folders = {name: anchors[folder] for name, folder in self._folders.items()}
        return Family(folders, self.version)


def find_family(root: Path = _ROOT, own: Path = Path("/proc/self/cgroup")) -> Family | str:
    """Return a family of this process below its own groups, or the reason why there is none."""
    places = _places(root, own)
    if isinstance(places, str):
        return places
    folders, version = places
    try:
        for folder in sorted(set(folders.values())):
            _sweep(folder)
            mine = folder / f"{_PREFIX}{os.getpid()}"
            mine.mkdir(exist_ok=True)
            if version == 2:
                (mine / "cgroup.subtree_control").write_text("+memory +pids")
                with contextlib.suppress(OSError):
                    (mine / "cgroup.subtree_control").write_text("+cpu")
    except OSError as error:
        return f"control groups cannot be written: {error.strerror}"
    mine_of = {name: folder / f"{_PREFIX}{os.getpid()}" for name, folder in folders.items()}
    return Family(mine_of, version)


def _places(root: Path, own: Path) -> tuple[dict[str, Path], int] | str:
    """Return controller → directory in which groups can be created, and the version."""
    try:
        lines = [line.split(":", 2) for line in own.read_text().splitlines()]
    except OSError:
        return "control groups are not mounted"
    if (root / "cgroup.controllers").is_file():
        wanted = {"memory", "pids"}
        # A group with processes cannot delegate controllers, so beside our own or at the root.
        relative = next((path for number, _, path in lines if number == "0"), "/").lstrip("/")
        for folder in (root, (root / relative).parent):
            given = folder / "cgroup.subtree_control"
            if os.access(folder, os.W_OK) and wanted <= set(given.read_text().split()):
                return dict.fromkeys(("memory", "pids", "cpu"), folder), 2
        return "no control group delegates memory and pids"
    folders = {}
    for number, names, path in lines:
        for name in names.split(","):
            if number != "0" and name in ("memory", "pids", "cpu", "cpuacct"):
                mounted = next((p for p in (root / name, root / names) if p.is_dir()), None)
                if mounted is not None:
                    inside = mounted / path.lstrip("/")
                    folders[name] = inside if inside.is_dir() else mounted
    if not {"memory", "pids"} <= set(folders):
        return "the memory and pids controllers are not mounted"
    return folders, 1


def _sweep(folder: Path) -> None:
    """Remove groups whose owner was killed before removing them."""
    for old in folder.glob(f"{_PREFIX}*"):
        pid = old.name.removeprefix(_PREFIX)
        if pid.isdigit() and not Path("/proc", pid).exists():
            _remove_all([*old.glob("*/"), old])


def _remove_all(folders: Iterable[Path]) -> None:
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()
