"""What one sandbox can take from others: the kernel's counters per user and per machine."""

import os
import socket
from collections.abc import Iterator

import pytest

from hexathlon.envs.sandbox import ladder
from hexathlon.envs.sandbox.base import Sandbox, SandboxBackend
from hexathlon.envs.sandbox.image import Entry, SandboxImage
from hexathlon.envs.sandbox.limits import SandboxLimits

IMAGE = SandboxImage(files={"/app/a": Entry(b"x")}, workdir="/app")

MANY = """
import array, ctypes, fcntl, os, select, signal, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def attempt(use):
    try:
        while True: use()
    except OSError: pass
"""
HOLDERS = {
    "descriptors in flight": """
def use():
    a, b = socket.socketpair()
    kept.append((a, b))
    while True:
        try: a.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                 array.array('i', [0] * 200))], socket.MSG_DONTWAIT)
        except BlockingIOError: return
""",
    "terminals": "def use(): kept.append(os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY))\n",
    "message queues": """
buffer = ctypes.create_string_buffer(b'\\1' * 8 + b'x' * 8000)
def use():
    queue = libc.msgget(0, 0o1666)
    if queue < 0: raise OSError
    while libc.msgsnd(queue, buffer, 8000, 0o4000) == 0: pass
""",
    "semaphores": "def use():\n    if libc.semget(0, 32000, 0o1666) < 0: raise OSError\n",
    "large pipes": """
def use():
    kept.append(os.pipe())
    fcntl.fcntl(kept[-1][1], 1031, 1 << 20)
""",
    "timers": """
def use():
    if libc.timer_create(0, None, ctypes.byref(ctypes.c_void_p())): raise OSError
""",
    "queued signals": """
signal.pthread_sigmask(signal.SIG_BLOCK, range(34, 64))
def use():
    if libc.sigqueue(os.getpid(), 40, ctypes.c_void_p(0)): raise OSError
""",
    "watches": """
watch = libc.inotify_init()
def use():
    os.makedirs(f'/tmp/w/{len(kept)}')
    if libc.inotify_add_watch(watch, f'/tmp/w/{len(kept)}'.encode(), 2) < 0: raise OSError
    kept.append(0)
    if len(kept) > 20000: raise OSError
""",
    "instances of watches": "def use():\n    if libc.inotify_init() < 0: raise OSError\n",
    "locked memory": """
import mmap
def use():
    kept.append(mmap.mmap(-1, 4096))
    if libc.mlock(ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(kept[-1]))), 4096):
        raise OSError
""",
    "shared memory": "def use(): kept.append(os.write(os.open(f'/dev/shm/{len(kept)}', 66), "
    "b'x' * 65536))\n",
    "ports": """
def use():
    kept.append(socket.create_server(('127.0.0.1', 0)))
""",
    "abstract names": """
def use():
    kept.append(socket.socket(socket.AF_UNIX))
    kept[-1].bind(f'\\0hexathlon{os.getpid()}.{len(kept)}')
""",
    "file locks": """
handle = os.open('/tmp/locked', 66)
def use():
    fcntl.lockf(handle, fcntl.LOCK_EX, 1, len(kept) * 2)
    kept.append(0)
    if len(kept) > 50000: raise OSError
""",
    "threads": """
import threading
def use():
    try: threading.Thread(target=time.sleep, args=(99,), daemon=True).start()
    except RuntimeError: raise OSError
""",
    "keys": """
def use():
    for number, kind in ((248, b'user'), (248, b'keyring')):
        if libc.syscall(number, kind, str(len(kept)).encode(), b'x', 1, -3) < 0: raise OSError
    kept.append(0)
""",
}
START = (
    "kept = []\nfor _ in range(12):\n    if not os.fork(): break\nattempt(use)\ntime.sleep(60)\n"
)


@pytest.fixture
def backend(backend_name: str) -> Iterator[SandboxBackend]:
    yield ladder.backend(backend_name)


