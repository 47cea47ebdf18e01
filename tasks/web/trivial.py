"""Trivial users of a browser, whose scores set the floor."""

import json
import re
from collections.abc import Mapping

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task

__all__ = ["trivial_policies"]

_CLICKS = 12


def trivial_policies(task: Task) -> Mapping[str, Script]:
    """Return the policies by name."""
    return {
        "majority": _calls(("finish", {"task_type": "MUTATE"})),
        "infeasible": _calls(
            ("noop", {}), ("report_infeasible", {"status": "ACTION_NOT_ALLOWED_ERROR"})
        ),
        "dump": _dump(),
        "clicker": _clicker(task),
    }


def _calls(*calls: tuple[str, dict[str, object]]) -> Script:
    for name, arguments in calls:
        yield json.dumps({"name": name, "arguments": arguments})


def _dump() -> Script:
    """Answer with everything the first page shows."""
    screen = yield json.dumps({"name": "noop", "arguments": {}})
    words = re.findall(r"[\w#.,€-]+", screen)[:400]
    arguments = {"task_type": "RETRIEVE", "retrieved_data": words}
    yield json.dumps({"name": "finish", "arguments": arguments}, ensure_ascii=False)


def _clicker(task: Task) -> Script:
    """Click at random, then finish."""
    rng = generator_for("web clicker", task.seed)
    screen = yield json.dumps({"name": "noop", "arguments": {}})
    for _ in range(_CLICKS):
        numbers = re.findall(r"\[(\d+)\] (?:link|button|checkbox|radio)", screen)
        if not numbers:
            break
        bid = numbers[int(rng.integers(len(numbers)))]
        screen = yield json.dumps({"name": "click", "arguments": {"bid": bid}})
    yield json.dumps({"name": "finish", "arguments": {"task_type": "MUTATE"}})
