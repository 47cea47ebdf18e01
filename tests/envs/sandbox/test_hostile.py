"""Programs inside that reach for the harness: its descriptors, its messages, its memory."""

import array
import os
import socket
from collections.abc import Callable

import pytest

import hexathlon
from hexathlon.envs.sandbox.base import Sandbox, SandboxFault, SandboxPathError
from hexathlon.envs.sandbox.kernel import wire
from hexathlon.envs.sandbox.link import InitLink
from hexathlon.envs.sandbox.shell import Reports

LISTING = (
    "python3 -c \"import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd'))[:-1])\""
)
"""The last descriptor listed is that of the listing itself."""

OWN = ("maps", "environ", "fd/3", "mem", "cwd/proc/self/maps", "root/proc/1/maps", "exe")


def test_programs_inherit_nothing_but_their_streams(sandbox: Sandbox) -> None:
    assert sandbox.execute(LISTING).output == b"[0, 1, 2]\n"
    sandbox.execute(f"({LISTING} > /tmp/late) & wait")
    assert sandbox.read("/tmp/late") == b"[0, 1, 2]\n"
    sandbox.keys(f"{LISTING} > /tmp/typed; echo done\n")
    while b"]" not in sandbox.execute("cat /tmp/typed 2>/dev/null").output:
        sandbox.screen()
    assert sandbox.read("/tmp/typed") == b"[0, 1, 2]\n"


def test_a_restarted_shell_inherits_no_more(sandbox: Sandbox) -> None:
    assert sandbox.execute("kill -9 $$").restarted
    assert sandbox.execute(LISTING).output == b"[0, 1, 2]\n"


@pytest.mark.parametrize("name", OWN)
def test_files_of_the_harness_own_process_are_not_read(sandbox: Sandbox, name: str) -> None:
    for place in ("self", "thread-self", "1"):
        try:
            found = sandbox.read(f"/proc/{place}/{name}")
        except SandboxPathError:
            continue
        assert sandbox.backend == "docker"  # there, an ordinary program inside reads
        assert os.path.dirname(hexathlon.__file__).encode() not in found


def test_maps_of_programs_name_only_paths_inside(run: Callable[[str], str]) -> None:
    listed = "/tmp/own /proc/self/maps | awk 'NF > 5 { print $6 }' | sort -u"
    seen = run(f"cp /bin/cat /tmp/own; {listed}")
    paths = [line for line in seen.splitlines() if line.startswith("/")]
    assert "/tmp/own" in paths
    assert run(f"ls -d {' '.join(paths)}").splitlines() == sorted(paths)


@pytest.mark.parametrize("text", ["junk", "0", "", "7 7", "-1", "99999999999999999999"])
def test_bytes_written_to_every_descriptor_of_the_shell_change_no_status(
    sandbox: Sandbox, text: str
) -> None:
    sandbox.execute(
        f"for i in {{3..255}}; do printf '{text}\\0\\n' >&$i; done 2>/dev/null\n"
        f"for f in /proc/$$/fd/*; do printf '{text}\\0\\n' > $f; done 2>/dev/null"
    )
    assert sandbox.execute("(exit 41)").exit_status == 41
    assert sandbox.execute("echo fine").output == b"fine\n"


REPLACED = {
    "a link": "rm -rf /app/old; ln -s /etc /app/old",
    "a file": "rm -rf /app/old; echo x > /app/old",
    "a pipe": "rm -rf /app/old; mkfifo /app/old",
    "nothing": "rm -rf /app/old",
}


@pytest.mark.parametrize("kind", REPLACED)
def test_what_was_in_a_replaced_folder_is_deleted(sandbox: Sandbox, kind: str) -> None:
    sandbox.execute(REPLACED[kind])
    with sandbox.snapshot() as state:
        changes = state.changes()
        with sandbox.opener().open_snapshot(state) as again:
            assert again.execute("test -d /app/old/inner").exit_status == 1
    assert changes.deleted[0] == "/app/old"
    assert ("/app/old" in changes.written) == (kind in ("a link", "a file"))


BURN = """
import os, signal, sys, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN if sys.argv[1] == "unwaited" else signal.SIG_DFL)
read, write = os.pipe()
for _ in range(4):
    if not os.fork():
        if sys.argv[1] == "orphans" and os.fork():
            os._exit(0)
        os.close(read)
        while time.process_time() < 0.2:
            pass
        os._exit(0)
os.close(write)
os.read(read, 1)
"""


