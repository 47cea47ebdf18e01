"""Speed of the role-play event: tasks, turns, episodes, forks, and the cost of judging.

    python benchmarks/roleplay_speed.py [--tasks 200] [--items 1000] [--concurrency 64]

Seconds are this process's CPU time (`process_time`), so that figures hold on a busy machine.
Judging is measured by `judge_speed.py`, against a server in another process.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator

from judge_speed import LIMIT, measure
from measuring import Figure, print_findings

from hexathlon.envs.roleplay.env import RolePlayEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import play
from hexathlon.tasks.task import Task

Played = list[tuple[Task, list[str]]]
FORKED = ("memory", "secret", "negotiation", "interrogation")
LEAST_TURNS = 3_000
MOST_FORK_MS = 0.2


def clocked(work: Callable[[], int], least: float = 2.0) -> float:
    """Return CPU seconds per unit of work, as a median over slices; work returns its units."""
    work()
    slices, start = [], time.process_time()
    while (before := time.process_time()) - start < least:
        done = work()
        slices.append((time.process_time() - before) / done)
    return statistics.median(slices)


def actions_of(env: RolePlayEnv, task: Task) -> list[str]:
    """Return the oracle's actions."""
    taken: list[str] = []

    def respond(action: str) -> str | None:
        taken.append(action)
        observation, _, terminated, truncated, _ = env.step(action)
        return None if terminated or truncated else observation

    env.reset(seed=0, options={"task": task.id})
    play(get_source("roleplay").oracle(task), respond)
    return taken


def turns(env: RolePlayEnv, played: Played, rounds: int = 5) -> float:
    """Return seconds per turn of an episode, without the last turn, which includes the verdict."""
    spent, done = 0.0, 0
    for task, actions in played * rounds:
        env.reset(seed=0, options={"task": task.id})
        start = time.process_time()
        for action in actions[:-1]:
            env.step(action)
        spent += time.process_time() - start
        done += len(actions) - 1
    return spent / done


def episodes(env: RolePlayEnv, played: Played) -> float:
    """Return seconds per turn, including reset and verdict."""

    def work() -> int:
        for task, actions in played:
            env.reset(seed=0, options={"task": task.id})
            for action in actions:
                env.step(action)
        return sum(len(actions) for _, actions in played)

    return clocked(work)


def forks(env: RolePlayEnv, task: Task, actions: list[str]) -> float:
    """Return seconds per fork in the middle of an episode."""
    env.reset(seed=0, options={"task": task.id})
    for action in actions[: len(actions) // 2]:
        env.step(action)

    def work() -> int:
        env.fork(50)
        return 50

    return clocked(work)


def event(count: int) -> Iterator[Figure]:
    """Return figures of the environment on the first test tasks in both languages."""
    source, env = get_source("roleplay"), RolePlayEnv()
    start = time.process_time()
    tasks = [source.build(source.address("test", index)) for index in range(count)]
    yield Figure("building a task", 1e3 * (time.process_time() - start) / count, "ms")
    played = [(task, actions_of(env, task)) for task in tasks]
    yield Figure("scripted turns", 1 / turns(env, played), "turns/s", least=LEAST_TURNS)
    whole = 1 / episodes(env, played)
    yield Figure("whole episodes: reset, turns, verdict", whole, "turns/s", least=LEAST_TURNS)
    for template in FORKED:
        task, actions = next(one for one in played if one[0].template == template)
        seconds = forks(env, task, actions)
        yield Figure(f"fork, {template}", 1e3 * seconds, "ms", most=MOST_FORK_MS)


def judging(items: int, concurrency: int, rounds: int) -> Iterator[Figure]:
    """Return figures of judging."""
    result = measure(items, concurrency, rounds)
    what = f"judging {items:,} items at concurrency {concurrency}"
    yield Figure(f"{what}: its own CPU time per item", result["own_ms_per_item"], "ms", most=LIMIT)
    yield Figure(f"{what}: its worst round", result["own_ms_worst_round"], "ms", most=LIMIT)
    yield Figure("a bare request through httpx", result["bare_httpx_ms_per_request"], "ms")


def main() -> None:
    """Run the benchmark and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    print_findings([*event(given.tasks), *judging(given.items, given.concurrency, given.rounds)])


if __name__ == "__main__":
    main()
