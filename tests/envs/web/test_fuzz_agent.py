"""X28: an agent that tries everything at random earns nothing above the floor, and breaks nothing."""

import json
import re

import pytest

from hexathlon.baselines.harness.selftest import FLOOR
from hexathlon.envs.status import Status
from hexathlon.envs.web.env import WebEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.task import LEVELS
from hexathlon.tasks.web.world.sites.table import SITE_NAMES
from support.web_parity import random_walk

STATUSES = ("ACTION_NOT_ALLOWED_ERROR", "NOT_FOUND_ERROR", "PERMISSION_DENIED_ERROR")


def fuzz(task: str, steps: int):
    """A random walk that ends with a random report composed from the last page."""
    rng = generator_for("web fuzz", task)
    walk, screen = random_walk(task, steps), ""
    action = next(walk)
    try:
        while True:
            screen = yield action
            action = walk.send(screen)
    except StopIteration:
        pass
    words = re.findall(r"[\w#.,€:-]+", screen)
    count = int(rng.integers(1, 4))
    picked = [words[int(rng.integers(len(words)))] for _ in range(count)]
    ends = [
        ("finish", {"task_type": "MUTATE"}),
        ("finish", {"task_type": "RETRIEVE", "retrieved_data": picked}),
        ("report_infeasible", {"status": STATUSES[count - 1], "record": picked[0]}),
    ]
    name, arguments = ends[int(rng.integers(len(ends)))]
    yield json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)


def tasks_of(site: str):
    """An endless sequence of tasks of a site's own templates, level by level."""
    source = get_source("web")
    for index in range(100_000):
        level = LEVELS[index % len(LEVELS)]
        task = source.address("train", index // len(LEVELS), level)
        if task.startswith(f"web/{site}_"):
            yield task


def play(site: str, steps: int) -> tuple[int, float]:
    """Play for a number of steps; return the number of episodes and their mean reward."""
    env, taken, total, episodes = WebEnv(), 0, 0.0, 0
    for task in tasks_of(site):
        env.reset(seed=episodes, options={"task": task})
        script = fuzz(task, 24)
        action = next(script)
        while True:
            screen, reward, terminated, truncated, info = env.step(action)
            taken += 1
            assert info["status"] in {status.value for status in Status}
            assert not info["status"].startswith("error"), (task, action)
            if terminated or truncated:
                break
            action = script.send(screen)
        total, episodes = total + reward, episodes + 1
        if taken >= steps:
            break
    env.close()
    return episodes, total / episodes


@pytest.mark.parametrize("site", SITE_NAMES)
def test_a_few_episodes_earn_nothing(site):
    assert play(site, 60)[1] == 0.0


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("site", SITE_NAMES)
def test_ten_thousand_steps_earn_no_more_than_the_floor(site):
    episodes, mean = play(site, 10_000)
    assert episodes >= 300
    assert mean <= FLOOR
