"""Weight updates that interrupt requests in flight: `asynchrony.update = "abort"`."""

from dataclasses import replace
from typing import Any

from hexathlon.baselines.distributed.transports import WeightTransport
from hexathlon.baselines.engines.interruption import InterruptedRequests
from hexathlon.baselines.training.engines import OpenedEngine

__all__ = ["interrupting"]


def interrupting(opened: OpenedEngine) -> OpenedEngine:
    """Return an engine whose requests are interrupted while its transport publishes."""
    engine = InterruptedRequests(opened.engine)
    return replace(opened, engine=engine, transport=_HoldingTransport(opened.transport, engine))


class _HoldingTransport:
    def __init__(self, transport: WeightTransport, requests: InterruptedRequests) -> None:
        self._transport, self._requests = transport, requests

    async def publish(self, model: Any, version: int) -> float:
        async with self._requests.held():
            return await self._transport.publish(model, version)

    async def close(self) -> None:
        await self._transport.close()
