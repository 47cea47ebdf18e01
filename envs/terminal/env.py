"""`hexathlon/Terminal-v1`: a shell in a sandbox, files, and a task to solve there.

The agent works in a sandbox with the task's files and without its tests. The result is graded in
a separate sandbox, see `grading`; its outcome is the final state.
"""

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from hexathlon.envs.base import Environment
from hexathlon.envs.errors import ToolError
from hexathlon.envs.messages import scrub
from hexathlon.envs.sandbox.base import (
    Sandbox,
    SandboxBackend,
    SandboxFault,
    SandboxPathError,
    SandboxSnapshot,
)
from hexathlon.envs.sandbox.image import HOST, SandboxImage
from hexathlon.envs.sandbox.ladder import choose
from hexathlon.envs.sandbox.limits import MIB
from hexathlon.envs.status import Status
from hexathlon.envs.terminal.building import ImageCache, limits_of
from hexathlon.envs.terminal.keys import key_codes
from hexathlon.envs.terminal.steps import GradedStep, StepGrader, begin, wrecked
from hexathlon.envs.terminal.tampering import flags_of, looks_for_grader
from hexathlon.envs.terminal.text import clean, execution_text, screen_text
from hexathlon.envs.tools import tool
from hexathlon.tasks.task import Task
from hexathlon.tasks.terminal.harbor import HarborStep, HarborTask
from hexathlon.tasks.terminal.opening import open_task

__all__ = ["TerminalEnv", "make_vector"]

_CHOICE = "HEXATHLON_SANDBOX"
_MOST_READ = 256 * 1024
_GUEST_PROCESSES, _GUEST_FILES = 512, 8192
"""Limits for agents that are programs of another maker."""

_SCREEN_SECONDS, _PATIENT_SECONDS = 2.0, 15.0
"""Default waits for a screen, without and with a condition."""

_LOST = "The sandbox no longer works. The task is over, and failed."
_images = ImageCache()


@dataclass(frozen=True)
class _World:
    """The event's part of a snapshot."""

    files: SandboxSnapshot
    results: tuple[GradedStep, ...]
    flags: tuple[str, ...]
    wrecked: str


