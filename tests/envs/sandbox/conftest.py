"""The backends covered by the sandbox contract tests."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import hexathlon
from hexathlon.envs.sandbox.base import Sandbox, SandboxBackend, SandboxFault
from hexathlon.envs.sandbox.docker.backend import DockerBackend
from hexathlon.envs.sandbox.image import Entry, SandboxImage
from hexathlon.envs.sandbox.limits import MIB, SandboxLimits
from hexathlon.envs.sandbox.namespaces.backend import NamespaceBackend
from hexathlon.envs.sandbox.namespaces.client import Supervisor
from support.places import may_be_entered

RUNGS = ("namespaces", "namespaces as a user", "docker")

SMALL = SandboxLimits(
    seconds=60.0,
    memory_bytes=64 * MIB,
    processes=48,
    disk_bytes=16 * MIB,
    inodes=2_000,
    file_bytes=12 * MIB,
    open_files=64,
    output_bytes=4 * MIB,
    kept_bytes=32 * 1024,
)
"""Small enough that hitting them has no effect outside."""

IMAGE = SandboxImage(
    files={
        "/app/data.txt": Entry(b"one\ntwo\n"),
        "/app/run.sh": Entry(b"#!/bin/bash\necho ran\n", mode=0o755),
        "/app/link": Entry(link="data.txt"),
        "/app/old/inner/deep.txt": Entry(b"deep\n"),
        "/app/private": Entry(folder=True, mode=0o700),
    },
    workdir="/app",
    environment={"GREETING": "hello there"},
)


QUICK_ON_DOCKER = (
    "image_is_laid_in", "shell_persists", "late_command", "changes_are_a_difference",
    "snapshot_stays", "killing_leaves", "dangerous_calls", "no_network", "fork", "disk", "memory",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Containers are slow: only a few of the shared checks run on them every time."""
    for item in items:
        if "[docker" in item.name and not any(word in item.name for word in QUICK_ON_DOCKER):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def docker_backend(docker_url: str) -> Iterator[DockerBackend]:
    backend = DockerBackend(docker_url)
    yield backend
    if "engine" in vars(backend):
        backend.engine.close()


@pytest.fixture(scope="session")
def namespaces() -> NamespaceBackend:
    backend = NamespaceBackend()
    probe = backend.probe()
    if not probe.available:
        pytest.skip(f"no namespaces here: {probe.reason}")
    return backend


@pytest.fixture(scope="session")
def user_backend() -> Iterator[NamespaceBackend]:
    """The backend for an ordinary user: a supervisor without any rights."""
    if os.geteuid() != 0:
        pytest.skip("the tests run as an ordinary user already")
    if not os.access("/usr/bin/python3", os.X_OK):
        pytest.skip("no Python that every user may run")
    if not may_be_entered(Path(hexathlon.__file__).resolve().parent):
        pytest.skip("the checkout is in a folder that other users may not enter")
    try:
        supervisor = Supervisor("/usr/bin/python3", 65_534)
    except SandboxFault as error:
        pytest.skip(f"no namespaces for ordinary users here: {error}")
    backend = NamespaceBackend(lambda: supervisor)
    probe = backend.probe()
    if not probe.available:
        supervisor.close()
        pytest.skip(f"no namespaces for ordinary users here: {probe.reason}")
    yield backend
    supervisor.close()


@pytest.fixture(scope="session", params=RUNGS)
def backend(request: pytest.FixtureRequest) -> SandboxBackend:
    fixture = {
        "namespaces": "namespaces",
        "namespaces as a user": "user_backend",
        "docker": "docker_backend",
    }[request.param]
    found: SandboxBackend = request.getfixturevalue(fixture)
    return found


@pytest.fixture
def sandbox(backend: SandboxBackend) -> Iterator[Sandbox]:
    with backend.open(IMAGE, SMALL) as opened:
        yield opened


@pytest.fixture
def run(sandbox: Sandbox) -> Callable[[str], str]:
    def run(command: str) -> str:
        return sandbox.execute(command).output.decode()

    return run
