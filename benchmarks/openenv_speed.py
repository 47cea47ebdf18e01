"""Speed of our OpenEnv server against the smallest server of the package itself, over loopback.

Both servers answer with the same text from an environment that does nothing; ours has the adapter
and its observation type in between. The rounds alternate in one run. `--soak` also holds 64
sessions for 10,048 steps three times, and compares threads, descriptors and memory after each.
`server_ratio` compares the processor time of the servers, which other programs disturb less.

    .venv-bridges/openenv/bin/python benchmarks/openenv_speed.py --soak --out RESULTS.json
"""

import argparse
import asyncio
import contextlib
import gc
import json
import multiprocessing
import os
import socket
import statistics
import threading
import time
from pathlib import Path
from typing import Any

TEXT = "Done."


class _Trivial:
    """A bridged episode without an environment."""

    def __init__(self) -> None:
        from hexathlon.baselines.bridges.rendering import Opening, TurnReply

        self._opening = Opening(TEXT, None, "", (), "t")
        self._reply = TurnReply(TEXT, None, 0.0, False, {})

    def open(self, *_: Any, **__: Any) -> Any:
        return self._opening

    def prompt(self, opening: Any) -> str:
        return ""

    def say(self, text: str) -> Any:
        return self._reply

    def close(self) -> None:
        pass


def ours() -> Any:
    from hexathlon.baselines.bridges.listing import TaskListing
    from hexathlon.baselines.bridges.openenv import make_app

    return make_app(_Trivial, TaskListing("SQL"), "trivial", 128)  # type: ignore[arg-type]


def minimal() -> Any:
    from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app

    class TextAction(Action):  # type: ignore[misc]
        text: str

    class TextObservation(Observation):  # type: ignore[misc]
        text: str = ""

    class Minimal(Environment):  # type: ignore[misc]
        SUPPORTS_CONCURRENT_SESSIONS = True

        def reset(self, seed: Any = None, episode_id: Any = None, **_: Any) -> Any:
            return TextObservation(text=TEXT)

        def step(self, action: Any, timeout_s: Any = None, **_: Any) -> Any:
            return TextObservation(text=TEXT)

        @property
        def state(self) -> Any:
            return State()

    return create_fastapi_app(
        Minimal, TextAction, TextObservation, max_concurrent_envs=128, env_name="minimal"
    )


SERVERS = {"ours": ours, "minimal": minimal}


def serve(name: str, listening: socket.socket, pipe: Any) -> None:
    """Serve one application in this process, and report what it holds when asked."""
    import uvicorn

    config = uvicorn.Config(SERVERS[name](), log_config=None, access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    while pipe.recv() == "held":
        gc.collect()
        rss = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
        held = {
            "threads": threading.active_count(),
            "descriptors": len(os.listdir("/proc/self/fd")),
            "rss_mb": round(rss / 2**20, 1),
            "cpu_s": round(time.process_time(), 3),
        }
        pipe.send(held)
    server.should_exit = True
    thread.join(30)


@contextlib.contextmanager
def running(name: str) -> Any:
    context = multiprocessing.get_context("spawn")
    from hexathlon.baselines.gateway.listening import without_delay

    with without_delay(socket.create_server(("127.0.0.1", 0))) as listening:
        mine, theirs = context.Pipe()
        process = context.Process(target=serve, args=(name, listening, theirs), daemon=True)
        process.start()
        address = f"ws://127.0.0.1:{listening.getsockname()[1]}"
        try:
            yield address, mine
        finally:
            mine.send("end")
            process.join(60)


def busy(pipe: Any) -> float:
    """Return the processor seconds of a server so far."""
    pipe.send("held")
    return float(pipe.recv()["cpu_s"])


async def steps(address: str, sessions: int, each: int) -> float:
    """Return the seconds that so many concurrent sessions take."""
    import websockets

    action = json.dumps({"type": "step", "data": {"text": "x"}})

    async def play() -> None:
        async with websockets.connect(f"{address}/ws", max_size=None, open_timeout=60) as socket_:
            await socket_.send(json.dumps({"type": "reset", "data": {}}))
            await socket_.recv()
            await ready.wait()
            for _ in range(each):
                await socket_.send(action)
                answer = json.loads(await socket_.recv())
                assert answer["data"]["observation"]["text"] == TEXT, answer

    ready = asyncio.Event()
    plays = [asyncio.create_task(play()) for _ in range(sessions)]
    await asyncio.sleep(0.5 if sessions < 32 else 3)
    start = time.perf_counter()
    ready.set()
    await asyncio.gather(*plays)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sessions", type=int, default=8)
    parser.add_argument("--each", type=int, default=500, help="steps of a session in a round")
    parser.add_argument("--soak", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rates: dict[str, list[float]] = {name: [] for name in SERVERS}
    with running("ours") as (own, pipe), running("minimal") as (other, second):
        addresses = {"ours": own, "minimal": other}
        pipes = {"ours": pipe, "minimal": second}
        costs: dict[str, list[float]] = {name: [] for name in SERVERS}
        for address in addresses.values():
            asyncio.run(steps(address, options.sessions, 50))
        for _ in range(options.rounds):
            for name, address in addresses.items():
                before = busy(pipes[name])
                seconds = asyncio.run(steps(address, options.sessions, options.each))
                rates[name].append(options.sessions * options.each / seconds)
                used = busy(pipes[name]) - before
                costs[name].append(1e6 * used / (options.sessions * options.each))
        result: dict[str, Any] = {
            "steps_per_s": {name: round(statistics.median(each)) for name, each in rates.items()},
            "rounds": {name: [round(rate) for rate in each] for name, each in rates.items()},
            "ratio": round(statistics.median(
                a / b for a, b in zip(rates["ours"], rates["minimal"], strict=True)), 3),
            "server_us_per_step": {name: round(statistics.median(each))
                                   for name, each in costs.items()},
            "server_ratio": round(statistics.median(
                b / a for a, b in zip(costs["ours"], costs["minimal"], strict=True)), 3),
            "sessions": options.sessions, "load": os.getloadavg()[0],
        }  # fmt: skip
        if options.soak:
            asyncio.run(steps(own, 64, 10))
            held = []
            for _ in range(3):
                time.sleep(1)
                pipe.send("held")
                held.append(pipe.recv())
                asyncio.run(steps(own, 64, 157))
            time.sleep(1)
            pipe.send("held")
            result["soak"] = {"steps": 3 * 64 * 157, "held": [*held, pipe.recv()]}
    text = json.dumps(result, indent=1)
    if options.out:
        options.out.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
