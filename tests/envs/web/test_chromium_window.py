"""Coordinates, screenshots and marks: what only a window has."""

import io
import json
import re

import numpy as np
import pytest
from PIL import Image

from hexathlon.envs.web.env import WebEnv
from hexathlon.tasks.registry import get_source
from support.chromium import skip_without_chromium

pytestmark = pytest.mark.browser
SOURCE = get_source("web")
TASKS = (SOURCE.address("train", index, "easy") for index in range(400))
TASK = next(task for task in TASKS if task.startswith("web/tracker"))


@pytest.fixture(scope="module")
def env():
    skip_without_chromium()
    env = WebEnv(backend="chromium", coordinates=True, screenshot=True, marks=True,
                 viewport=(800, 600), render_mode="rgb_array")  # fmt: skip
    yield env
    env.close()


def call(env: WebEnv, name: str, **arguments: object):
    return env.step(json.dumps({"name": name, "arguments": arguments}))[0]


def test_each_turn_shows_the_window(env):
    observation, info = env.reset(seed=1, options={"task": TASK})
    assert env.observation_space.contains(observation)
    assert observation["image"].shape == (600, 800, 3)
    assert observation["image"].std() > 5
    after = call(env, "noop")
    assert np.array_equal(env.render(), after["image"])
    assert "mouse_click" in {tool["name"] for tool in info["tools"]}


def test_marks_are_drawn_where_the_elements_are(env):
    env.reset(seed=1, options={"task": TASK})
    env.marks = False
    plain = env.frame()
    env.marks = True
    marked = env.frame()
    boxes = env.browser.boxes()
    assert boxes
    changed = (plain != marked).any(axis=2)
    assert 0 < changed.mean() < 0.5
    left, top, width, height = boxes[min(boxes)]
    around = changed[
        max(0, int(top) - 20) : int(top + height) + 3,
        max(0, int(left) - 3) : int(left + width) + 30,
    ]
    assert around.any()


def test_points_are_clicked_and_keys_typed(env):
    env.reset(seed=1, options={"task": TASK})
    fields = [
        box
        for number, box in env.browser.boxes().items()
        if env.browser._node(str(number)).get("type") in ("text", "search")
    ]
    left, top, width, height = fields[0]
    call(env, "mouse_click", x=left + width / 2, y=top + height / 2)
    call(env, "keyboard_type", text="abc")
    call(env, "keyboard_press", key="Backspace")
    observation = call(env, "keyboard_insert_text", text="审")
    assert 'value "ab审"' in observation["text"]
    assert "outside" in call(env, "mouse_click", x=900, y=10)["text"]
    assert "no key" in call(env, "keyboard_press", key="NoSuchKey")["text"]
    call(env, "mouse_move", x=5, y=5)
    call(env, "mouse_dblclick", x=5, y=5)
    call(env, "mouse_drag_and_drop", from_x=5, from_y=5, to_x=50, to_y=50)


def test_forks_have_the_tools_too(env):
    env.reset(seed=1, options={"task": TASK})
    (fork,) = env.fork(1)
    assert "outside" in call(fork, "mouse_click", x=900, y=10)["text"]
    assert fork.browser.view() == env.browser.view()
    fork.close()


def test_the_twin_says_that_it_has_no_window():
    for option in ("coordinates", "screenshot"):
        with pytest.raises(ValueError, match="backend='chromium'"):
            WebEnv(**{option: True})
    with pytest.raises(ValueError, match="screenshot=True"):
        WebEnv(backend="chromium", marks=True)


@pytest.mark.parametrize("far", ["NaN", "1e400", "-1e308", "9" * 400])
def test_no_distance_of_scrolling_breaks_the_browser(env, far):
    env.reset(seed=1, options={"task": TASK})
    text = f'{{"name": "scroll", "arguments": {{"delta_x": {far}, "delta_y": {far}}}}}'
    env.step(text)
    assert "Page:" in call(env, "noop")["text"]


def test_long_texts_are_inserted_not_typed(env):
    env.reset(seed=1, options={"task": TASK})
    assert "at most 500 characters" in call(env, "keyboard_type", text="x" * 501)["text"]
    assert "Page:" in call(env, "keyboard_insert_text", text="x" * 60_000)["text"]
    assert "Page:" in call(env, "keyboard_type", text="x" * 500)["text"]


def pixels(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


def test_the_quick_picture_is_that_of_playwright(env):
    env.reset(seed=1, options={"task": TASK})
    tab, call_on = env.browser._tab, env.browser._driver.call
    wanted = call_on(tab.page.screenshot(animations="disabled"))
    assert call_on(tab.run("steady"))
    assert np.array_equal(pixels(env.browser.screenshot()), pixels(wanted))


def test_a_field_is_drawn_without_its_caret(env):
    screen, _ = env.reset(seed=1, options={"task": TASK})
    bid = re.search(r"\[(\d+)\] textbox", screen["text"])[1]
    call(env, "focus", bid=bid)
    assert not env.browser._driver.call(env.browser._tab.run("steady"))
    pictures = [env.browser.screenshot() for _ in range(3)]
    assert all(np.array_equal(pixels(pictures[0]), pixels(each)) for each in pictures)
