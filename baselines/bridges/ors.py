"""Events in the Open Reward Standard: tools, prompts and rewards over HTTP.

The tools of the event become tools of the environment, the same ones in every session; where a task
has fewer, its prompt names them. A failure of the infrastructure is an error of the call.

Protocol: Open Reward Standard, package `openreward` 0.1.
"""

import base64
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from hexathlon.baselines.bridges.asynchronous import AsyncEpisode
from hexathlon.baselines.bridges.listing import TaskListing, offered_tools
from hexathlon.evaluators.content import Image

__all__ = ["make_ors_app"]


def make_ors_app(make: Callable[[], AsyncEpisode], listing: TaskListing, name: str) -> Any:
    """Return a FastAPI application that serves one event.

    Args:
        make: Creates the episode of one session.
        listing: The tasks to list.
        name: Name of the environment in routes.
    """
    from openreward.environments import Environment, ImageBlock, Server, TextBlock, ToolOutput, tool

    schemas = offered_tools(listing, listing.splits()[0])

    def blocks(text: str, image: Image | None) -> list[Any]:
        if image is None:
            return [TextBlock(text=text)]
        data = base64.b64encode(image.png()).decode()
        return [TextBlock(text=text), ImageBlock(data=data, mimeType="image/png")]

    class EventSession(Environment):  # type: ignore[misc]
        async def setup(self) -> None:
            self._played, row = make(), self.task_spec
            self._opening = await self._played.open(row["task"], row.get("seed", 0))

        async def teardown(self) -> None:
            await self._played.close()

        def get_prompt(self) -> Any:
            names = [each["name"] for each in self._opening.tools]
            usable = "" if len(names) == len(schemas) else f"\n\nTools: {', '.join(names)}."
            head = f"{self._opening.system_prompt}{usable}"
            return [TextBlock(text=head), *blocks(self._opening.text, self._opening.image)]

        @classmethod
        def list_splits(cls) -> list[str]:
            return listing.splits()

        @classmethod
        def list_tasks(cls, split: str) -> list[Any]:
            return listing.rows(split, 0, min(listing.size(split), 1000))

        @classmethod
        async def num_tasks(cls, split: str) -> int:
            return listing.size(split)

        @classmethod
        async def get_task(cls, split: str, index: int) -> Any:
            return listing.row(split, index)

        @classmethod
        async def get_task_range(cls, split: str, start: Any = None, stop: Any = None) -> list[Any]:
            return listing.rows(split, start, stop)

    def method(schema: Mapping[str, Any]) -> Any:
        async def turn(self: Any, params: Any) -> Any:
            reply = await self._played.call(schema["name"], params.model_dump())
            return ToolOutput(
                blocks=blocks(reply.text, reply.image), reward=reply.reward if reply.done else None,
                finished=reply.done, metadata={"status": reply.info["status"]},
            )  # fmt: skip

        turn.__name__, turn.__doc__ = schema["name"], schema["description"]
        turn.__annotations__ = {"params": _arguments(schema), "return": ToolOutput}
        return tool(turn)

    members = {schema["name"]: method(schema) for schema in schemas}
    return Server([type(name, (EventSession,), members)]).app


def _arguments(schema: Mapping[str, Any]) -> type[BaseModel]:
    """Return a model that shows the event's schema and leaves checks to the environment."""

    class Arguments(BaseModel):
        model_config = ConfigDict(extra="allow")

        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            return dict(schema["parameters"])

    return Arguments
