"""An event as a taskset and an environment of verifiers v1.

    # my_events.py, the taskset's id is `my-events`
    from hexathlon.baselines.bridges.verifiers_taskset import ChatHarness, EventTaskset, PlayedEnv
    __all__ = ["ChatHarness", "EventTaskset", "PlayedEnv"]

The environment plays the user: it opens the conversation with the first observation and answers
each turn of the model with the next one, images included. The verdict is the trace's reward; a
failure of the infrastructure is an error of the episode. Gold checks replay the oracle.

Interface: `Taskset`, `Task` and `Env` of `verifiers.v1`, package `verifiers` 0.4, imported with
this module.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf

from hexathlon.baselines.bridges.asynchronous import AsyncEpisode
from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.baselines.bridges.verifiers_chat import ChatHarness
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import parse_address, play
from hexathlon.tasks.taskset import build_task

__all__ = ["ChatHarness", "EventTaskset", "PlayedEnv"]


class EventData(vf.TaskData):  # type: ignore[misc]
    """What makes an episode: a task and a seed."""

    event: str
    task: str
    seed: int
    settings: dict[str, Any]


class EventState(vf.State):  # type: ignore[misc]
    """The verdict, for scoring."""

    score: float = 0.0


class EventTask(vf.Task[EventData, EventState]):  # type: ignore[misc]
    """One task; scored by the verdict that its episode left behind."""

    @vf.reward(weight=1.0)  # type: ignore[untyped-decorator]
    async def verdict(self, trace: Any) -> float:
        """Return the score; 0 for an episode that has not been played to its end."""
        return float(trace.state.score)

    async def validate(self, runtime: Any) -> bool:
        """Play the oracle and return whether it scores 1."""
        return await asyncio.to_thread(_oracle_scores, self.data) == 1.0


class EventTasksetConfig(vf.TasksetConfig):  # type: ignore[misc]
    """The tasks to load, and how they are played."""

    event: str = "SQL"
    split: str = "train"
    level: Any = None
    count: int = 100
    seed: int = 0
    dialect: str = "json"
    settings: dict[str, Any] = {}


class EventTaskset(vf.Taskset[EventTask, EventTasksetConfig]):  # type: ignore[misc]
    """The first tasks of a split."""

    def load(self) -> Iterator[EventTask]:
        """Yield the tasks."""
        config = self.config
        listing = TaskListing(config.event, level=config.level)
        settings = {"dialect": config.dialect, **config.settings}
        for row in listing.rows(config.split, 0, config.count):
            yield EventTask(EventData(name=row["task"], prompt=None, event=config.event,
                                      task=row["task"], seed=config.seed, settings=settings),
                            config.task)  # fmt: skip


class PlayedEnvConfig(vf.EnvConfig):  # type: ignore[misc]
    """The one agent; its harness is the taskset's unless another is named."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class PlayedEnv(vf.Env[PlayedEnvConfig]):  # type: ignore[misc]
    """Plays an episode with the agent, as its user."""

    async def run(self, task: Any, agents: Any) -> None:
        """Play until the verdict, or until the agent's run ends."""
        data = task.data
        async with AsyncEpisode(data.event, **data.settings) as episode:
            opening = await episode.open(data.task, data.seed)
            system, user = await episode.messages(opening)
            seated = task.with_system_prompt(system["content"])
            async with agents.player.interaction(seated) as interaction:
                segment = await interaction.turn([user])
                while not segment.terminated:
                    said = {"role": "assistant", "content": segment.last_reply}
                    reply = await episode.take(said)
                    interaction.trace.state.score = reply.reward
                    if reply.done:
                        break
                    segment = await interaction.turn([{"role": "user", "content": reply.content}])


def _oracle_scores(data: EventData) -> float:
    source = get_source(parse_address(data.task).source)
    with BridgedEpisode(data.event, **data.settings) as episode:
        episode.open(data.task, data.seed)

        def respond(action: str) -> str | None:
            reply = episode.act(action)
            return None if reply.done else reply.text

        play(source.oracle(build_task(data.task)), respond)
        return episode.reward
