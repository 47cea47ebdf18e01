"""Speed of vector environments compared with stepping their environments one by one.

One run measures, alternately so that a busy machine affects all equally, the steps per second of a
text environment that does nothing: alone, in hexathlon's vector (lock-step, and by send and recv),
and in gymnasium's own vectors; and of a 200 ms coroutine environment in 16 worker processes.
Seconds are CPU time where everything happens in this process, wall-clock time elsewhere.

    python benchmarks/vector_speed.py [--envs 1 16 64] [--rounds 40]
"""

import argparse
import asyncio
import gc
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from comparing import add_options, compare, print_rows
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from measuring import Figure, print_findings, ratio_of_pairs

from hexathlon.envs.aio import AsyncEnvironment
from hexathlon.envs.base import Environment
from hexathlon.envs.vector import VectorEnvironment, make_vector
from hexathlon.envs.workers import HostedEnvironment
from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import register_verifier
from hexathlon.tasks.registry import register_source
from hexathlon.tasks.source import Script, TaskAddress, TaskSource, parse_address
from hexathlon.tasks.task import Check, Level, Limits, Split, Task

STEPS = 1_600
"""Steps in a round, over all environments."""

PAUSE = 0.2


class NothingSource(TaskSource):
    """A source with one long task in which nothing happens."""

    name, family, version = "nothing", "nothing", "1"

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """Return the number of tasks, 1."""
        return 1

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the task's id."""
        return str(TaskAddress("nothing", "nothing", level or "tiny", split, index))

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Return the task."""
        address = parse_address(task_id)
        return Task(
            id=task_id,
            family="nothing",
            generator="nothing",
            version="1",
            level=address.level,
            split=address.split,
            seed=0,
            instruction="Wait.",
            limits=Limits(turns=1_000_000),
            checks=(Check(name="nothing"),),
        )

    def oracle(self, task: Task) -> Script:
        """Return an empty script."""
        yield "done"


class NothingEnv(Environment):
    """Answers every turn with the same word."""

    family, default_taskset = "nothing", "nothing"

    def on_text(self, text: str) -> str:
        """Return the answer immediately."""
        return "ok"


class PausingEnv(AsyncEnvironment):
    """Answers every turn after a pause."""

    family, default_taskset = "nothing", "nothing"

    async def on_text(self, text: str) -> str:  # type: ignore[override]
        """Return the answer after the pause."""
        await asyncio.sleep(PAUSE)
        return "ok"


def judge(task: Task, params: Any, final_state: Any, transcript: Any) -> Verdict:
    """Score every episode 0."""
    return Verdict(score=0.0)


register_source("nothing", NothingSource)
register_verifier("nothing", judge, version="1")


Way = tuple[Callable[[], Any], Callable[[], Any], Callable[[], Any]]
"""Reset, step, close."""


def alone(count: int) -> Way:
    """Step environments one by one and collect the results as a vector would."""
    envs = [NothingEnv() for _ in range(count)]

    def reset() -> None:
        for env in envs:
            env.reset(seed=0)

    def step() -> None:
        observations, rewards, terminated, truncated, infos = [], [], [], [], []
        for env in envs:
            observation, reward, end, cut, info = env.step("go")
            observations.append(observation)
            rewards.append(reward)
            terminated.append(end)
            truncated.append(cut)
            infos.append(info)

    return reset, step, lambda: [env.close() for env in envs] and None


def vector(maker: Callable[..., Any], count: int, **kwargs: Any) -> Way:
    """Step a vector in lock-step."""
    made = maker([NothingEnv] * count, **kwargs)
    return partial(made.reset, seed=0), partial(made.step, ("go",) * count), made.close


def sending(count: int) -> Way:
    """Step hexathlon's vector by send and recv."""
    made = VectorEnvironment([NothingEnv] * count)
    actions = ["go"] * count

    def step() -> None:
        made.send(actions)
        made.recv(count)

    return partial(made.reset, seed=0), step, made.close


def measure(count: int, rounds: int) -> dict[str, list[float]]:
    """Return steps per second of each method, round by round."""
    disabled = AutoresetMode.DISABLED
    ways = {
        "alone": alone(count),
        "our vector": vector(VectorEnvironment, count),
        "our vector, send and recv": sending(count),
        "gymnasium sync": vector(SyncVectorEnv, count, autoreset_mode=disabled),
        "gymnasium async": vector(
            AsyncVectorEnv, count, shared_memory=False, autoreset_mode=disabled
        ),
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    try:
        for _ in range(rounds):
            first, *others = ways
            ways = {
                name: ways[name] for name in (*others, first)
            }  # so that no method is always first
            for name, (reset, step, _) in ways.items():
                in_place = name != "gymnasium async"
                clock = time.process_time if in_place else time.perf_counter
                repeats = max(STEPS // count if in_place else STEPS // count // 10, 10)
                reset()
                gc.collect()
                started = clock()
                for _ in range(repeats):
                    step()
                rates[name].append(count * repeats / (clock() - started))
    finally:
        for _, _, close in ways.values():
            close()
    return rates


def hosted(count: int, steps: int = 5) -> float:
    """Return the median seconds of a lock-step over pausing environments in worker processes."""
    made = make_vector(HostedEnvironment, count, hosted="vector_speed:PausingEnv")
    try:
        made.reset(seed=0)
        spent = []
        for _ in range(steps):
            started = time.perf_counter()
            made.step(["go"] * count)
            spent.append(time.perf_counter() - started)
    finally:
        made.close()
    return statistics.median(spent)


def findings(count: int, rates: dict[str, list[float]]) -> list[Figure]:
    """Return the ratio of each method to single stepping, by round."""
    result = []
    for name, values in rates.items():
        label = f"{count} environments, {name}" if count > 1 else f"one environment, {name}"
        result.append(Figure(label, statistics.median(values), "steps/s"))
        if name != "alone":
            ratio = ratio_of_pairs(values, rates["alone"])
            least = 1.0 if name.startswith("our") else None
            result.append(Figure(f"{label}, over alone", ratio, "x", least))
    return result


def main() -> None:
    """Run the benchmark and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--envs", type=int, nargs="+", default=[1, 16, 64])
    add_options(parser, rounds=40)
    arguments = parser.parse_args()
    result, rows = [], []
    for count in arguments.envs:
        rates = measure(count, arguments.rounds)
        result += findings(count, rates)
        rows += [
            compare(
                f"vector of {count}: {name}",
                "steps/s",
                rates[name],
                rates["alone"],
                beside="alone",
                least=1.0,
                rate=True,
            )
            for name in ("our vector", "our vector, send and recv")
        ]
    most = 16
    name = f"{most} workers of {PAUSE:g} s per step: a lock-step, wall-clock"
    result.append(Figure(name, hosted(most), "s", most=2 * PAUSE))
    print_findings(result)
    if arguments.json:
        print_rows(rows)


if __name__ == "__main__":
    main()
