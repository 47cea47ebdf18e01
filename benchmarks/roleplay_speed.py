"""How fast the role-play event runs: scripted turns, forks, resets, verdicts.

    python benchmarks/roleplay_speed.py [--tasks 200]

CPU seconds of this process are counted (`process_time`), so that figures hold on a busy machine.
"""

import argparse
import time
from collections.abc import Callable

from hexathlon.envs.roleplay.env import RolePlayEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import play
from hexathlon.tasks.task import Task


def clocked(work: Callable[[], int], least: float = 2.0) -> float:
    """CPU seconds per unit, of work that returns how many units it did."""
    work()
    done, start = 0, time.process_time()
    while time.process_time() - start < least:
        done += work()
    return (time.process_time() - start) / done


def report(name: str, value: float, unit: str, wanted: str) -> None:
    print(f"{name:<52} {value:>12,.3f} {unit:<10} {wanted}")


def actions_of(env: RolePlayEnv, task: Task) -> list[str]:
    taken: list[str] = []

    def respond(action: str) -> str | None:
        taken.append(action)
        observation, _, terminated, truncated, _ = env.step(action)
        return None if terminated or truncated else observation

    env.reset(seed=0, options={"task": task.id})
    play(get_source("roleplay").oracle(task), respond)
    return taken


def turns(env: RolePlayEnv, played: list[tuple[Task, list[str]]], *, episodes: bool) -> float:
    """Seconds a turn; with `episodes` the reset and the verdict count, else turns alone."""
    if episodes:

        def work() -> int:
            for task, actions in played:
                env.reset(seed=0, options={"task": task.id})
                for action in actions:
                    env.step(action)
            return sum(len(actions) for _, actions in played)

        return clocked(work)
    spent, done = 0.0, 0
    for task, actions in played * 5:
        env.reset(seed=0, options={"task": task.id})
        start = time.process_time()
        for action in actions[:-1]:
            env.step(action)
        spent += time.process_time() - start
        done += len(actions) - 1
    return spent / done


def forks(env: RolePlayEnv, task: Task, actions: list[str]) -> float:
    env.reset(seed=0, options={"task": task.id})
    for action in actions[: len(actions) // 2]:
        env.step(action)

    def work() -> int:
        env.fork(50)
        return 50

    return clocked(work)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=200)
    count = parser.parse_args().tasks
    source, env = get_source("roleplay"), RolePlayEnv()
    start = time.process_time()
    tasks = [source.build(source.address("test", index)) for index in range(count)]
    report("building a task", 1e3 * (time.process_time() - start) / count, "ms", "")
    played = [(task, actions_of(env, task)) for task in tasks]
    report("turns", 1 / turns(env, played, episodes=False), "turns/s", "wanted >= 3,000")
    whole = 1 / turns(env, played, episodes=True)
    report("whole episodes: reset, turns, verdict", whole, "turns/s", "wanted >= 3,000")
    for template in ("memory", "secret", "negotiation", "interrogation"):
        task, actions = next(p for p in played if p[0].template == template)
        report(f"fork ({template})", 1e3 * forks(env, task, actions), "ms", "wanted <= 0.2")


if __name__ == "__main__":
    main()
