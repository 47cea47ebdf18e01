"""Events in the OpenEnv protocol, over HTTP and WebSocket: package `openenv` 0.10.

An action has one required field, the assistant's text; each session has its own environment.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from hexathlon.baselines.bridges.asynchronous import DEADLINE, AsyncEpisode
from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.bridges.listing import Discovery, TaskListing
from hexathlon.baselines.bridges.rendering import openai_tools

__all__ = ["make_app"]


def make_app(
    make: Callable[[], BridgedEpisode], tasks: TaskListing, name: str, sessions: int = 64,
    deadline: float = DEADLINE,
) -> Any:  # fmt: skip
    """Return a FastAPI application; `make` creates a session's environment, `name` is in routes."""
    from openenv.core import env_server as openenv

    class TextAction(openenv.Action):  # type: ignore[misc]
        text: str

    class TurnObservation(openenv.Observation):  # type: ignore[misc]
        text: str
        image: str
        system_prompt: str = ""
        tools: list[dict[str, Any]] = []

    class EventEnvironment(Discovery, openenv.Environment):  # type: ignore[misc]
        SUPPORTS_CONCURRENT_SESSIONS = True
        listing, state, reset, step = tasks, openenv.State(), None, None  # awaits those below
        episode = cached_property(lambda _: AsyncEpisode(make, deadline))

        async def reset_async(self, seed: Any = None, episode_id: Any = None, **given: Any) -> Any:
            opening = await self.episode.open(seed=seed, **given)
            self.state = openenv.State(episode_id=episode_id or opening.task_id, step_count=0)
            return TurnObservation(
                text=opening.text, image=opening.image_url, metadata={"task_id": opening.task_id},
                tools=openai_tools(opening.tools), system_prompt=await self.episode.prompt(opening),
            )  # fmt: skip

        async def step_async(self, action: Any, **_: Any) -> Any:
            reply = await self.episode.say(action.text)
            self.state.step_count += 1
            return TurnObservation(text=reply.text, image=reply.image_url, reward=reply.reward,
                                   done=reply.done, metadata=reply.info)  # fmt: skip

        def get_metadata(self) -> Any:
            return openenv.types.EnvironmentMetadata(name=name, description=f"Hexathlon's {name}")

        def close(self) -> None:
            self.episode.give_up()

    kinds = EventEnvironment, TextAction, TurnObservation
    return openenv.create_fastapi_app(*kinds, max_concurrent_envs=sessions, env_name=name)
