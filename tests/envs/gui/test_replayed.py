"""Replay of recorded sessions: matching, the patch rule, step rewards, UI-S1's metric."""

import json

import pytest

from hexathlon.envs.gui.replayed import ReplayedGuiEnv
from hexathlon.envs.testing import assert_conforms
from hexathlon.evaluators.gui.replay import semi_online_performance
from hexathlon.tasks.errors import MissingData, UnknownTask
from hexathlon.tasks.gui.loaders.recorded import RecordedSource
from hexathlon.tasks.gui.loaders.recorded_actions import RecordedAction, RecordedStep, matches
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.tool_calls import tool_call
from support.recordings import scrolling, shopping_note, write_recordings

RIGHT = [
    tool_call("open_app", app_name="notes"),
    tool_call("click", index=1),
    tool_call("input_text", text="milk"),
    tool_call("click", x=35, y=55),
    tool_call("status", goal_status="complete"),
]
WRONG = tool_call("navigate_home")


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("HEXATHLON_DATA", str(tmp_path))
    return write_recordings(tmp_path / "gui_replay")


def play(actions, **kwargs):
    env = ReplayedGuiEnv(**kwargs)
    observation, _ = env.reset(seed=0, options={"task": NOTE})
    rows = []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        rows.append((observation, reward, terminated or truncated, info))
    return env, rows


NOTE = "gui-replay/trajectory/medium/train/00000"


def test_the_experts_actions_match_step_by_step(data):
    env, rows = play(RIGHT)
    assert [reward for _, reward, *_ in rows] == pytest.approx([0.2] * 5)
    assert [ended for *_, ended, _ in rows] == [False] * 4 + [True]
    verdict = env.verdict()
    assert verdict.score == 1.0
    assert verdict.terms == {"kind": 1.0, "progress": 1.0, "success": 1.0}


def test_a_mismatch_is_patched_and_earns_nothing(data):
    env, rows = play([RIGHT[0], WRONG, *RIGHT[2:]])
    observation, reward, ended, _ = rows[1]
    assert '"x": 480, "y": 1120' in observation and reward == 0.0 and not ended
    assert env.verdict().score == pytest.approx(0.8)
    assert env.verdict().terms == {"kind": 0.8, "progress": 0.2, "success": 0.0}


def test_the_third_mismatch_ends_the_episode(data):
    env, rows = play([WRONG, WRONG, WRONG])
    assert [ended for *_, ended, _ in rows] == [False, False, True]
    assert rows[-1][3]["status"] == "completed" and env.verdict().score == 0.0
    _, rows = play([WRONG], patches=0)
    assert rows[0][2]


@pytest.mark.parametrize(
    "action", ["I tap the button.", tool_call("fly"), tool_call("click", where="there"), "{"]
)
def test_a_turn_without_a_valid_action_is_a_mismatch(data, action):
    env, rows = play([action])
    assert "The recording goes on with another action" in rows[0][0]
    assert rows[0][3]["tool_errors"] == 1
    assert env.final_state() == {"matches": [[False, False]]}


def test_only_the_first_action_of_a_turn_counts(data):
    both = "[" + ", ".join(RIGHT[:2]) + "]"
    env, rows = play([both])
    assert env.final_state() == {"matches": [[True, True]]}
    assert "this call was not run" in rows[0][0]


def test_screens_are_shown_as_elements_and_as_images(data):
    env = ReplayedGuiEnv(screenshot=True, action_format="message")
    (opening,), _ = env.reset(seed=0, options={"task": NOTE})
    assert "540 x 1200 pixels" in opening["content"][0].text
    assert opening["content"][1].array()[0, 0].tolist() == [200, 10, 10]
    _, rows = play(RIGHT[:1])
    assert "[0] row 'Shopping' at 20,100 to 520,180\n[1] button '' at 440,1080" in rows[0][0]


def test_a_missing_screenshot_is_named(data):
    (data / "images" / "1_0.png").unlink()
    env = ReplayedGuiEnv(screenshot=True)
    with pytest.raises(MissingData, match="no screenshot 'images/1_0.png'"):
        env.reset(seed=0, options={"task": NOTE})


def test_the_goal_is_all_that_the_agent_sees_of_the_recording(data):
    env = ReplayedGuiEnv()
    observation, info = env.reset(seed=0, options={"task": NOTE})
    assert observation.startswith("Write down milk in Notes.")
    assert "480" not in observation and "480" not in json.dumps(info["tools"])


ONE_COURSE = ("floor", "alternatives_score_one", "splits_apart")
"""Checks that recordings cannot pass: every step scores on its own, only one path is recorded, and
the splits of these tests contain the same sessions.
"""


def test_the_environment_conforms(data):
    assert_conforms("replay/GUIReplay-v0", fuzz=20, tasks=2, sample=4, skip=ONE_COURSE)


