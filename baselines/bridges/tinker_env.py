"""An event as environments of the Tinker cookbook: messages in, observations and a reward out.

    config = train.Config(dataset_builder=EventDatasetBuilder(event="SQL", model_name=…, …), …)

The renderer of the cookbook turns messages into tokens. Tool calls that it parses are taken as they
are; where it parses none, the text is read in the event's dialect.

Interface: `tinker_cookbook.rl` 0.6, imported with this module.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import chz
from tinker_cookbook.renderers import get_renderer, get_text_content
from tinker_cookbook.rl.message_env import EnvFromMessageEnv, MessageEnv, MessageStepResult
from tinker_cookbook.rl.types import Env, EnvGroupBuilder, RLDataset, RLDatasetBuilder
from tinker_cookbook.tokenizer_utils import get_tokenizer

from hexathlon.baselines.bridges.asynchronous import AsyncEpisode
from hexathlon.baselines.bridges.listing import TaskListing

__all__ = ["EventDataset", "EventDatasetBuilder", "EventGroupBuilder", "EventMessageEnv"]


class EventMessageEnv(MessageEnv):  # type: ignore[misc]
    """One episode as a conversation.

    Args:
        event: Id, or short name such as `SQL`.
        task: Task id; drawn by the seed if None.
        seed: Seed of the episode.
        **settings: Further keyword arguments of `BridgedEpisode`.
    """

    def __init__(self, event: str, task: str | None, seed: int, **settings: Any) -> None:
        self._episode = AsyncEpisode(event, **settings)
        self._task, self._seed = task, seed
        self._messages: list[Any] = []

    async def initial_observation(self) -> list[Any]:
        """Open the episode and return its first messages."""
        opening = await self._episode.open(self._task, self._seed)
        self._messages = [_rendered(each) for each in await self._episode.messages(opening)]
        return self._messages

    async def step(self, message: Any) -> Any:
        """Take the assistant's turn; a failure of the infrastructure is raised."""
        calls = [
            {"id": call.id or "call", "type": "function",
             "function": {"name": call.function.name, "arguments": call.function.arguments}}
            for call in message.get("tool_calls") or ()
        ]  # fmt: skip
        said = {"role": "assistant", "content": get_text_content(message)}
        reply = await self._episode.take({**said, "tool_calls": calls} if calls else said)
        answer = _rendered({"role": "user", "content": reply.content})
        self._messages = [*self._messages, message, answer]
        metrics = {f"verdict/{name}": value for name, value in reply.info["reward_terms"].items()}
        if reply.done:
            await self.close()
        return MessageStepResult(reply.reward, reply.done, self._messages, metrics)

    async def close(self) -> None:
        """Close the environment."""
        await self._episode.close()


@dataclass(frozen=True)
class EventGroupBuilder(EnvGroupBuilder):  # type: ignore[misc]
    """Several episodes of one task, with equal seeds; picklable."""

    event: str
    task: str
    seed: int
    size: int
    renderer_name: str
    model_name: str
    settings: dict[str, Any] = field(default_factory=dict)
    _made: list[EventMessageEnv] = field(default_factory=list, compare=False)

    async def make_envs(self) -> Sequence[Env]:
        """Create the episodes; each keeps its own environment."""
        renderer = get_renderer(self.renderer_name, get_tokenizer(self.model_name))
        self._made[:] = [
            EventMessageEnv(self.event, self.task, self.seed, **self.settings)
            for _ in range(self.size)
        ]
        return [EnvFromMessageEnv(renderer, env, failed_parse_reward=0.0) for env in self._made]

    async def cleanup(self) -> None:
        """Close the environments, those of unfinished episodes included."""
        for env in self._made:
            await env.close()

    def logging_tags(self) -> list[str]:
        """Return the event's name."""
        return [self.event]


class EventDataset(RLDataset):  # type: ignore[misc]
    """Batches of groups, in the order of the listed tasks."""

    def __init__(self, groups: Sequence[EventGroupBuilder], batch_size: int) -> None:
        self._groups = groups
        self._batch_size = batch_size

    def get_batch(self, index: int) -> Sequence[EventGroupBuilder]:
        """Return the groups of one batch."""
        return self._groups[index * self._batch_size : (index + 1) * self._batch_size]

    def __len__(self) -> int:
        return len(self._groups) // self._batch_size


@chz.chz
class EventDatasetBuilder(RLDatasetBuilder):  # type: ignore[misc]
    """Builds the training set from the first tasks of a split."""

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

    async def __call__(self) -> tuple[EventDataset, None]:
        """Return the training set; evaluation is left to `hexathlon eval`."""
        listing = TaskListing(self.event, level=self.level)
        rows = listing.rows(self.split, 0, self.batch_size * self.batches)
        groups = [
            EventGroupBuilder(self.event, row["task"], self.seed, self.group_size,
                              self.renderer_name, self.model_name, dict(self.settings))
            for row in rows
        ]  # fmt: skip
        return EventDataset(groups, self.batch_size), None


def _rendered(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message with images in the cookbook's form."""
    if isinstance(message["content"], str):
        return message
    parts = [
        {"type": "image", "image": part["image_url"]["url"]} if "image_url" in part else part
        for part in message["content"]
    ]
    return {**message, "content": parts}
