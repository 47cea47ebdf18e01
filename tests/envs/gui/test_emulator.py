"""The emulator backend against the FakeSimulator of android-env: touches, adb calls, elements."""

import numpy as np
import pytest

pytest.importorskip(
    "android_env", reason="android-env is not installed: pip install 'hexathlon[gui]'"
)

from android_env import loader  # noqa: E402
from android_env.components import (  # noqa: E402
    config_classes,
    coordinator,
    device_settings,
    task_manager,
)
from android_env.components.simulators.fake import fake_simulator  # noqa: E402
from android_env.environment import AndroidEnv  # noqa: E402
from android_env.proto import task_pb2  # noqa: E402

from hexathlon.envs.errors import EnvFault, ForkUnsupported  # noqa: E402
from hexathlon.envs.gui.emulator import EmulatorDevice  # noqa: E402
from hexathlon.envs.gui.errors import DeviceRefusal  # noqa: E402
from hexathlon.envs.gui.ui_dump import elements_of_dump  # noqa: E402
from hexathlon.tasks.gui.elements import ElementBounds  # noqa: E402

WIDTH, HEIGHT = 200, 400


def node(kind, bounds, inner="", **fields):
    given = {"text": "", "content_desc": "", "class": f"android.widget.{kind}", **fields}
    written = " ".join(f'{key.replace("_", "-")}="{value}"' for key, value in given.items())
    return f'<node {written} bounds="{bounds}">{inner}</node>'


DUMP = (
    "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\">"
    + node("FrameLayout", "[0,0][200,400]", inner=(
        node("TextView", "[10,10][190,40]", text="Notes &amp; lists")
        + node("EditText", "[10,50][190,90]", text="old", hint="Title", clickable="true",
               focused="true", long_clickable="true")
        + node("ImageButton", "[150,350][230,450]", content_desc="Add", clickable="true")
        + node("Switch", "[10,100][60,120]", text="Wi-Fi", checkable="true", checked="true",
               enabled="false")
        + node("TextView", "[10,500][190,540]", text="below the screen")
        + node("View", "[0,0][0,0]", text="empty")
    ))
    + "</hierarchy>UI hierarchy dumped to: /dev/tty\n"
)  # fmt: skip


class Controller(fake_simulator.FakeAdbController):
    """Answers adb as a device would, and records the commands."""

    def __init__(self, commands, dump):
        super().__init__(config_classes.AdbControllerConfig())
        self.commands, self.dump = commands, dump

    def execute_command(self, args, timeout=None, device_specific=True):
        self.commands.append(tuple(args))
        if args[:3] == ["exec-out", "uiautomator", "dump"]:
            return self.dump().encode()
        return super().execute_command(args, timeout, device_specific)


class Simulator(fake_simulator.FakeSimulator):
    """android-env's fake simulator with a screen of its own; records touches and commands."""

    def __init__(self):
        super().__init__(config_classes.FakeSimulatorConfig(screen_dimensions=(HEIGHT, WIDTH)))
        self.touches, self.commands, self.dump = [], [], DUMP

    def create_adb_controller(self):
        return Controller(self.commands, lambda: self.dump)

    def send_touch(self, touches):
        self.touches += [(x, y, down) for x, y, down, _ in touches]


def client_of(simulator):
    manager = task_manager.TaskManager(task_pb2.Task(id="test"))
    settings = device_settings.DeviceSettings(simulator)
    return AndroidEnv(
        simulator=simulator, task_manager=manager,
        coordinator=coordinator.Coordinator(simulator, manager, device_settings=settings),
    )  # fmt: skip


@pytest.fixture
def simulator():
    return Simulator()


@pytest.fixture
def device(simulator):
    phone = EmulatorDevice(client=client_of(simulator), apps={"Notes": "org.notes/.Main"})
    phone.open(None, np.random.default_rng(0))
    simulator.touches.clear()
    simulator.commands.clear()
    yield phone
    phone.close()


def test_the_screen_is_read(device):
    shown = device.elements()
    assert [each.index for each in shown] == [0, 1, 2, 3]
    title, field, button, switch = shown
    assert (title.role, title.text) == ("text", "Notes & lists")
    assert (field.role, field.value, field.text, field.hint) == ("textbox", "old", "", "Title")
    assert field.editable and field.focused and field.long_clickable
    assert button.name == "Add" and button.bounds == ElementBounds(150, 350, 200, 400)  # clipped
    assert switch.checked and switch.checkable and not switch.enabled
    assert device.size == (WIDTH, HEIGHT)
    assert device.pixels().shape == (HEIGHT, WIDTH, 3)


def test_the_tree_is_read_once_per_action(device, simulator):
    device.elements(), device.elements()
    assert sum(command[1:3] == ("uiautomator", "dump") for command in simulator.commands) == 1
    device.act("navigate_back", {})
    device.elements()
    assert sum(command[1:3] == ("uiautomator", "dump") for command in simulator.commands) == 2


def test_taps_are_touch_and_lift_at_the_elements_centre(device, simulator):
    device.act("click", {"index": 1})
    assert simulator.touches == [(100, 70, True), (100, 70, False)]
    simulator.touches.clear()
    device.act("double_tap", {"x": 0, "y": 399})
    assert simulator.touches == [(0, 399, True), (0, 399, False)] * 2