@pytest.mark.parametrize("kind", ["children", "orphans", "unwaited"])
def test_processor_time_is_that_of_the_whole_tree(sandbox: Sandbox, kind: str) -> None:
    before = sandbox.cpu_seconds()
    if before is None:
        pytest.skip("the engine's control groups cannot be read")
    sandbox.write("/tmp/burn.py", BURN.encode())
    assert sandbox.execute(f"python3 /tmp/burn.py {kind}", 60).exit_status == 0
    spent = (sandbox.cpu_seconds() or 0.0) - before
    if kind == "unwaited" and sandbox.opener().probe().properties["limits"] == "rlimits":
        return  # without control groups, nobody counts children whose parent ignores their end
    assert spent >= 0.75


def hostile(data: bytes, *descriptors: int) -> tuple[InitLink, socket.socket]:
    """Return a link to a process 1 that has sent one packet."""
    ours, theirs = wire.pair()
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
    theirs.sendmsg([data], ancillary if descriptors else [])
    for descriptor in descriptors:
        os.close(descriptor)
    return InitLink(ours), theirs


def large() -> int:
    handle = os.memfd_create("large", os.MFD_ALLOW_SEALING)
    os.ftruncate(handle, 1 << 40)
    return handle


PACKETS: dict[str, tuple[bytes, Callable[[], list[int]]]] = {
    "junk": (b"pjunk", list),
    "no object": (b"p[]", list),
    "deep": (b"p" + b"[" * 50_000, list),
    "not text": (b"p\xff\xfe", list),
    "no fields": (b'p{"counts": 3}', list),
    "wrong types": (b'p{"counts": [], "free": "x", "inodes": []}', list),
    "unwanted descriptors": (b'p{"counts": [], "free": 1, "inodes": 1}', lambda: [large()]),
    "no file": (b"m", list),
    "an endless file": (b"m", lambda: [os.open("/dev/zero", os.O_RDONLY)]),
    "a folder": (b"m", lambda: [os.open("/", os.O_RDONLY)]),
    "a file that can grow": (b"m", lambda: [large()]),
    "a large sealed file": (b"m", lambda: [wire.stored(bytes((64 << 20) + 1))]),
    "a sealed file of junk": (b"m", lambda: [wire.stored(b"junk")]),
}


@pytest.mark.parametrize("name", PACKETS)
def test_what_cannot_be_parsed_is_a_fault_of_the_sandbox(name: str) -> None:
    data, descriptors = PACKETS[name]
    link, theirs = hostile(data, *descriptors())
    before = len(os.listdir("/proc/self/fd"))
    with theirs, pytest.raises(SandboxFault):
        link.ask("limits_hit")
    assert len(os.listdir("/proc/self/fd")) <= before
    link.close()


def test_a_flood_of_notices_ends() -> None:
    link, theirs = hostile(b'p{"ended": "shell", "pid": 7, "status": "x"}')
    theirs.setblocking(False)
    count = 1
    with theirs:
        while count < 5_000:
            try:
                theirs.send(b'p{"ended": {}, "pid": [], "status": null}')
            except BlockingIOError:
                break
            count += 1
        if count > 1_000:
            with pytest.raises(SandboxFault, match="floods"):
                link.shell_end()
        else:
            assert link.shell_end() is None
    link.close()


def test_received_descriptors_end_with_an_exec() -> None:
    ours, theirs = wire.pair()
    with ours, theirs:
        wire.send(theirs, {}, [ours.fileno()])
        received = wire.receive(ours)
        assert received is not None
        (descriptor,) = received[1]
        assert not os.get_inheritable(descriptor)
        os.close(descriptor)


def test_a_report_is_found_among_other_bytes() -> None:
    reports = Reports(b"word ")
    assert reports.add(b"0\0junk\0\0wor") is None
    assert reports.add(b"d 1") is None
    assert reports.add(b"2\0") == b"12"


def test_bytes_before_a_report_are_not_kept() -> None:
    reports = Reports(b"word ")
    for _ in range(100):
        assert reports.add(b"x" * 100_000) is None
    assert len(reports._buffer) < 10
    assert reports.add(b"word 7\0") == b"7"


def test_a_report_without_an_end_is_a_fault() -> None:
    reports = Reports(b"word ")
    reports.add(b"word ")
    with pytest.raises(SandboxFault, match="no end"):
        for _ in range(100):
            reports.add(bytes([1]) * (1 << 20))
