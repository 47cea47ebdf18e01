"""Trivial users of the desktop, whose scores set the floor."""

import json
import re
from collections.abc import Mapping

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task

__all__ = ["desktop_policies"]


def desktop_policies(task: Task) -> Mapping[str, Script]:
    """Return users that read nothing on the screen, or only its words."""
    return {
        "complete": _says(_call("status", goal_status="complete")),
        "infeasible": _refuses(task),
        "answers a word": _answers(task),
    }


def _says(*actions: str) -> Script:
    for action in actions:  # noqa: UP028 - a script is sent observations, a tuple takes none
        yield action


def _refuses(task: Task) -> Script:
    code = re.search(r"the reason ([a-z_]+)", task.instruction)
    yield _call("status", goal_status="infeasible", reason=code[1] if code else "", record="")


def _answers(task: Task) -> Script:
    words = re.findall(r"[A-Za-z0-9.]+", task.instruction)
    yield _call("answer", text=words[-1])
    yield _call("status", goal_status="complete")


def _call(name: str, **arguments: str) -> str:
    return json.dumps({"name": name, "arguments": arguments})
