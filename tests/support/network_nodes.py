"""Two Ray nodes in network namespaces of their own, as two machines on one network.

Each node has its own interface, loopback device and resources; the second one also has an empty
/tmp, so that it sees no file of the first but the shared folder. Nothing outside the namespaces is
reachable from them, and the host's network is unchanged. Needs root and the program `ip`.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

__all__ = ["NetworkNodes", "missing", "network_nodes"]

PORT = 6379
_DEADLINE = 240.0
_OBJECTS = 100 * 2**20
_JOINED = b"Ray runtime started"
_TOKEN = "0" * 64
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_TOKEN": _TOKEN,
    "RAY_AUTH_MODE": "token",
    "OMP_NUM_THREADS": "1",
    "PYTHONUNBUFFERED": "1",
    # A lost node is noticed after a few of these; the default takes half a minute.
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_failure_threshold": "5",
}
# A private /tmp in which the shared folder is mounted, then the node.
_PRIVATE = """
mount --bind "$1" /mnt
mount -t tmpfs tmpfs /tmp
mkdir -p "$1"
mount --bind /mnt "$1"
umount /mnt
shift
exec "$@"
"""


class NetworkNodes:
    """The nodes; `network_nodes` starts them.

    Args:
        stack: Ends them.
        shared: The only folder under /tmp that both see.
        resources: The named resources of each node, as JSON.
        cpus: Cores that each node declares.

    Attributes:
        names: Their namespaces; the first has the head node.
        addresses: Their addresses.
    """

    def __init__(self, stack: ExitStack, shared: Path, resources: Sequence[str], cpus: int) -> None:
        self.names = [f"hx{os.getpid()}{letter}" for letter in "ab"]
        self.addresses = ["10.77.0.1", "10.77.0.2"]
        self._stack, self._shared = stack, shared
        self._resources, self._cpus = resources, cpus
        _connect(stack, self.names, self.addresses)

    def start(self, number: int) -> None:
        """Start a node, and wait until it has joined the cluster."""
        head = f"{self.addresses[0]}:{PORT}"
        first = ["--head", "--port", str(PORT), "--include-dashboard=false"]
        role = ["--address", head] if number else first
        command = ["sh", "-c", _PRIVATE, "sh", str(self._shared)] if number else []
        command += [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", *role]
        command += ["--num-cpus", str(self._cpus), "--object-store-memory", str(_OBJECTS)]
        command += ["--node-ip-address", self.addresses[number]]
        command += ["--resources", self._resources[number]]
        log = self._shared / f"node-{number}.log"
        _start(self._stack, self.names[number], command, log)

    def kill(self, number: int) -> None:
        """Kill all processes of a node at once, as if its machine lost power."""
        listed = subprocess.run(
            ["ip", "netns", "pids", self.names[number]], check=True, capture_output=True, text=True
        )
        for pid in map(int, listed.stdout.split()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    @property
    def address(self) -> str:
        """Address of the cluster, for processes of the first namespace."""
        return f"{self.addresses[0]}:{PORT}"

    @property
    def client(self) -> dict[str, str]:
        """Variables of a process that connects to the cluster; it finds out that it needs them."""
        return {"RAY_AUTH_TOKEN": _TOKEN}

    def command(self, *words: str | Path) -> list[str]:
        """Return a command that runs in the first namespace."""
        return ["ip", "netns", "exec", self.names[0], *map(str, words)]

    def run(self, *words: str | Path, **options: Any) -> "subprocess.CompletedProcess[str]":
        """Run a command in the first namespace."""
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **self.client}
        environment.pop("RAY_AUTH_MODE", None)  # the command finds out
        return subprocess.run(
            self.command(*words), capture_output=True, text=True, env=environment, **options
        )


def missing() -> str:
    """Return why namespaces cannot be made here; empty if they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "the program ip is missing: apt-get install iproute2"
    name = f"hx{os.getpid()}t"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if made.returncode:
        return f"network namespaces cannot be made: {made.stderr.strip()}"
    subprocess.run(["ip", "netns", "delete", name], check=True)
    return ""


@contextmanager
def network_nodes(shared: Path, *resources: str, cpus: int = 16) -> Iterator[NetworkNodes]:
    """Start a head node and a second node for the duration of a block.

    Args:
        shared: The only folder under /tmp that both see.
        resources: The named resources of each node, as JSON.
        cpus: Cores that each node declares.
    """
    with ExitStack() as stack:
        nodes = NetworkNodes(stack, shared, resources, cpus)
        for number in range(2):
            nodes.start(number)
        yield nodes


def _connect(stack: ExitStack, names: Sequence[str], addresses: Sequence[str]) -> None:
    for name in names:
        _ip("netns", "add", name)
        stack.callback(_ip, "netns", "delete", name)
    first, second = names
    _ip("-n", first, "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", second)
    for name, address in zip(names, addresses, strict=True):
        _ip("-n", name, "address", "add", f"{address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            _ip("-n", name, "link", "set", device, "up")


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


def _start(stack: ExitStack, name: str, command: Sequence[str], log: Path) -> None:
    """Start a node and wait until it says that it has joined the cluster."""
    process = subprocess.Popen(
        ["ip", "netns", "exec", name, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **_ENVIRONMENT},
        start_new_session=True,
    )
    output, said = process.stdout, Event()
    assert output is not None
    joined = False

    def copy() -> None:
        nonlocal joined
        with output, log.open("ab", buffering=0) as file:
            for line in output:
                file.write(line)
                if _JOINED in line:
                    joined = True
                    said.set()
        said.set()

    thread = Thread(target=copy, daemon=True)
    thread.start()
    stack.callback(thread.join, 60)
    stack.callback(_stop, process)
    assert said.wait(_DEADLINE), f"the node did not start; see {log}"
    if not joined:
        raise RuntimeError(f"the node ended with exit code {process.wait()}: {log.read_text()}")


def _stop(process: Any) -> None:
    """Stop a node with all its processes."""
    if process.poll() is None:
        process.terminate()  # `ray start --block` then stops what it started
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
