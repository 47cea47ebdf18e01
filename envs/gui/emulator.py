"""The `emulator` backend: a user's own Android emulator through the android-env client.

Touches are android-env's own actions; keys, apps and the element tree go over adb. The backend's
contract is tested against android-env's `FakeSimulator`; it has not been run on a real emulator.
Databases and files of apps are not read, so only AndroidWorld's own evaluator, named by `scorer`,
can score an episode.
"""

import importlib
import shlex
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hexathlon.envs.errors import BackendMissing, EnvFault, ForkUnsupported
from hexathlon.envs.gui.errors import DeviceRefusal
from hexathlon.envs.gui.ui_dump import elements_of_dump
from hexathlon.tasks.gui.elements import UIElement
from hexathlon.tasks.task import Task

if TYPE_CHECKING:
    from android_env.env_interface import AndroidEnvInterface
    from numpy.typing import NDArray

__all__ = ["EmulatorDevice", "EmulatorScorer"]

EmulatorScorer = Callable[[Task, "AndroidEnvInterface"], float]
"""Scores an episode from 0 to 1 with AndroidWorld's evaluator, which the user has installed."""

_TOUCH, _LIFT, _REPEAT = 0, 1, 2
_SWIPE_STEPS = 10
_LONG_PRESS_STEPS = 20
_WAIT_STEPS = 20
_KEYS = {"navigate_recents": "KEYCODE_APP_SWITCH"}
_DUMP = ("exec-out", "uiautomator", "dump", "/dev/tty")
_WAYS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
_LONGEST_TEXT = 2_000
_TASK = 'id: "hexathlon"\nname: "hexathlon"\nmax_episode_sec: 0\nmax_episode_steps: 0\n'


