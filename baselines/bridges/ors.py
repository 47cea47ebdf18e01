"""Events in the Open Reward Standard, over HTTP: package `openreward` 0.1.

The tools of the event are tools of the environment, the same ones in every session; where a task
has fewer, its prompt names them. A failure of the infrastructure is an error of the call.
"""

from collections.abc import Callable, Mapping
from typing import Any

from hexathlon.baselines.bridges.asynchronous import DEADLINE, AsyncEpisode
from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.bridges.listing import Discovery, TaskListing
from hexathlon.baselines.bridges.rendering import Observed, png_base64
from hexathlon.baselines.bridges.tool_schemas import arguments_model

__all__ = ["make_ors_app"]


def make_ors_app(
    make: Callable[[], BridgedEpisode], tasks: TaskListing, name: str,
    deadline: float = DEADLINE,
) -> Any:  # fmt: skip
    """Return a FastAPI application; `make` creates a session's environment, `name` is in routes."""
    from openreward.environments import Environment, ImageBlock, Server, TextBlock, ToolOutput, tool

    schemas = tasks.tools(tasks.splits()[0])

    def blocks(seen: Observed) -> list[Any]:
        return seen.blocks(
            lambda text: TextBlock(text=text),
            lambda image: ImageBlock(data=png_base64(image), mimeType="image/png"),
        )

    class EventSession(Discovery, Environment):  # type: ignore[misc]
        listing = tasks

        async def setup(self) -> None:
            self.episode, row = AsyncEpisode(make, deadline), self.task_spec
            self.opening = await self.episode.open(row["task"], row.get("seed", 0))

        async def teardown(self) -> None:
            await self.episode.close()

        def get_prompt(self) -> Any:
            return [TextBlock(text=self.opening.instructions(schemas)), *blocks(self.opening)]

    def method(schema: Mapping[str, Any]) -> Any:
        async def turn(self: Any, params: Any) -> Any:
            reply = await self.episode.call(schema["name"], params.model_dump())
            return ToolOutput(blocks=blocks(reply), reward=reply.verdict, finished=reply.done,
                              metadata={"status": reply.info["status"]})  # fmt: skip

        turn.__name__, turn.__doc__ = schema["name"], schema["description"]
        turn.__annotations__ = {"params": arguments_model(schema), "return": ToolOutput}
        return tool(turn)

    members = {each: method(schema) for each, schema in schemas.items()}
    return Server([type(name, (EventSession,), members)]).app
