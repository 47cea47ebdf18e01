"""An event as an environment of TRL's trainers: the tools of the event become the model's tools.

    listing = TaskListing("SQL", level="tiny")
    trainer = GRPOTrainer(
        ...,
        environment_factory=environment_class("SQL", level="tiny"),
        train_dataset=Dataset.from_list(rows(listing, "train", 64)),
    )

TRL reads each tool's signature and docstring; both are made from the event's schemas. It calls
`get_reward` once a completion has ended, whether or not the episode has: an unfinished episode
earns 0, and one whose environment failed raises.

Interface: `environment_factory` of `trl.GRPOTrainer`, TRL 1.16.
"""

import inspect
import io
from collections.abc import Mapping, Sequence
from typing import Any

import PIL.Image

from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.envs.errors import EnvFault
from hexathlon.evaluators.content import Image
from hexathlon.tasks.taskset import build_task

__all__ = ["environment_class", "rows"]

_KINDS = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list}
_OVER = "The episode has ended; no further call is run."


def rows(listing: TaskListing, split: str, count: int) -> list[dict[str, Any]]:
    """Return rows of a training set: a task, and a prompt that `reset` completes."""
    prompt = [{"role": "user", "content": ""}]
    return [{**row, "prompt": prompt} for row in listing.rows(split, 0, count)]


def environment_class(event: str, *, tasks: Sequence[str] = (), **settings: Any) -> type:
    """Return a class whose instances TRL resets and plays.

    TRL offers the same tools in every episode: those of all the tasks together. Where a task has
    fewer, its first text names them, and a call of another one is answered by an error.

    Args:
        event: Id, or short name such as `SQL`.
        tasks: Ids of the tasks whose tools are offered; by default the first 64 of the split.
        **settings: Keyword arguments of `BridgedEpisode`, such as `split` and `level`.
    """
    if not tasks:
        listing = TaskListing(event, settings.get("taskset"), settings.get("level"))
        listed = listing.rows(settings.get("split", "train"), 0, 64)
        tasks = [row["task"] for row in listed]
    schemas = {tool.name: tool.model_dump() for task in tasks for tool in build_task(task).tools}

    class EventTools:
        def __init__(self) -> None:
            self._episode = BridgedEpisode(event, **settings)
            self._fault: EnvFault | None = None

        def reset(self, task: str | None = None, seed: int | None = None, **_: Any) -> Any:
            self._fault = None
            opening = self._episode.open(task, seed)
            names = [tool["name"] for tool in opening.tools]
            if missing := set(names) - set(schemas):
                raise ValueError(f"task {task} has tools that were not offered: {sorted(missing)}")
            usable = "" if len(names) == len(schemas) else f"\n\nTools: {', '.join(names)}."
            return _blocks(f"{opening.system_prompt}{usable}\n\n{opening.text}", opening.image)

        def _run(self, name: str, arguments: Mapping[str, Any]) -> Any:
            if self._episode.over:
                return _OVER
            try:
                reply = self._episode.call(name, arguments)
            except EnvFault as fault:
                self._fault = fault
                raise
            return _blocks(reply.text, reply.image)

        def get_reward(self) -> float:
            if self._fault is not None:
                raise self._fault
            return self._episode.reward

    for schema in schemas.values():
        setattr(EventTools, schema["name"], _method(schema))
    EventTools.__name__ = EventTools.__qualname__ = f"{event}Tools"
    return EventTools


def _blocks(text: str, image: Image | None) -> Any:
    """Return text, or content blocks with a picture, which TRL passes to models that see."""
    if image is None:
        return text
    picture = PIL.Image.open(io.BytesIO(image.png()))
    return [{"type": "image", "image": picture}, {"type": "text", "text": text}]


def _method(schema: Mapping[str, Any]) -> Any:
    def method(self: Any, **arguments: Any) -> Any:
        given = {name: value for name, value in arguments.items() if value is not None}
        return self._run(schema["name"], given)

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
