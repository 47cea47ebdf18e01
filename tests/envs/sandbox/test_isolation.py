"""Escape attempts by programs inside, all of which fail."""

import json
import os
import socket
from pathlib import Path

import pytest

from hexathlon.envs.sandbox.image import Entry, SandboxImage

CANARY = "canary-5f1e77"

CALLS = """
import ctypes, errno, json, socket, os
libc = ctypes.CDLL(None, use_errno=True)
def name(result):
    return "allowed" if result >= 0 else errno.errorcode.get(ctypes.get_errno())
def call(number, *arguments):
    return name(libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)))
def family(number, kind=socket.SOCK_STREAM):
    return name(libc.socket(number, kind, 0))
x86 = os.uname().machine == "x86_64"
found = {
    "unshare users": name(libc.unshare(0x10000000)),
    "unshare mounts": name(libc.unshare(0x20000)),
    "clone users": call(56 if x86 else 220, 0x10000000 | 17, 0, 0, 0, 0),
    "mount": name(libc.mount(b"none", b"/mnt", b"tmpfs", 0, None)),
    "chroot": name(libc.chroot(b"/tmp")),
    "ptrace": name(libc.ptrace(16, 1, 0, 0)),
    "keys": call(248 if x86 else 217, 0, 0, 0, 0, 0),
    "bpf": call(321 if x86 else 280, 0, 0, 0),
    "events": call(298 if x86 else 241, 0, 0, -1, -1, 0),
    "userfaultfd": call(323 if x86 else 282, 0),
    "handles": call(304 if x86 else 265, 0, 0, 0),
    "reboot": call(169 if x86 else 142, 0, 0, 0, 0),
    "hostname": name(libc.sethostname(b"x", 1)),
    "clock": name(libc.settimeofday(None, None)) if False else call(170 if not x86 else 164, 0, 0),
    "device": name(libc.mknod(b"/tmp/disk", 0o60600, 0x801)),
    "packets": family(17, socket.SOCK_RAW),
    "raw": family(2, socket.SOCK_RAW),
    "init": name(libc.kill(1, 9)) if os.getpid() != 1 else "",
}
print(json.dumps(found))
"""


def probe(sandbox, code: str) -> dict[str, str]:
    sandbox.write("/tmp/probe.py", code.encode())
    done = sandbox.execute("python3 /tmp/probe.py 2>&1", 20)
    found: dict[str, str] = json.loads(done.output)
    return found


def test_dangerous_calls_are_refused(sandbox):
    found = probe(sandbox, CALLS)
    assert found.pop("init") == "allowed"  # and without effect: process 1 takes no signal
    assert found.pop("clock") in ("EPERM", "allowed")  # without arguments it changes nothing
    allowed = {name for name, result in found.items() if result == "allowed"}
    if sandbox.backend == "docker":
        allowed -= {"ptrace"}
    assert allowed == set(), found
    assert sandbox.execute("echo alive").output == b"alive\n"


def test_no_privileges_are_left(run):
    rows = dict(line.split(":\t", 1) for line in run("cat /proc/self/status").splitlines())
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(rows[name], 16) == 0, name
    assert rows["NoNewPrivs"] == "1"
    assert rows["Seccomp"] == "2"


def test_the_machine_is_invisible(sandbox, run, tmp_path, monkeypatch):
    (tmp_path / "secret").write_text(CANARY)
    monkeypatch.setenv("SECRET_TOKEN", CANARY)
    places = [tmp_path, Path.home() / ".ssh", Path(__file__), Path("/var/lib/dpkg/status")]
    for place in places:
        assert run(f"ls -d '{place}' 2>/dev/null") == "", place
    assert (
        run(f"grep -rsl {CANARY} /etc /tmp /var /home /root /run /opt /srv /proc/*/environ") == ""
    )
    assert "SECRET_TOKEN" not in run("env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'")
    names = {line.split()[-1] for line in run("ps -eo pid,comm --no-headers").splitlines()}
    assert names <= {"bash", "init", "ps", "sleep"}, names
    assert run("cat /etc/shadow 2>&1").endswith("No such file or directory\n")


