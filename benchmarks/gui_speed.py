"""Speed of the simulated phone: steps with and without pixels, forks, cold start, memory.

    python benchmarks/gui_speed.py [--tasks 60] [--phones 64]

Seconds are CPU time (`process_time`), so that figures hold on a busy machine. Steps are those of
the oracle's episodes. Memory and cold start are measured in child processes.
"""

import argparse
import json
import statistics
import sys
import time

from measuring import Figure, print_findings, run_child

from hexathlon.envs.gui.env import GUIEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import play
from hexathlon.tasks.task import Task

SOURCE = get_source("gui")
SIZES = ((540, 1200), (1080, 2400))

COLD = """
import json, time
before = time.process_time()
from hexathlon.envs.gui.env import GUIEnv
imported = time.process_time() - before
from hexathlon.tasks.registry import get_source
task = get_source("gui").build({task!r})
before = time.process_time()
env = GUIEnv(screenshot=True)
env.reset(seed=0, options={{"task": task.id}})
first = time.process_time() - before
print(json.dumps({{"imported": imported, "first": first}}))
"""

MANY = """
import json
from hexathlon.envs.gui.simulator import PhoneDevice
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.seeding import generator_for
source, phones = get_source("gui"), []
for number in range({phones}):
    device = PhoneDevice(size={size!r})
    device.open(source.build(source.address("train", number)), generator_for("gui speed", number))
    for app in ("contacts", "messages", "notes", "settings"):
        device.act("open_app", {{"app_name": app}})
        device.pixels()
    phones.append(device)
print(json.dumps({{}}))
"""


def actions_of(env: GUIEnv, task: Task) -> list[str]:
    """Return the oracle's actions."""
    taken: list[str] = []

    def respond(action: str) -> str | None:
        taken.append(action)
        observation, _, terminated, truncated, _ = env.step(action)
        return None if terminated or truncated else observation

    env.reset(seed=0, options={"task": task.id})
    play(SOURCE.oracle(task), respond)
    return taken


def step_times(tasks: list[Task]) -> list[float]:
    """Return milliseconds of every step in the environment, without pixels."""
    env, times = GUIEnv(), []
    for task in tasks:
        for _ in range(2):  # the second episode has warm caches
            actions = actions_of(env, task)
        env.reset(seed=0, options={"task": task.id})
        for action in actions:
            before = time.process_time()
            env.step(action)
            times.append(1000 * (time.process_time() - before))
    return times


def pixel_times(tasks: list[Task], size: tuple[int, int]) -> tuple[list[float], list[float]]:
    """Return milliseconds of device steps: elements alone, and with pixels."""
    env, bare, full = GUIEnv(size=size), [], []
    for task in tasks:
        actions = actions_of(env, task)
        for pixels in (False, True, True):
            env.reset(seed=0, options={"task": task.id})
            env.device.pixels()
            times = full if pixels else bare
            for action in actions:
                call = json.loads(action)
                if call["name"] in ("answer", "status", "ask_user"):
                    continue
                before = time.process_time()
                env.device.act(call["name"], call["arguments"])
                env.device.elements()
                if pixels:
                    env.device.pixels()
                times.append(1000 * (time.process_time() - before))
    return bare, full


def fork_time(tasks: list[Task]) -> float:
    """Return milliseconds per fork, in the middle of episodes."""
    env, times = GUIEnv(), []
    for task in tasks:
        actions = actions_of(env, task)
        env.reset(seed=0, options={"task": task.id})
        for action in actions[: len(actions) // 2]:
            env.step(action)
        before = time.process_time()
        env.fork(20)
        times.append(1000 * (time.process_time() - before) / 20)
    return statistics.median(times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=60)
    parser.add_argument("--phones", type=int, default=64)
    chosen = parser.parse_args()
    tasks = [SOURCE.build(SOURCE.address("test", number)) for number in range(chosen.tasks)]
    steps = step_times(tasks)
    figures = [
        Figure("step of the environment, median", statistics.median(steps), "ms"),
        Figure("step of the environment, mean", statistics.mean(steps), "ms"),
    ]
    limits = {SIZES[0]: 4.0, SIZES[1]: 10.0}
    for size in SIZES:
        bare, full = pixel_times(tasks, size)
        name = f"{size[0]} x {size[1]}"
        figures += [
            Figure(f"step without pixels, {name}, mean", statistics.mean(bare), "ms", most=0.3),
            Figure(f"step with pixels, {name}, mean", statistics.mean(full), "ms",
                   most=limits[size]),
            Figure(f"step with pixels, {name}, 95th percentile",
                   statistics.quantiles(full, n=20)[-1], "ms"),
        ]  # fmt: skip
    figures.append(Figure("fork", fork_time(tasks), "ms", most=1.0))
    cold = run_child([sys.executable, "-c", COLD.format(task=tasks[0].id)]).said
    figures += [
        Figure("cold start: imports", cold["imported"], "s"),
        Figure("cold start: first phone and its pixels", cold["first"], "s", most=0.3),
    ]
    for size in SIZES:
        script = MANY.format(phones=chosen.phones, size=size)
        memory = run_child([sys.executable, "-c", script]).peak_mb
        name = f"{chosen.phones} phones with pixels, {size[0]} x {size[1]}"
        figures.append(Figure(name, memory, "MB", most=1000.0))
    print_findings(figures)


if __name__ == "__main__":
    main()
