"""Spaces and states as plain data, for transfer between processes."""

import copy
from typing import Any

import numpy as np
from gymnasium import Space
from gymnasium.spaces import Box, Dict, Discrete, Sequence

from hexathlon.envs.messages import Action, Message, ParsedCall, ToolCall
from hexathlon.envs.spaces import Contents, Unicode
from hexathlon.envs.state import State
from hexathlon.envs.status import Status
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.task import Limits, Task

__all__ = [
    "message_from_data",
    "space_from_data",
    "space_to_data",
    "state_from_data",
    "state_to_data",
]


def space_to_data(space: Space[Any]) -> Any:
    """Describe a space used by text environments.

    Raises:
        TypeError: If the space is of another kind.
    """
    if isinstance(space, Unicode):
        kind = "contents" if isinstance(space, Contents) else "unicode"
        return {"kind": kind, "max_length": space.max_length, "examples": space.examples}
    if isinstance(space, Box):
        return {"kind": "box", "low": space.low, "high": space.high, "dtype": space.dtype.str}
    if isinstance(space, Dict):
        parts = {name: space_to_data(part) for name, part in space.spaces.items()}
        return {"kind": "dict", "parts": parts}
    if isinstance(space, Sequence):
        return {"kind": "sequence", "of": space_to_data(space.feature_space)}
    if isinstance(space, Discrete):
        return {"kind": "discrete", "n": int(space.n), "start": int(space.start)}
    raise TypeError(f"a hosted environment cannot have a space of type {type(space).__name__}")


def space_from_data(data: Any) -> Space[Any]:
    """Rebuild a described space."""
    kind = data["kind"]
    if kind in ("contents", "unicode"):
        text_space = Contents if kind == "contents" else Unicode
        return text_space(data["max_length"], examples=data["examples"])
    if kind == "box":
        return Box(data["low"], data["high"], dtype=np.dtype(data["dtype"]).type)
    if kind == "dict":
        return Dict({name: space_from_data(part) for name, part in data["parts"].items()})
    if kind == "sequence":
        return Sequence(space_from_data(data["of"]))
    return Discrete(data["n"], start=data["start"])


def state_to_data(state: State) -> Any:
    """Describe a state; its payload must be plain data already."""
    return {
        "family": state.family,
        "task": state.task.model_dump(mode="json"),
        "limits": state.limits.model_dump(),
        "seed": state.seed,
        "rng": copy.deepcopy(state.rng),
        "status": state.status.value,
        "verdict": None if state.verdict is None else state.verdict.model_dump(),
        "transcript": [_entry_to_data(entry) for entry in state.transcript],
        "counters": state.counters,
        "payload": state.payload,
    }


def state_from_data(data: Any) -> State:
    """Rebuild a described state."""
    verdict = data["verdict"]
    return State(
        family=data["family"],
        task=Task.model_validate(data["task"]),
        limits=Limits.model_validate(data["limits"]),
        seed=data["seed"],
        rng=data["rng"],
        status=Status(data["status"]),
        verdict=None if verdict is None else Verdict.model_validate(verdict),
        transcript=tuple(_entry_from_data(entry) for entry in data["transcript"]),
        counters=data["counters"],
        payload=data["payload"],
    )


def _entry_to_data(entry: Message | Action) -> Any:
    """Describe a message as a dictionary, a parsed turn as a tuple."""
    if isinstance(entry, Action):
        return entry.text, [tuple(call) for call in entry.calls]
    return dict(entry)


def _entry_from_data(data: Any) -> Message | Action:
    if isinstance(data, tuple):
        text, calls = data
        return Action(text, tuple(ParsedCall(*call) for call in calls))
    return message_from_data(data)


def message_from_data(data: Any) -> Message:
    """Rebuild a message from a dictionary of plain data."""
    calls = tuple(
        ToolCall(id=call["id"], name=call["name"], arguments=call["arguments"])
        for call in data["tool_calls"]
    )
    return Message(
        role=data["role"],
        content=data["content"],
        tool_calls=calls,
        tool_call_id=data["tool_call_id"],
    )
