"""Overhead of the gateway: seconds that a call through it takes longer than one to the model.

    python benchmarks/gateway_speed.py [--calls 300]

The model is a server that answers at once. Each API's call of a conversation of 20 messages goes to
the gateway, which asks the server; the difference from asking the server directly is the overhead.
Everything runs in one process, so its processor time is given, too: it counts where other programs
keep the machine busy.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from hexathlon.baselines.engines.apis.chat import ChatCompletions
from hexathlon.baselines.engines.base import ChatRequest
from hexathlon.baselines.engines.http import HttpEngine, HttpSettings
from hexathlon.baselines.engines.limiter import AdaptiveLimit
from hexathlon.baselines.engines.prices import PriceTable
from hexathlon.baselines.engines.provider import PROVIDER_APIS
from hexathlon.baselines.gateway.answers import EngineAnswers
from hexathlon.baselines.gateway.app import Gateway
from support.gateways import Scripted, served

TURN = [{"role": "user", "content": "What stands in the file? " * 10},
        {"role": "assistant", "content": "It says that all is well. " * 10}]  # fmt: skip
REQUEST = ChatRequest([*TURN * 10, TURN[0]])


def milliseconds(url: str, body: dict[str, object], calls: int) -> tuple[list[float], float]:
    """Return the time of each call, one after the other, and the processor time per call."""
    spans = []
    used = time.process_time()
    with httpx.Client(timeout=60) as client:
        for _ in range(calls):
            started = time.perf_counter()
            assert client.post(url, json=body).status_code == 200
            spans.append(1e3 * (time.perf_counter() - started))
    return sorted(spans), 1e3 * (time.process_time() - used) / calls


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
            spans, used = milliseconds(f"{upstream}/v1/chat/completions", chat, calls)
            direct, busy = statistics.median(spans), used
            print(f"{'directly':18} {direct:6.2f} ms, processor {busy:.2f} ms")
            paths = {"openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses"}
            for api in (ChatCompletions(), *PROVIDER_APIS.values()):
                path = paths.get(api.name) or api.path("m")
                spans, used = milliseconds(url + path, api.body(REQUEST, "m"), calls)
                more = statistics.median(spans) - direct
                print(f"{api.name:18} {more:6.2f} ms more, processor {used - busy:.2f} ms more")


if __name__ == "__main__":
    main()
