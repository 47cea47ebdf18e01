"""The tools of an episode over the Model Context Protocol, as JSON-RPC that is posted to one path.

A part of the gateway that a program under evaluation reaches; `mcp` is the server of its own.
Rewards never travel through it.

Protocol: Model Context Protocol, streamable HTTP without sessions and streams.
"""

import base64
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from hexathlon.baselines.engines.apis.base import JsonBody
from hexathlon.baselines.gateway.app import HttpReply
from hexathlon.evaluators.content import Content, Image, described

__all__ = ["ToolServer"]

_VERSIONS = ("2025-06-18", "2025-03-26", "2024-11-05")
_UNKNOWN_METHOD, _INVALID = -32601, -32602


class ToolServer:
    """Answers the protocol's requests for one episode.

    Args:
        tools: Schemas with `name`, `description` and `parameters`.
        instructions: The task.
        call: Takes a turn that calls one tool; returns the answer, and whether it is an error.
    """

    def __init__(
        self,
        tools: Sequence[Mapping[str, Any]],
        instructions: str,
        call: Callable[[str, dict[str, Any]], Awaitable[tuple[Content, bool]]],
    ) -> None:
        self._tools = tools
        self._instructions = instructions
        self._call = call

    async def answer(self, body: JsonBody) -> HttpReply:
        """Answer one message of the protocol."""
        if "id" not in body:
            return HttpReply({}, 202)
        method, given = body.get("method"), body.get("params") or {}
        reply: JsonBody = {"jsonrpc": "2.0", "id": body["id"]}
        if method == "initialize":
            reply["result"] = self._begin(given)
        elif method == "ping":
            reply["result"] = {}
        elif method == "tools/list":
            reply["result"] = {"tools": [_tool(tool) for tool in self._tools]}
        elif method == "tools/call":
            reply |= await self._called(given)
        else:
            reply["error"] = {"code": _UNKNOWN_METHOD, "message": f"there is no method {method!r}"}
        return HttpReply(reply)

    def _begin(self, given: Mapping[str, Any]) -> JsonBody:
        asked = given.get("protocolVersion")
        return {
            "protocolVersion": asked if asked in _VERSIONS else _VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "hexathlon", "version": "1"},
            "instructions": self._instructions,
        }

    async def _called(self, given: Mapping[str, Any]) -> JsonBody:
        name, arguments = given.get("name"), given.get("arguments") or {}
        if not isinstance(name, str) or not isinstance(arguments, dict):
            return {"error": {"code": _INVALID, "message": "a call needs a name and arguments"}}
        content, failed = await self._call(name, arguments)
        return {"result": {"content": _parts(content), "isError": failed}}


def _tool(tool: Mapping[str, Any]) -> JsonBody:
    return {
        "name": tool["name"],
        "description": tool["description"],
        "inputSchema": tool["parameters"],
    }


def _parts(content: Content) -> list[JsonBody]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    parts: list[JsonBody] = []
    for part in content:
        if isinstance(part, Image):
            data = base64.b64encode(part.png()).decode()
            parts.append({"type": "image", "data": data, "mimeType": "image/png"})
        else:
            parts.append({"type": "text", "text": described((part,))})
    return parts
