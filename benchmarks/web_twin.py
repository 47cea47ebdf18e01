"""Speed of the web event's twin: steps over oracle and random episodes, forks, and phases.

    python benchmarks/web_twin.py [--tasks 60] [--level hard] [--profile]

CPU seconds of this process are counted (`process_time`), so that figures hold on a busy machine.
Building tasks and resetting are not part of a step. Phases are measured in a separate run, which
the timers slow down; each excludes the phases nested in it.
"""

import argparse
import contextlib
import cProfile
import json
import pstats
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hexathlon.envs.web import env as web_env
from hexathlon.envs.web.env import WebEnv
from hexathlon.envs.web.twin import tab, twin
from hexathlon.tasks.errors import GenerationExhausted
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import play
from hexathlon.tasks.task import LEVELS
from hexathlon.tasks.web.world import network, site

Episode = tuple[str, tuple[str, ...]]
"""A task's id and the actions of an episode."""

RANDOM_ACTIONS = 25


def is_drawn(task_id: str) -> bool:
    """Return whether the task can be built; print the reason if not."""
    try:
        get_source("web").build(task_id)
    except GenerationExhausted as error:
        print(f"left out: {error}")
        return False
    return True


def oracle_episodes(ids: Sequence[str]) -> list[Episode]:
    """Return the oracle's actions."""
    env, source, episodes = WebEnv(), get_source("web"), []
    for task_id in ids:
        env.reset(seed=0, options={"task": task_id})
        actions: list[str] = []

        def respond(action: str, actions: list[str] = actions) -> str | None:
            actions.append(action)
            observation, _, terminated, truncated, _ = env.step(action)
            return None if terminated or truncated else str(observation)

        play(source.oracle(env.task), respond)
        episodes.append((task_id, tuple(actions)))
    return episodes


def random_episodes(ids: Sequence[str]) -> list[Episode]:
    """Return random clicks and inputs on whatever is shown."""
    env, episodes = WebEnv(limits={"turns": 10_000}), []
    for task_id in ids:
        rng = generator_for("web speed", task_id)
        screen, _ = env.reset(seed=0, options={"task": task_id})
        actions: list[str] = []
        for _ in range(RANDOM_ACTIONS):
            found = re.findall(r"\[(\d+)\] (link|button|checkbox|radio|textbox)", str(screen))
            if not found:
                break
            bid, role = found[int(rng.integers(len(found)))]
            call: dict[str, Any] = {"name": "click", "arguments": {"bid": bid}}
            if role == "textbox":
                call = {"name": "fill", "arguments": {"bid": bid, "text": "an"}}
            actions.append(json.dumps(call))
            screen = env.step(actions[-1])[0]
        episodes.append((task_id, tuple(actions)))
    return episodes


def replayed(
    episodes: Sequence[Episode], around: Callable[[], Any] = contextlib.nullcontext
) -> tuple[float, int]:
    """Return CPU seconds of all steps, and their number; `around` makes a context for steps."""
    env, spent, steps = WebEnv(limits={"turns": 10_000}), 0.0, 0
    for task_id, actions in episodes:
        env.reset(seed=0, options={"task": task_id})
        with around():
            start = time.process_time()
            for action in actions:
                env.step(action)
            spent += time.process_time() - start
        steps += len(actions)
    return spent, steps


def forks(ids: Sequence[str]) -> tuple[float, float]:
    """Return CPU milliseconds of a fork: alone, and up to the end of its first action."""
    spent, acted, count = 0.0, 0.0, 0
    env = WebEnv()
    for task_id in ids:
        env.reset(seed=0, options={"task": task_id})
        env.step(json.dumps({"name": "noop", "arguments": {}}))
        env.fork(1)
        start = time.process_time()
        clones = [env.fork(1)[0] for _ in range(20)]
        middle = time.process_time()
        for clone in clones:
            clone.step(json.dumps({"name": "goto", "arguments": {"url": env.network.start_url}}))
        acted += time.process_time() - middle
        spent += middle - start
        count += 20
        for clone in clones:
            clone.close()
    return 1_000 * spent / count, 1_000 * acted / count


def phases(episodes: Sequence[Episode]) -> dict[str, float]:
    """Return CPU seconds by phase, without nested phases."""
    totals: dict[str, float] = defaultdict(float)
    stack: list[float] = []

    def clocked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            stack.append(0.0)
            start = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                spent = time.process_time() - start
                totals[name] += spent - stack.pop()
                if stack:
                    stack[-1] += spent

        return run

    places = (
        (network.Network, "handle", "handlers and queries"),
        (site, "render", "templates"),
        (twin, "parse_page", "parsing"),
        (tab, "describe", "descriptions"),
        (web_env.WebEnv, "final_state", "differences"),
    )

    @contextlib.contextmanager
    def clocks() -> Iterator[None]:
        originals = [getattr(holder, name) for holder, name, _ in places]
        for (holder, name, label), original in zip(places, originals, strict=True):
            setattr(holder, name, clocked(label, original))
        yield
        for (holder, name, _), original in zip(places, originals, strict=True):
            setattr(holder, name, original)

    spent, _ = replayed(episodes, clocks)
    totals["everything else"] = spent - sum(totals.values())
    return dict(totals)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=60, help="tasks per level")
    parser.add_argument("--level", choices=LEVELS, help="one level only")
    parser.add_argument("--profile", action="store_true", help="print the costliest functions")
    args = parser.parse_args()
    source = get_source("web")
    whole = spent = 0.0
    everything: list[Episode] = []
    for level in (args.level,) if args.level else LEVELS:
        ids = [source.address("train", index, level) for index in range(args.tasks)]
        ids = [task_id for task_id in ids if is_drawn(task_id)]
        oracle = oracle_episodes(ids)
        everything += oracle
        for name, episodes in (("oracle", oracle), ("random", random_episodes(ids))):
            seconds, steps = min(replayed(episodes) for _ in range(2))
            if name == "oracle":
                whole, spent = whole + steps, spent + seconds
            print(f"{level:<8} {name:<8} {steps:>6} steps  {steps / seconds:>8,.0f} steps/s")
        fork, acting = forks(ids[:10])
        print(f"{level:<8} fork     {fork:.3f} ms; its first page {acting:.3f} ms")
    print(f"all      oracle   {whole:>6.0f} steps  {whole / spent:>8,.0f} steps/s  target >= 1,000")
    for name, seconds in sorted(phases(everything).items(), key=lambda item: -item[1]):
        print(f"  {name:<24} {1e6 * seconds / whole:>8.0f} µs per step")
    if args.profile:
        profile = cProfile.Profile()
        replayed(everything, lambda: profile)
        pstats.Stats(profile).sort_stats("tottime").print_stats(45)


if __name__ == "__main__":
    main()