class EmulatorDevice:
    """A running Android emulator, or one that android-env starts.

    Args:
        avd_name: Android virtual device to start; empty to use a running emulator.
        adb_path: The adb program.
        adb_port: adb port of a running emulator; needs the next two as well.
        console_port: Its console port.
        grpc_port: Its gRPC port.
        adb_server_port: Port of the adb server.
        apps: Full activity names by app name, for `open_app`.
        seconds: Deadline of each adb command.
        scorer: `module:function`, or a function: AndroidWorld's evaluator on this machine.
        client: An android-env environment to use instead of the emulator's.
    """

    def __init__(
        self,
        *,
        avd_name: str = "",
        adb_path: str = "~/Android/Sdk/platform-tools/adb",
        adb_port: int = 0,
        console_port: int = 0,
        grpc_port: int = 0,
        adb_server_port: int = 5037,
        apps: Mapping[str, str] | None = None,
        seconds: float = 60.0,
        scorer: "str | EmulatorScorer | None" = None,
        client: "AndroidEnvInterface | None" = None,
    ) -> None:
        if client is None and not avd_name and not (adb_port and console_port and grpc_port):
            raise ValueError(
                "the emulator backend needs avd_name to start an emulator, or adb_port, "
                "console_port and grpc_port of a running one"
            )
        self.size = (0, 0)
        self.blocked: tuple[str, ...] = ()
        self._launcher = {
            "avd_name": avd_name, "adb_port": adb_port, "emulator_console_port": console_port,
            "grpc_port": grpc_port,
        }  # fmt: skip
        self._adb = {
            "adb_path": adb_path, "adb_server_port": adb_server_port, "default_timeout": seconds,
        }  # fmt: skip
        self._apps = {name.casefold(): activity for name, activity in (apps or {}).items()}
        self._seconds = seconds
        self._scorer = scorer
        self._client = client
        self._pixels: NDArray[np.uint8] | None = None
        self._shown: list[UIElement] | None = None
        self._task: Task | None = None

    # Device ------------------------------------------------------------------------------------

    def open(self, task: Task, rng: np.random.Generator) -> None:
        """Start the emulator if necessary and go to its home screen.

        Raises:
            BackendMissing: If android-env is not installed.
            EnvFault: If the emulator does not start.
        """
        if self._client is None:
            self._client = self._started()
        self._task = task
        self._look(self._client.reset())
        self._press("HOME")

    def act(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Perform an action; the remark is always empty.

        Raises:
            DeviceRefusal: If the action is not possible.
            EnvFault: If the emulator does not answer.
        """
        if name not in _ACTIONS:
            raise DeviceRefusal(f"{name} is not an action of the emulator.")
        _ACTIONS[name](self, dict(arguments))
        self._shown = None
        return ""

    def elements(self) -> Sequence[UIElement]:
        """Return the elements that `uiautomator` reports."""
        if self._shown is None:
            self._shown = elements_of_dump(self._generic(*_DUMP), self.size)
        return self._shown

    def caption(self) -> str:
        """Return the name of the current activity."""
        from android_env.proto import adb_pb2

        request = adb_pb2.AdbRequest(get_current_activity=adb_pb2.AdbRequest.GetCurrentActivity())
        response = self._running.execute_adb_call(request)
        activity = str(response.get_current_activity.full_activity)
        return f"Activity: {activity}" if activity else ""

    def pixels(self) -> "NDArray[np.uint8]":
        """Return the screen, of shape (height, width, 3)."""
        self._step(_REPEAT)
        assert self._pixels is not None
        return self._pixels

    def intervene(self, change: Mapping[str, Any]) -> None:
        """Not supported: nobody else acts on the user's emulator.

        Raises:
            EnvFault: Always.
        """
        raise EnvFault("tasks with several requests need the simulator, not an emulator")

    def final_state(self) -> dict[str, Any]:
        """Return the score of AndroidWorld's evaluator, if one is named."""
        state: dict[str, Any] = {"changes": {}}
        if self._scorer is not None and self._task is not None and self._client is not None:
            scorer = self._scorer
            if isinstance(scorer, str):
                module, _, function = scorer.partition(":")
                scorer = getattr(importlib.import_module(module), function)
            state["android_world"] = {"score": float(scorer(self._task, self._client))}
        return state

    def save(self) -> Any:
        """Not supported: an emulator's snapshot takes seconds and gigabytes.

        Raises:
            ForkUnsupported: Always.
        """
        raise ForkUnsupported("the emulator backend cannot fork; use the simulator")

    def load(self, payload: Any) -> None:
        """Not supported; see `save`."""
        self.save()

    def close(self) -> None:
        """Close the client; an emulator that it started ends."""
        if self._client is not None:
            self._client.close()
        self._client, self._shown, self._pixels = None, None, None

    # Actions -----------------------------------------------------------------------------------

    def _click(self, arguments: dict[str, Any]) -> None:
        self._tap(self._place(arguments))

    def _double_tap(self, arguments: dict[str, Any]) -> None:
        place = self._place(arguments)
        self._tap(place)
        self._tap(place)

    def _long_press(self, arguments: dict[str, Any]) -> None:
        place = self._place(arguments)
        for _ in range(_LONG_PRESS_STEPS):
            self._step(_TOUCH, place)
        self._step(_LIFT, place)

    def _input_text(self, arguments: dict[str, Any]) -> None:
        text = str(arguments["text"])
        if len(text) > _LONGEST_TEXT:
            raise DeviceRefusal(f"the text has {len(text)} characters; at most {_LONGEST_TEXT}.")
        if not text.isascii() or not text.isprintable():
            raise DeviceRefusal("adb types printable ASCII only; use the keyboard's own keys.")
        field = self._element(arguments)
        if {"index", "x"} & arguments.keys():
            self._click(arguments)
        if arguments.get("clear_text") and field is not None:
            self._generic("shell", "input", "keyevent", "KEYCODE_MOVE_END")
            if field.value:
                keys = ["KEYCODE_DEL"] * len(field.value)
                self._generic("shell", "input", "keyevent", *keys)
        if text:
            self._generic("shell", "input", "text", shlex.quote(text.replace(" ", "%s")))

    def _keyboard_enter(self, arguments: dict[str, Any]) -> None:
        self._press("ENTER")

    def _navigate_back(self, arguments: dict[str, Any]) -> None:
        self._press("BACK")

    def _navigate_home(self, arguments: dict[str, Any]) -> None:
        self._press("HOME")

    def _recents(self, arguments: dict[str, Any]) -> None:
        self._generic("shell", "input", "keyevent", _KEYS["navigate_recents"])

    def _open_app(self, arguments: dict[str, Any]) -> None:
        from android_env.proto import adb_pb2

        name = str(arguments["app_name"])
        activity = self._apps.get(name.casefold())
        if activity is None:
            known = ", ".join(sorted(self._apps)) or "none"
            raise DeviceRefusal(f"there is no app {name!r}; known apps: {known}.")
        start = adb_pb2.AdbRequest.StartActivity(full_activity=activity)
        self._call(adb_pb2.AdbRequest(start_activity=start))

    def _scroll(self, arguments: dict[str, Any]) -> None:
        """Scroll the content: the finger moves up to show what is below."""
        across, down = _WAYS[arguments["direction"]]
        self._drag(self._place(arguments, centre=True), (-across, -down), 0.3)

    def _swipe(self, arguments: dict[str, Any]) -> None:
        start = self._place(arguments, centre=True)
        ends = [(arguments.get(x), arguments.get(y)) for x, y in (("to_x", "to_y"), ("x2", "y2"))]
        for x, y in ends:
            if x is not None and y is not None:
                self._trace(start, self._checked(int(x), int(y)))
                return
        if "direction" not in arguments:
            raise DeviceRefusal("swipe needs a direction or an end point.")
        self._drag(start, _WAYS[arguments["direction"]], 0.4)

    def _wait(self, arguments: dict[str, Any]) -> None:
        for _ in range(_WAIT_STEPS):
            self._step(_REPEAT)

    # Places ------------------------------------------------------------------------------------

    def _element(self, arguments: Mapping[str, Any]) -> UIElement | None:
        index = arguments.get("index")
        if index is None:
            return next((each for each in self.elements() if each.focused), None)
        shown = self.elements()
        if not 0 <= int(index) < len(shown):
            raise DeviceRefusal(f"there is no element {index}; the screen has {len(shown)}.")
        return shown[int(index)]

    def _place(self, arguments: Mapping[str, Any], centre: bool = False) -> tuple[int, int]:
        if arguments.get("index") is not None:
            element = self._element(arguments)
            assert element is not None
            return element.bounds.center
        x, y = arguments.get("x"), arguments.get("y")
        if x is not None and y is not None:
            return self._checked(int(x), int(y))
        if centre:
            return self.size[0] // 2, self.size[1] // 2
        raise DeviceRefusal("name the element by index, or a point by x and y.")

    def _checked(self, x: int, y: int) -> tuple[int, int]:
        width, height = self.size
        if not (0 <= x < width and 0 <= y < height):
            raise DeviceRefusal(f"the point {x}, {y} is outside the screen of {width} x {height}.")
        return x, y

    def _drag(self, start: tuple[int, int], way: tuple[int, int], share: float) -> None:
        """Move the finger by a fraction of the screen, stopping at its edge."""
        end = [
            min(max(round(at + step * share * side), 0), side - 1)
            for at, step, side in zip(start, way, self.size, strict=True)
        ]
        self._trace(start, (end[0], end[1]))

    # android-env -------------------------------------------------------------------------------

    def _trace(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        for number in range(_SWIPE_STEPS + 1):
            share = number / _SWIPE_STEPS
            x, y = (round(a + (b - a) * share) for a, b in zip(start, end, strict=True))
            self._step(_TOUCH, (x, y))
        self._step(_LIFT, end)

    def _tap(self, place: tuple[int, int]) -> None:
        self._step(_TOUCH, place)
        self._step(_LIFT, place)

    def _step(self, kind: int, place: tuple[int, int] = (0, 0)) -> None:
        width, height = self.size
        position = np.array([place[0] / width, place[1] / height], dtype=np.float32)
        action = {"action_type": np.array(kind, dtype=np.int32), "touch_position": position}
        self._look(self._running.step(action))

    def _look(self, timestep: Any) -> None:
        pixels = np.asarray(timestep.observation["pixels"])
        if pixels.ndim != 3 or pixels.dtype != np.uint8 or not pixels.size:
            raise EnvFault(
                f"the emulator sent {pixels.dtype} {pixels.shape}, expected uint8 pixels"
            )
        self._pixels = pixels[:, :, :3]
        self.size = (int(pixels.shape[1]), int(pixels.shape[0]))

    def _press(self, button: str) -> None:
        from android_env.proto import adb_pb2

        press = adb_pb2.AdbRequest.PressButton(
            button=getattr(adb_pb2.AdbRequest.PressButton.Button, button)
        )
        self._call(adb_pb2.AdbRequest(press_button=press))

    def _generic(self, *args: str) -> str:
        from android_env.proto import adb_pb2

        generic = adb_pb2.AdbRequest.GenericRequest(args=args)
        return bytes(self._call(adb_pb2.AdbRequest(generic=generic)).generic.output).decode(
            "utf-8", "replace"
        )

    def _call(self, request: Any) -> Any:
        from android_env.proto import adb_pb2

        request.timeout_sec = self._seconds
        response = self._running.execute_adb_call(request)
        if response.status != adb_pb2.AdbResponse.Status.OK:
            kind = request.WhichOneof("command")
            raise EnvFault(f"adb {kind} failed: {response.error_message or response.status}")
        return response

    @property
    def _running(self) -> "AndroidEnvInterface":
        if self._client is None:
            raise EnvFault("the emulator is not open")
        return self._client

    def _started(self) -> "AndroidEnvInterface":
        try:
            from android_env import loader
            from android_env.components import config_classes as config
        except ImportError as error:
            raise BackendMissing(
                f"the emulator backend needs android-env: pip install 'hexathlon[gui]' ({error})"
            ) from error
        with tempfile.TemporaryDirectory(prefix="hexathlon-emulator-") as folder:
            path = Path(folder) / "task.textproto"
            path.write_text(_TASK, "utf-8")
            settings = config.AndroidEnvConfig(
                task=config.FilesystemTaskConfig(path=str(path)),
                simulator=config.EmulatorConfig(
                    emulator_launcher=config.EmulatorLauncherConfig(**self._launcher),
                    adb_controller=config.AdbControllerConfig(**self._adb),
                ),
            )
            try:
                client: AndroidEnvInterface = loader.load(settings)
            except Exception as error:  # android-env raises errors of many types here
                raise EnvFault(f"the emulator did not start: {error}") from error
        return client


_ACTIONS: Mapping[str, Callable[[EmulatorDevice, dict[str, Any]], None]] = {
    "click": EmulatorDevice._click,
    "double_tap": EmulatorDevice._double_tap,
    "input_text": EmulatorDevice._input_text,
    "keyboard_enter": EmulatorDevice._keyboard_enter,
    "long_press": EmulatorDevice._long_press,
    "navigate_back": EmulatorDevice._navigate_back,
    "navigate_home": EmulatorDevice._navigate_home,
    "navigate_recents": EmulatorDevice._recents,
    "open_app": EmulatorDevice._open_app,
    "scroll": EmulatorDevice._scroll,
    "swipe": EmulatorDevice._swipe,
    "wait": EmulatorDevice._wait,
}
