"""Client of a model provider, in the provider's own API.

`HttpEngine` is the client of OpenAI-compatible servers. This one speaks the other APIs of
`hexathlon.baselines.engines.apis`: the API decides path, headers, body and reply; sending, retries
and errors are the same.
"""

import json
from dataclasses import replace
from typing import Any

import httpx

from hexathlon.baselines.engines.apis.anthropic import AnthropicMessages
from hexathlon.baselines.engines.apis.base import ChatApi, read_object
from hexathlon.baselines.engines.apis.gemini import Gemini
from hexathlon.baselines.engines.apis.responses import OpenAIResponses
from hexathlon.baselines.engines.base import ChatRequest
from hexathlon.baselines.engines.client import ChatClient
from hexathlon.baselines.engines.replies import Completion
from hexathlon.baselines.engines.sending import HttpSettings, bounded

__all__ = ["PROVIDER_APIS", "ProviderEngine"]

PROVIDER_APIS: dict[str, ChatApi] = {
    api.name: api for api in (AnthropicMessages(), Gemini(), OpenAIResponses())
}
"""The APIs by the names that MODEL arguments use."""


class ProviderEngine(ChatClient):
    """Sends chat requests to one provider.

    Args:
        api: The provider's API.
        settings: Address, key and retry settings.
        *rest: Further arguments of `ChatClient`.
    """

    def __init__(self, api: ChatApi, settings: HttpSettings, *rest: Any) -> None:
        headers = {**settings.headers, **api.headers(settings.key)}
        super().__init__(replace(settings, key="", headers=headers), *rest)
        self.api = api

    def _written(self, request: ChatRequest) -> tuple[str, bytes]:
        model = self.settings.model
        body = json.dumps(self.api.body(request, model)).encode()
        return self.settings.url + self.api.path(model), body

    async def _read(self, response: httpx.Response) -> Completion:
        return self.api.read(read_object(await bounded(response), f"a reply of {self.api.name}"))
