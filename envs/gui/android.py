"""The simulated phone as an android-env simulator.

`PhoneSimulator` implements android-env's simulator interface: touches, keys, screenshots, adb, and
saved states. `make_android_env` wraps it in an `AndroidEnv`. Needs the extra `[gui]`; nothing else
of this package imports this module.
"""

import threading
from collections.abc import Generator
from typing import Any

import numpy as np
from android_env import environment
from android_env.components import (
    adb_controller,
    config_classes,
    coordinator,
    device_settings,
    errors,
    log_stream,
    task_manager,
)
from android_env.components.simulators import base_simulator
from android_env.proto import state_pb2, task_pb2
from numpy.typing import NDArray

from hexathlon.envs.gui.adb import AdbRefusal, PhoneShell
from hexathlon.envs.gui.simulator import PhoneDevice
from hexathlon.tasks.gui.world.system.phone import Phone, PhoneRefusal
from hexathlon.tasks.gui.world.system.touch import TouchPad
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.task import Task

__all__ = ["PhoneSimulator", "make_android_env"]

_XKB_ROWS = {10: "1234567890", 24: "qwertyuiop", 38: "asdfghjkl", 52: "zxcvbnm"}
_XKB_KEYS = {
    first + place: char for first, row in _XKB_ROWS.items() for place, char in enumerate(row)
} | {65: " ", 20: "-", 48: "'", 59: ",", 60: ".", 61: "/"}  # fmt: skip
"""XKB key code (as used by android-env on Linux) → character."""

_XKB_ENTER, _XKB_ERASE, _XKB_BACK, _XKB_HOME, _XKB_SHIFT = 36, 22, 166, 180, (50, 62)


class PhoneSimulator(base_simulator.BaseSimulator):  # type: ignore[misc]
    """A simulated phone for android-env.

    Args:
        task: The task that defines the phone.
        seed: Seed of the episode, from which the look is drawn.
        device: The device; by default one with a screen of 540 x 1200 pixels.
        config: android-env's simulator settings.
    """

    def __init__(
        self,
        task: Task,
        seed: int = 0,
        device: PhoneDevice | None = None,
        config: config_classes.SimulatorConfig | None = None,
    ) -> None:
        super().__init__(config or config_classes.SimulatorConfig())
        self.task, self.seed = task, seed
        self.device = device or PhoneDevice()
        self._shell = PhoneShell(lambda: self.phone)
        self._pad: TouchPad | None = None
        self._shift = False
        self._saved: dict[str, Any] = {}

    @property
    def phone(self) -> Phone:
        """The phone."""
        return self.device.phone

    def reset_phone(self) -> None:
        """Put the phone into the state in which the task starts."""
        self.device.open(self.task, generator_for("episode", self.task.id, self.seed))
        self._pad, self._shift = TouchPad(self.phone), False
        self._shell.settings.clear()

    # android-env -------------------------------------------------------------------------------

    def adb_device_name(self) -> str:
        """Return the name that an adb client would use."""
        return "hexathlon-phone"

    def create_adb_controller(self) -> adb_controller.AdbController:
        """Return a controller whose commands this phone answers itself."""
        return _PhoneAdb(self._shell)

    def create_log_stream(self) -> log_stream.LogStream:
        """Return an empty stream, since nothing logs rewards."""
        return _SilentLog()

    def _launch_impl(self) -> None:
        self.reset_phone()

    def send_touch(self, touches: list[tuple[int, int, bool, int]]) -> None:
        """Apply touches; only the first finger is used."""
        assert self._pad is not None, "launch() comes before send_touch()"
        width, height = self.device.size
        for x, y, down, finger in touches:
            if finger == 0:
                x, y = min(max(int(x), 0), width - 1), min(max(int(y), 0), height - 1)
                self._pad.frame(x, y, bool(down))

    def send_key(self, keycode: np.int32, event_type: str) -> None:
        """Apply a key, given by XKB code; characters go to the focused field."""
        code = int(keycode)
        if code in _XKB_SHIFT:
            self._shift = event_type == "keydown"
            return
        if event_type == "keyup":
            return
        phone = self.phone
        phone.begin_action()
        try:
            if code in _XKB_KEYS:
                char = _XKB_KEYS[code]
                phone.type_text(char.upper() if self._shift else char)
            elif code == _XKB_ENTER:
                phone.enter()
            elif code == _XKB_ERASE:
                phone.erase()
            elif code == _XKB_BACK:
                phone.back()
            elif code == _XKB_HOME:
                phone.home()
        except PhoneRefusal:
            pass  # without a focused field a key does nothing, as on a phone
        finally:
            phone.end_action()

    def _get_screenshot_impl(self) -> NDArray[np.uint8]:
        return self.device.pixels().copy()

    def save_state(self, request: state_pb2.SaveStateRequest) -> state_pb2.SaveStateResponse:
        """Save the state under the argument `name`, `default` if there is none."""
        state = self.device.save(), self._shift, dict(self._shell.settings)
        self._saved[request.args.get("name", "default")] = state
        return state_pb2.SaveStateResponse(status=state_pb2.SaveStateResponse.Status.OK)

    def load_state(self, request: state_pb2.LoadStateRequest) -> state_pb2.LoadStateResponse:
        """Load the state that was saved under the argument `name`."""
        name = request.args.get("name", "default")
        if name not in self._saved:
            known = ", ".join(sorted(self._saved)) or "none"
            return state_pb2.LoadStateResponse(
                status=state_pb2.LoadStateResponse.Status.NOT_FOUND,
                error_message=f"there is no saved state {name!r}; saved: {known}",
            )
        device, self._shift, settings = self._saved[name]
        self.device.load(device)
        self._shell.settings = dict(settings)
        self._pad = TouchPad(self.phone)
        return state_pb2.LoadStateResponse(status=state_pb2.LoadStateResponse.Status.OK)


