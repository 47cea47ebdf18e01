"""Client of OpenAI-compatible chat servers.

Replies are plain or streamed. Failures raise typed errors.
"""

import json
from typing import Any

import httpx

from hexathlon.baselines.engines.base import ChatRequest
from hexathlon.baselines.engines.client import ChatClient
from hexathlon.baselines.engines.errors import MalformedReply
from hexathlon.baselines.engines.replies import Completion, StreamReader, read_completion
from hexathlon.baselines.engines.sending import LARGEST_REPLY, HttpSettings, bounded

__all__ = ["HttpEngine", "HttpSettings"]


class HttpEngine(ChatClient):
    """Sends chat requests to one server; see `ChatClient`."""

    async def models(self) -> list[str]:
        """Return the names of the server's models.

        Raises:
            EngineError: If the server does not answer, or its answer is not a list of models.
        """
        body = await self._sender.ask(f"{self.settings.url}/models")
        try:
            return [str(row["id"]) for row in json.loads(body)["data"]]
        except (ValueError, LookupError, TypeError):
            raise MalformedReply(f"{self.settings.url}/models is not a list of models") from None

    def _written(self, request: ChatRequest) -> tuple[str, bytes]:
        sampling = request.sampling
        body: dict[str, Any] = {"model": self.settings.model, "messages": list(request.messages)}
        if request.tools:
            body["tools"] = [{"type": "function", "function": dict(t)} for t in request.tools]
        for name in ("temperature", "top_p", "max_tokens", "seed"):
            value = getattr(sampling, name)
            if value is not None:
                body[name] = value
        if request.schema is not None:
            form = {"name": "answer", "schema": request.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        if sampling.stop:
            body["stop"] = list(sampling.stop)
        if self.settings.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return f"{self.settings.url}/chat/completions", json.dumps(body).encode()

    async def _read(self, response: httpx.Response) -> Completion:
        if "text/event-stream" not in response.headers.get("content-type", ""):
            return read_completion(await bounded(response))
        reader, size = StreamReader(), 0
        async for line in response.aiter_lines():
            size += len(line)
            if size > LARGEST_REPLY:
                raise MalformedReply(f"the stream exceeds {LARGEST_REPLY} characters")
            reader.feed(line)
            if reader.done:
                break
        return reader.complete()
