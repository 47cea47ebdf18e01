"""Harbor trials in our sandbox, without Docker: package `harbor` 0.24, on Python 3.12.

The image is built from the task's Dockerfile on this machine's own base, as for the terminal event;
a task that needs other software, a network or several containers is rejected with a list of them.
"""

import shlex
from functools import partial
from pkgutil import resolve_name
from typing import Any

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities

from hexathlon.envs.registry import TASK_SANDBOX
from hexathlon.envs.sandbox.image import Entry
from hexathlon.envs.sandbox.threaded import SandboxCopies, ThreadedSandbox

__all__ = ["SandboxEnvironment"]

_LOGS = ("/logs/agent", "/logs/verifier", "/logs/artifacts")
_SECONDS = 600.0


class SandboxEnvironment(SandboxCopies, BaseEnvironment):  # type: ignore[misc]
    """One sandbox, without a network; files are copied, nothing is mounted."""

    capabilities = EnvironmentCapabilities(disable_internet=True)
    type = staticmethod(lambda: "hexathlon-sandbox")

    def _validate_definition(self) -> None:
        if not self.environment_dir.is_dir():
            raise FileNotFoundError(f"there is no directory {self.environment_dir}")

    async def start(self, force_build: bool) -> None:
        """Build the image and open the sandbox."""
        self.sandbox = ThreadedSandbox(partial(
            resolve_name(TASK_SANDBOX), self.environment_name, self.environment_dir, _SECONDS,
            workdir=self.task_env_config.workdir, variables=self._startup_env(),
            memory_mb=self._effective_memory_mb, storage_mb=self._effective_storage_mb,
        ))  # fmt: skip
        await self.sandbox.open()
        await self.sandbox.write({path: Entry(folder=True, mode=0o777) for path in _LOGS})

    async def stop(self, delete: bool) -> None:
        """Close the sandbox."""
        await self.sandbox.close()

    async def exec(self, command: str, cwd: str | None = None, env: dict[str, str] | None = None,
                   timeout_sec: int | None = None, user: Any = None) -> Any:  # fmt: skip
        """Run a command in a shell of its own; standard output and error arrive as one."""
        if self._resolve_user(user) not in (None, 0, "0", "root"):
            raise ValueError(f"commands run as root here, not as {user!r}")
        given = (self._merge_env(env) or {}).items()
        lines = [f"export {name}={shlex.quote(value)}" for name, value in given]
        lines += [f"cd {shlex.quote(cwd)} || exit"] if cwd else []
        done = await self.sandbox.execute("\n".join([*lines, command]), timeout_sec or _SECONDS)
        status = 137 if done.exit_status is None else done.exit_status
        return ExecResult(stdout=done.output.decode("utf-8", "replace"), return_code=status)
