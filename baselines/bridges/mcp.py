"""An event as a Model Context Protocol server: any agent that speaks MCP plays one episode.

The agent gets the environment's tools, and one more that reads the task again. Rewards and verdicts
never travel through the protocol: the episode's result is given to `on_result`.

Protocol: Model Context Protocol, package `mcp` 2.3.
"""

import base64
from collections.abc import Callable
from typing import Any

from hexathlon.baselines.bridges.episodes import BridgedEpisode, Opening, TurnReply
from hexathlon.envs.errors import EnvFault
from hexathlon.evaluators.content import Image

__all__ = ["READ_TASK", "make_server", "serve_stdio"]

READ_TASK = "read_task"
"""Name of the tool that returns the task; calling it does not count as a turn."""

_READ_TASK = "Return the task: what is asked, and how the world looks at the start."
_NOTHING: dict[str, Any] = {"type": "object", "properties": {}}


def make_server(
    episode: BridgedEpisode, opening: Opening, on_result: Callable[[TurnReply | EnvFault], None]
) -> Any:
    """Return an `mcp.server.Server` for an episode that has just been opened.

    Args:
        episode: The episode; the calls of a session are processed one at a time.
        opening: What `episode.open` returned.
        on_result: Receives the reply that ended the episode, reward included, or the fault that
            left it unscored.
    """
    import anyio
    from mcp import types
    from mcp.server import Server

    turn = anyio.Lock()

    def content(text: str, image: Image | None) -> list[Any]:
        parts: list[Any] = [types.TextContent(text=text)]
        if image is not None:
            data = base64.b64encode(image.png()).decode()
            parts.append(types.ImageContent(data=data, mimeType="image/png"))
        return parts

    async def list_tools(*_: Any) -> Any:
        schemas = [{"name": READ_TASK, "description": _READ_TASK, "parameters": _NOTHING}]
        return types.ListToolsResult(tools=[
            types.Tool(name=each["name"], description=each["description"],
                       inputSchema=each["parameters"])
            for each in (*schemas, *opening.tools)
        ])  # fmt: skip

    async def call_tool(_: Any, asked: Any) -> Any:
        if asked.name == READ_TASK:
            return types.CallToolResult(content=content(opening.text, opening.image))
        async with turn:
            if episode.over:
                refusal = "Error: the episode has ended; no further call is run."
                return types.CallToolResult(content=content(refusal, None), isError=True)
            try:
                reply = await anyio.to_thread.run_sync(
                    episode.call, asked.name, asked.arguments or {}
                )
            except EnvFault as fault:
                on_result(fault)
                said = f"Error: the environment failed, and the episode is not scored: {fault}"
                return types.CallToolResult(content=content(said, None), isError=True)
        if reply.done:
            on_result(reply)
        return types.CallToolResult(content=content(reply.text, reply.image))

    return Server(
        "hexathlon",
        instructions=f"{opening.system_prompt}\n\n{opening.text}",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def serve_stdio(server: Any) -> None:
    """Serve one session on standard input and output."""
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
