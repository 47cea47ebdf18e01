"""An event as an environment of TRL's trainers: `environment_factory` of `GRPOTrainer`, TRL 1.16.

TRL reads each tool's signature and docstring. It calls `get_reward` once a completion has ended: an
unfinished episode earns 0, and one whose environment failed raises.
"""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import PIL.Image

from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.bridges.listing import TaskListing, offered_tools
from hexathlon.baselines.bridges.rendering import Observed
from hexathlon.baselines.bridges.tool_schemas import tool_method

__all__ = ["environment_class", "rows"]


def rows(listing: TaskListing, split: str, count: int) -> list[dict[str, Any]]:
    """Return rows of a training set: a task, and a prompt that `reset` completes."""
    prompt = [{"role": "user", "content": ""}]
    return [{**row, "prompt": prompt} for row in listing.rows(split, 0, count)]


def environment_class(event: str, *, tasks: Sequence[str] = (), **settings: Any) -> type:
    """Return a class whose instances TRL plays; `settings` are arguments of `BridgedEpisode`.

    TRL offers the same tools in every episode: those of `tasks` together, by default of the first
    tasks of the split. Where a task has fewer, its first text names them.
    """
    listing = TaskListing(event, settings.get("taskset"), settings.get("level"))
    schemas = offered_tools(tasks) or listing.tools(settings.get("split", "train"))

    class EventTools:
        def __init__(self) -> None:
            self._episode = BridgedEpisode(event, **settings)

        def reset(self, task: str | None = None, seed: int | None = None, **_: Any) -> Any:
            opening = self._episode.open(task, seed)
            text = f"{opening.instructions(schemas)}\n\n{opening.text}"
            return _shown(Observed(text, opening.image))

        def get_reward(self) -> float:
            return self._episode.reward

    def call(self: Any, name: str, arguments: Mapping[str, Any]) -> Any:
        return _shown(self._episode.call(name, arguments))

    members = {name: tool_method(schema, call) for name, schema in schemas.items()}
    return type(f"{event}Tools", (EventTools,), members)


def _shown(seen: Observed) -> Any:
    def opened(image: Any) -> Any:
        return {"type": "image", "image": PIL.Image.open(io.BytesIO(image.png()))}

    parts = seen.blocks(lambda text: {"type": "text", "text": text}, opened)
    return parts if seen.image else seen.text
