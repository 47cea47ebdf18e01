"""The twin and Chromium agree at every step: text, tabs, URLs, final state and reward."""

from collections.abc import Callable

import pytest

from hexathlon.envs.web.env import WebEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import LEVELS
from hexathlon.tasks.web.templates.shifts.templates import TEMPLATES as SHIFTS
from hexathlon.tasks.web.templates.table import templates_of
from support.chromium import skip_without_chromium
from support.web_pages import task_ids
from support.web_parity import differences, oracle_of, random_walk

pytestmark = pytest.mark.browser

SITES = sorted({name.partition("_")[0] for level in LEVELS for name in templates_of(level)})


@pytest.fixture(scope="module")
def pair():
    skip_without_chromium()
    twin, browser = WebEnv(), WebEnv(backend="chromium")
    yield twin, browser
    twin.close()
    browser.close()


def check(pair, task: str, look: int, *, at_random: bool, actions: int = 999) -> None:
    make = (lambda: random_walk(task, 12)) if at_random else beginning(oracle_of(task), actions)
    for difference in differences(*pair, task, make, look=look):
        pytest.fail(f"{task}: {difference[:3_000]}", pytrace=False)


def beginning(make: Callable[[], Script], actions: int) -> Callable[[], Script]:
    """Cut a script off after some actions."""

    def cut() -> Script:
        script, observation = make(), None
        for _ in range(actions):
            try:
                action = script.send(observation) if observation is not None else next(script)
            except StopIteration:
                return
            observation = yield action

    return cut


def first_task_of(site: str) -> str:
    source = get_source("web")
    addresses = (
        source.address("dev", index, level)
        for level in ("easy", "medium", "hard")
        for index in range(400)
    )
    return next(task for task in addresses if task.startswith(f"web/{site}"))


@pytest.mark.parametrize("look", range(6))
def test_oracles(pair, look):
    site = SITES[look % len(SITES)]
    check(pair, first_task_of(site), look, at_random=False)


@pytest.mark.parametrize("look", range(6))
def test_random_walks(pair, look):
    site = SITES[(look + 3) % len(SITES)]
    check(pair, first_task_of(site), look + 6, at_random=True)


def test_the_first_requests_of_a_shift(pair):
    task = task_ids("shift_moving", "hard", "dev", count=1)[0]
    check(pair, task, 3, at_random=False, actions=30)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("place", range(len(SHIFTS)))
def test_shifts(pair, place):
    task = task_ids(SHIFTS[place].name, "hard", "dev", count=1)[0]
    check(pair, task, place, at_random=False)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_three_hundred_trajectories(pair):
    source = get_source("web")
    for index in range(160):
        level = LEVELS[index % len(LEVELS)]
        task = source.address("test", index // len(LEVELS), level)
        check(pair, task, index, at_random=False)
        check(pair, task, index, at_random=True)
