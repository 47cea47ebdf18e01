"""An event as an environment of NeMo Gym 0.4: its resources server for OpenEnv plays it.

This environment passes the calls on to `hexathlon serve envs`. NeMo Gym's configuration names
`ServedEvent` as `env_class`, `TextTurn` as `action_class`, address and task as `reset_kwargs`.
"""

from typing import Any

from openenv.core.env_server import Action, Environment, Observation, State
from openenv.core.generic_client import GenericEnvClient

__all__ = ["ServedEvent", "TextTurn", "row"]

_TURN = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class TextTurn(Action):  # type: ignore[misc]
    """A turn in the dialect of the event's server."""

    text: str


class _Seen(Observation):  # type: ignore[misc]
    text: str


class ServedEvent(Environment):  # type: ignore[misc]
    """One session of the server; a failed step is raised again when it ends, before the reward."""

    state, _fault = State(), None

    def reset(self, url: str = "", seed: Any = None, episode_id: Any = None, **task: Any) -> Any:
        """Open a session at the address, and start an episode."""
        self._session = GenericEnvClient(base_url=url).sync().connect()
        return _Seen(text=self._session.reset(seed=seed, **task).observation["text"])

    def step(self, action: Any, timeout_s: Any = None, **_: Any) -> Any:
        """Take a turn."""
        try:
            result = self._session.step({"text": action.text})
        except Exception as fault:
            self._fault = self._fault or fault
            raise
        return _Seen(text=result.observation["text"], reward=result.reward, done=result.done)

    def close(self) -> None:
        """Close the session."""
        self._session.close()
        if self._fault is not None:
            raise self._fault


def row(url: str, **episode: Any) -> dict[str, Any]:
    """Return the row of a data set for the episode that `reset_kwargs` name."""
    with GenericEnvClient(base_url=url).sync() as session:
        seen = session.reset(**episode).observation
    said = {"developer": seen["system_prompt"], "user": seen["text"]}
    asked = [{"role": role, "content": text} for role, text in said.items()]
    tool = {"type": "function", "name": "step", "parameters": _TURN, "strict": False}
    return {"responses_create_params": {"input": asked, "tools": [tool]}}
