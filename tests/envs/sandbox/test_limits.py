"""Resource bombs: each ends with a typed reason within its deadline, without effect outside."""

import time

import pytest

from hexathlon.envs.sandbox.image import SandboxImage
from hexathlon.envs.sandbox.limits import MIB, SandboxLimits, Stop

IMAGE = SandboxImage(workdir="/app")

FORK = "f() { f | f & }; f; sleep 60"
MEMORY = "python3 -c 'x = bytearray(1 << 30)'"
EATER = "python3 -c 'import time; x = bytearray(40 << 20); time.sleep(5)'"
MANY_EATERS = f"for n in 1 2 3 4 5 6 7 8; do {EATER} & done; wait"
DISK = "for n in 1 2 3 4; do head -c 10M /dev/zero > fill$n || break; done"
ONE_FILE = "head -c 20M /dev/zero > long"
INODES = "for n in {1..9000}; do : > n$n || break; done"
OUTPUT = "yes"
DESCRIPTORS = "python3 -c 'import os; [os.dup(0) for _ in range(1000)]'"
ZIP = "head -c 300M /dev/zero | gzip -1 | gunzip > unpacked"
BACKTRACK = 'python3 -c \'import re; re.match("(a+)+$", "a" * 40 + "b")\''
SECONDS = 15.0


@pytest.mark.parametrize(
    ("bomb", "stops"),
    [
        (FORK, {Stop.PROCESSES}),
        (MEMORY, {Stop.MEMORY}),
        (MANY_EATERS, {Stop.MEMORY}),
        (DISK, {Stop.DISK}),
        (ONE_FILE, {Stop.DISK}),
        (INODES, {Stop.INODES}),
        (OUTPUT, {Stop.OUTPUT}),
        (DESCRIPTORS, {Stop.DESCRIPTORS}),
        (ZIP, {Stop.DISK}),
        (BACKTRACK, {Stop.TIME}),
    ],
    ids="fork memory eaters disk file inodes output descriptors zip regex".split(),
)
def test_a_bomb_ends_with_a_reason(sandbox, bomb, stops, request):
    grouped = "as a user" not in request.node.name
    if bomb in (MANY_EATERS,) and not grouped:
        pytest.skip("without control groups memory is bounded for each process, not for all")
    start = time.monotonic()
    timeout = 3.0 if bomb == FORK else 1.5 if bomb == BACKTRACK else SECONDS
    done = sandbox.execute(bomb, timeout=timeout)
    if bomb == FORK and done.stop is Stop.TIME and grouped:  # too slow a machine for so few seconds
        timeout = 30.0
        done = sandbox.execute(bomb, timeout=timeout)
    if bomb == FORK and not grouped:
        stops = stops | {Stop.TIME}  # not counted there, and the shell itself could still fork
    assert done.stop in stops, done
    assert time.monotonic() - start < timeout + 60
    assert done.stop in sandbox.evidence().stops
    sandbox.kill_all()
    sandbox.execute("rm -rf fill* n* long unpacked")
    assert sandbox.execute("echo fine").output == b"fine\n"
    assert sandbox.execute("ls | wc -l; echo x > again").exit_status == 0


def test_evidence_counts(namespaces):
    limits = SandboxLimits(memory_bytes=32 * MIB, disk_bytes=8 * MIB, processes=24)
    if not str(namespaces.probe().properties["limits"]).startswith("cgroup"):
        pytest.skip("no control groups here")
    with namespaces.open(IMAGE, limits) as one:
        assert one.evidence() == type(one.evidence())()
        one.execute(MEMORY)
        for seconds in (4.0, 40.0):  # the second on machines that start few processes in the first
            one.execute("for n in {1..40}; do sleep 60 & done", timeout=seconds)
            seen = one.evidence()
            if seen.process_refusals:
                break
        assert seen.memory_kills >= 1 and seen.process_refusals >= 1
        one.reset()
        assert one.evidence() == type(seen)()


def test_memory_of_dead_sandboxes_is_given_back(namespaces):
    """Files are in memory; closing must free them, snapshots included.

    Other processes of the machine use shared memory, too, so the best of five attempts counts.
    """

    def shared() -> int:
        with open("/proc/meminfo") as file:
            rows = dict(line.split(":") for line in file)
        return int(rows["Shmem"].split()[0])

    def attempt() -> tuple[bool, bool]:
        before = shared()
        with namespaces.open(IMAGE) as one:
            one.execute("head -c 100M /dev/zero > big")
            state = one.snapshot()
            used = shared() - before > 60 * 1024
            for fork in one.fork(2):
                fork.close()
            state.close()
        deadline = time.monotonic() + 30
        while shared() - before > 40 * 1024 and time.monotonic() < deadline:
            continue
        return used, shared() - before <= 40 * 1024

    assert any(attempt() == (True, True) for _ in range(5))


def test_a_fork_cannot_write_more_than_its_parent(namespaces):
    limits = SandboxLimits(disk_bytes=8 * MIB, memory_bytes=64 * MIB)
    with namespaces.open(IMAGE, limits) as one:
        one.execute("head -c 5M /dev/zero > first")
        (fork,) = one.fork(1)
        with fork:
            for each in (one, fork):
                assert each.execute("head -c 5M /dev/zero > second").stop is Stop.DISK


def test_limits_too_low_for_a_shell_are_refused():
    with pytest.raises(ValueError, match="open_files"):
        SandboxLimits(open_files=10)
