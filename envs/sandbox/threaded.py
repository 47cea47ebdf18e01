"""A sandbox for coroutines: opened, used and closed in one thread that belongs to it."""

import asyncio
import shlex
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from hexathlon.envs.sandbox.base import Sandbox
from hexathlon.envs.sandbox.execution import Execution
from hexathlon.envs.sandbox.image import Entry
from hexathlon.envs.sandbox.limits import MIB

__all__ = ["SandboxCopies", "ThreadedSandbox"]

_LARGEST = 64 * MIB

Answer = TypeVar("Answer")


class ThreadedSandbox:
    """Commands in a sandbox, and copies of files into it and out of it.

    Args:
        opening: Opens the sandbox.
    """

    def __init__(self, opening: Callable[[], Sandbox]) -> None:
        self._opening = opening
        self._thread = ThreadPoolExecutor(1, "sandbox")
        self._sandbox: Sandbox | None = None

    async def open(self) -> None:
        """Open the sandbox; see `SandboxBackend.open`."""
        self._sandbox = await self._run(self._opening)

    async def close(self) -> None:
        """Close the sandbox, if it was opened, and end the thread."""
        if self._sandbox is not None:
            await self._run(self._sandbox.close)
        self._thread.shutdown(wait=False)

    async def execute(self, command: str, seconds: float) -> Execution:
        """Run a command in a shell of its own; the sandbox's shell keeps its state.

        Raises:
            TimeoutError: If the command was stopped at its deadline.
        """
        line = f"bash -c {shlex.quote(command)}"
        done = await self._run(lambda: self._opened().execute(line, seconds))
        if done.timed_out:
            raise TimeoutError(f"the command was stopped after {seconds:g} seconds")
        return done

    async def write(self, files: Mapping[str, Entry]) -> None:
        """Write files and directories."""
        await self._run(lambda: self._opened().write_entries(files))

    async def upload(self, source: Path, target: str) -> None:
        """Copy a file, or all regular files of a directory, into the sandbox."""
        if source.is_dir():
            below = [path for path in sorted(source.rglob("*")) if not path.is_symlink()]
            root = target.rstrip("/")
            files = {f"{root}/{path.relative_to(source).as_posix()}": _entry(path)
                     for path in below}  # fmt: skip
            await self.write({target: Entry(folder=True, mode=0o755), **files})
        else:
            await self.write({target: _entry(source)})

    async def download(self, source: str, target: Path) -> None:
        """Copy a file out of the sandbox."""
        data = await self._run(lambda: self._opened().read(source, _LARGEST))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    async def download_folder(self, source: str, target: Path) -> None:
        """Copy all regular files of a directory out of the sandbox.

        Raises:
            FileNotFoundError: If there is no such directory.
        """
        command = f"cd {shlex.quote(source)} && find . -type f -print0"
        listed = await self.execute(command, 60.0)
        if listed.exit_status != 0:
            raise FileNotFoundError(f"cannot list {source}: {listed.output.decode().strip()}")
        for name in filter(None, listed.output.decode().split("\0")):
            await self.download(f"{source.rstrip('/')}/{name[2:]}", target / name[2:])

    def _opened(self) -> Sandbox:
        assert self._sandbox is not None
        return self._sandbox

    async def _run(self, function: Callable[[], Answer]) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)


class SandboxCopies:
    """File transfer of whatever holds a sandbox.

    Attributes:
        sandbox: The sandbox; set by subclasses.
    """

    sandbox: ThreadedSandbox

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        """Copy a file into the sandbox."""
        await self.sandbox.upload(Path(source_path), target_path)

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        """Copy all regular files of a directory into the sandbox."""
        await self.sandbox.upload(Path(source_dir), target_dir)

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        """Copy a file out of the sandbox."""
        await self.sandbox.download(source_path, Path(target_path))

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        """Copy all regular files of a directory out of the sandbox."""
        await self.sandbox.download_folder(source_dir, Path(target_dir))


def _entry(path: Path) -> Entry:
    if path.is_dir():
        return Entry(folder=True, mode=0o755)
    return Entry(path.read_bytes(), mode=path.stat().st_mode & 0o777)
