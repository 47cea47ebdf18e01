"""Grading of one step of a task, with the result as plain data."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hexathlon.envs.sandbox.base import Sandbox, SandboxBackend, SandboxPathError
from hexathlon.envs.sandbox.changes import Changes
from hexathlon.envs.sandbox.image import Entry, SandboxImage
from hexathlon.envs.sandbox.limits import SandboxLimits
from hexathlon.envs.terminal.foreign import GRADER_FILES, clear_away, read_outcomes, test_command
from hexathlon.envs.terminal.grading import changed_files, judge_probes
from hexathlon.envs.terminal.tampering import is_hook
from hexathlon.tasks.terminal.harbor import HarborStep, HarborTask
from hexathlon.tasks.terminal.opening import native_checks

__all__ = ["GradedStep", "StepGrader"]

_LOGS = "/logs/verifier"
_DROPPED = (
    "/tests",
    "/solution",
    "/logs",
    "/hexathlon",
    "/proc",
    "/dev",
    "/sys",
    "/usr/bin",
    "/usr/sbin",
    "/usr/lib",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
)


@dataclass(frozen=True)
class GradedStep:
    """Result of one step."""

    name: str
    tests: tuple[tuple[str, str], ...] = ()
    """Test id and `passed`, or one word for the fault."""

    reward: Mapping[str, float] | None = None
    """The reward written by a task's own script; None for generated probes."""

    fault: str = ""
    """Why the step could not be graded; empty otherwise."""

    changed: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "name": self.name,
            "tests": [list(pair) for pair in self.tests],
            "reward": None if self.reward is None else dict(self.reward),
            "fault": self.fault,
            "changed": dict(self.changed),
        }

    def reaches(self, least: float) -> bool:
        """Whether the reward is at least `least`; without a reward, whether all tests passed."""
        if self.reward is None:
            return float(all(what == "passed" for _, what in self.tests)) >= least
        values = list(self.reward.values())
        return float(self.reward.get("reward", sum(values) / max(len(values), 1))) >= least


class StepGrader:
    """Grades steps of one task.

    Args:
        backend: Opens the grader's sandboxes.
        image: The agent's initial image.
        limits: Limits of the grader's sandboxes.
        task: The whole task.
    """

    def __init__(
        self, backend: SandboxBackend, image: SandboxImage, limits: SandboxLimits, task: HarborTask
    ) -> None:
        self.backend, self.image, self.limits, self.task = backend, image, limits, task

    def separate(self, step: HarborStep, changes: Changes) -> GradedStep:
        """Grade the agent's files in a fresh sandbox."""
        changed = changed_files(changes, self.image.workdir)
        checks = native_checks(step.tests)
        if checks is not None:
            outcomes = judge_probes(self.backend, self.image, changes, checks, self.limits)
            return GradedStep(step.name, tuple((a, b) for a, b in outcomes), changed=changed)
        image = self._left(changes)
        files = {**image.files, "/hexathlon": Entry(folder=True, mode=0o755)}
        with self.backend.open(replace(image, files=files), self.limits) as sandbox:
            return self._scripted(step, sandbox, GRADER_FILES, changed)

    def shared(self, step: HarborStep, sandbox: Sandbox) -> GradedStep:
        """Grade as the original benchmark does, in the agent's sandbox with its processes alive."""
        with sandbox.snapshot() as state:
            changed = changed_files(state.changes(), self.image.workdir)
        return self._scripted(step, sandbox, {}, changed)

    def _left(self, changes: Changes) -> SandboxImage:
        """Return the image with the agent's changes, but without tools, hooks and grader paths."""
        inside = f"{self.image.workdir.rstrip('/')}/"

        def ours(path: str) -> bool:
            if is_hook(path) and not path.startswith(inside):
                return True
            return any(path == each or path.startswith(f"{each}/") for each in _DROPPED)

        gone = [path for path in changes.deleted if not ours(path)]
        files = {
            path: entry
            for path, entry in self.image.files.items()
            if not any(path == each or path.startswith(f"{each}/") for each in gone)
        }
        files.update({p: entry for p, entry in changes.written.items() if not ours(p)})
        return SandboxImage(self.image.base, files, self.image.workdir, self.image.environment)

    def _scripted(
        self,
        step: HarborStep,
        sandbox: Sandbox,
        tools: Mapping[str, Entry],
        changed: Mapping[str, str],
    ) -> GradedStep:
        """Run the task's own test script and read the reward that it wrote."""
        sandbox.execute(clear_away(_LOGS))
        sandbox.lay(
            {
                **tools,
                _LOGS: Entry(folder=True, mode=0o755),
                **{
                    f"/tests/{path}": Entry(data, 0o755 if path.endswith(".sh") else 0o644)
                    for path, data in step.tests.items()
                },
            }
        )
        variables = {**self.task.variables, **self.task.test_variables}
        command = test_command(self.image.workdir, variables, pristine=bool(tools))
        done = sandbox.execute(command, timeout=step.seconds)
        sandbox.kill_all()
        reward, fault = _reward(sandbox)
        if done.timed_out:
            fault = "the tests did not end in time"
        outcomes = read_outcomes(sandbox, done.output)
        return GradedStep(step.name, outcomes, reward, fault, changed)


def _reward(sandbox: Sandbox) -> tuple[dict[str, float] | None, str]:
    """Return the script's reward, or why there is none; `reward.json` takes precedence."""
    for name, parse in (("reward.json", _from_json), ("reward.txt", _from_text)):
        try:
            data = sandbox.read(f"{_LOGS}/{name}", 65_536)
        except SandboxPathError:
            continue
        try:
            values = parse(data.decode("utf-8"))
        except (UnicodeDecodeError, ValueError, RecursionError):
            return None, f"{name} contains no finite number"
        return values, ""
    return None, "the tests wrote no reward"


def _from_text(text: str) -> dict[str, float]:
    return {"reward": _finite(float(text.strip()))}


def _from_json(text: str) -> dict[str, float]:
    value = json.loads(text)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return {"reward": _finite(float(value))}
    if not isinstance(value, dict) or not value:
        raise ValueError("expected named numbers")
    return {str(name): _finite(_number(item)) for name, item in value.items()}


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("expected a number")
    return float(value)


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("expected a finite number")
    return value