class TerminalEnv(Environment):
    """Work at a shell.

    Args:
        sandbox: Backend, `namespaces` or `docker`; None for the one named by the variable
            HEXATHLON_SANDBOX, else the first available one. `landlock` is not offered: tasks name
            absolute paths, which it cannot provide. `none` is an unconfined shell, which the
            record then states.
        base: Base of the sandboxes, a root tree or a tag; None for the backend's default.
        verifier: `separate`, in a fresh sandbox, or `shared`, as in the original benchmark: the
            tests run beside the agent's processes, and can be tampered with.
        **kwargs: As for every environment.
    """

    family: ClassVar[str] = "terminal"
    version: ClassVar[str] = "1"
    default_taskset: ClassVar[str] = "terminal"
    system_prompt: ClassVar[str] = (
        "You work at a Linux shell through tools. There is no network. Look at the files before "
        "you change them; notes among them may be out of date. What you leave behind is tested "
        "with inputs that you have not seen. Reply with one tool call at a time. When the work is "
        "done, call submit."
    )

    hints: ClassVar[Mapping[str, str]] = {
        "": "Plain lines are run in the shell: ls -l. Tools are called by their full names, in "
        "JSON where a text has several lines",
        "send_keys": "Keys have names: send_keys top<Enter>",
        "steps_passed": "Not all tests of what was left have passed.",
    }
    plain_tool: ClassVar[str] = "run"

    def __init__(
        self,
        *,
        sandbox: str | None = None,
        base: str | None = None,
        verifier: Literal["separate", "shared"] = "separate",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if verifier not in ("separate", "shared"):
            raise ValueError(f"verifier must be 'separate' or 'shared', got {verifier!r}")
        self._backend_name = sandbox or os.environ.get(_CHOICE) or None
        self._base = base or HOST
        self._verifier = verifier
        self._backend: SandboxBackend | None = None
        self._shell: Sandbox | None = None
        self._harbor: HarborTask | None = None
        self._results: tuple[GradedStep, ...] = ()
        self._flags: tuple[str, ...] = ()
        self._final: dict[str, Any] | None = None
        self._wrecked = ""
        self._guest_seconds: float | None = None

    # -- the episode -----------------------------------------------------------------------

    def on_reset(self, task: Task) -> str:
        """Open a sandbox with the task's files and return the instruction."""
        self.close()
        self._guest_seconds = None
        self._harbor = open_task(task)
        self._results, self._flags, self._final, self._wrecked = (), (), None, ""
        limits = limits_of(self._harbor, self.limits.seconds_per_action)
        self._shell = self._opener().open(self._image(), limits)
        begin(self._shell, self._harbor.steps[0])
        return task.instruction

    @tool
    def run(self, command: str, timeout: float | None = None) -> str:
        """Run a command in the persistent shell."""
        self._final = None
        longest = self._guest_seconds or self.limits.seconds_per_action
        seconds = longest if timeout is None else min(float(timeout), longest)
        if "\0" in command:
            raise ToolError("a command cannot hold a null character.")
        self._notice(command)
        return self._attempt(lambda box: execution_text(box.execute(scrub(command), seconds)))

    @tool
    def send_keys(
        self,
        keys: str,
        wait_for: str | None = None,
        quiet_ms: int | None = None,
        timeout: float | None = None,
        rows: int | None = None,
        columns: int | None = None,
    ) -> str:
        """Type into the full-screen terminal."""
        self._final = None
        resized = rows is not None or columns is not None
        patient = wait_for is not None or quiet_ms is not None
        seconds = timeout or (_PATIENT_SECONDS if patient else _SCREEN_SECONDS)
        seconds = min(seconds, self.limits.seconds_per_action)

        def typed(box: Sandbox) -> str:
            if resized:
                box.resize(rows, columns)
                box.screen()  # programs draw themselves anew
            box.keys(key_codes(scrub(keys)))
            return screen_text(box.screen((quiet_ms or 50) / 1000, seconds, wait_for))

        return self._attempt(typed)

    @tool
    def read_file(self, path: str) -> str:
        """Return a file's text."""
        self._notice(path)
        try:
            return self._attempt(lambda box: clean(box.read(scrub(path), _MOST_READ)))
        except (SandboxPathError, ValueError) as error:
            raise ToolError(str(error)) from None

    @tool
    def write_file(self, path: str, text: str) -> str:
        """Write a file."""
        self._final = None
        data = scrub(text).encode()

        def written(box: Sandbox) -> str:
            box.write(scrub(path), data)
            return f"Wrote {len(data)} bytes."

        try:
            return self._attempt(written)
        except (SandboxPathError, ValueError) as error:
            raise ToolError(str(error)) from None

    @tool
    def submit(self) -> str:
        """Submit the step."""
        if not self.grading and len(self._results) + 1 == len(self._task_steps().steps):
            self.finish()
            return "Handed in."
        result = self._judged(ended=True)
        self._results += (result,)
        if self._wrecked:
            self.finish()
            return _LOST
        step = self._task_steps().steps[len(self._results) - 1]
        short = step.min_reward is not None and not result.reaches(step.min_reward)
        if short or len(self._results) == len(self._task_steps().steps):
            self.finish()
            return "Handed in."
        following = self._task_steps().steps[len(self._results)]
        told = f"Handed in. The next step:\n\n{following.instruction}"
        return self._attempt(lambda box: begin(box, following)) or told

    def finish(self, status: Status = Status.COMPLETED) -> None:
        """End the episode after the current turn."""
        self._final = None
        super().finish(status)

    def final_state(self) -> dict[str, Any]:
        """Return the outcome of each step's tests, digests of changed files, and flags."""
        if self._final is None:
            self._final = self._gathered()
        return self._final

    def _gathered(self) -> dict[str, Any]:
        results = self._results
        unfinished = len(results) < len(self._task_steps().steps)
        if unfinished and self._status is not Status.COMPLETED:
            results = (*results, self._judged(ended=self._status is not Status.ONGOING))
        return {
            "mode": self._verifier,
            "submitted": len(self._results),
            "steps": [result.as_json() for result in results],
            "flags": sorted(set(self._flags)),
        }

    def _judged(self, *, ended: bool) -> GradedStep:
        """Grade the current step, which fails if the agent broke its sandbox."""
        steps = self._task_steps()
        step = steps.steps[len(self._results)]
        image, shell = self._image(), self._open()
        judge = StepGrader(self._opener(), image, shell.limits, steps)
        if not self._wrecked:
            try:
                return self._graded(judge, step, shell, ended=ended)
            except SandboxFault as fault:
                self._blame(fault)
        return wrecked(step)

    def _graded(
        self, judge: StepGrader, step: HarborStep, shell: Sandbox, *, ended: bool
    ) -> GradedStep:
        """Grade a step; at its end the agent's processes are killed first."""
        if self._verifier == "shared":
            return judge.shared(step, shell)
        alive = shell.kill_all() if ended else ()
        with shell.snapshot() as state:
            changes = state.changes()
        found = flags_of(changes, shell.evidence(), alive, judge.image.workdir, judge.image.files)
        self._flags = tuple(sorted({*self._flags, *found}))
        return judge.separate(step, changes)

    def admit(
        self, mounts: Sequence[str], memory_mb: int, seconds: float, port: int
    ) -> socket.socket:
        """Reopen the sandbox, before the first turn, for an agent that is a program in it.

        Args:
            mounts: Directories of this machine with the program; visible at the same paths,
                read-only, and not part of what is graded.
            memory_mb: Memory for the program, beside the task's own.
            seconds: Maximum duration of a command.
            port: A port on the sandbox's loopback.

        Returns:
            The socket that listens on this port: all that programs inside can reach.

        Raises:
            SandboxFault: If the backend is not `namespaces`.
        """
        self.close()
        limits = limits_of(self._task_steps(), self.limits.seconds_per_action)
        limits = replace(
            limits,
            memory_bytes=limits.memory_bytes + memory_mb * MIB,
            processes=max(limits.processes, _GUEST_PROCESSES),
            open_files=max(limits.open_files, _GUEST_FILES),
        )
        image = replace(self._image(), mounts=tuple(mounts))
        self._shell = self._opener().open(image, limits)
        self._guest_seconds = seconds
        return self._shell.listen(port)

    # -- state -----------------------------------------------------------------------------

    def save(self) -> _World:
        """Return the files and the results of graded steps."""
        return _World(self._open().snapshot(), self._results, self._flags, self._wrecked)

    def load(self, payload: _World) -> None:
        """Continue from the files of a snapshot."""
        self._harbor, self._final = open_task(self.task), None
        self._results, self._flags = payload.results, payload.flags
        self._wrecked = payload.wrecked
        if self._shell is None:
            self._shell = self._opener().open_snapshot(payload.files)
        else:
            self._shell.restore(payload.files)

    def detach(self) -> None:
        """Leave the original's sandbox to the original."""
        self._shell = None

    def close(self) -> None:
        """End the sandbox; idempotent."""
        shell, self._shell = self._shell, None
        if shell is not None:
            shell.close()

    # -- parts -----------------------------------------------------------------------------

    def _attempt(self, use: Callable[[Sandbox], str]) -> str:
        """Use the agent's sandbox; if it is broken, the trial is over, and failed."""
        shell = self._open()
        if not self._wrecked:
            try:
                return use(shell)
            except SandboxFault as fault:
                self._blame(fault)
        step = self._task_steps().steps[len(self._results)]
        self._results += (wrecked(step),)
        self.finish()
        return _LOST

    def _blame(self, fault: SandboxFault) -> None:
        """Attribute a fault of the agent's sandbox to the agent, which alone acts in it.

        Raises:
            SandboxFault: The fault itself, if the backend opens no working sandbox now.
        """
        if not self._opener().check().available:
            raise fault
        self._wrecked = str(fault)
        self._flags = tuple(sorted({*self._flags, "wrecked"}))

    def _notice(self, text: str) -> None:
        """Flag attempts to reach the grader or to escape, successful or not."""
        if looks_for_grader(text):
            self._flags = tuple(sorted({*self._flags, "searching"}))

    def _opener(self) -> SandboxBackend:
        if self._backend is None:
            self._backend = choose(self._backend_name, absolute_paths=self._backend_name != "none")
            self.sandbox = self._backend.name
        return self._backend

    def _task_steps(self) -> HarborTask:
        assert self._harbor is not None
        return self._harbor

    def _image(self) -> SandboxImage:
        return _images.get(self._opener(), self.task.hash, self._task_steps(), self._base)

    def _open(self) -> Sandbox:
        if self._shell is None:
            limits = limits_of(self._task_steps(), self.limits.seconds_per_action)
            self._shell = self._opener().open(self._image(), limits)
        return self._shell


def make_vector(num_envs: int, **kwargs: Any) -> Any:
    """Make a vector of these environments; see `hexathlon.envs.vector`."""
    from hexathlon.envs.vector import make_vector as make

    return make(TerminalEnv, num_envs, **kwargs)
