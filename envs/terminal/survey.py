"""Check of task directories: whether each can be read, built and judged here, and solved."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hexathlon.envs.errors import EnvFault, TaskUnsupported
from hexathlon.envs.terminal.env import TerminalEnv
from hexathlon.tasks.errors import TaskError
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import Script
from hexathlon.tasks.terminal.directories import directory_source, is_task_folder
from hexathlon.tasks.terminal.opening import open_task
from hexathlon.tasks.tool_calls import tool_call

__all__ = ["OUTCOMES", "CheckedDirectory", "check_directory", "checked", "task_folders"]

DirectoryOutcome = Literal[
    "solved", "runs", "network", "unsolved", "fault", "unsupported", "unreadable"
]
OUTCOMES: dict[DirectoryOutcome, str] = {
    "solved": "the reference solution gets the full score",
    "runs": "there is no reference solution; the tests judge an empty submission",
    "network": "the tests try to reach a network, and the reference solution fails them here",
    "unsolved": "the reference solution does not get the full score",
    "fault": "the tests cannot judge",
    "unsupported": "the environment cannot be built here",
    "unreadable": "the directory does not follow its format",
}


@dataclass(frozen=True)
class CheckedDirectory:
    """One directory and its outcome."""

    name: str
    outcome: DirectoryOutcome
    detail: str = ""
    """Why it is not solved; the first lines of the reason."""


def task_folders(folder: Path) -> list[Path]:
    """Return the task directories directly below one, or this one if it is a task itself."""
    if is_task_folder(folder):
        return [folder]
    return list(filter(is_task_folder, sorted(folder.glob("*"))))


def check_directory(env: TerminalEnv, folder: Path) -> CheckedDirectory:
    """Build a directory's environment, play its reference solution if any, and judge the result.

    Raises:
        BackendMissing: If there is no sandbox at all.
    """
    try:
        name, task_id = directory_source(folder)
        source = get_source(name)
        task = source.build(task_id)
        solvable = all(bool(step.solution) for step in open_task(task).steps)
    except TaskError as error:
        return CheckedDirectory(folder.name, "unreadable", str(error))
    script = source.oracle(task) if solvable else _submitting(len(open_task(task).steps))
    try:
        reward = _played(env, task_id, script)
        steps = env.final_state()["steps"]
    except TaskUnsupported as error:
        return CheckedDirectory(folder.name, "unsupported", str(error))
    except EnvFault as error:
        return CheckedDirectory(folder.name, "fault", str(error))
    faults = [step["fault"] for step in steps if step["fault"]]
    network = any(step.get("network") for step in steps)
    if faults:
        return CheckedDirectory(folder.name, "network" if network else "fault", faults[0])
    if not solvable:
        return CheckedDirectory(folder.name, "runs", "solved by nothing" if reward == 1.0 else "")
    if reward == 1.0:
        return CheckedDirectory(folder.name, "solved")
    failed = Counter(what for step in steps for _, what in step["tests"])
    evidence = env.verdict().evidence.get("failed", [])
    outcome: DirectoryOutcome = "network" if network else "unsolved"
    return CheckedDirectory(folder.name, outcome, f"{'; '.join(evidence)} {dict(failed)}")


def _submitting(steps: int) -> Script:
    for _ in range(steps):
        yield tool_call("submit")


def _played(env: TerminalEnv, task_id: str, script: Script) -> float:
    env.reset(seed=0, options={"task": task_id})
    for action in script:
        _, reward, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            return float(reward)
    return 0.0


def checked(folders: list[Path], make: Callable[[], TerminalEnv]) -> Iterator[CheckedDirectory]:
    """Check directories one after the other, in one environment."""
    env = make()
    try:
        for folder in folders:
            yield check_directory(env, folder)
    finally:
        env.close()
