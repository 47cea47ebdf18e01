"""Cost of judging in this process, apart from waiting for the model.

A server in another process answers every question at once with a verdict that quotes the reply; one
run judges ITEMS items (a reply under one criterion each) pointwise at the given concurrency, with
one call per reply that chooses lines,
through the same path as `hexathlon judge`: prompt, content hash, cache file, request over a socket,
strict parsing, decision. The figures are this process's CPU time per item and, for comparison, per
bare request through httpx with its own transport.

    python benchmarks/judge_speed.py [--items 1000] [--concurrency 64] [--rounds 5] [--json]
"""

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

from hexathlon.baselines.engines.base import Sampling
from hexathlon.baselines.judging.concurrency import run_concurrently
from hexathlon.baselines.judging.opening import JudgeSettings, identify_judge, open_client
from hexathlon.baselines.judging.pointwise import PointwiseJudge
from hexathlon.evaluators.judges.audit.labelled import generate_labels
from hexathlon.evaluators.judges.labels import Decision
from hexathlon.evaluators.judges.prompts import pointwise_prompt

_SAID = re.compile(rb"\[1\] assistant\\n\w{4}\| ([^\"\\]+)")
_MARK = re.compile(rb"\\n(\w{4})\| ")
_TOPIC = re.compile(rb"\\n\[\d+\]\\n")
_ITEM = re.compile(rb'\\n\[\d\] (?:As it stands|With this rule.*?the label is \\"(\w+)\\")')
LIMIT = 1.0
"""Target: milliseconds of this process's CPU time per item."""


def answer(body: bytes) -> str:
    """Choose every line, or give the right label to planted questions and `met` to the real one."""
    if b"<<<TOPICS" in body:
        marks = [mark.decode() for mark in _MARK.findall(body)]
        topics = len(_TOPIC.findall(body.partition(b"<<<LINES")[0]))
        return json.dumps({str(number): marks for number in range(1, topics + 1)})
    said = _SAID.search(body)
    quote = json.loads(b'"' + said.group(1) + b'"') if said else "ok"
    labels = [label.decode() or "met" for label in _ITEM.findall(body)] or ["met"]
    items = [{"evidence": quote, "label": label} for label in labels]
    return json.dumps({str(number): item for number, item in enumerate(items, start=1)})


class Quick(asyncio.Protocol):
    """Answers chat requests with minimal work."""

    def connection_made(self, transport: Any) -> None:
        self.transport, self.raw = transport, b""

    def data_received(self, data: bytes) -> None:
        self.raw += data
        while (end := self.raw.find(b"\r\n\r\n")) >= 0:
            result = re.search(rb"(?i)content-length: (\d+)", self.raw[:end])
            size = int(result.group(1)) if result else 0
            if len(self.raw) < end + 4 + size:
                return
            body, self.raw = self.raw[end + 4 : end + 4 + size], self.raw[end + 4 + size :]
            content = answer(body)
            choice = {"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
            usage = {"prompt_tokens": 400, "completion_tokens": 20}
            reply = json.dumps({"choices": [choice], "usage": usage}).encode()
            head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(reply)}\r\n\r\n"
            self.transport.write(head.encode() + reply)


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Quick, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


async def judge(settings: JudgeSettings, items: int, seed: int) -> tuple[float, float, int]:
    """Return CPU and wall milliseconds per item, and the number of scored items."""
    rubric, replies = generate_labels(seed, 3 * items)
    rows = [(c, r) for r in replies if r.language == "en" for c in rubric.judged][:items]
    identity = await asyncio.to_thread(identify_judge, settings)
    client = open_client(settings, identity)
    judging = PointwiseJudge(client)
    result: list[Decision] = []

    async def one(row: Any) -> None:
        seen = row[1].transcript
        result.append(await judging.decide(row[0], seen, topics=rubric.judged))

    started, own = time.perf_counter(), time.process_time()
    await run_concurrently(rows, one, settings.concurrency)
    own, wall = time.process_time() - own, time.perf_counter() - started
    await client.close()
    scored = sum(one.value is not None for one in result)
    return own / len(rows) * 1e3, wall / len(rows) * 1e3, scored


async def bare(url: str, items: int, concurrency: int) -> float:
    """Return CPU milliseconds per plain request through httpx."""
    rubric, replies = generate_labels(0, 8)
    prompt = pointwise_prompt(rubric.criteria[0], replies[0].transcript)
    body = {"model": "m", "messages": prompt.messages, "max_tokens": Sampling().max_tokens}
    limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    async with httpx.AsyncClient(limits=limits, trust_env=False) as client:

        async def one(number: int) -> None:
            (await client.post(f"{url}/chat/completions", json=body)).json()

        await run_concurrently(range(concurrency), one, concurrency)  # opens the connections
        own = time.process_time()
        await run_concurrently(range(items), one, concurrency)
        return (time.process_time() - own) / items * 1e3


def measure(items: int, concurrency: int, rounds: int) -> dict[str, Any]:
    server = subprocess.Popen(
        [sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        own, walls, plain = [], [], []
        with tempfile.TemporaryDirectory() as folder:
            for number in range(rounds + 1):
                settings = JudgeSettings(
                    f"endpoint:{url}#quick",
                    structured=True,
                    concurrency=concurrency,
                    cache=Path(folder) / f"{number}.cache",
                )
                cpu, wall, scored = asyncio.run(judge(settings, items, number))
                assert scored == items, f"only {scored} of {items} items were scored"
                if number:  # the first round imports and compiles
                    own.append(cpu)
                    walls.append(wall)
                    plain.append(asyncio.run(bare(url, items, concurrency)))
    finally:
        server.terminate()
        server.wait()
    return {
        "items": items,
        "concurrency": concurrency,
        "own_ms_per_item": statistics.median(own),
        "own_ms_worst_round": max(own),
        "wall_ms_per_item": statistics.median(walls),
        "bare_httpx_ms_per_request": statistics.median(plain),
        "limit_ms": LIMIT,
        "within": max(own) <= LIMIT,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        asyncio.run(serve())
        return
    result = measure(chosen.items, chosen.concurrency, chosen.rounds)
    if chosen.json:
        print(json.dumps(result, indent=2))
        return
    for name, value in result.items():
        print(f"{name:>28}  {value:.3f}" if isinstance(value, float) else f"{name:>28}  {value}")


if __name__ == "__main__":
    main()
