"""Plays tasks of `verifiers_taskset` in verifiers v1: the environment is the model's user.

The harnesses that ship with verifiers install a program for each run; `ChatHarness` needs none.
"""

from typing import Any

import httpx
import verifiers.v1 as vf
from verifiers.v1.dialects.chat import message_to_wire

from hexathlon.baselines.bridges.asynchronous import episode_of

__all__ = ["ChatHarness", "PlayedEnv"]


class PlayedEnvConfig(vf.EnvConfig):  # type: ignore[misc]
    """The one agent; its harness is the taskset's unless another is named."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class PlayedEnv(vf.Env[PlayedEnvConfig]):  # type: ignore[misc]
    """Plays an episode with the agent, as its user."""

    async def run(self, task: Any, agents: Any) -> None:
        """Play until the verdict, or until the agent's run ends."""
        async with episode_of(task.data.event, **task.data.settings) as episode:
            opening = await episode.open(task.data.name, task.data.seed)
            system, said = await episode.messages(opening)
            seated = task.with_system_prompt(system["content"])
            async with agents.player.interaction(seated) as interaction:
                while not episode.over:
                    segment = await interaction.turn([said])
                    if segment.terminated:
                        break
                    message = {"role": "assistant", "content": segment.last_reply}
                    reply = await episode.take(message)
                    interaction.trace.state.score = reply.reward
                    said = {"role": "user", "content": reply.content}


class ChatHarness(vf.Harness[vf.HarnessConfig]):  # type: ignore[misc]
    """One chat completion for each turn of the user, through the interception server."""

    APPENDS_SYSTEM_PROMPT = SUPPORTS_RESUME = True
    EXECUTES_CODE = NEEDS_CONTAINER = False

    async def launch(self, ctx: Any, trace: Any, runtime: Any, endpoint: str, secret: str,
                     mcp_urls: dict[str, str], data: Any) -> Any:  # fmt: skip
        """Ask for the next turn; the interception server keeps it in the trace."""
        system, prompt = self.resolve_prompt(data)
        rows = [prompt] if isinstance(prompt, str) else [message_to_wire(m) for m in prompt]
        said = [{"role": "user", "content": m} if isinstance(m, str) else m for m in rows]
        head = [{"role": "system", "content": system}] if system else []
        url, body = f"{endpoint}/chat/completions", {"model": ctx.model, "messages": [*head, *said]}
        key = {"Authorization": f"Bearer {secret}"}
        async with httpx.AsyncClient(timeout=600.0) as client:
            answer = await client.post(url, json=body, headers=key)
        return vf.ProgramResult(exit_code=int(answer.is_error), stdout="", stderr=answer.text)
