"""android-env's own interface reaches the same phone, with the same states."""

import json

import gymnasium
import numpy as np
import pytest

from hexathlon.envs.gui.env import GUIEnv
from hexathlon.envs.gui.screen_text import screen_text
from hexathlon.evaluators.verifier import verify
from hexathlon.tasks.gui.world.system.touch import LONG_PRESS_FRAMES, TouchPad
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import play

android = pytest.importorskip("hexathlon.envs.gui.android")
action_type = pytest.importorskip("android_env.components.action_type").ActionType
protos = pytest.importorskip("android_env.proto.adb_pb2")
errors = pytest.importorskip("android_env.components.errors")
states = pytest.importorskip("android_env.proto.state_pb2")

SOURCE = get_source("gui")
SEED = 5


def task_of(template, level, split="test"):
    names = list(SOURCE.templates_of(level))
    return SOURCE.build(SOURCE.address(split, 2 * names.index(template), level))


def touch(env, kind, x, y):
    width, height = 540, 1200
    position = np.array([(x + 0.5) / width, (y + 0.5) / height], np.float32)
    action = {name: spec.generate_value() for name, spec in env.action_spec().items()}
    action |= {"action_type": np.array(kind), "touch_position": position}
    return env.step(action)


def tap(env, x, y):
    touch(env, action_type.TOUCH, x, y)
    return touch(env, action_type.LIFT, x, y)


def adb(env, **command):
    response = env.execute_adb_call(protos.AdbRequest(**command))
    assert response.status == protos.AdbResponse.Status.OK, response.error_message
    return response


def type_text(env, phone, text, clear):
    """Type into the focused field: keys of the keyboard by touch, other characters through adb."""
    value = next(node.value for node in phone.nodes() if node.focused)
    keys = {node.text: node for node in phone.scene.nodes if node.role == "key"}
    for _ in value if clear else "":
        tap(env, *middle(keys["erase"]))
    if text.isascii() and text.islower() and text.isalpha():
        if "q" not in keys:
            tap(env, *middle(keys["symbols"]))
            keys = {node.text: node for node in phone.scene.nodes if node.role == "key"}
        for char in text:
            tap(env, *middle(keys[char]))
    elif text:
        adb(env, input_text={"text": text})


def middle(node):
    return (node.left + node.right) // 2, (node.top + node.bottom) // 2


def act_by_touch(env, phone, call):
    """Perform a tool call through android-env: touches, and adb for text and apps."""
    name, arguments = call["name"], call["arguments"]
    if name in ("click", "input_text", "long_press"):
        if "index" in arguments:
            x, y = middle(phone.nodes()[arguments["index"]])
            if name == "long_press":
                for _ in range(LONG_PRESS_FRAMES):
                    touch(env, action_type.TOUCH, x, y)
                touch(env, action_type.LIFT, x, y)
            else:
                tap(env, x, y)
        if name == "input_text":
            type_text(env, phone, arguments["text"], arguments.get("clear_text"))
    elif name == "keyboard_enter":
        keys = [node for node in phone.scene.nodes if node.role == "key"]
        tap(env, *middle(next(node for node in keys if node.on.name == "enter")))
    elif name == "open_app":
        activity = f"test.hexathlon.{arguments['app_name']}/.home"
        adb(env, start_activity={"full_activity": activity})
    elif name == "navigate_back":
        adb(env, press_button={"button": protos.AdbRequest.PressButton.Button.BACK})
    elif name == "scroll":
        area = phone.scene.areas[-1].bounds
        reach = (area.bottom - area.top) * 4 // 5
        # Not at the bottom edge, where a swipe goes home.
        low, high = area.bottom - 40, area.bottom - 40 - reach
        y0, y1 = (low, high) if arguments["direction"] == "down" else (high, low)
        touch(env, action_type.TOUCH, area.left + 5, y0)
        touch(env, action_type.TOUCH, area.left + 5, y1)
        touch(env, action_type.LIFT, area.left + 5, y1)


def changes_without_time(changes):
    """Changed rows without columns that contain a time."""
    text = json.dumps(changes, sort_keys=True, ensure_ascii=False)
    rows = json.loads(text)
    for table in rows.values():
        for kind in table.values():
            for row in kind:
                for each in row if isinstance(row, list) else [row]:
                    each.pop("time", None)
                    each.pop("changed", None)
    return rows