class _PhoneAdb(adb_controller.AdbController):  # type: ignore[misc]
    """Passes adb commands to the phone; starts no server and changes no environment variable."""

    def __init__(self, shell: PhoneShell) -> None:
        # The base class would remove ANDROID_HOME from this process's environment.
        self._config = config_classes.AdbControllerConfig()
        self._os_env_vars: dict[str, str] = {}
        self._shell = shell

    def init_server(self, timeout: float | None = None) -> None:
        """Do nothing: there is no server."""

    def execute_command(
        self, args: list[str], timeout: float | None = None, device_specific: bool = True
    ) -> bytes:
        """Execute a command in this process.

        Raises:
            AdbControllerError: If the phone does not support it.
        """
        try:
            return self._shell.run(args).encode()
        except AdbRefusal as error:
            raise errors.AdbControllerError(str(error)) from None


class _SilentLog(log_stream.LogStream):  # type: ignore[misc]
    """An empty log, which ends when it is stopped."""

    def __init__(self) -> None:
        super().__init__()
        self._stopped = threading.Event()

    def _get_stream_output(self) -> Generator[str, None, None]:
        self._stopped.wait()
        yield from ()

    def stop_stream(self) -> None:
        """End the log."""
        self._stopped.set()


class _PhoneTasks(task_manager.TaskManager):  # type: ignore[misc]
    """Resets the phone at the start of each episode."""

    def __init__(self, simulator: PhoneSimulator) -> None:
        super().__init__(task_pb2.Task(id=simulator.task.id, name=simulator.task.generator))
        self._simulator = simulator

    def reset_task(self) -> None:
        """Restart the task."""
        self._simulator.reset_phone()
        super().reset_task()


def make_android_env(
    task: Task,
    seed: int = 0,
    device: PhoneDevice | None = None,
    config: config_classes.CoordinatorConfig | None = None,
) -> environment.AndroidEnv:
    """Return an android-env environment for a task's phone.

    Args:
        task: The task, whose request is `task.instruction`.
        seed: Seed of the episode; `hexathlon/GUI-v0` with the same seed has the same phone.
        device: The device; by default one with a screen of 540 x 1200 pixels.
        config: android-env's settings, such as the number of fingers.
    """
    simulator = PhoneSimulator(task, seed, device)
    tasks = _PhoneTasks(simulator)
    tuned = config or config_classes.CoordinatorConfig(enable_key_events=True)
    return environment.AndroidEnv(
        simulator=simulator,
        coordinator=coordinator.Coordinator(
            simulator, tasks, device_settings=device_settings.DeviceSettings(simulator),
            config=tuned,
        ),
        task_manager=tasks,
    )  # fmt: skip
