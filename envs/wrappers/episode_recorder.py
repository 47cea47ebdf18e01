"""Recording of episodes, in the format of trial records."""

import copy
from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from hexathlon.envs.messages import with_image
from hexathlon.envs.wrappers.base import EpisodeWrapper, ResetResult, StepResult
from hexathlon.evaluators.content import Content, File, Image, Text, content_to_json, media_of

__all__ = ["EpisodeRecorder"]


class EpisodeRecorder(EpisodeWrapper):
    """Records openings, actions, observations, rewards and statuses.

    Args:
        env: Any environment with our info.
        keep: Maximum number of finished episodes in `episodes`; older ones are dropped.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], keep: int = 1) -> None:
        if keep < 1:
            raise ValueError(f"keep must be at least 1, got {keep}")
        RecordConstructorArgs.__init__(self, keep=keep)
        gymnasium.Wrapper.__init__(self, env)
        self.keep = keep
        self._record: dict[str, Any] = {}
        self._episodes: list[dict[str, Any]] = []
        self._media: dict[str, Image | File] = {}
        self._earlier_media: list[dict[str, Image | File]] = []

    @property
    def record(self) -> dict[str, Any]:
        """The current or last episode: its task, opening, steps, status and reward."""
        return copy.deepcopy(self._record)

    @property
    def episodes(self) -> list[dict[str, Any]]:
        """Finished episodes, oldest first."""
        return copy.deepcopy(self._episodes)

    @property
    def media(self) -> dict[str, bytes]:
        """Bytes of the images and files referenced by `record` and `episodes`, by hash."""
        parts = {**self._media}
        for earlier in self._earlier_media:
            parts.update(earlier)
        return media_of([tuple(parts.values())])

    def after_reset(self, result: ResetResult) -> ResetResult:
        """Start a record."""
        observation, info = result
        self._media = {}
        self._record = {
            "task_id": self.get_wrapper_attr("task").id,
            "task_hash": info["task_hash"],
            "seed": info["seed"],
            "opening": self._kept(observation),
            "steps": [],
            "status": info["status"],
            "reward": 0.0,
        }
        return result

    def after_step(self, action: Any, result: StepResult) -> StepResult:
        """Append one step."""
        observation, reward, terminated, truncated, info = result
        self._record["steps"].append(
            {
                "index": len(self._record["steps"]),
                "action": copy.deepcopy(action),
                "observation": self._kept(observation),
                "reward": float(reward),
                "status": info["status"],
            }
        )
        self._record["status"] = info["status"]
        self._record["reward"] += float(reward)
        if terminated or truncated:
            self._episodes = [*self._episodes, copy.deepcopy(self._record)][-self.keep :]
            self._earlier_media = [*self._earlier_media, self._media][-self.keep :]
        return result

    def _kept(self, observation: Any) -> Any:
        """Return an observation in record form, and register the parts that it references."""
        if isinstance(observation, dict) and "text" in observation:
            image = Image.from_array(observation["image"])
            return self._content(with_image(observation["text"], image))
        if isinstance(observation, tuple):
            return tuple({**one, "content": self._content(one["content"])} for one in observation)
        return copy.deepcopy(observation)

    def _content(self, content: Content) -> Any:
        for part in () if isinstance(content, str) else content:
            if not isinstance(part, Text):
                self._media[part.sha256] = part
        return content_to_json(content)
