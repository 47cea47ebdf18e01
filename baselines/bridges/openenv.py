"""Events in the OpenEnv protocol, over HTTP and WebSocket: package `openenv` 0.10.

An action has one required field, the assistant's text; each session has its own environment.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.bridges.listing import Discovery, TaskListing
from hexathlon.baselines.bridges.rendering import openai_tools

__all__ = ["make_app"]


def make_app(
    make: Callable[[], BridgedEpisode], tasks: TaskListing, name: str, sessions: int = 64
) -> Any:
    """Return a FastAPI application; `make` creates a session's environment, `name` is in routes."""
    from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app
    from openenv.core.env_server.types import EnvironmentMetadata

    class TextAction(Action):  # type: ignore[misc]
        text: str

    class TurnObservation(Observation):  # type: ignore[misc]
        text: str
        image: str
        system_prompt: str = ""
        tools: list[dict[str, Any]] = []

    class EventEnvironment(Discovery, Environment):  # type: ignore[misc]
        SUPPORTS_CONCURRENT_SESSIONS = True
        listing, state = tasks, State()
        episode = cached_property(lambda _: make())  # not for the discovery routes

        def reset(self, seed: Any = None, episode_id: Any = None, **options: Any) -> Any:
            opening = self.episode.open(seed=seed, **options)
            self.state = State(episode_id=episode_id or opening.task_id, step_count=0)
            return TurnObservation(
                text=opening.text, image=opening.image_url, tools=openai_tools(opening.tools),
                system_prompt=self.episode.prompt(opening), metadata={"task_id": opening.task_id},
            )  # fmt: skip

        def step(self, action: Any, timeout_s: Any = None, **_: Any) -> Any:
            reply = self.episode.say(action.text)
            self.state.step_count += 1
            return TurnObservation(text=reply.text, image=reply.image_url, reward=reply.reward,
                                   done=reply.done, metadata=reply.info)  # fmt: skip

        def get_metadata(self) -> Any:
            return EnvironmentMetadata(name=name, description=f"The event {name} of Hexathlon")

        def close(self) -> None:
            if "episode" in vars(self):
                self.episode.close()

    kinds = EventEnvironment, TextAction, TurnObservation
    return create_fastapi_app(*kinds, max_concurrent_envs=sessions, env_name=name)