@pytest.mark.parametrize(
    ("template", "level"),
    [("notes_delete", "easy"), ("contacts_add", "easy"), ("messages_send", "easy"),
     ("settings_quiet", "easy"), ("notes_title", "tiny")],
)  # fmt: skip
def test_an_episode_by_raw_touches_gives_the_same_rows(template, level):
    task = task_of(template, level)
    wanted, _ = by_elements(task)
    device = by_touches(task)
    assert changes_without_time(device["changes"]) == changes_without_time(wanted["changes"])
    assert device["look"] == wanted["look"]


@pytest.mark.slow
def test_the_oracle_solves_many_tasks_by_raw_touches():
    solved = 0
    for index in range(220):
        task = SOURCE.build(SOURCE.address("test", index))
        if "requests" in task.params:
            continue
        _, reports = by_elements(task)
        verdict = verify(task, {**by_touches(task), "reports": reports}, ())
        assert verdict.score == 1, (task.id, verdict.terms, verdict.evidence)
        solved += 1
    assert solved >= 150


def by_elements(task):
    """Final state and reports of the oracle's episode in the gymnasium environment."""
    plain = gymnasium.make("hexathlon/GUI-v0")
    plain.reset(seed=SEED, options={"task": task.id})

    def respond(action):
        observation, _, terminated, truncated, _ = plain.step(action)
        return None if terminated or truncated else observation

    play(SOURCE.oracle(task), respond)
    assert plain.verdict().score == 1
    return plain.device.final_state(), plain.final_state()["reports"]


def by_touches(task):
    """Final state of the oracle's episode through android-env.

    The oracle reads the list of elements; all its actions go through touches, keys and adb.
    """
    env = android.make_android_env(task, SEED)
    facts = task.params.get("facts", ())
    try:
        env.reset()
        simulator = env._simulator

        def screen():
            device = simulator.device
            return screen_text(device.elements(), device.caption(),
                               brief=task.params.get("view") == "brief")  # fmt: skip

        def respond(action):
            call = json.loads(action)
            if call["name"] == "status":
                return None
            if call["name"] == "ask_user":
                return f"The user: {facts[0]['text']}"
            if call["name"] not in ("answer", "wait"):
                act_by_touch(env, simulator.phone, call)
            return screen()

        play(SOURCE.oracle(task), respond)
        state = simulator.device.final_state()
    finally:
        env.close()
    return state


def test_the_same_episode_through_the_vector_environment_gives_the_same_screens():
    task = task_of("notes_delete", "easy")
    calls = [
        {"name": "open_app", "arguments": {"app_name": "notes"}},
        {"name": "scroll", "arguments": {"direction": "down"}},
        {"name": "navigate_home", "arguments": {}},
    ]
    plain = GUIEnv()
    one = [plain.reset(seed=SEED, options={"task": task.id})[0]]
    vector = gymnasium.make_vec("hexathlon/GUI-v0", num_envs=2)
    try:
        many = [vector.reset(seed=[SEED, SEED], options={"task": task.id})[0]]
        for call in calls:
            action = json.dumps(call)
            one.append(plain.step(action)[0])
            many.append(vector.step([action, action])[0])
    finally:
        vector.close()
    for single, pair in zip(one, many, strict=True):
        assert list(pair) == [single, single]


def test_specs_screenshots_and_a_reset_that_puts_everything_back():
    task = task_of("notes_delete", "easy")
    env = android.make_android_env(task, SEED)
    try:
        first = env.reset().observation["pixels"]
        assert env.observation_spec()["pixels"].shape == first.shape == (1200, 540, 3)
        adb(env, start_activity={"full_activity": "test.hexathlon.notes/.home"})
        assert (touch(env, action_type.LIFT, 1, 1).observation["pixels"] != first).any()
        assert (env.reset().observation["pixels"] == first).all()
        plain = GUIEnv(screenshot=True)
        plain.reset(seed=SEED, options={"task": task.id})
        assert (plain.device.pixels() == first).all()
    finally:
        env.close()


def test_states_are_saved_and_loaded_by_name():
    env = android.make_android_env(task_of("notes_delete", "easy"), SEED)
    try:
        env.reset()
        adb(env, start_activity={"full_activity": "test.hexathlon.notes/.home"})
        elements = env._simulator.device.elements()
        assert env.save_state(states.SaveStateRequest(args={"name": "notes"})).status == 1
        adb(env, press_button={"button": protos.AdbRequest.PressButton.Button.HOME})
        assert env._simulator.device.elements() != elements
        assert env.load_state(states.LoadStateRequest(args={"name": "notes"})).status == 1
        assert env._simulator.device.elements() == elements
        missing = env.load_state(states.LoadStateRequest(args={"name": "other"}))
        assert "no saved state 'other'; saved: notes" in missing.error_message
    finally:
        env.close()


