"""Hexathlon: six events for language-model agents, as gymnasium environments.

Importing this package registers the environments, so that `gymnasium.make("hexathlon/SQL-v1")`
works. Nothing heavier than gymnasium is loaded: the names offered here are imported when they are
first used.

>>> import hexathlon
>>> hexathlon.make_agent("agent:oracle").name
'oracle'
"""

import importlib
from typing import TYPE_CHECKING, Any

from hexathlon.envs.registry import register_environments

if TYPE_CHECKING:
    from hexathlon.baselines.api import evaluate, load_run, make_agent, train
    from hexathlon.baselines.harness.verify import verify_run
    from hexathlon.baselines.tokens.trajectory import Trajectory
    from hexathlon.envs.aio import AsyncEnvironment
    from hexathlon.envs.base import Environment
    from hexathlon.envs.testing import check_environment
    from hexathlon.envs.tools import tool
    from hexathlon.evaluators.content import File, Image, Text
    from hexathlon.evaluators.verdict import Verdict
    from hexathlon.tasks.source import TaskSource
    from hexathlon.tasks.task import Task
    from hexathlon.tasks.taskset import TaskSet
    from hexathlon.tasks.version import VERSION as __version__

__all__ = [
    "AsyncEnvironment",
    "Environment",
    "File",
    "Image",
    "Task",
    "TaskSet",
    "TaskSource",
    "Text",
    "Trajectory",
    "Verdict",
    "__version__",
    "check_environment",
    "evaluate",
    "load_run",
    "make_agent",
    "tool",
    "train",
    "verify_run",
]

_HOMES = {
    "AsyncEnvironment": "hexathlon.envs.aio",
    "Environment": "hexathlon.envs.base",
    "File": "hexathlon.evaluators.content",
    "Image": "hexathlon.evaluators.content",
    "Task": "hexathlon.tasks.task",
    "TaskSet": "hexathlon.tasks.taskset",
    "TaskSource": "hexathlon.tasks.source",
    "Text": "hexathlon.evaluators.content",
    "Trajectory": "hexathlon.baselines.tokens.trajectory",
    "Verdict": "hexathlon.evaluators.verdict",
    "check_environment": "hexathlon.envs.testing",
    "evaluate": "hexathlon.baselines.api",
    "load_run": "hexathlon.baselines.api",
    "make_agent": "hexathlon.baselines.api",
    "tool": "hexathlon.envs.tools",
    "train": "hexathlon.baselines.api",
    "verify_run": "hexathlon.baselines.harness.verify",
}
"""The module that each name is imported from."""

register_environments()


def __getattr__(name: str) -> Any:
    home, original = _HOMES.get(name), name
    if name == "__version__":  # reading the distribution's metadata takes as long as many modules
        home, original = "hexathlon.tasks.version", "VERSION"
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(home), original)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
