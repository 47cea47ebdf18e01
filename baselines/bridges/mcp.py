"""A server of the Model Context Protocol, package `mcp` 2.3: an agent plays one episode.

Rewards and verdicts never travel through the protocol: the result is given to `on_result`.
"""

from collections.abc import Callable
from typing import Any

from hexathlon.baselines.bridges.episodes import BridgedEpisode, answered
from hexathlon.baselines.bridges.rendering import Observed, Opening, TurnReply, png_base64
from hexathlon.envs.errors import EnvFault

__all__ = ["READ_TASK", "make_server", "serve_stdio"]

READ_TASK = "read_task"  # the tool that returns the task; calling it is no turn

_TASK_TOOL = {"name": READ_TASK, "parameters": {"type": "object", "properties": {}},
              "description": "Return the task and how the world looks at the start."}  # fmt: skip


def make_server(
    episode: BridgedEpisode, opening: Opening, on_result: Callable[[TurnReply | EnvFault], None]
) -> Any:
    """Return an `mcp.server.Server` for an opened episode; see `answered` for `on_result`."""
    import anyio
    from mcp import types
    from mcp.server import Server

    turn = anyio.Lock()

    def result(seen: Observed, failed: bool = False) -> Any:
        parts = seen.blocks(
            lambda text: types.TextContent(text=text),
            lambda image: types.ImageContent(data=png_base64(image), mimeType="image/png"),
        )
        return types.CallToolResult(content=parts, isError=failed)

    async def list_tools(*_: Any) -> Any:
        return types.ListToolsResult(tools=[
            types.Tool(name=t["name"], description=t["description"], inputSchema=t["parameters"])
            for t in (_TASK_TOOL, *opening.tools)
        ])  # fmt: skip

    async def call_tool(_: Any, asked: Any) -> Any:
        if asked.name == READ_TASK:
            return result(opening)
        given = asked.name, asked.arguments or {}, on_result
        async with turn:
            return result(*await anyio.to_thread.run_sync(answered, episode, *given))

    task = f"{opening.system_prompt}\n\n{opening.text}"
    return Server("hexathlon", instructions=task, on_list_tools=list_tools, on_call_tool=call_tool)


async def serve_stdio(server: Any) -> None:
    """Serve one session on standard input and output."""
    from mcp.server.stdio import stdio_server

    async with stdio_server() as streams:
        await server.run(*streams, server.create_initialization_options())
