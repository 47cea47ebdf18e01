"""A harness of verifiers that asks the model once per turn, in this process.

The harnesses that ship with verifiers start programs whose packages are installed for each run. A
text dialogue needs neither program nor network: one request goes through the interception server.
"""

from typing import Any

import httpx
import verifiers.v1 as vf
from verifiers.v1.dialects.chat import message_to_wire

__all__ = ["ChatHarness"]

_SECONDS = 600.0


class ChatHarness(vf.Harness[vf.HarnessConfig]):  # type: ignore[misc]
    """One chat completion for each turn of the user."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: Any,
        trace: Any,
        runtime: Any,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: Any,
    ) -> Any:
        """Ask for the next turn; the interception server keeps it in the trace."""
        system, prompt = self.resolve_prompt(data)
        messages = [prompt] if isinstance(prompt, str) else [message_to_wire(m) for m in prompt]
        said = [{"role": "user", "content": m} if isinstance(m, str) else m for m in messages]
        head = [{"role": "system", "content": system}] if system else []
        async with httpx.AsyncClient(timeout=_SECONDS) as client:
            answer = await client.post(
                f"{endpoint.rstrip('/')}/chat/completions",
                json={"model": ctx.model, "messages": [*head, *said]},
                headers={"Authorization": f"Bearer {secret}"},
            )
        return vf.ProgramResult(exit_code=int(answer.is_error), stdout="", stderr=answer.text)
