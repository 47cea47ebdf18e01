"""Small changes to a solution: a call left out, repeated, swapped, or with an argument changed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hexathlon.envs.testing.solving import calls_in, scalars_of
from hexathlon.tasks.task import Task

__all__ = ["Neighbour", "neighbours"]

_MOST_PLACES = 12
"""Longer solutions are changed at this many positions, the last ones included."""


class Neighbour(NamedTuple):
    """A changed solution."""

    kind: str
    """The change, such as `drop:look`, `alter:answer.value`, or `alter:refuse.reason=secret` where
    the schema lists the values; details follow after a space.
    """

    place: int
    actions: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names by which a source may declare the change to be correct, the narrowest first."""
        brief = self.kind.partition(" ")[0]
        return self.kind, brief, brief.partition("=")[0]


def neighbours(
    task: Task, actions: Sequence[str], elsewhere: Mapping[str, Sequence[Any]]
) -> Iterator[Neighbour]:
    """Yield the neighbours of a solution.

    Args:
        task: The task.
        actions: Its solution.
        elsewhere: For each `tool.argument`, values from the solutions of other tasks.
    """
    for place in _places(len(actions)):
        before, action, after = actions[:place], actions[place], actions[place + 1 :]
        label = _label(action)
        yield Neighbour(f"drop:{label}", place, (*before, *after))
        yield Neighbour(f"repeat:{label}", place, (*before, action, action, *after))
        if after and after[0] != action:
            swapped = (*before, after[0], action, *after[1:])
            yield Neighbour(f"swap:{label}", place, swapped)
        for path, changed in _altered(task, action, elsewhere):
            yield Neighbour(f"alter:{path}", place, (*before, changed, *after))
    yield from _hedged(task, actions, elsewhere)


def _hedged(
    task: Task, actions: Sequence[str], elsewhere: Mapping[str, Sequence[Any]]
) -> Iterator[Neighbour]:
    """Yield solutions whose last action names both the right value and a wrong one."""
    if not actions or any(not name for action in actions for name, _ in calls_in(action)):
        return
    *before, action = actions
    place = len(before)
    right = [str(value) for _, value in scalars_of(action)]
    for path, changed in _altered(task, action, elsewhere):
        said = (*before, " ".join(right), changed)
        yield Neighbour(f"alter:{path} after saying the right one", place, said)
    for name, arguments in calls_in(action)[:1]:
        for key, value in arguments.items():
            wrong = next(iter(_others(value, {}, elsewhere.get(f"{name}.{key}", ()))), None)
            for both in (f"{value} {wrong}", f"{wrong} {value}"):
                is_answer = isinstance(value, str) and " " not in value and wrong is not None
                if is_answer and len(calls_in(action)) == 1:
                    call = {"name": name, "arguments": {**arguments, key: both}}
                    text = json.dumps(call, ensure_ascii=False)
                    kind = f"alter:{name}.{key} to right and wrong"
                    yield Neighbour(kind, place, (*before, text))


def _places(count: int) -> list[int]:
    if count <= _MOST_PLACES:
        return list(range(count))
    step = count / _MOST_PLACES
    return sorted({*(int(i * step) for i in range(_MOST_PLACES - 2)), count - 2, count - 1})


def _label(action: str) -> str:
    return "+".join(dict.fromkeys(name or "prose" for name, _ in calls_in(action))) or "nothing"


def _altered(
    task: Task, action: str, elsewhere: Mapping[str, Sequence[Any]]
) -> Iterator[tuple[str, str]]:
    """Yield an action of one call with one argument changed, in each sensible way."""
    calls = calls_in(action)
    if len(calls) != 1 or not calls[0][0]:
        return
    name, arguments = calls[0]
    schemas = {schema.name: schema.parameters.get("properties", {}) for schema in task.tools}
    for key, value in arguments.items():
        path = f"{name}.{key}"
        for other in _others(value, schemas.get(name, {}).get(key, {}), elsewhere.get(path, ())):
            call = {"name": name, "arguments": {**arguments, key: other}}
            value_of_list = "enum" in schemas.get(name, {}).get(key, {})
            shown = f"={other}" if value_of_list and " " not in str(other) else ""
            yield f"{path}{shown}", json.dumps(call, ensure_ascii=False)


def _others(value: Any, schema: Mapping[str, Any], elsewhere: Sequence[Any]) -> list[Any]:
    """Return values other than this one: the schema's others, adjacent numbers, another task's."""
    if "enum" in schema:
        return [other for other in schema["enum"] if other != value]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, (int, float)):
        low, high = schema.get("minimum", value - 1), schema.get("maximum", value + 1)
        return [other for other in (value - 1, value + 1) if low <= other <= high]
    if not isinstance(value, str):
        return []
    others = [_digit_changed(value), *[other for other in elsewhere if other != value][:1]]
    return [other for other in others if other != value]


def _digit_changed(text: str) -> str:
    """Return a text with its last digit changed, or without its last letter."""
    for place in range(len(text) - 1, -1, -1):
        if text[place] in "0123456789":
            return text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
    return text[:-1]
