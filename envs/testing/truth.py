"""The truth of a task, by where it is stated, and the search for it in texts."""

import json
from typing import Any

from hexathlon.envs.testing.solving import Solved, leaves, scalars_of
from hexathlon.tasks.task import Task

__all__ = ["answers_of", "holds", "public_text", "text_form", "truth_of"]


def truth_of(solved: Solved, public: str | None = None) -> dict[str, str]:
    """Return the parts of a task's truth by path, except those stated in instruction or tools."""
    if public is None:
        public = public_text(solved.task)
    found = {k: text_form(v) for k, v in answers_of(solved).items() if not isinstance(v, bool)}
    return {path: text for path, text in found.items() if len(text) > 1 and text not in public}


def answers_of(solved: Solved) -> dict[str, Any]:
    """Return all parts of a task's truth by path, short and stated ones included."""
    task = solved.task
    found: list[tuple[str, Any]] = []
    for check in task.checks:
        found += [(f"{check.name}.{path}", value) for path, value in leaves(check.params)]
    if solved.actions:
        last = scalars_of(solved.actions[-1])
        found += [(f"the oracle's last {path}", value) for path, value in last]
    return dict(found)


def public_text(task: Task) -> str:
    """Return the public text of a task: instruction and tools."""
    return task.instruction + json.dumps([tool.model_dump() for tool in task.tools])


def text_form(value: Any) -> str:
    """Return a value as it would be shown; whole floats without their zeros."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def holds(text: str, value: str) -> bool:
    """Whether a text contains a value as a whole: 17 is not in 170."""
    start = text.find(value)
    while start >= 0:
        end = start + len(value)
        before, after = text[start - 1 : start], text[end : end + 1]
        if not (value[0].isalnum() and before.isalnum()) and not (
            value[-1].isalnum() and after.isalnum()
        ):
            return True
        start = text.find(value, start + 1)
    return False
