"""Cheating shoppers and clerks stay at the floor; the slow tests play 500 tasks with each."""

from collections.abc import Iterator
from itertools import islice

import pytest

from hexathlon.envs.shopping.env import ShoppingEnv
from hexathlon.tasks.task import Task
from hexathlon.tasks.taskset import shared_taskset
from support.cheaters import CLERKS, SHOPPERS
from support.shop import played

FLOOR = 0.02


def tasks(world: str | None, step: int = 1) -> Iterator[Task]:
    """Tasks of the test split, of one world only or of all; environments use the same objects."""
    chosen = shared_taskset("shopping", "test", None, None)
    for index in range(0, len(chosen), step):
        task = chosen[index]
        if world is None or task.params["world"] == world:
            yield task


def shares(cheaters, chosen: list[Task]) -> dict[str, float]:
    """Return the success rate of each cheater."""
    env, won = ShoppingEnv(), dict.fromkeys(cheaters, 0.0)
    for task in chosen:
        for name, cheater in cheaters.items():
            won[name] += played(env, task.id, cheater(task))
    return {name: score / len(chosen) for name, score in won.items()}


def test_cheaters_rarely_succeed():
    # All of them together on a few tasks; the slow tests check each on five hundred.
    # With steps of three, all levels take turns, and so do both sides of pairs.
    found = shares(SHOPPERS, list(islice(tasks("store", step=3), 40)))
    assert sum(found.values()) / len(found) <= FLOOR, found


@pytest.mark.slow
def test_each_shopper_that_cheats_stays_at_the_floor_on_500_purchases():
    found = shares(SHOPPERS, list(islice(tasks("store"), 500)))
    assert max(found.values()) <= FLOOR, found


@pytest.mark.slow
def test_each_clerk_that_cheats_stays_at_the_floor_on_500_tasks():
    mixed = list(islice(tasks(None), 500))
    served = [task for task in mixed if task.params["world"] == "service"]
    # Tasks of other worlds count as unsolved, as in any run over the event.
    found = {n: s * len(served) / len(mixed) for n, s in shares(CLERKS, served).items()}
    assert max(found.values()) <= FLOOR, found
