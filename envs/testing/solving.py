"""Oracle episodes on many tasks: opening, actions and score."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from hexathlon.tasks.task import Task

__all__ = ["Solved", "calls_in", "leaves", "scalars_of"]

JsonScalar = str | int | float | bool


class Solved(NamedTuple):
    """One oracle episode."""

    task: Task
    opening: str
    """The text of the opening observation."""

    actions: tuple[str, ...]
    reward: float
    status: str


def calls_in(action: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the tool calls of an action as (name, arguments); prose is a call without a name."""
    try:
        data = json.loads(action)
    except ValueError:
        return [("", {"text": action})]
    calls = []
    for item in data if isinstance(data, list) else [data]:
        if isinstance(item, dict):
            arguments = item.get("arguments")
            calls.append(
                (str(item.get("name", "")), arguments if isinstance(arguments, dict) else {})
            )
    return calls


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, JsonScalar]]:
    """Yield the scalars of nested data with their paths; None is left out."""
    if isinstance(value, dict):
        for key in value:
            yield from leaves(value[key], f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for place, item in enumerate(value):
            yield from leaves(item, f"{path}[{place}]")
    elif isinstance(value, (str, int, float, bool)):
        yield path, value


def scalars_of(action: str) -> Iterator[tuple[str, JsonScalar]]:
    """Yield the scalar arguments of an action's calls, each with `tool.argument`."""
    for name, arguments in calls_in(action):
        yield from leaves(arguments, name)
