"""MCP's own client, connected to a server inside the process."""

import base64
import contextlib
import json
from typing import Any

import anyio
import mcp
from bridges.contract import Played, picture_hash

from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.bridges.mcp import READ_TASK, make_server
from hexathlon.baselines.bridges.rendering import TurnReply
from hexathlon.envs.errors import EnvFault


class Client(contextlib.ExitStack):
    sees = True
    tells_the_end = True

    def __init__(self, event: str, **settings: Any) -> None:
        super().__init__()
        self.event, self.settings = event, settings

    def play(self, task: str, seed: int, actions: tuple[str, ...]) -> Played:
        results: list[TurnReply | EnvFault] = []
        with BridgedEpisode(self.event, **self.settings) as episode:
            opening = episode.open(task, seed)
            server = make_server(episode, opening, results.append)
            tools, answers = anyio.run(_call, server, actions)
        texts, images = zip(*map(_split, answers), strict=True)
        last = results[-1] if results else TurnReply("", None, 0.0, False, {})
        if isinstance(last, EnvFault):
            raise last
        names = tuple(sorted({tool.name for tool in tools} - {READ_TASK}))
        return Played(task, seed, actions, texts[0], texts[1:], last.reward, last.done,
                      names, sum(images, ()))  # fmt: skip


async def _call(server: Any, actions: tuple[str, ...]) -> tuple[Any, list[Any]]:
    async with mcp.Client(server) as session:
        tools = (await session.list_tools()).tools
        answers = [await session.call_tool(READ_TASK, {})]
        for action in actions:
            call = json.loads(action)
            answers.append(await session.call_tool(call["name"], call["arguments"]))
    return tools, answers


def _split(answer: Any) -> tuple[str, tuple[str, ...]]:
    text, *pictures = answer.content
    return text.text, tuple(picture_hash(base64.b64decode(each.data)) for each in pictures)
