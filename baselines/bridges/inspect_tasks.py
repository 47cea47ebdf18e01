"""An event as a task of inspect_ai: its samples are our tasks, its scores our verdicts.

    inspect_ai.eval(event_task("SQL", level="tiny", count=20), model="openai/gpt-5")

The event's tools are offered to the model, and images are sent as content. An infrastructure
failure is a sample error, which inspect does not score.

Interface: solvers and scorers of `inspect_ai` 0.3.
"""

import asyncio
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hexathlon.baselines.bridges.episodes import BridgedEpisode, TurnReply
from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.evaluators.content import Image

__all__ = ["event_task"]

_ANSWERED = "Answered together with the first call."


def event_task(
    event: str,
    *,
    split: str = "test",
    level: Any = None,
    taskset: str | None = None,
    count: int = 100,
    seed: int = 0,
    tasks: Sequence[str] = (),
    **settings: Any,
) -> Any:
    """Return an `inspect_ai.Task` with the first tasks of a split.

    Args:
        event: Id, or short name such as `SQL`.
        split: Split of the tasks.
        level: Level of the tasks; None for all.
        taskset: Name of the task source; the event's own by default.
        count: Number of samples.
        seed: Seed of every episode.
        tasks: Ids of tasks; replaces split, level, taskset and count.
        **settings: Further arguments of `BridgedEpisode`, such as `sandbox`.
    """
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import Score, mean, scorer, stderr
    from inspect_ai.solver import solver

    rows = [{"task": task} for task in tasks]
    rows = rows or TaskListing(event, taskset, level).rows(split, 0, count)
    samples = [Sample(input="(the event's)", id=row["task"], metadata=row) for row in rows]

    @solver  # type: ignore[untyped-decorator]
    def episode() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            with ThreadPoolExecutor(1) as thread:  # an environment stays in one thread
                played = await _in(thread, BridgedEpisode, event, **settings)
                try:
                    await _play(played, state, seed, thread)
                    state.store.set("reward", played.reward)
                finally:
                    await _in(thread, played.close)
            return state

        return solve

    @scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator]
    def verdict() -> Any:
        async def score(state: Any, target: Any) -> Any:
            terms = state.store.get("terms", {})
            return Score(value=state.store.get("reward", 0.0), metadata=terms)

        return score

    return Task(MemoryDataset(samples, name=event), solver=episode(), scorer=verdict(), name=event)


async def _play(episode: BridgedEpisode, state: Any, seed: int, thread: ThreadPoolExecutor) -> None:
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, get_model

    opening = await _in(thread, episode.open, state.metadata["task"], seed)
    tools, model = _tools(opening.tools), get_model()
    user = ChatMessageUser(content=_content(opening.text, opening.image))
    state.messages = [ChatMessageSystem(content=opening.system_prompt), user]
    while not episode.over:
        state.output = await model.generate(state.messages, tools=tools)
        message = state.output.message
        state.messages.append(message)
        reply = await _in(thread, episode.take, _openai(message))
        state.messages += _answers(message, reply)
        state.store.set("terms", dict(reply.info["reward_terms"]))
    state.completed = True


def _tools(schemas: tuple[dict[str, Any], ...]) -> list[Any]:
    from inspect_ai.tool import ToolInfo, ToolParams

    return [ToolInfo(name=each["name"], description=each["description"],
                     parameters=ToolParams(**each["parameters"])) for each in schemas]  # fmt: skip


def _openai(message: Any) -> dict[str, Any]:
    """Return an assistant message of inspect in OpenAI's form."""
    calls = [
        {"id": call.id, "type": "function",
         "function": {"name": call.function, "arguments": json.dumps(call.arguments)}}
        for call in message.tool_calls or ()
    ]  # fmt: skip
    said = {"role": "assistant", "content": message.text}
    return {**said, "tool_calls": calls} if calls else said


def _answers(message: Any, reply: TurnReply) -> list[Any]:
    from inspect_ai.model import ChatMessageTool, ChatMessageUser

    content = _content(reply.text, reply.image)
    if not message.tool_calls:
        return [ChatMessageUser(content=content)]
    contents = [content, *[_ANSWERED] * (len(message.tool_calls) - 1)]
    return [ChatMessageTool(content=each, tool_call_id=call.id, function=call.function)
            for call, each in zip(message.tool_calls, contents, strict=True)]  # fmt: skip


def _content(text: str, image: Image | None) -> Any:
    from inspect_ai.model import ContentImage, ContentText

    return text if image is None else [ContentText(text=text), ContentImage(image=image.data_url())]


async def _in(thread: ThreadPoolExecutor, function: Any, *args: Any, **settings: Any) -> Any:
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(thread, lambda: function(*args, **settings))