def expert(action, boxes=(), **more):
    return RecordedStep(
        screenshot="", size=(1000, 2000), expert=RecordedAction(action=action, **more),
        boxes=tuple(boxes),
    )  # fmt: skip


BOX = (100.0, 100.0, 200.0, 200.0)
CLICK = expert("click", [BOX], coordinate=(150, 150))
CASES = [
    (CLICK, "click", {"x": 91, "y": 150}, (True, True)),  # outside the box by a tenth of its size
    (CLICK, "click", {"x": 89, "y": 89}, (True, False)),
    (CLICK, "long_press", {"x": 150, "y": 150}, (False, False)),
    (CLICK, "click", {"index": 3}, (True, False)),
    (CLICK, "click", {}, (True, False)),
    (expert("click", coordinate=(500, 500)), "click", {"x": 539, "y": 500}, (True, True)),
    (expert("click", coordinate=(500, 500)), "click", {"x": 541, "y": 500}, (True, False)),
    (expert("click", coordinate=(500, 500)), "click", {"x": 500, "y": 579}, (True, True)),
    (expert("type", text="Milk "), "input_text", {"text": "milk"}, (True, True)),
    (expert("type", text="milk"), "input_text", {"text": ""}, (True, False)),
    (expert("type", text=""), "input_text", {"text": ""}, (True, True)),
    (expert("open", text="Zoho Meeting"), "open_app", {"app_name": "zoho"}, (True, True)),
    (expert("open", text="Zoho"), "open_app", {"app_name": "Mail"}, (True, False)),
    (expert("open", [BOX], text="Zoho"), "click", {"x": 150, "y": 150}, (True, True)),
    (expert("open", text="Zoho"), "click", {"x": 150, "y": 150}, (False, False)),
    (expert("swipe", direction="up"), "scroll", {"direction": "left"}, (True, True)),
    (expert("swipe", direction="up"), "click", {"x": 1, "y": 1}, (False, False)),
    (expert("system_button", button="Back"), "navigate_back", {}, (True, True)),
    (expert("system_button", button="Home"), "navigate_back", {}, (False, False)),
    (expert("wait", time=2), "wait", {}, (True, True)),
    (expert("terminate", status="failure"), "status", {"goal_status": "infeasible"}, (True, True)),
    (expert("terminate"), "status", {"goal_status": "infeasible"}, (True, False)),
    (expert("answer", text="7 pm"), "answer", {"text": "It is 7 PM."}, (True, True)),
]


@pytest.mark.parametrize(("step", "name", "arguments", "match"), CASES)
def test_matching(step, name, arguments, match):
    assert matches(step, name, arguments) == match


def test_the_oracle_is_right_on_every_recording(data):
    source = RecordedSource(data)
    assert source.size("train") == 8 and source.size("train", "easy") == 4
    for index in range(8):
        task = source.build(source.address("train", index))
        env = ReplayedGuiEnv()
        env.reset(seed=0, options={"task": task.id})
        rewards = [env.step(action)[1] for action in source.oracle(task)]
        assert sum(rewards) == pytest.approx(1.0) and env.verdict().terms["success"] == 1.0


def test_published_lines_are_read(data):
    source = RecordedSource(data)
    recording = source.recordings("test")[1]
    assert [step.expert.action for step in recording.steps] == [
        "swipe",
        "system_button",
        "long_press",
    ]
    note = source.recordings("test")[0]
    assert note.steps[3].boxes == ((10.0, 40.0, 70.0, 80.0),)
    with pytest.raises(UnknownTask, match="no such trajectory"):
        source.build("gui-replay/trajectory/hard/train/00000")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"steps": []}, "at least one step"),
        ({"steps": [{"screenshot": ""}]}, "action_content"),
        ({"steps": [{"action_content": {"action": "fly"}}]}, "action"),
        ({"steps": [{"action_content": {"action": "wait", "speed": 1}}]}, "fields \\['speed'\\]"),
        ({"steps": [{"action_content": {"action": "wait"}, "hue": 1}]}, "fields \\['hue'\\]"),
    ],
)  # fmt: skip
def test_a_line_that_is_not_a_trajectory_is_named(tmp_path, change, problem):
    lines = [json.dumps(shopping_note()), json.dumps({**scrolling(), **change})]
    (tmp_path / "dev.jsonl").write_text("\n".join(lines), "utf-8")
    with pytest.raises(MissingData, match=f"dev.jsonl, line 2: .*{problem}"):
        RecordedSource(tmp_path).recordings("dev")


def test_the_metric_is_the_mean_of_progress_and_success():
    rows = [{"progress": 1.0, "success": 1.0}, {"progress": 0.25, "success": 0.0}]
    result = semi_online_performance(rows)
    assert (result.progress, result.success, result.score) == (0.625, 0.5, 0.5625)
    with pytest.raises(ValueError, match="at least one trajectory"):
        semi_online_performance([])


def test_the_source_is_found_by_its_name(data):
    assert get_source("gui-replay").size("dev") == 8