def test_a_long_press_holds_and_a_swipe_moves(device, simulator):
    device.act("long_press", {"x": 5, "y": 5})
    assert simulator.touches.count((5, 5, True)) > 10 and simulator.touches[-1] == (5, 5, False)
    simulator.touches.clear()
    device.act("swipe", {"x": 100, "y": 300, "to_x": 100, "to_y": 100})
    downs = [y for x, y, down in simulator.touches if down]
    assert downs[0] == 300 and downs[-1] == 100 and downs == sorted(downs, reverse=True)
    assert simulator.touches[-1] == (100, 100, False)


def test_scrolling_down_moves_the_finger_up_and_swiping_down_moves_it_down(device, simulator):
    device.act("scroll", {"direction": "down"})
    downs = [y for _, y, down in simulator.touches if down]
    assert downs[0] == HEIGHT // 2 and downs[-1] < downs[0]
    simulator.touches.clear()
    device.act("swipe", {"direction": "down", "x": 10, "y": 0})
    downs = [y for _, y, down in simulator.touches if down]
    assert downs[0] == 0 and downs[-1] > 0


def test_text_replaces_a_fields_content(device, simulator):
    device.act("input_text", {"index": 1, "text": "it's 5 o'clock", "clear_text": True})
    typed = [command for command in simulator.commands if command[:2] == ("shell", "input")]
    assert typed[0] == ("shell", "input", "keyevent", "KEYCODE_MOVE_END")
    assert typed[1] == ("shell", "input", "keyevent", *["KEYCODE_DEL"] * 3)
    assert typed[2][:3] == ("shell", "input", "text")
    assert typed[2][3] == "'it'\"'\"'s%s5%so'\"'\"'clock'"
    assert simulator.touches[0] == (100, 70, True)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("navigate_back", ("keyevent", "KEYCODE_BACK")),
        ("navigate_home", ("keyevent", "KEYCODE_HOME")),
        ("keyboard_enter", ("keyevent", "KEYCODE_ENTER")),
        ("navigate_recents", ("keyevent", "KEYCODE_APP_SWITCH")),
    ],
)
def test_keys_go_over_adb(device, simulator, name, words):
    device.act(name, {})
    assert any(set(words) <= set(command) for command in simulator.commands), simulator.commands


def test_apps_are_opened_by_name(device, simulator):
    device.act("open_app", {"app_name": "notes"})
    assert any("org.notes/.Main" in command for command in simulator.commands)
    with pytest.raises(DeviceRefusal, match="no app 'Mail'; known apps: notes"):
        device.act("open_app", {"app_name": "Mail"})


REFUSED = [
    ("click", {"index": 9}, "no element 9; the screen has 4"),
    ("click", {"x": 200, "y": 0}, "outside the screen of 200 x 400"),
    ("click", {}, "name the element by index"),
    ("swipe", {}, "direction or an end point"),
    ("input_text", {"text": "牛奶"}, "printable ASCII only"),
    ("input_text", {"text": "x" * 3000}, "at most 2000"),
    ("dance", {}, "not an action of the emulator"),
]


@pytest.mark.parametrize(("name", "arguments", "problem"), REFUSED)
def test_impossible_actions_are_refused_and_nothing_is_touched(
    device, simulator, name, arguments, problem
):
    with pytest.raises(DeviceRefusal, match=problem):
        device.act(name, arguments)
    assert simulator.touches == []


def test_a_screen_that_cannot_be_read_says_so(device, simulator):
    simulator.dump = "ERROR: could not get idle state.\n"
    with pytest.raises(DeviceRefusal, match="could not get idle state. Try wait"):
        device.elements()
    simulator.dump = "<hierarchy><node></hierarchy>"
    with pytest.raises(DeviceRefusal, match="cannot be read now"):
        device.elements()


def test_elements_with_invalid_bounds_are_left_out():
    assert elements_of_dump(f"<hierarchy>{node('Button', 'nowhere')}</hierarchy>", (9, 9)) == []


def test_the_score_comes_from_the_named_evaluator(simulator):
    phone = EmulatorDevice(client=client_of(simulator), scorer=lambda task, client: 1.0)
    assert phone.final_state() == {"changes": {}}
    task = object()
    phone.open(task, np.random.default_rng(0))
    assert phone.final_state() == {"changes": {}, "android_world": {"score": 1.0}}
    with pytest.raises(ForkUnsupported, match="cannot fork"):
        phone.save()
    phone.close()
    with pytest.raises(EnvFault, match="not open"):
        phone.act("click", {"x": 1, "y": 1})


def test_the_stock_fake_of_android_env_is_driven(tmp_path):
    task = tmp_path / "task.textproto"
    task.write_text('id: "x"\nname: "x"\n', "utf-8")
    client = loader.load(config_classes.AndroidEnvConfig(
        task=config_classes.FilesystemTaskConfig(path=str(task)),
        simulator=config_classes.FakeSimulatorConfig(screen_dimensions=(320, 480)),
    ))  # fmt: skip
    phone = EmulatorDevice(client=client)
    try:
        phone.open(None, np.random.default_rng(0))
        assert phone.size == (480, 320)
        phone.act("click", {"x": 479, "y": 319})
        phone.act("wait", {})
        assert phone.pixels().shape == (320, 480, 3)
        with pytest.raises(DeviceRefusal, match="uiautomator said: fake output"):
            phone.elements()
    finally:
        phone.close()


def test_settings_are_checked():
    with pytest.raises(ValueError, match="needs avd_name .* or adb_port"):
        EmulatorDevice()
    phone = EmulatorDevice(avd_name="none", adb_path="/nonexistent/adb")
    with pytest.raises(EnvFault, match="the emulator did not start"):
        phone.open(None, np.random.default_rng(0))
