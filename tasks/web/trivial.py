"""Trivial users of a browser, whose scores set the floor."""

import json
import re
from collections.abc import Mapping

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task

__all__ = ["trivial_policies"]

_CLICKS = 12

_Call = tuple[str, dict[str, object]]


def trivial_policies(task: Task) -> Mapping[str, Script]:
    """Return the policies by name; in a shift they report on every request."""
    requests = 1 + len(task.params.get("requests", ()))
    done: _Call = ("finish", {"task_type": "MUTATE"})
    refused: _Call = ("report_infeasible", {"status": "ACTION_NOT_ALLOWED_ERROR"})
    return {
        "majority": _calls(*[done] * requests),
        "infeasible": _calls(("noop", {}), *[refused] * requests),
        "dump": _dump(),
        "clicker": _clicker(task),
    }


def _calls(*calls: _Call) -> Script:
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
