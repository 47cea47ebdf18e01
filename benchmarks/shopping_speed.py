"""Speed of the shopping event: steps, forks, concurrency, and the service desk.

    python benchmarks/shopping_speed.py [--size 100000] [--environments 1000]

CPU seconds of this process are counted (`process_time`), so that figures hold on a busy machine.
The desk runs on tau2's own retail tables if HEXATHLON_DATA has them; `tau2_speed.py` plays it
beside tau2.
"""

import argparse
import json
import resource
import time
from collections.abc import Callable, Iterator

from hexathlon.envs.shopping.env import ShoppingEnv
from hexathlon.evaluators.shopping.tau2 import tau2_communicate, tau2_db
from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.catalogue import Catalogue, open_catalogue
from hexathlon.tasks.errors import MissingData
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.shopping import source as generator
from hexathlon.tasks.shopping.loaders.tau2 import retail_base
from hexathlon.tasks.shopping.world.retail import RetailDesk, replay
from hexathlon.tasks.shopping.world.tables import Tables
from hexathlon.tasks.source import play
from hexathlon.tasks.task import Task


def clocked(work: Callable[[], int], least: float = 2.0) -> float:
    """Return CPU seconds per unit of work; the work returns its number of units."""
    work()
    done, start = 0, time.process_time()
    while time.process_time() - start < least:
        done += work()
    return (time.process_time() - start) / done


def report(name: str, value: float, unit: str, wanted: str) -> None:
    print(f"{name:<58} {value:>12,.3f} {unit:<10} target {wanted}")


def mixed_actions(catalogue: Catalogue, language: Language, count: int) -> Iterator[str]:
    """Return actions: one in five is a search; the others view, compare and add to cart."""
    draw = generator_for("mixed steps", catalogue.size)
    for step in range(count):
        product = catalogue.product_at(int(draw.integers(catalogue.size)))
        variant = product.variants[int(draw.integers(len(product.variants)))]
        words = product.title[language].replace(",", "").split()
        chosen = " ".join(words[i] for i in draw.integers(len(words), size=3))
        name, arguments = (
            ("search", {"query": chosen}),
            ("open_item", {"item": product.id}),
            ("read_specification", {"item": product.id}),
            ("choose_options", {"item": product.id, "options": dict(variant.options)}),
            ("view_cart", {}) if step % 2 else ("read_reviews", {"item": product.id}),
        )[step % 5]
        yield json.dumps({"name": name, "arguments": arguments})


def steps(task_id: str, size: int) -> None:
    task = get_source("shopping").build(task_id)
    catalogue = open_catalogue(task.params["catalogue"]["seed"], size)
    env = ShoppingEnv(limits={"turns": 1_000_000})
    env.reset(seed=0, options={"task": task_id})
    actions = list(mixed_actions(catalogue, task.params["language"], 20_000))
    place = 0

    def work() -> int:
        nonlocal place
        if place >= len(actions) - 50:
            place = 0
            env.reset(seed=0, options={"task": task_id})
        for action in actions[place : place + 50]:
            env.step(action)
        place += 50
        return 50

    report(f"mixed steps at {size:,} products", 1 / clocked(work), "steps/s", ">= 1,500")


def forks(task_id: str) -> None:
    env = ShoppingEnv()
    env.reset(seed=0, options={"task": task_id})
    script = get_source("shopping").oracle(env.task)
    action = next(script)
    for _ in range(4):
        action = script.send(env.step(action)[0])

    def work() -> int:
        env.fork(10)
        return 10

    report(f"fork ({task_id.split('/')[1]})", 1e3 * clocked(work), "ms", "<= 0.2")


def many(task_id: str, count: int) -> None:
    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fleet = [ShoppingEnv() for _ in range(count)]
    for number, env in enumerate(fleet):
        env.reset(seed=number, options={"task": task_id})
    scripts = [get_source("shopping").oracle(env.task) for env in fleet]
    actions = [next(script) for script in scripts]
    for _ in range(4):
        for i, env in enumerate(fleet):
            actions[i] = scripts[i].send(env.step(actions[i])[0])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report(f"{count:,} environments in one process, peak", peak / 1024, "MiB", "<= 2,048")
    report("  of which for the environments", (peak - start) / 1024, "MiB", "")


def desk() -> None:
    base = retail_base()
    source = get_source("tau2-retail")
    tasks = [source.build(source.address("train", i)) for i in range(74)]

    def fresh() -> int:
        for _ in range(1_000):
            RetailDesk(Tables(base))
        return 1_000

    report("fresh state of the desk", 1e6 * clocked(fresh), "µs", "")
    env = ShoppingEnv()

    def reset() -> int:
        for task in tasks[:20]:
            env.reset(seed=0, options={"task": task.id})
        return 20

    report("  the whole reset", 1e3 * clocked(reset), "ms", "")
    report("tool calls", 1 / clocked(lambda: _calls(base, tasks)), "1/s", "")
    episodes = 1 / clocked(lambda: _episodes(env, tasks))
    report("  in whole episodes: reset, steps, verdict", episodes, "1/s", "")
    finished = [_finished(env, task) for task in tasks]

    def reward() -> int:
        for task, state, transcript in finished:
            for check in task.checks[1:]:
                rule = tau2_db if check.name == "tau2_db" else tau2_communicate
                rule(task, check.params, state, transcript)
        return len(finished)

    def whole_reward() -> int:
        for task, _, _ in finished:
            replay(base, task.params["reference"]["actions"])[0].difference()
        return reward()

    report("reward", 1e3 * clocked(reward), "CPU ms", "")
    report("  with the reference replayed", 1e3 * clocked(whole_reward), "CPU ms", "")


def _calls(base: object, tasks: list[Task]) -> int:
    done = 0
    for task in tasks:
        actions = task.params["reference"]["actions"]
        replay(base, actions)  # type: ignore[arg-type]
        done += len(actions)
    return done


def _episodes(env: ShoppingEnv, tasks: list[Task]) -> int:
    done = 0
    for task in tasks[:20]:
        done += _play(env, task)
    return done


def _play(env: ShoppingEnv, task: Task) -> int:
    env.reset(seed=0, options={"task": task.id})

    def respond(action: str) -> str | None:
        observation, _, terminated, _, _ = env.step(action)
        return None if terminated else observation

    return play(get_source("tau2-retail").oracle(task), respond)


def _finished(env: ShoppingEnv, task: Task) -> tuple[Task, dict, tuple]:
    _play(env, task)
    return task, env.final_state(), env.transcript


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--environments", type=int, default=1_000)
    arguments = parser.parse_args()
    generator.CATALOGUE_SIZES["medium"] = arguments.size
    source = get_source("shopping")
    ids = [source.address("test", i, "medium") for i in range(400)]
    chosen = {name: next(i for i in ids if f"/{name}/" in i) for name in
              ("exact", "dialogue_ask", "cancel")}  # fmt: skip
    steps(chosen["exact"], arguments.size)
    for task_id in chosen.values():
        forks(task_id)
    many(chosen["dialogue_ask"], arguments.environments)
    try:
        desk()
    except MissingData as missing:
        print(f"service desk: not run; {missing}")


if __name__ == "__main__":
    main()
