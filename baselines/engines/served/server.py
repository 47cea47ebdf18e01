"""Starts a vLLM server on a checkpoint directory and ends it with all its processes.

vLLM lives in an environment of its own; `HEXATHLON_VLLM_PYTHON` names its interpreter. The server
listens on the loopback address alone, because its control routes ask for no key.
"""

import http.client
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from hexathlon.baselines.engines.errors import ConnectionFailed, EngineMissing

__all__ = ["INTERPRETER", "VllmServer", "VllmSettings", "vllm_python"]

INTERPRETER = "HEXATHLON_VLLM_PYTHON"
"""Environment variable that names the interpreter which has vLLM."""

_STEP = 8192
"""Tokens that the server may read in one step, at least."""

_GRACE = 20.0
"""Seconds that the server has for ending by itself."""


def vllm_python() -> Path:
    """Return the interpreter that has vLLM.

    Raises:
        EngineMissing: If none is named, or it does not exist.
    """
    named = os.environ.get(INTERPRETER, "")
    if not named or not Path(named).is_file():
        said = f"names {named!r}, which is no file" if named else "is not set"
        raise EngineMissing(
            f"{INTERPRETER} {said}; scripts/vllm makes an environment with vLLM for the CPU"
        )
    return Path(named)


@dataclass(frozen=True, slots=True)
class VllmSettings:
    """How a server is started."""

    context: int = 0
    """Most tokens of a prompt with its reply; 0 takes the model's own."""

    sequences: int = 64
    """Most sequences continued at once."""

    dtype: str = "float32"
    cache_gib: int = 1
    """Memory for keys and values on a CPU."""

    threads: int = 0
    """Threads that a CPU server computes with; 0 takes all processors but one, which is left to
    the front end that reads requests and writes replies."""

    whole_prompts: bool = True
    """Whether a prompt is read in one step; seeded requests whose prompts are read in parts end
    the CPU server (0.32). A GPU is faster without."""

    ready_within: float = 240.0
    """Seconds from start to the first answer."""

    more: tuple[str, ...] = ()
    """Further arguments of vLLM's own."""

    def arguments(self, checkpoint: Path, port: int) -> list[str]:
        """Return the command line behind the interpreter."""
        given = {
            "model": str(checkpoint),
            "host": "127.0.0.1",
            "port": str(port),
            "dtype": self.dtype,
            "max-num-seqs": str(self.sequences),
            "logprobs-mode": "processed_logprobs",
            "generation-config": "vllm",
        }
        if self.context:
            given["max-model-len"] = str(self.context)
        if self.whole_prompts:
            longest = self.context or _positions(checkpoint)
            given["max-num-batched-tokens"] = str(max(_STEP, longest))
        pairs = [part for name, value in given.items() for part in (f"--{name}", value)]
        flags = ["--enforce-eager", "--enable-scale-out", "--disable-uvicorn-access-log"]
        if self.whole_prompts:
            flags.append("--no-enable-chunked-prefill")
        return ["-m", "vllm.entrypoints.openai.api_server", *pairs, *flags, *self.more]

    def environment(self, outer: Mapping[str, str]) -> dict[str, str]:
        """Return the environment, in which nothing of the caller's own interpreter is left."""
        kept = {k: v for k, v in outer.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        return kept | {
            "OMP_NUM_THREADS": str(self.threads or max(1, _processors() - 1)),
            # The model runs in the scheduler's process. In a process of its own, the two would wait
            # for each other in busy loops, and on two processors the front end would starve.
            "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
            "TORCHDYNAMO_DISABLE": "1",  # compiling a helper takes 18 s of the first request
            "VLLM_CPU_KVCACHE_SPACE": str(self.cache_gib),
            "VLLM_SERVER_DEV_MODE": "1",
            "VLLM_NO_USAGE_STATS": "1",
            "HF_HUB_OFFLINE": "1",
        }


class VllmServer:
    """A server in a process group of its own; a context manager.

    Args:
        checkpoint: A Hugging Face checkpoint directory.
        log: File that takes what the server prints.
        settings: How it is started.
        python: Interpreter that has vLLM; by default the one that the environment names.

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
        """Number of the server's process, which leads its group."""
        assert self._process is not None, "the server was not started"
        return self._process.pid

    def start(self) -> None:
        """Start the server and wait until it answers.

        Raises:
            ConnectionFailed: If it exited or did not answer in time; the message has the end of its
                log.
        """
        command = [str(self._python), *self.settings.arguments(self.checkpoint, self.port)]
        with self.log.open("wb") as output:
            self._process = _spawn(command, self.settings.environment(os.environ), output)
        deadline = time.monotonic() + self.settings.ready_within
        try:
            while not self._answers():
                if self._process.poll() is not None:
                    raise ConnectionFailed(f"vLLM ended while starting: {self._last_words()}")
                if time.monotonic() > deadline:
                    limit = self.settings.ready_within
                    raise ConnectionFailed(
                        f"vLLM did not answer within {limit:g} s: {self._last_words()}"
                    )
                time.sleep(0.1)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End the server and every process that it started."""
        if self._process is None:
            return
        self._signal(signal.SIGTERM)
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._signal(signal.SIGKILL)
            self._process.wait(_GRACE)
        self._signal(signal.SIGKILL)  # what outlived the leader

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

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return  # nothing of the group is left

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5.0)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _last_words(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()
        errors = [number for number, line in enumerate(lines) if "Error: " in line]
        told = lines[errors[-1] :][:3] if errors else lines[-3:]
        return f"{' '.join(line.strip() for line in told)[:600]} (all of it in {self.log})"


def _positions(checkpoint: Path) -> int:
    """Return the model's own context, or nothing where the server will say what is wrong."""
    try:
        return int(json.loads((checkpoint / "config.json").read_text())["max_position_embeddings"])
    except (OSError, ValueError, LookupError, TypeError):
        return 0


def _spawn(
    command: list[str], environment: dict[str, str], output: IO[bytes]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        cwd=Path(output.name).parent,
    )


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        port: int = asked.getsockname()[1]
        return port