def test_adb_answers_what_android_env_asks():
    env = android.make_android_env(task_of("notes_delete", "easy"), SEED)
    try:
        env.reset()
        adb(env, start_activity={"full_activity": "test.hexathlon.contacts/.home"})
        current = adb(env, get_current_activity={}).get_current_activity.full_activity
        assert current == "test.hexathlon.contacts/.home"
        assert adb(env, get_orientation={}).get_orientation.orientation == 0
        packages = adb(env, package_manager={"list": {"packages": {}}})
        assert "test.hexathlon.notes" in packages.package_manager.list.items
        put = {"name_space": 1, "put": {"key": "screen_brightness", "value": "70"}}
        adb(env, settings=put)
        assert env._simulator.phone.core.table("settings.values")["brightness"]["value"] == 70
        dump = adb(env, generic={"args": ["shell", "uiautomator", "dump"]}).generic.output.decode()
        assert dump.count("<node ") == len(env._simulator.device.elements())
        remove = protos.AdbRequest(generic={"args": ["shell", "rm", "-rf", "/"]})
        with pytest.raises(errors.AdbControllerError, match="does not support 'shell rm -rf /'"):
            env.execute_adb_call(remove)
    finally:
        env.close()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("settings put", "expected settings put NAMESPACE NAME VALUE"),
        ("settings get system", "expected settings get NAMESPACE NAME"),
        ("settings delete system", "expected settings delete NAMESPACE NAME"),
        ("settings list", "expected settings list NAMESPACE"),
        ("settings put system screen_brightness bright", "takes a whole number, got 'bright'"),
        ("input tap inf 3", "expected 2 numbers, got 'inf 3'"),
        ("input text 'a", "cannot be read: No closing quotation"),
    ],
)
def test_commands_that_cannot_be_carried_out_are_refused(line, expected):
    simulator = android.PhoneSimulator(task_of("notes_delete", "easy"), SEED)
    simulator.launch()
    controller = simulator.create_adb_controller()
    with pytest.raises(errors.AdbControllerError, match=expected):
        controller.execute_command(["shell", line])


def test_saved_states_and_episodes_have_their_own_settings():
    simulator = android.PhoneSimulator(task_of("notes_delete", "easy"), SEED)
    simulator.launch()
    controller = simulator.create_adb_controller()

    def font():
        return controller.execute_command(["shell", "settings get system font_scale"])

    controller.execute_command(["shell", "settings put system font_scale 2"])
    simulator.save_state(states.SaveStateRequest())
    controller.execute_command(["shell", "settings put system font_scale 3"])
    simulator.load_state(states.LoadStateRequest())
    assert font() == b"2"
    simulator.reset_phone()
    assert font() == b"null"


def test_keys_type_into_the_focused_field():
    simulator = android.PhoneSimulator(task_of("notes_title", "tiny"), SEED)
    simulator.launch()
    field = next(node for node in simulator.phone.nodes() if node.kind == "text")
    simulator.phone.tap(field)
    before = field.value
    for code, kind in ((50, "keydown"), (38, "keypress"), (50, "keyup"), (40, "keypress"),
                       (10, "keypress"), (22, "keypress"), (166, "keyup")):  # fmt: skip
        simulator.send_key(np.int32(code), kind)
    assert next(n for n in simulator.phone.nodes() if n.kind == "text").value == before + "Ad"


def test_a_finger_taps_presses_or_swipes():
    simulator = android.PhoneSimulator(task_of("notes_delete", "easy"), SEED)
    simulator.launch()
    pad = TouchPad(simulator.phone)
    assert [pad.frame(200, 600, down) for down in (True, False, False)] == ["", "tap", ""]
    frames = [pad.frame(200, 600, True) for _ in range(LONG_PRESS_FRAMES)]
    assert not any(frames) and pad.frame(0, 0, False) == "long_press"
    pad.frame(200, 2, True)
    pad.frame(210, 700, True)
    assert pad.down and pad.frame(210, 700, False) == "swipe"
    assert simulator.phone.core.top.name == "shade"
