"""Grading of one step of a task, with the result as plain data."""

import json
import math
import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hexathlon.envs.messages import scrub
from hexathlon.envs.sandbox.base import Sandbox, SandboxBackend, SandboxPathError
from hexathlon.envs.sandbox.changes import Changes, covered
from hexathlon.envs.sandbox.image import HOST, Entry, SandboxImage
from hexathlon.envs.sandbox.limits import SandboxLimits
from hexathlon.envs.terminal.foreign import (
    OUTCOMES,
    clear_away,
    grader_files,
    read_outcomes,
    test_command,
)
from hexathlon.envs.terminal.grading import changed_files, judge_probes, run_cleanly
from hexathlon.envs.terminal.tampering import is_hook, shadowing_package, steers_tests
from hexathlon.tasks.terminal.harbor import HarborStep, HarborTask
from hexathlon.tasks.terminal.opening import content_digest, native_checks
from hexathlon.tasks.terminal.test_ids import expected_tests

__all__ = ["STOPPED", "GradedStep", "StepGrader", "begin", "wrecked"]

_LOGS = "/logs/verifier"
_DROPPED = frozenset(
    "/tests /solution /logs /hexathlon /proc /dev /sys /usr/bin /usr/sbin /usr/lib /bin /sbin /lib "
    "/lib64 /etc/alternatives /etc/perl /etc/gitconfig".split()
)
_SOLUTION_SECONDS, _BEFORE_SECONDS = 300.0, 30.0
_reachable: dict[tuple[str, str, str], bool] = {}
"""Image, tests and solution → whether the tests begin on the reference solution."""

_SYSTEM_FOLDERS = ("/usr/sbin", "/usr/bin", "/sbin", "/bin")
STOPPED = ("grader", "stopped_by_submission")
"""Outcome of tests that the agent's files keep from working; they work on the untouched image."""

WRECKED = ("sandbox", "wrecked")
"""Outcome of a step whose sandbox the agent broke."""


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
    network: bool = False
    """Whether something tried to reach a network while a task's own script ran."""

    def as_json(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "name": self.name,
            "tests": [list(pair) for pair in self.tests],
            "reward": None if self.reward is None else dict(self.reward),
            "fault": self.fault,
            "changed": dict(self.changed),
            **({"network": True} if self.network else {}),
        }

    def reaches(self, least: float) -> bool:
        """Whether the reward is at least `least`; without a reward, whether all tests passed."""
        if self.reward is None:
            return float(all(what == "passed" for _, what in self.tests)) >= least
        values = list(self.reward.values())
        return float(self.reward.get("reward", sum(values) / max(len(values), 1))) >= least


def begin(sandbox: Sandbox, step: HarborStep) -> str:
    """Run a step's `setup.sh`, whose failures are ignored, and end all processes; return ""."""
    if step.before:
        line = run_cleanly(sandbox.image.workdir, step.before, _BEFORE_SECONDS)
        sandbox.execute(f"( {line} ) </dev/null >/dev/null", timeout=_BEFORE_SECONDS + 5.0)
        sandbox.kill_all()
    return ""


