"""Shoppers and clerks that cheat stay at the floor; five hundred tasks each in the slow run."""

from collections.abc import Iterator
from itertools import islice

import pytest

from hexathlon.envs.shopping.env import ShoppingEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.task import Task
from support.cheaters import CLERKS, SHOPPERS
from support.shop import played

SOURCE = get_source("shopping")
FLOOR = 0.02


def tasks(world: str | None) -> Iterator[Task]:
    """Tasks of the test split, of one world only or as they come."""
    for index in range(SOURCE.size("test") or 0):
        task = SOURCE.build(SOURCE.address("test", index))
        if world is None or task.params["world"] == world:
            yield task


def share(cheater, chosen: list[Task]) -> float:
    env = ShoppingEnv()
    return sum(played(env, task.id, cheater(task)) for task in chosen) / len(chosen)


def test_cheating_hardly_ever_pays():
    # All of them together on a few tasks; the slow run tells of each on five hundred.
    few = list(islice(tasks("store"), 0, 120, 3))
    shares = {name: share(cheater, few) for name, cheater in SHOPPERS.items()}
    assert sum(shares.values()) / len(shares) <= FLOOR, shares


@pytest.fixture(scope="module")
def purchases() -> list[Task]:
    return list(islice(tasks("store"), 500))


@pytest.fixture(scope="module")
def mixed() -> list[Task]:
    return list(islice(tasks(None), 500))


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOPPERS)
def test_shoppers_that_cheat_stay_at_the_floor(purchases, name):
    assert share(SHOPPERS[name], purchases) <= FLOOR


@pytest.mark.slow
@pytest.mark.parametrize("name", CLERKS)
def test_clerks_that_cheat_stay_at_the_floor(mixed, name):
    # What is not theirs counts as not solved, as it does in any run over the event.
    served = [task for task in mixed if task.params["world"] == "service"]
    assert share(CLERKS[name], served) * len(served) / len(mixed) <= FLOOR