def works(sandbox: Sandbox) -> None:
    """Require everything that a trial needs of its sandbox."""
    done = sandbox.execute("echo one | cat; timeout 5 true && mktemp; (exit 7)")
    assert (done.output[:4], done.exit_status) == (b"one\n", 7)
    watch = "import ctypes; print(ctypes.CDLL(None).inotify_init() > 0)"
    assert sandbox.execute(f"python3 -c '{watch}'").output == b"True\n"
    sandbox.write("/app/b", b"y" * 100_000)
    assert sandbox.read("/app/b") == b"y" * 100_000
    sandbox.keys("echo ty''ped\n")
    assert "typed" in sandbox.screen(timeout=5.0, until="typed").text()
    with sandbox.snapshot() as state:
        assert "/app/b" in state.changes().written


@pytest.mark.parametrize("name", HOLDERS)
def test_other_sandboxes_work_while_one_takes_all_it_can(
    backend: SandboxBackend, name: str
) -> None:
    limits = SandboxLimits(seconds=20.0)
    with backend.open(IMAGE, limits) as earlier, backend.open(IMAGE, limits) as hostile:
        hostile.write("/tmp/a.py", (MANY + HOLDERS[name] + START).encode())
        hostile.execute("(setsid python3 /tmp/a.py >/tmp/out 2>&1 &); sleep 1.5")
        works(earlier)
        with backend.open(IMAGE, limits) as later:
            works(later)
        hostile.kill_all()
        with hostile.snapshot() as state:
            assert not state.changes().cut


def test_a_sandbox_has_a_share_of_the_terminals(backend: SandboxBackend) -> None:
    count = (
        "import os\nn = 0\ntry:\n    while n < 400: os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY); "
        "n += 1\nexcept OSError: pass\nprint(n)\n"
    )
    if backend.name != "namespaces":
        pytest.skip("Docker does not limit a container's terminals")
    with backend.open(IMAGE, SandboxLimits(open_files=1024)) as sandbox:
        sandbox.write("/tmp/a.py", count.encode())
        assert 1 <= int(sandbox.execute("python3 /tmp/a.py").output) <= 64


def test_the_limit_on_descriptors_holds_for_every_shell(backend: SandboxBackend) -> None:
    """Process 1 has a higher one, which its shells must not inherit."""
    with backend.open(IMAGE, SandboxLimits(open_files=100)) as sandbox:
        assert sandbox.execute("ulimit -Hn; ulimit -Sn").output == b"100\n100\n"
        sandbox.execute("kill -9 $$")
        assert sandbox.execute("ulimit -Hn; ulimit -n 101").output.startswith(b"100\n")
        sandbox.keys("echo is $(ulimit -Hn)\n")
        assert "is 100" in sandbox.screen(timeout=5.0, until="is 100").text()


LOOKS = {
    "mounts": ("cat /proc/self/mountinfo /proc/mounts /proc/1/mountinfo", "upperdir=/"),
    "control groups": ("find / -xdev -name 'cgroup.procs' 2>/dev/null; ls /sys", "cgroup"),
    "addresses": ("grep -v '^0000000000000000 ' /proc/kallsyms; cat /proc/1/stack", " T "),
    "sockets of the machine": ("cat /proc/net/unix /proc/net/tcp | grep -v 127.0.0.1", "/run/"),
    "process 1": (
        "readlink /proc/1/exe /proc/1/cwd /proc/1/root; cat /proc/1/environ 2>/dev/null", "/"
    ),
    "host name": ("cat /proc/sys/kernel/hostname /etc/hostname", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOKS)
def test_the_machine_is_not_described(backend: SandboxBackend, name: str) -> None:
    command, refused = LOOKS[name]
    with backend.open(IMAGE, SandboxLimits()) as sandbox:
        shown = sandbox.execute(command).output.decode(errors="replace")
    assert socket.gethostname() not in shown
    assert os.getcwd() not in shown
    if refused and backend.name == "namespaces":
        assert refused not in shown
