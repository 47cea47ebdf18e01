"""Batches for the trainer of the Tinker cookbook 0.6: groups of episodes, one task each."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import chz
from tinker_cookbook.renderers import get_renderer
from tinker_cookbook.rl import types
from tinker_cookbook.rl.message_env import EnvFromMessageEnv
from tinker_cookbook.tokenizer_utils import get_tokenizer

from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.baselines.bridges.tinker_env import EventMessageEnv

__all__ = ["EventDatasetBuilder"]


@chz.chz
class EventDatasetBuilder(types.RLDatasetBuilder):  # type: ignore[misc]
    """Builds the training set: `batches` of `batch_size` tasks, `group_size` episodes each."""

    event: str
    model_name: str
    renderer_name: str
    batch_size: int = 8
    group_size: int = 8
    batches: int = 10
    split: str = "train"
    level: Any = None
    seed: int = 0
    settings: dict[str, Any] = chz.field(default_factory=dict)

    async def __call__(self) -> tuple[types.RLDataset, None]:
        """Return the training set; evaluation is left to `hexathlon eval`."""
        size, rows = self.batch_size, TaskListing(self.event, level=self.level).rows
        groups = [_Group(self, row["task"]) for row in rows(self.split, 0, size * self.batches)]
        return _Batches(groups[at : at + size] for at in range(0, len(groups), size)), None


@dataclass
class _Group(types.EnvGroupBuilder):  # type: ignore[misc]
    config: EventDatasetBuilder
    task: str
    made: list[EventMessageEnv] = field(default_factory=list, compare=False)

    async def make_envs(self) -> list[types.Env]:
        at, task = self.config, (self.config.event, self.task, self.config.seed)
        self.made = [EventMessageEnv(*task, **at.settings) for _ in range(at.group_size)]
        renderer = get_renderer(at.renderer_name, get_tokenizer(at.model_name))
        return [EnvFromMessageEnv(renderer, env, failed_parse_reward=0.0) for env in self.made]

    async def cleanup(self) -> None:
        await asyncio.gather(*(env.close() for env in self.made))


class _Batches(list[Any], types.RLDataset):  # type: ignore[misc]
    get_batch = list.__getitem__
