"""The framework openai-agents, with a shell of its own or the tools of the server HEXATHLON_MCP."""

import asyncio
import os
import subprocess
import sys

from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp


@function_tool
def bash(command: str) -> str:
    """Run a command."""
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    return done.stdout + done.stderr


async def main(prompt: str) -> None:
    set_tracing_disabled(True)
    model = os.environ["OPENAI_MODEL"]
    if "HEXATHLON_MCP" not in os.environ:
        agent = Agent(name="worker", model=model, tools=[bash])
        print((await Runner.run(agent, prompt, max_turns=30)).final_output)
        return
    async with MCPServerStreamableHttp(params={"url": os.environ["HEXATHLON_MCP"]}) as server:
        agent = Agent(name="worker", model=model, mcp_servers=[server])
        print((await Runner.run(agent, prompt, max_turns=30)).final_output)


asyncio.run(main(sys.argv[1]))
