"""The smallest tasks: their scripts, their brief pages and their thoughts."""

import re

import pytest

from hexathlon.envs.web.env import WebEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import play
from hexathlon.tasks.web.templates.first_steps import TEMPLATES
from hexathlon.tasks.web.world.looks import LOOKS
from support.chromium import skip_without_chromium
from support.web_pages import check_scripts, task_ids
from support.web_parity import differences, oracle_of

NAMES = [template.name for template in TEMPLATES]
SOURCE = get_source("web")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("split", ["train", "dev"])
def test_scripts(name, split):
    for task_id in task_ids(name, "tiny", split, count=6):
        check_scripts(task_id)


@pytest.mark.parametrize("look", list(LOOKS))
@pytest.mark.parametrize("name", NAMES)
def test_thoughts_quote_the_screen_and_lead_to_the_element_that_the_oracle_uses(name, look):
    (task_id,) = task_ids(name, "tiny", count=1)
    task = SOURCE.build(task_id)
    env = WebEnv(look=look)
    screen, _ = env.reset(seed=1, options={"task": task_id})
    seen = [screen]
    quoted = 0

    def respond(action: str) -> str:
        nonlocal quoted
        thought = SOURCE.thought(task, seen, action)
        assert thought in seen[-1]
        bid = re.search(r'"bid": "(\d+)"', action)
        if bid:
            assert thought.endswith(f"[{bid[1]}]"), (thought, action)
        if "retrieved_data" in action:
            assert thought.partition(": ")[2].split(" (")[0] in action
        quoted += bool(thought)
        seen.append(env.step(action)[0])
        return seen[-1]

    play(SOURCE.oracle(task), respond)
    env.close()
    assert quoted >= 2


@pytest.mark.parametrize("name", NAMES)
def test_dev_tasks_suffice_for_an_evaluation(name):
    size = SOURCE.size("dev", "tiny")
    ids = (SOURCE.address("dev", index, "tiny") for index in range(size))
    assert sum(task_id.startswith(f"web/{name}/") for task_id in ids) >= 100


def test_pages_are_brief():
    (task_id,) = task_ids("maps_take_out", "tiny", count=1)
    env = WebEnv(look="harbour")
    screen, _ = env.reset(seed=1, options={"task": task_id})
    full = env.browser.view().text
    env.close()
    assert 'navigation "Menu"' in full and "password" not in screen
    assert "navigation" not in screen and "Sign out" not in screen
    numbers = re.findall(r'(link|button) "([^"]*)" \[(\d+)\]', screen)
    assert len(numbers) >= 6
    assert all(f'[{bid}] {role} "{text}"' in full for role, text, bid in numbers)


@pytest.mark.browser
@pytest.mark.parametrize("name", NAMES)
def test_twin_and_browser_show_the_same(name):
    skip_without_chromium()
    twin, browser = WebEnv(), WebEnv(backend="chromium")
    try:
        for look, task_id in enumerate(task_ids(name, "tiny", "dev", count=2)):
            assert not list(differences(twin, browser, task_id, oracle_of(task_id), look))
    finally:
        twin.close()
        browser.close()
