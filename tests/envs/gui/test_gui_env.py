"""The environment: tools, reports, shifts, screenshots, forks, and errors that say what to do."""

import json

import numpy as np
import pytest
from PIL import Image

from hexathlon.envs.gui.contact_sheet import write_contact_sheet
from hexathlon.envs.gui.env import GUIEnv
from hexathlon.tasks.gui.world.apps.names import APP_NAMES
from hexathlon.tasks.gui.world.kit.looks import LOOKS
from hexathlon.tasks.gui.world.phone.core import ScreenState
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import play

SOURCE = get_source("gui")


def first(template, level="easy", split="test"):
    names = list(SOURCE.templates_of(level))
    return SOURCE.address(split, 2 * names.index(template), level)


def call(env, name, **arguments):
    return env.step(json.dumps({"name": name, "arguments": arguments}))


def opened(task_id, **settings):
    env = GUIEnv(**settings)
    env.reset(seed=1, options={"task": task_id})
    return env


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("click", {"index": 99}, "There is no element 99"),
        ("click", {}, "needs an index, or x and y"),
        ("click", {"x": 9999, "y": 0}, "not on the screen of 540 x 1200"),
        ("open_app", {"app_name": "Facebook"}, "There is no app 'Facebook'; the apps are"),
        ("input_text", {"text": "a"}, "tap one first"),
        ("scroll", {"direction": "sideways"}, "must be one of up, down, left, right"),
    ],
)
def test_actions_that_cannot_be_done_say_why(name, arguments, expected):
    env = opened(first("notes_delete"))
    observation, *_ = call(env, name, **arguments)
    assert observation.startswith("Error:") and expected in observation


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"backend": "iphone"}, "backend must be one of simulator, emulator, desktop"),
        ({"look": "plaid"}, "look must be one of pebble"),
        ({"theme": "grey"}, "theme must be 'light' or 'dark'"),
        ({"marks": True}, "screenshot=True"),
        ({"elements": False}, "screenshot=True"),
        ({"size": (10, 10)}, "size must be from"),
    ],
)
def test_wrong_settings_are_refused(settings, expected):
    with pytest.raises(ValueError, match=expected):
        GUIEnv(**settings)


def test_apps_open_by_the_title_on_the_launcher():
    env = opened(first("notes_delete"))
    assert "App: contacts" in call(env, "open_app", app_name="Contacts")[0]
    assert "App: messages" in call(env, "open_app", app_name="信息")[0]


def test_the_user_answers_a_question_about_the_missing_fact_and_nothing_else():
    env = opened(first("contacts_birthday", "medium"))
    nothing = call(env, "ask_user", question="Is it raining?")[0]
    assert "nothing to add" in nothing
    year = env.task.checks[0].params["changes"]["contacts.contacts"]["changed"][0][1]["birthday"][
        :4
    ]
    assert year in call(env, "ask_user", question="In which year? 哪一年?")[0]
    assert year not in env.task.instruction
    for _ in range(3):
        call(env, "ask_user", question="?")
    assert "does not reply" in call(env, "ask_user", question="year?")[0]


def test_a_shift_shows_one_request_after_the_other():
    task_id = first("notes_morning", "medium")
    env = opened(task_id)
    task = env.task
    texts = [each["text"] for each in task.params["requests"]]
    assert not any(text in env.transcript[0]["content"] for text in texts)
    seen = []

    def respond(action):
        observation, _, terminated, truncated, _ = env.step(action)
        seen.append(observation)
        return None if terminated or truncated else observation

    play(SOURCE.oracle(task), respond)
    assert [sum(text in each for each in seen) for text in texts] == [1] * 5
    verdict = env.verdict()
    assert verdict.score == 1 and verdict.partial == 1


def test_a_shift_gives_partial_credit_by_request():
    env = opened(first("notes_morning", "medium"))
    for _ in range(6):
        call(env, "status", goal_status="complete")
    assert env.verdict().score == 0 and env.verdict().partial == 0


def test_screenshots_have_the_size_of_the_screen_and_change_with_it():
    env = opened(first("notes_delete"), screenshot=True, size=(540, 1200), render_mode="rgb_array")
    one = env.render()
    observation, *_ = call(env, "open_app", app_name="notes")
    assert observation["image"].shape == (1200, 540, 3) and observation["image"].dtype == np.uint8
    assert (observation["image"] != one).any()
    again = opened(first("notes_delete"), screenshot=True)
    assert (call(again, "open_app", app_name="notes")[0]["image"] == observation["image"]).all()


