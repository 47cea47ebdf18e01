"""An event as an environment of TRL's trainers: the tools of the event become the model's tools.

    listing = TaskListing("SQL", level="tiny")
    trainer = GRPOTrainer(
        ...,
        environment_factory=environment_class("SQL", level="tiny"),
        train_dataset=Dataset.from_list(rows(listing, "train", 64)),
    )

TRL reads each tool's signature and docstring; both are made from the event's schemas. It calls
`get_reward` once a completion has ended, whether or not the episode has: an episode without an end
earns 0, and one whose environment failed raises.

Interface: `environment_factory` of `trl.GRPOTrainer`, TRL 1.16.
"""

import inspect
from collections.abc import Mapping
from typing import Any

from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.envs.errors import EnvFault

__all__ = ["environment_class", "rows"]

_KINDS = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list}
_OVER = "The episode has ended; no further call is run."


def rows(listing: TaskListing, split: str, count: int) -> list[dict[str, Any]]:
    """Return rows of a training set: a task, and a prompt that `reset` completes."""
    prompt = [{"role": "user", "content": ""}]
    return [{**row, "prompt": prompt} for row in listing.rows(split, 0, count)]


def environment_class(event: str, **settings: Any) -> type:
    """Return a class whose instances TRL resets and plays.

    Args:
        event: Id, or short name such as `SQL`.
        **settings: Keyword arguments of `BridgedEpisode`. Their task set, split and level also
            decide which tools are offered: all of its tasks must have the same.
    """
    with BridgedEpisode(event, **settings) as probe:
        schemas = probe.open(seed=0).tools

    class EventTools:
        def __init__(self) -> None:
            self._episode = BridgedEpisode(event, **settings)
            self._fault: EnvFault | None = None

        def reset(self, task: str | None = None, seed: int | None = None, **_: Any) -> str:
            self._fault = None
            opening = self._episode.open(task, seed)
            if [tool["name"] for tool in opening.tools] != [tool["name"] for tool in schemas]:
                raise ValueError(f"task {task} has other tools than the first task of {event}")
            return f"{opening.system_prompt}\n\n{opening.text}"

        def _run(self, name: str, arguments: Mapping[str, Any]) -> str:
            if self._episode.over:
                return _OVER
            try:
                return self._episode.call(name, arguments).text
            except EnvFault as fault:
                self._fault = fault
                raise

        def get_reward(self) -> float:
            if self._fault is not None:
                raise self._fault
            return self._episode.reward

    for schema in schemas:
        setattr(EventTools, schema["name"], _method(schema))
    EventTools.__name__ = EventTools.__qualname__ = f"{event}Tools"
    return EventTools


def _method(schema: Mapping[str, Any]) -> Any:
    def method(self: Any, **arguments: Any) -> str:
        given = {name: value for name, value in arguments.items() if value is not None}
        text: str = self._run(schema["name"], given)
        return text

    properties = schema["parameters"].get("properties", {})
    required = schema["parameters"].get("required", ())
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    lines = []
    for name, value in sorted(properties.items(), key=lambda each: each[0] not in required):
        kind: Any = _KINDS.get(value.get("type"), str)
        default = inspect.Parameter.empty if name in required else None
        kind = kind if name in required else kind | None
        parameters.append(inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind))  # fmt: skip
        lines.append(f"    {name}: {value.get('description', name)}")
    method.__name__ = schema["name"]
    method.__doc__ = schema["description"] + ("\n\nArgs:\n" + "\n".join(lines) if lines else "")
    method.__annotations__ = {each.name: each.annotation for each in parameters[1:]}
    method.__signature__ = inspect.Signature(parameters, return_annotation=str)  # type: ignore[attr-defined]
    return method
