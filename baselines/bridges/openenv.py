"""Events in the OpenEnv protocol, over HTTP and WebSocket, with its task discovery routes.

An action has one required field, the assistant's text, so every OpenEnv client can play. Tool calls
use the server's dialect. The server comes from the package `openenv`; each session has its own
environment.

Protocol: OpenEnv 0.10, package `openenv`.
"""

from collections.abc import Callable
from typing import Any

from hexathlon.baselines.bridges.episodes import BridgedEpisode, openai_tools
from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.evaluators.content import Image

__all__ = ["make_app"]


def make_app(
    make: Callable[[], BridgedEpisode], listing: TaskListing, name: str, sessions: int = 64
) -> Any:
    """Return a FastAPI application that serves one event.

    Args:
        make: Creates the environment of one session.
        listing: The tasks to list.
        name: Name of the event in routes.
        sessions: Maximum number of concurrent sessions; further ones are rejected.
    """
    from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app
    from openenv.core.env_server.types import EnvironmentMetadata

    class TextAction(Action):  # type: ignore[misc]
        text: str

    class TurnObservation(Observation):  # type: ignore[misc]
        text: str = ""
        system_prompt: str = ""
        tools: list[dict[str, Any]] = []
        image: str = ""

    class EventEnvironment(Environment):  # type: ignore[misc]
        SUPPORTS_CONCURRENT_SESSIONS = True

        def __init__(self) -> None:
            super().__init__()
            self._episode: BridgedEpisode | None = None
            self._state = State()

        def reset(self, seed: Any = None, episode_id: Any = None, **options: Any) -> Any:
            if self._episode is None:  # discovery routes create instances that never play
                self._episode = make()
            opening = self._episode.open(seed=seed, **options)
            self._state = State(episode_id=episode_id or opening.task_id, step_count=0)
            return TurnObservation(
                text=opening.text,
                system_prompt=self._episode.prompt(opening),
                tools=openai_tools(opening.tools),
                image=_url(opening.image),
                metadata={"task_id": opening.task_id},
            )

        def step(self, action: Any, timeout_s: Any = None, **_: Any) -> Any:
            if self._episode is None:
                raise RuntimeError("no episode is open: call reset first")
            reply = self._episode.say(action.text)
            self._state.step_count += 1
            return TurnObservation(
                text=reply.text, image=_url(reply.image), done=reply.done,
                reward=reply.reward if reply.done else None, metadata=reply.info,
            )  # fmt: skip

        @property
        def state(self) -> Any:
            return self._state

        def get_metadata(self) -> Any:
            return EnvironmentMetadata(name=name, description=f"The event {name} of Hexathlon")

        def list_splits(self) -> list[str]:
            return listing.splits()

        def list_tasks(self, split: str) -> list[Any]:
            return listing.rows(split, 0, min(listing.size(split), 1000))

        def num_tasks(self, split: str) -> int:
            return listing.size(split)

        def get_task(self, split: str, index: int) -> Any:
            return listing.row(split, index)

        def get_task_range(self, split: str, start: Any = None, stop: Any = None) -> list[Any]:
            return listing.rows(split, start, stop)

        def close(self) -> None:
            if self._episode is not None:
                self._episode.close()

    return create_fastapi_app(
        EventEnvironment, TextAction, TurnObservation, max_concurrent_envs=sessions, env_name=name
    )


def _url(image: Image | None) -> str:
    return "" if image is None else image.data_url()