def test_process_one_keeps_its_secrets(sandbox, run):
    names = ("mem", "environ", "maps", "fd/0", "cwd/x")
    for name in names if sandbox.backend != "docker" else ():  # where it only sleeps
        assert sandbox.execute(f"head -c1 /proc/1/{name} > /tmp/got 2>/dev/null").exit_status != 0
        assert sandbox.execute("cat /tmp/got").output == b""
    line = run("tr '\\0' ' ' < /proc/1/cmdline").strip()
    assert line in ("init", "sleep infinity"), line
    run("kill -STOP 1; kill -KILL 1; kill -TERM 1")
    assert sandbox.execute("echo still").output == b"still\n"


def test_there_is_no_network(sandbox):
    code = """
import json, socket
found = {}
for name, kind, place in (("tcp", 1, ("192.0.2.7", 80)), ("udp", 2, ("198.51.100.7", 53))):
    try:
        socket.socket(2, kind).connect(place)
        found[name] = "allowed"
    except OSError as error:
        found[name] = "refused"
try:
    socket.getaddrinfo("example.org", 80)
    found["names"] = "allowed"
except OSError:
    found["names"] = "refused"
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
found["loopback"] = "allowed"
found["interfaces"] = ",".join(name for _, name in socket.if_nameindex())
print(json.dumps(found))
"""
    found = probe(sandbox, code)
    interfaces = set(found.pop("interfaces").split(","))
    assert found == {"tcp": "refused", "udp": "refused", "names": "refused", "loopback": "allowed"}
    assert "lo" in interfaces
    assert not [name for name in interfaces if name.startswith(("eth", "en", "wl", "docker"))]
    assert sandbox.evidence().network_attempts >= 2


def test_the_machines_own_servers_are_out_of_reach(sandbox, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"exec 3<>/dev/tcp/127.0.0.1/{port}"
        assert b"refused" in sandbox.execute(f"({code}) 2>&1").output
    if hasattr(socket, "AF_UNIX"):
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(f"\0{CANARY}")
            server.listen()
            assert CANARY not in sandbox.execute("cat /proc/net/unix").output.decode()


def test_no_sockets_and_only_harmless_devices(run):
    assert run("find / -xdev -type s 2>/dev/null") == ""
    devices = set(run("find /dev -type c -o -type b 2>/dev/null").split())
    harmless = {f"/dev/{n}" for n in ("null", "zero", "full", "random", "urandom", "tty")}
    assert devices <= harmless | {"/dev/pts/ptmx", "/dev/console", "/dev/ptmx"}, devices
    assert run("find / -xdev -type b 2>/dev/null") == ""


def test_the_systems_programs_cannot_be_changed(sandbox):
    for place in ("/usr/bin/python3", "/bin/sh", "/usr/lib/os-release", "/usr/bin/new"):
        assert sandbox.execute(f"echo x >> {place}").exit_status != 0, place
    assert sandbox.execute("rm -f /bin/bash; mv /usr/bin /usr/bon").exit_status != 0
    assert sandbox.execute("bash -c 'echo fine'").output == b"fine\n"


def test_sandboxes_do_not_see_each_other(backend):
    image = SandboxImage(files={"/app/x": Entry(b"x")}, workdir="/app")
    with backend.open(image) as one, backend.open(image) as other:
        one.execute(
            f"echo {CANARY} | tee /tmp/c /dev/shm/c /app/c /var/tmp/c ~/c /run/c /app/x;"
            f" python3 -c 'import mmap' ; ipcmk -M 4096; sleep 71 &"
        )
        found = other.execute(
            f"grep -rs {CANARY} /tmp /dev/shm /app /var /root /run; cat x; ipcs -m | wc -l;"
            " pgrep -f 'sleep 71'"
        )
        assert found.output == b"x4\n", found.output
    with backend.open(image) as fresh:
        assert fresh.execute("cat x; ls -A /tmp /dev/shm").output == b"x/dev/shm:\n\n/tmp:\n"


def test_root_inside_maps_to_an_id_without_rights(namespaces):
    """Root inside is an id outside that owns nothing."""
    if os.geteuid() != 0:
        pytest.skip("the sandboxes of an ordinary user run as that user")
    with namespaces.open(SandboxImage()) as one:
        table = one.execute("cat /proc/self/uid_map").output.split()
    assert int(table[1]) >= 1_000_000_000