def wrecked(step: HarborStep) -> GradedStep:
    """Return the result of a step whose sandbox the agent broke: scored, and failed."""
    return GradedStep(step.name, (WRECKED,), {"reward": 0.0})


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
        return self._blamed(step, changed, lambda what: self._apart(step, what), changes)

    def shared(self, step: HarborStep, sandbox: Sandbox) -> GradedStep:
        """Grade as the original benchmark does, in the agent's sandbox with its processes alive."""
        with sandbox.snapshot() as state:
            changes = state.changes()

        def grade(what: Changes) -> GradedStep:
            if what is changes:
                return self._scripted(step, sandbox, {})
            with self.backend.open(self.image, self.limits) as fresh:
                return self._scripted(step, fresh, {})

        return self._blamed(step, changed_files(changes, self.image.workdir), grade, changes)

    def _blamed(
        self,
        step: HarborStep,
        changed: Mapping[str, str],
        grade: Callable[[Changes], GradedStep],
        changes: Changes,
    ) -> GradedStep:
        """Grade; if the tests cannot run, grade the untouched image for comparison.

        If they run there, the agent's files stopped them: the agent failed, the grader did not.
        """
        result = replace(grade(changes), changed=changed)
        if not result.fault:
            return self._reached(step, result, grade)
        if grade(Changes()).fault:
            return result
        return replace(result, fault="", tests=(*result.tests, STOPPED), reward={"reward": 0.0})

    def _reached(
        self, step: HarborStep, result: GradedStep, grade: Callable[[Changes], GradedStep]
    ) -> GradedStep:
        """Return a result as it is, unless none of its tests can be reached here by any work.

        A script that ends before its tests begin may have failed because of what the agent left,
        or because a program or the network is missing. The reference solution decides.
        """
        if result.tests or not expected_tests(step) or "solve.sh" not in step.solution:
            return result
        key = (self.image.digest(), content_digest(step.tests), content_digest(step.solution))
        if key not in _reachable:
            reference = grade(self._solved(step))
            _reachable[key] = bool(reference.tests)
        if _reachable[key]:
            return result
        fault = "the script ends before its tests begin, on the reference solution, too"
        return replace(result, reward=None, fault=fault)

    def _solved(self, last: HarborStep) -> Changes:
        """Return the changes that the reference solutions make, up to a step."""
        image = replace(self.image, user="")
        with self.backend.open(image, self.limits) as sandbox:
            for step in self.task.steps:
                begin(sandbox, step)
                files = {f"/solution/{path}": Entry(data) for path, data in step.solution.items()}
                sandbox.write_entries(files)
                setting = [f"{n}={shlex.quote(v)}" for n, v in self.task.solution_variables.items()]
                line = f"( env {' '.join(setting)} bash /solution/solve.sh )"
                sandbox.execute(line, timeout=_SOLUTION_SECONDS)
                sandbox.execute("rm -rf /solution")
                if step is last:
                    break
            sandbox.kill_all()
            with sandbox.snapshot() as state:
                return state.changes()

    def _apart(self, step: HarborStep, changes: Changes) -> GradedStep:
        """Run the tests on files in a separate sandbox."""
        image = self._left(changes)
        files = {**image.files, "/hexathlon": Entry(folder=True, mode=0o755)}
        with self.backend.open(replace(image, files=files), self.limits) as sandbox:
            return self._scripted(step, sandbox, grader_files())

    def _left(self, changes: Changes) -> SandboxImage:
        """Return the image with the agent's changes, but without tools, hooks and grader paths."""
        inside = f"{self.image.workdir.rstrip('/')}/"
        known = {shadowing_package(path) for path in self.image.files}

        def ours(path: str) -> bool:
            if covered(path, _DROPPED) and not self._adds_a_command(path):
                return True
            if is_hook(path) and (inside == "/" or not path.startswith(inside)):
                return True
            package = shadowing_package(path)
            if package is not None and package not in known:
                return True
            return steers_tests(path, changes.written.get(path), self.image.files.get(path))

        gone = frozenset(path for path in changes.deleted if not ours(path))
        files = {
            p: entry
            for p, entry in self.image.files.items()
            if not covered(p, gone) or steers_tests(p, entry)
        }
        files.update({p: entry for p, entry in changes.written.items() if not ours(p)})
        return replace(self.image, files=files, user="")

    def _adds_a_command(self, path: str) -> bool:
        """Whether a path is a command that the system lacks; none of its own is then shadowed.

        Known only where the base is this machine's `/usr`.
        """
        folder, _, name = path.rpartition("/")
        if self.image.base != HOST or not self.image.full_root or folder != "/usr/bin":
            return False
        return path not in self.image.files and not any(
            os.path.lexists(f"{each}/{name}") for each in _SYSTEM_FOLDERS
        )

    def _scripted(
        self, step: HarborStep, sandbox: Sandbox, tools: Mapping[str, Entry]
    ) -> GradedStep:
        """Run the task's own test script and read the reward that it wrote."""
        sandbox.execute(clear_away(_LOGS))
        tests = {
            f"/tests/{path}": Entry(data, 0o755 if path.endswith(".sh") else 0o644)
            for path, data in step.tests.items()
        }
        try:
            sandbox.write_entries({**tools, _LOGS: Entry(folder=True, mode=0o755), **tests})
        except SandboxPathError as error:
            return GradedStep(step.name, fault=f"the tests cannot be written: {error}")
        variables = {**self.task.variables, **self.task.test_variables}
        command = test_command(self.image.workdir, variables, pristine=bool(tools))
        done = sandbox.execute(command, timeout=step.seconds)
        sandbox.kill_all()
        reward, fault = _reward(sandbox)
        if done.timed_out:
            fault = "the tests did not end in time"
        outcomes = read_outcomes(sandbox, done.output)
        if outcomes == () and not fault and _collected_nothing(sandbox):
            fault = "pytest ran, but collected no test"
        network = bool(tools) and sandbox.evidence().network_attempts > 0
        return GradedStep(step.name, outcomes, reward, fault, network=network)


def _collected_nothing(sandbox: Sandbox) -> bool:
    """Whether the harness's own pytest ran without finding a test."""
    try:
        return sandbox.read(OUTCOMES).strip() == b"[]"
    except SandboxPathError:
        return False


def _reward(sandbox: Sandbox) -> tuple[dict[str, float] | None, str]:
    """Return the script's reward, or why there is none; `reward.json` takes precedence."""
    for name, parse in (("reward.json", _from_json), ("reward.txt", _from_text)):
        try:
            data = sandbox.read(f"{_LOGS}/{name}", 65_536)
        except SandboxPathError:
            continue
        try:
            values = parse(data.decode("utf-8"))
        except (UnicodeDecodeError, ValueError, OverflowError, RecursionError):
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
    return {scrub(str(name)): _finite(_number(item)) for name, item in value.items()}


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("expected a number")
    return float(value)


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("expected a finite number")
    return value
