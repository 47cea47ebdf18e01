"""An event as a SkyRL-Gym environment: conversations in, observations and a reward out.

Register it with `skyrl_gym.register("sql", "hexathlon.baselines.bridges.skyrl:make_env", kwargs)`,
where the keyword arguments include `env_config={"event": "SQL"}`. Rows of a dataset name tasks in
`extras`: `{"task": …, "seed": …}`.

Interface: `skyrl_gym.envs.base_text_env.BaseTextEnv`, package `skyrl-gym` 0.4.
"""

from collections.abc import Mapping
from typing import Any

from hexathlon.baselines.bridges.episodes import BridgedEpisode

__all__ = ["make_env"]


def make_env(env_config: Mapping[str, Any], extras: Mapping[str, Any] | None = None) -> Any:
    """Return a `BaseTextEnv`.

    Args:
        env_config: Keyword arguments of `BridgedEpisode`.
        extras: Row of the dataset; `task` and `seed` choose the episode.
    """
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

    row = extras or {}

    class EventTextEnv(BaseTextEnv):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.episode = BridgedEpisode(**env_config)
            self.result: dict[str, Any] = {}

        def init(self, prompt: list[dict[str, str]]) -> tuple[list[dict[str, str]], dict[str, Any]]:
            opening = self.episode.open(row.get("task"), row.get("seed"))
            self.max_turns = self.episode.env.limits.turns
            system, user = self.episode.messages(opening)
            return [system, *prompt, user], {"task_id": opening.task_id}

        def step(self, action: str) -> Any:
            reply = self.episode.say(action)
            self.turns += 1
            self.result = reply.info
            return BaseTextEnvStepOutput(
                observations=[{"role": "user", "content": reply.content}],
                reward=reply.reward, done=reply.done, metadata=reply.info,
            )  # fmt: skip

        def get_metrics(self) -> dict[str, Any]:
            return {"turns": self.turns, **self.result.get("reward_terms", {})}

        def close(self) -> None:
            self.episode.close()

    return EventTextEnv()
