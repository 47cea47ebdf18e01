"""An event as a task of inspect_ai: its samples are our tasks, its scores our verdicts.

    inspect_ai.eval(event_task("SQL", level="tiny", count=20), model="openai/gpt-5")

The event's tools are offered to the model, and images are sent as content. An infrastructure
failure is a sample error, which inspect does not score.

Interface: solvers and scorers of `inspect_ai` 0.3.
"""

import json
from collections.abc import Sequence
from typing import Any

from hexathlon.baselines.bridges.asynchronous import AsyncEpisode
from hexathlon.baselines.bridges.listing import TaskListing

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
            async with AsyncEpisode(event, **settings) as played:
                await _play(played, state, seed)
                state.store.set("reward", played.reward)
            return state

        return solve

    @scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator]
    def verdict() -> Any:
        async def score(state: Any, target: Any) -> Any:
            terms = state.store.get("terms", {})
            return Score(value=state.store.get("reward", 0.0), metadata=terms)

        return score

    return Task(MemoryDataset(samples, name=event), solver=episode(), scorer=verdict(), name=event)


async def _play(episode: AsyncEpisode, state: Any, seed: int) -> None:
    from inspect_ai.model import ChatMessageSystem, ChatMessageTool, ChatMessageUser, get_model
    from inspect_ai.tool import ToolInfo, ToolParams

    opening = await episode.open(state.metadata["task"], seed)
    tools = [ToolInfo(**{**tool, "parameters": ToolParams(**tool["parameters"])})
             for tool in opening.tools]  # fmt: skip
    system = ChatMessageSystem(content=opening.system_prompt)
    state.messages = [system, ChatMessageUser(content=_content(opening.content))]
    while not episode.over:
        state.output = await get_model().generate(state.messages, tools=tools)
        message = state.output.message
        reply = await episode.take(_openai(message))
        content = _content(reply.content)
        answers: list[Any] = [
            ChatMessageTool(content=_ANSWERED if at else content, tool_call_id=call.id,
                            function=call.function)
            for at, call in enumerate(message.tool_calls or ())
        ]  # fmt: skip
        state.messages += [message, *(answers or [ChatMessageUser(content=content)])]
        state.store.set("terms", dict(reply.info["reward_terms"]))
    state.completed = True


def _openai(message: Any) -> dict[str, Any]:
    """Return an assistant message of inspect in OpenAI's form."""
    calls = [
        {"id": call.id, "type": "function",
         "function": {"name": call.function, "arguments": json.dumps(call.arguments)}}
        for call in message.tool_calls or ()
    ]  # fmt: skip
    said = {"role": "assistant", "content": message.text}
    return {**said, "tool_calls": calls} if calls else said


def _content(content: Any) -> Any:
    """Return the content of an OpenAI message in inspect's form."""
    from inspect_ai.model import ContentImage, ContentText

    if isinstance(content, str):
        return content
    return [ContentText(text=part["text"]) if part["type"] == "text"
            else ContentImage(image=part["image_url"]["url"]) for part in content]  # fmt: skip