def test_without_the_list_the_screen_is_an_image_only():
    env = opened(first("notes_delete"), screenshot=True, elements=False)
    assert "540 x 1200 pixels" in env.system_prompt and "numbers" not in env.system_prompt
    observation, *_ = call(env, "open_app", app_name="notes")
    assert observation["text"].splitlines() == [env.device.caption()]
    assert "give x and y" in call(env, "click", index=3)[0]["text"]
    bounds = next(each for each in env.device.elements() if each.text and each.clickable).bounds
    x, y = (bounds[0] + bounds[2]) // 2, (bounds[1] + bounds[3]) // 2
    after = call(env, "click", x=x, y=y)[0]["image"]
    assert (after != observation["image"]).any()
    marked = GUIEnv(screenshot=True, elements=False, marks=True)
    assert "outlined with their numbers" in marked.system_prompt


def test_marks_outline_what_can_be_touched():
    plain = opened(first("notes_delete"), screenshot=True)
    marks = opened(first("notes_delete"), screenshot=True, marks=True)
    assert (plain.frame() != marks.frame()).any()


def test_every_element_has_its_place_with_bounds():
    env = opened(first("notes_delete"), bounds=True)
    lines = call(env, "open_app", app_name="notes")[0].splitlines()[1:]
    assert lines and all(" at " in line for line in lines)


def test_taps_by_pixel_do_what_taps_by_index_do():
    one, two = (opened(first("notes_delete"), look="pebble") for _ in range(2))
    for env in (one, two):
        call(env, "open_app", app_name="notes")
    item = next(each for each in one.device.elements() if each.role == "item")
    x, y = item.bounds.center
    assert call(one, "click", index=item.index)[0] == call(two, "click", x=x, y=y)[0]


def test_an_answer_with_everything_on_the_screen_is_wrong():
    env = opened(first("contacts_read", "tiny"))
    names = "; ".join(each.name for each in env.device.elements())
    call(env, "answer", text=names)
    call(env, "status", goal_status="complete")
    assert env.verdict().score == 0


def test_the_expected_state_is_not_in_the_device():
    env = opened(first("contacts_birthday", "medium"))
    wanted = env.task.checks[0].params["changes"]["contacts.contacts"]["changed"][0][1]["birthday"]
    assert wanted not in json.dumps([str(env.device.save()[0]), env.final_state()])


def test_a_contact_sheet_shows_the_phone_and_each_app(tmp_path):
    path = tmp_path / "sheet.png"
    count = write_contact_sheet(path, ["notes"], most=3)
    with Image.open(path) as sheet:
        assert count == len(LOOKS) + 3
        assert sheet.height > 2 * 600 and sheet.width > 8 * 270


@pytest.mark.parametrize(
    ("typed", "kept"),
    [("\\ud800x", "x"), ("\\u0000a\\u001b[31m", "a[31m"), ("\\u202eabc", "abc"),
     ("a\\r\\nb\\tc", "a b c"), ("中文 😀", "中文 😀")],
)  # fmt: skip
def test_characters_that_no_keyboard_types_are_left_out(typed, kept):
    env = opened(first("contacts_add"), screenshot=True)
    call(env, "open_app", app_name="contacts")
    env.device.phone.core.push(ScreenState("contacts", "edit"))
    env.device.phone.refresh()
    field = next(each for each in env.device.elements() if each.role == "textbox")
    action = '{"name": "input_text", "arguments": {"index": %d, "text": "%s"}}'
    env.step(action % (field.index, typed))
    assert env.device.phone.core.top.values["name"] == kept


def test_random_touches_neither_crash_the_phone_nor_finish_a_task():
    rng = np.random.default_rng(4)
    env = opened(first("notes_delete"), limits={"turns": 2_000})
    for _ in range(600):
        x, y, x2, y2 = (int(rng.integers(540 if k % 2 == 0 else 1200)) for k in range(4))
        kind = ("click", "click", "click", "long_press", "swipe", "input_text")[
            int(rng.integers(6))
        ]
        where = {"x": x, "y": y}
        if kind == "swipe":
            where |= {"direction": "up", "x2": x2, "y2": y2}
        call(env, kind, **({"text": "ab 1"} if kind == "input_text" else where))
        if rng.random() < 0.03:
            call(env, "open_app", app_name=APP_NAMES[int(rng.integers(len(APP_NAMES)))])
    call(env, "status", goal_status="complete")
    assert env.verdict().score == 0
