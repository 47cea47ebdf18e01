"""An event as a taskset of verifiers 0.4 (v1); `verifiers_env` plays its tasks."""

import asyncio
from typing import Any

import verifiers.v1 as vf

from hexathlon.baselines.bridges.episodes import oracle_reward
from hexathlon.baselines.bridges.listing import TaskListing

__all__ = ["EventTaskset"]


class EventData(vf.TaskData):  # type: ignore[misc]
    """What makes an episode, beside the task's id, which is the name."""

    event: str
    seed: int
    settings: dict[str, Any]


class _State(vf.State):  # type: ignore[misc]
    score: float = 0.0  # the verdict, once the episode was played to its end


class EventTask(vf.Task[EventData, _State]):  # type: ignore[misc]
    """One task."""

    @vf.reward(weight=1.0)  # type: ignore[untyped-decorator]
    async def verdict(self, trace: Any) -> float:
        """Return the score."""
        return float(trace.state.score)

    async def validate(self, runtime: Any) -> bool:
        """Play the oracle and return whether it scores 1."""
        at, play = self.data, oracle_reward
        return await asyncio.to_thread(play, at.event, at.name, at.seed, **at.settings) == 1.0


class EventTasksetConfig(vf.TasksetConfig):  # type: ignore[misc]
    """The tasks to load, and how they are played; `settings` are those of `BridgedEpisode`."""

    event: str = "SQL"
    split: str = "train"
    level: Any = None
    count: int = 100
    seed: int = 0
    settings: dict[str, Any] = {}


class EventTaskset(vf.Taskset[EventTask, EventTasksetConfig]):  # type: ignore[misc]
    """The first tasks of a split."""

    def load(self) -> Any:
        """Yield the tasks."""
        at = self.config
        for row in TaskListing(at.event, level=at.level).rows(at.split, 0, at.count):
            data = EventData(name=row["task"], prompt=None, event=at.event, seed=at.seed,
                             settings=at.settings)  # fmt: skip
            yield EventTask(data, at.task)
