r"""Harbor trials in our sandbox: an environment class for `harbor run`, without Docker.

    harbor run -p TASKS -a oracle \
        --environment-import-path hexathlon.envs.terminal.harbor_environment:SandboxEnvironment

The image is built from the task's Dockerfile on this machine's own base, as for the terminal event;
tasks that need other software, a network or several containers are rejected with the list of what
they need. A sandbox that fails is an exception of the trial.

Interface: `harbor.environments.base.BaseEnvironment`, package `harbor` 0.24, imported with this
module. It needs Python 3.12.
"""

import asyncio
import shlex
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities

from hexathlon.envs.sandbox.base import Sandbox
from hexathlon.envs.sandbox.image import HOST, Entry
from hexathlon.envs.sandbox.ladder import choose
from hexathlon.envs.terminal.building import build_image, limits_of
from hexathlon.tasks.terminal.harbor import HarborTask, files_below

__all__ = ["SandboxEnvironment"]

_SECONDS = 600.0
_LARGEST = 64 << 20
_LOGS = tuple(f"/logs/{name}" for name in ("agent", "verifier", "artifacts"))
"""Directories that Harbor's agents and verifiers expect."""

Result = TypeVar("Result")


class SandboxEnvironment(BaseEnvironment):  # type: ignore[misc]
    """One sandbox, used from a thread of its own."""

    @staticmethod
    def type() -> str:
        """Return the name of this kind of environment."""
        return "hexathlon-sandbox"

    @property
    def capabilities(self) -> Any:
        """No network, and nothing mounted: files are copied."""
        return EnvironmentCapabilities(disable_internet=True)

    def _validate_definition(self) -> None:
        if not self.environment_dir.is_dir():
            raise FileNotFoundError(f"there is no directory {self.environment_dir}")

    async def start(self, force_build: bool) -> None:
        """Build the image and open the sandbox."""
        self._thread = ThreadPoolExecutor(1, "sandbox")
        self._sandbox: Sandbox = await self._run(self._open)
        await self._write({str(path): Entry(folder=True, mode=0o777) for path in _LOGS})

    def _open(self) -> Sandbox:
        task = HarborTask(
            self.environment_name,
            "harbor",
            (),
            files_below(self.environment_dir),
            workdir=self.task_env_config.workdir,
            variables=self._startup_env(),
            memory_mb=self._effective_memory_mb,
            storage_mb=self._effective_storage_mb,
        )
        backend = choose(absolute_paths=True)
        return backend.open(build_image(backend, task, HOST), limits_of(task, _SECONDS))

    async def stop(self, delete: bool) -> None:
        """Close the sandbox."""
        if hasattr(self, "_sandbox"):
            await self._run(self._sandbox.close)
        if hasattr(self, "_thread"):
            self._thread.shutdown(wait=False)

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> Any:
        """Run a command in a shell of its own; standard output and error arrive as one.

        Raises:
            ValueError: If another user than root is asked for.
            RuntimeError: If the command was stopped at its deadline.
        """
        asked = self._resolve_user(user)
        if asked not in (None, 0, "0", "root"):
            raise ValueError(f"commands run as root here, not as {asked!r}")
        variables = " ".join(
            f"{n}={shlex.quote(v)}" for n, v in (self._merge_env(env) or {}).items()
        )
        script = f"cd {shlex.quote(cwd)} && {command}" if cwd else command
        line = f"env {variables} bash -c {shlex.quote(script)}"
        seconds = float(timeout_sec or _SECONDS)
        done = await self._run(lambda: self._sandbox.execute(line, seconds))
        if done.timed_out:
            raise RuntimeError(f"the command was stopped after {seconds:g} seconds")
        status = 137 if done.exit_status is None else done.exit_status
        return ExecResult(stdout=done.output.decode("utf-8", "replace"), return_code=status)

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        """Copy a file into the sandbox."""
        await self._write({target_path: _entry(Path(source_path))})

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        """Copy all regular files of a directory into the sandbox."""
        root = Path(source_dir)
        below = {path: target_dir.rstrip("/") + f"/{path.relative_to(root).as_posix()}"
                 for path in sorted(root.rglob("*")) if not path.is_symlink()}  # fmt: skip
        files = {inside: _entry(path) for path, inside in below.items()}
        await self._write({target_dir: Entry(folder=True, mode=0o755), **files})

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        """Copy a file out of the sandbox."""
        data = await self._run(lambda: self._sandbox.read(source_path, _LARGEST))
        Path(target_path).parent.mkdir(parents=True, exist_ok=True)
        Path(target_path).write_bytes(data)

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        """Copy all regular files of a directory out of the sandbox."""
        listed = await self.exec(f"cd {shlex.quote(source_dir)} && find . -type f -print0")
        if listed.return_code != 0:
            raise FileNotFoundError(f"cannot list {source_dir}: {listed.stdout.strip()}")
        for name in filter(None, listed.stdout.split("\0")):
            await self.download_file(
                f"{source_dir.rstrip('/')}/{name[2:]}", Path(target_dir) / name[2:]
            )

    async def _write(self, files: dict[str, Entry]) -> None:
        await self._run(lambda: self._sandbox.write_entries(files))

    async def _run(self, function: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)


def _entry(path: Path) -> Entry:
    if path.is_dir():
        return Entry(folder=True, mode=0o755)
    return Entry(path.read_bytes(), mode=path.stat().st_mode & 0o777)
