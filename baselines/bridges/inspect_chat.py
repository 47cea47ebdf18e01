"""The conversation of an inspect_ai sample: turns of the model, answers of the environment."""

import json
from typing import Any

from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentImage,
    ContentText,
    get_model,
)
from inspect_ai.tool import ToolInfo

from hexathlon.baselines.bridges.asynchronous import AsyncEpisode
from hexathlon.baselines.bridges.rendering import Observed, openai_message

__all__ = ["converse"]

_ANSWERED = "Answered together with the first call."


async def converse(episode: AsyncEpisode, state: Any, seed: int) -> None:
    """Play the episode of a sample to its end; inspect may cut it short at a limit."""
    opening = await episode.open(state.metadata["task"], seed)
    tools = [ToolInfo(**tool) for tool in opening.tools]
    system = ChatMessageSystem(content=opening.system_prompt)
    state.messages = [system, ChatMessageUser(content=_content(opening))]
    while not episode.over:
        state.output = await get_model().generate(state.messages, tools=tools)
        said = state.output.message
        calls = said.tool_calls or []
        named = [(call.id, call.function, json.dumps(call.arguments)) for call in calls]
        reply = await episode.take(openai_message(said.text, named))
        texts = [_content(reply), *[_ANSWERED] * len(calls)]
        answers: list[Any] = [
            ChatMessageTool(content=text, tool_call_id=call.id, function=call.function)
            for text, call in zip(texts, calls, strict=False)
        ]
        state.messages += [said, *(answers or [ChatMessageUser(content=texts[0])])]
        state.store.set("terms", dict(reply.info["reward_terms"]))
    state.completed = True


def _content(seen: Observed) -> list[Any]:
    return seen.blocks(
        lambda text: ContentText(text=text), lambda image: ContentImage(image=image.data_url())
    )
