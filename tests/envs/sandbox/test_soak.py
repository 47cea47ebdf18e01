"""Many short-lived sandboxes at once leave nothing behind, on this machine or in the supervisor."""

import multiprocessing
import os
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from hexathlon.envs.sandbox.base import SandboxBackend
from hexathlon.envs.sandbox.image import Entry, SandboxImage
from hexathlon.envs.sandbox.limits import MIB, SandboxLimits
from hexathlon.envs.sandbox.namespaces.backend import NamespaceBackend
from hexathlon.envs.sandbox.namespaces.client import Supervisor

CONCURRENCY = 16
LIMITS = SandboxLimits(memory_bytes=64 * MIB, disk_bytes=8 * MIB, processes=32, seconds=60)
IMAGES = [
    SandboxImage(files={f"/app/f{n}": Entry(b"x" * n) for n in range(20 + kind)}, workdir="/app")
    for kind in range(3)
]


def episode(backend: SandboxBackend, number: int) -> bytes:
    """One sandbox's life, cycling through the kinds of ending."""
    with backend.open(IMAGES[number % 3], LIMITS) as one:
        one.execute(f"echo {number} > n; (setsid sleep 300 &); sleep 300 & disown")
        if number % 4 == 1:
            one.execute("sleep 60", timeout=0.05)
        if number % 4 == 2:
            one.reset()
            one.execute(f"echo {number} > n")
        if number % 4 == 3:
            with one.snapshot() as state, backend.open_snapshot(state) as fork:
                fork.execute("echo more >> n; (setsid sleep 300 &)")
                one.restore(state)
        if number % 8 == 5:
            one.execute("kill -9 $$")
        if number % 8 == 6:
            one.keys("sleep 300\n")
        return one.read("/app/n")


def soak(backend: SandboxBackend, episodes: int) -> None:
    with ThreadPoolExecutor(CONCURRENCY) as pool:
        results = list(pool.map(lambda number: episode(backend, number), range(episodes)))
    assert results == [b"%d\n" % number for number in range(episodes)]


def children(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        found += [int(word) for word in task.read_text().split()]
    return found


def groups() -> list[str]:
    own = f"hexathlon-{os.getpid()}"
    found = [path for path in Path("/sys/fs/cgroup").rglob("hexathlon-*") if path.name != own]
    return sorted(str(path) for path in found)


def machine() -> Counter[str]:
    """Resources that a sandbox could leave on the machine, without those of other processes."""
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    held = Counter(mounts=sum(" /sys" in line and "docker" not in line for line in mounts))
    held["descriptors"] = len(os.listdir("/proc/self/fd"))
    held["temporary"] = len(os.listdir(tempfile.gettempdir()))
    return held


def check_namespaces(episodes: int, temporary: Path) -> None:
    """In a process of its own: threads that other tests have left may open descriptors."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
        alone.submit(_check_namespaces, episodes, temporary).result()


def _check_namespaces(episodes: int, temporary: Path) -> None:
    tempfile.tempdir = str(temporary)
    before = machine()
    supervisor = Supervisor()
    try:
        backend = NamespaceBackend(lambda: supervisor)
        launcher = supervisor._process.pid
        soak(backend, episodes)
        supervisor.tidy()
        (inner,) = children(launcher)
        deadline = time.monotonic() + 60
        while children(inner) and time.monotonic() < deadline:
            supervisor.tidy()
        assert children(inner) == []
        layers = [
            line.split()[4]
            for line in Path(f"/proc/{inner}/mountinfo").read_text().splitlines()
            if line.split()[4].startswith("/sys/l/")
        ]
        assert len(layers) == len(IMAGES), layers
        folders = list(Path("/sys/fs/cgroup").rglob(f"hexathlon-{launcher}"))
        if str(supervisor.properties["limits"]).startswith("cgroup"):
            assert folders
        for folder in folders:
            left = [path for path in folder.iterdir() if path.is_dir()]
            assert len(left) <= 2, left  # the last ones may still be ending
        del backend
    finally:
        supervisor.close()
    assert not Path(f"/proc/{inner}").exists()
    assert not [path for path in folders if path.exists()]
    after = machine()
    assert not after - before, f"more than before: {after - before}"


def test_a_short_soak_leaves_nothing(namespaces, tmp_path):
    check_namespaces(96, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_two_thousand_episodes_leave_nothing(namespaces, tmp_path):
    check_namespaces(2_000, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_containers_leave_nothing(docker_backend):
    engine = docker_backend.engine
    soak(docker_backend, 64)
    assert engine.client.containers.list(all=True) == []
    assert engine.client.volumes.list() == []


def test_killing_a_supervisor_ends_its_sandboxes(namespaces):
    supervisor = Supervisor()
    backend = NamespaceBackend(lambda: supervisor)
    one = backend.open(IMAGES[0], LIMITS)
    one.execute("setsid sleep 311 & sleep 312 &")
    (inner,) = children(supervisor._process.pid)
    below = children(inner)
    assert below
    os.kill(inner, 9)
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in below) and time.monotonic() < deadline:
        continue
    assert not [pid for pid in below if Path(f"/proc/{pid}").exists()]
    one.close()
    supervisor.close()
    assert not list(Path("/sys/fs/cgroup").rglob(f"hexathlon-{supervisor._process.pid}"))


def test_containers_of_dead_owners_are_reaped(docker_backend):
    from hexathlon.envs.sandbox.docker.engine import LABEL, owner

    engine = docker_backend.engine
    tag = engine.prepare("host").tag
    dead = engine.client.containers.create(tag, "true", labels={LABEL: "boot:1:1"})
    mine = engine.client.containers.create(tag, "true", labels={LABEL: owner()})
    try:
        assert engine.reap() == 1
        left = {container.id for container in engine.client.containers.list(all=True)}
        assert mine.id in left and dead.id not in left
    finally:
        mine.remove(force=True)
