"""Overhead of the gateway: seconds that a call through it takes longer than one to the model.

    python benchmarks/gateway_speed.py [--calls 300]

The model is a server that answers at once. Each API's call of a conversation of 20 messages goes to
the gateway, which asks the server; the difference from asking the server directly is the overhead.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.gateways import Scripted, served

from hexathlon.baselines.engines.apis.chat import ChatCompletions
from hexathlon.baselines.engines.base import ChatRequest
from hexathlon.baselines.engines.http import HttpEngine, HttpSettings
from hexathlon.baselines.engines.limiter import AdaptiveLimit
from hexathlon.baselines.engines.prices import PriceTable
from hexathlon.baselines.engines.provider import PROVIDER_APIS
from hexathlon.baselines.gateway.answers import EngineAnswers
from hexathlon.baselines.gateway.app import Gateway

TURN = [{"role": "user", "content": "What stands in the file? " * 10},
        {"role": "assistant", "content": "It says that all is well. " * 10}]  # fmt: skip
REQUEST = ChatRequest([*TURN * 10, TURN[0]])


def milliseconds(url: str, body: dict[str, object], calls: int) -> list[float]:
    """Time calls one after the other over one connection."""
    spans = []
    with httpx.Client(timeout=60) as client:
        for _ in range(calls):
            started = time.perf_counter()
            assert client.post(url, json=body).status_code == 200
            spans.append(1e3 * (time.perf_counter() - started))
    return spans


def main() -> None:
    """Print the median and the 95th percentile of each API."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=300)
    calls = parser.parse_args().calls
    model = Scripted(lambda call: {"content": "hello"})
    with served(Gateway(model)) as upstream:
        settings = HttpSettings(f"{upstream}/v1", "m")
        engine = HttpEngine(settings, AdaptiveLimit(), PriceTable("none", "", {}))
        with served(Gateway(EngineAnswers(engine, "m"))) as url:
            chat = ChatCompletions().body(REQUEST, "m")
            direct = statistics.median(milliseconds(f"{upstream}/v1/chat/completions", chat, calls))
            print(f"{'directly':18} {direct:6.2f} ms")
            paths = {"openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses"}
            for api in (ChatCompletions(), *PROVIDER_APIS.values()):
                path = paths.get(api.name) or api.path("m")
                spans = sorted(milliseconds(url + path, api.body(REQUEST, "m"), calls))
                more, tail = statistics.median(spans) - direct, spans[int(0.95 * calls)] - direct
                print(f"{api.name:18} {more:6.2f} ms more (p95 {tail:.2f})")


if __name__ == "__main__":
    main()
