"""The backend without namespaces: its capabilities and its isolation."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hexathlon.envs.errors import BackendMissing
from hexathlon.envs.sandbox import ladder
from hexathlon.envs.sandbox.base import Availability, Sandbox, SandboxPathError
from hexathlon.envs.sandbox.image import Entry, SandboxImage
from hexathlon.envs.sandbox.landlocked.backend import LandlockBackend, UnconfinedBackend
from hexathlon.envs.sandbox.limits import MIB, SandboxLimits, Stop

IMAGE = SandboxImage(
    files={"/app/data.txt": Entry(b"one\n"), "/app/run.sh": Entry(b"#!/bin/sh\necho ran\n", 0o755)},
    workdir="/app",
)
LIMITS = SandboxLimits(
    seconds=60, memory_bytes=64 * MIB, processes=32, disk_bytes=8 * MIB, inodes=500
)
NAP = f"8{os.getpid():07}"
"""A sleep time that no other process on the machine uses; sandboxed processes can see all of them.
"""


@pytest.fixture(scope="module")
def backend() -> LandlockBackend:
    found = LandlockBackend()
    probe = found.probe()
    if not probe.available:
        pytest.skip(f"no Landlock backend here: {probe.reason}")
    return found


@pytest.fixture
def sandbox(backend: LandlockBackend) -> Iterator[Sandbox]:
    with backend.open(IMAGE, LIMITS) as opened:
        yield opened


def test_paths_of_the_image_are_below_a_folder(sandbox):
    assert sandbox.execute("cat data.txt; ./run.sh; cd; [ $PWD = $SANDBOX_ROOT/root ]").output == (
        b"one\nran\n"
    )
    sandbox.execute("echo two > $SANDBOX_ROOT/app/new; x=5; f() { echo f$x; }")
    assert sandbox.read("/app/new") == b"two\n"
    sandbox.write("/app/deep/er", b"three\n", 0o600)
    assert sandbox.execute("cat $SANDBOX_ROOT/app/deep/er; f").output == b"three\nf5\n"


def test_snapshots_carry_files_and_shell(sandbox):
    sandbox.execute("rm data.txt; echo new > made; x='a b'; f() { echo \"$x\"; }; (exit 3)")
    with sandbox.snapshot() as state:
        changes = state.changes()
        assert (set(changes.written), changes.deleted) == ({"/app/made"}, ("/app/data.txt",))
        with sandbox.opener().open_snapshot(state) as fork:
            assert fork.execute("echo $?; f; ls").output == b"3\na b\nmade\nrun.sh\n"
    sandbox.reset()
    assert sandbox.execute("ls").output == b"data.txt\nrun.sh\n"


def test_nothing_else_can_be_read_or_written(sandbox, tmp_path):
    (tmp_path / "secret").write_text("canary")
    tmp_path.chmod(0o777)
    for place in (
        "/etc/shadow",
        str(tmp_path / "secret"),
        __file__,
        str(Path.home() / ".bashrc"),
        "/proc/1/mem",
    ):
        assert sandbox.execute(f"head -c1 {place} >/dev/null").exit_status != 0, place
    for place in (tmp_path / "new", "/tmp/new", "/usr/new", "/etc/new", "/dev/shm/new"):
        assert sandbox.execute(f"echo x > {place}").exit_status != 0, place
    folder = sandbox.execute("dirname $SANDBOX_ROOT").output.decode().strip()
    assert sandbox.execute(f"ls {folder}").exit_status != 0


def test_links_do_not_lead_out(sandbox, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("canary")
    sandbox.execute(f"ln -s {secret} out; ln -s {tmp_path} folder")
    for path in ("/app/out", "/app/folder/secret"):
        with pytest.raises(SandboxPathError):
            sandbox.read(path)
        with pytest.raises(SandboxPathError):
            sandbox.write(path, b"overwritten")
    with pytest.raises(SandboxPathError):
        sandbox.read("/../../etc/hostname")
    assert secret.read_text() == "canary"
    with sandbox.snapshot() as state:
        assert state.changes().written["/app/out"] == Entry(
            link=str(secret), mode=0o777, mtime=state.changes().written["/app/out"].mtime
        )


def test_signals_do_not_reach_others(sandbox):
    with subprocess.Popen(["sleep", "60"]) as other:
        try:
            sandbox.execute(f"kill -9 {other.pid} {os.getpid()} $PPID; kill -9 -- -1")
            assert other.poll() is None
            assert sandbox.execute("echo alive").output == b"alive\n"
        finally:
            other.kill()


def test_there_are_no_sockets(sandbox):
    code = "import socket; socket.socket({}, socket.SOCK_STREAM)"
    for family in ("socket.AF_INET", "socket.AF_INET6", "socket.AF_UNIX", "16"):
        assert sandbox.execute(f'python3 -c "{code.format(family)}"').exit_status == 1, family


def test_killing_finds_daemons(sandbox):
    one, other = f"sleep {NAP}1", f"sleep {NAP}2"
    sandbox.execute(f"(setsid bash -c '{one}; true' &) ; nohup {other} >/dev/null & disown")
    sandbox.execute(f"for n in 1 2; do until pgrep -f '^sleep {NAP}'$n; do :; done; done")
    assert {one, other} <= {process.command for process in sandbox.kill_all()}
    assert subprocess.run(["pgrep", "-f", f"^sleep {NAP}"], check=False).returncode == 1


@pytest.mark.parametrize(
    ("bomb", "stops"),
    [
        ("python3 -c 'x = bytearray(1 << 28)'", {Stop.MEMORY}),
        ("for n in {1..60}; do sleep 30 & done; wait", {Stop.PROCESSES}),
        ("head -c 20M /dev/zero > big; sleep 30; true", {Stop.DISK}),
        ("for n in {1..900}; do : > n$n; done; sleep 30", {Stop.INODES}),
        ("yes", {Stop.OUTPUT, Stop.TIME}),
    ],
    ids="memory processes disk inodes output".split(),
)
def test_resource_bombs_end_with_a_reason(sandbox, bomb, stops):
    start = time.monotonic()
    stop = sandbox.execute(bomb, timeout=4 if "sleep 30 &" in bomb else 20).stop
    if stop is Stop.TIME and Stop.PROCESSES in stops:  # too slow a machine for so few seconds
        stop = sandbox.execute(bomb, timeout=25).stop
    assert stop in stops
    assert time.monotonic() - start < 90


def test_closing_leaves_no_folder_and_no_process(backend):
    with backend.open(IMAGE, LIMITS) as one:
        folder = one.execute(
            f"chmod 000 $SANDBOX_ROOT/app; echo $SANDBOX_ROOT; sleep {NAP}3 &"
        ).output
        place = Path(folder.decode().splitlines()[0])
        assert place.is_dir()
    assert not place.exists()
    assert subprocess.run(["pgrep", "-f", f"^sleep {NAP}3$"], check=False).returncode == 1


def test_the_unconfined_shell_is_only_used_on_request(monkeypatch):
    class Missing:
        def probe(self) -> Availability:
            return Availability(False, "not here")

    real = ladder.backend
    monkeypatch.setattr(ladder, "backend", lambda name: Missing() if name != "none" else real(name))
    with pytest.raises(BackendMissing, match="namespaces: not here; docker: not here; landlock"):
        ladder.choose()
    assert ladder.choose("none").name == "none"
    with pytest.raises(ValueError, match="unknown sandbox 'vm'; known: namespaces, docker"):
        real("vm")


def test_the_unconfined_shell_says_so():
    backend = UnconfinedBackend()
    assert backend.probe().properties["confined"] is False
    with backend.open(IMAGE) as one:
        assert one.backend == "none"
        assert one.execute("cat data.txt; ls /etc/hostname").exit_status == 0


def test_removing_a_folder_touches_nothing_above_it(backend, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tmp_path.chmod(0o755)
    with backend.open(IMAGE, LIMITS) as sandbox:
        folder = Path(sandbox.execute("printf $SANDBOX_ROOT").output.decode())
        sandbox.execute("mkdir -p locked/in; chmod 0 locked")
        assert folder.is_relative_to(tmp_path)
    assert list(tmp_path.iterdir()) == []
    with backend.open(IMAGE, LIMITS) as sandbox:
        folder = Path(sandbox.execute("printf $SANDBOX_ROOT").output.decode())
        shutil.rmtree(folder)
    assert tmp_path.stat().st_mode & 0o777 == 0o755
