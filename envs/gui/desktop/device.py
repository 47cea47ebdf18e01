"""The desktop as a device: an agent's actions, the elements it sees, pixels and the final state."""

import base64
import posixpath
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hexathlon.envs.errors import EnvFault, WrongState
from hexathlon.envs.gui.desktop.display import KEYS
from hexathlon.envs.gui.desktop.elements import Placed, listed
from hexathlon.envs.gui.desktop.home import DOUBLE_CLICK_MS, HOME, SCREEN
from hexathlon.envs.gui.desktop.installed import require_programs
from hexathlon.envs.gui.desktop.session import DesktopSession
from hexathlon.envs.gui.desktop.stored import entries_of
from hexathlon.envs.gui.errors import DeviceRefusal
from hexathlon.tasks.gui.desktop.programs import PROGRAMS
from hexathlon.tasks.gui.elements import UIElement
from hexathlon.tasks.task import Task

__all__ = ["DesktopDevice"]

_STEPS = 12
"""Intermediate points of a drag; toolkits recognise one only after a few pixels."""

_BETWEEN_CLICKS = DOUBLE_CLICK_MS / 2000
"""Minimum seconds between the clicks of a double click."""

_DOUBLE_CLICK_PIXELS = 5
"""Distance, across and down, within which toolkits take two clicks for a double click."""

_BACKUPS = ("~", ".bak")
"""Suffixes of the backup copies that programs make of a file before writing it."""

_LONGEST_TEXT = 4_000


class DesktopDevice:
    """Real programs on a private display, in a sandbox without a network.

    The device waits after every action until all programs sleep, so that the next observation shows
    the result whatever the machine's speed. A program that the agent closes or crashes stays
    closed; if the display itself dies, the trial is an infrastructure fault, not a score.

    Args:
        seconds: Deadline of each wait for programs and display.
    """

    def __init__(self, seconds: float = 60.0) -> None:
        self.size = SCREEN
        self.blocked: tuple[str, ...] = ()
        self._seconds = seconds
        self._session: DesktopSession | None = None
        self._task: Task | None = None
        self._shown: list[Placed] | None = None
        self._clicked: tuple[tuple[int, int] | None, float] = (None, 0.0)
        """Where and when the button was last pressed."""

        self._done: list[tuple[str, dict[str, Any]]] = []
        self._open_programs: set[str] = set()

    def open(self, task: Task, rng: np.random.Generator) -> None:
        """Start a desktop with the files of a task.

        Raises:
            BackendMissing: If programs or the sandbox are missing.
            EnvFault: If the desktop does not start.
        """
        self.close()
        self._task = task
        self._restart()

    def _restart(self) -> None:
        assert self._task is not None
        require_programs()
        world = self._task.params["desktop"]
        files = entries_of(world["files"])
        for program in PROGRAMS.values():
            files |= entries_of({path: {"text": text} for path, text in program.settings.items()})
        self._session = DesktopSession(files, world["look"], seconds=self._seconds)
        self._shown, self._done, self._open_programs = None, [], set()
        for name, file in world["open"]:
            self._open_app(name, file)

    # Acting ------------------------------------------------------------------------------------

    def act(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Perform an action and wait until the screen has settled; return a remark.

        Raises:
            DeviceRefusal: If it cannot be done; the message says why.
            EnvFault: If the desktop is gone.
        """
        performers: dict[str, Callable[..., str]] = {
            "click": self._click, "double_click": self._double_click,
            "right_click": self._right_click, "drag": self._drag, "type_text": self._type_text,
            "press_keys": self._press_keys, "scroll": self._scroll, "open_app": self._open_app,
            "wait": self._wait,
        }  # fmt: skip
        if name not in performers:
            raise DeviceRefusal(f"{name} is not an action of the desktop.")
        remark = performers[name](**arguments)
        self._done.append((name, dict(arguments)))
        self._settle()
        return remark

    def _settle(self) -> None:
        self._shown = None
        session = self._live()
        session.settle()
        session.check()

    def _click(self, index: int | None = None, x: int | None = None, y: int | None = None) -> str:
        self._press(self._point(index, x, y))
        return ""

    def _double_click(
        self, index: int | None = None, x: int | None = None, y: int | None = None
    ) -> str:
        session, point = self._live(), self._point(index, x, y)
        self._press(point)
        # The file manager registers a selection after 0.2 s; until then it opens the former one.
        time.sleep(_BETWEEN_CLICKS)
        session.processes.settle(_BETWEEN_CLICKS / 2)
        session.display.click(*point)
        self._clicked = point, time.monotonic()
        return ""

    def _press(self, point: tuple[int, int]) -> None:
        """Click once, which is no double click together with the click before."""
        self._separate(point)
        self._live().display.click(*point)
        self._clicked = point, time.monotonic()

    def _separate(self, point: tuple[int, int]) -> None:
        """Wait until pressing the button here is no double click with the press before."""
        before, since = self._clicked
        if before is not None and all(
            abs(one - other) <= _DOUBLE_CLICK_PIXELS
            for one, other in zip(before, point, strict=True)
        ):
            time.sleep(max(0.0, since + DOUBLE_CLICK_MS / 1000 - time.monotonic()))

    def _right_click(
        self, index: int | None = None, x: int | None = None, y: int | None = None
    ) -> str:
        self._live().display.click(*self._point(index, x, y), button="right")
        return ""

    def _drag(self, x: int, y: int, to_x: int, to_y: int) -> str:
        start, end = self._on_screen(x, y), self._on_screen(to_x, to_y)
        path = [
            (start[0] + (end[0] - start[0]) * step // _STEPS,
             start[1] + (end[1] - start[1]) * step // _STEPS)
            for step in range(_STEPS + 1)
        ]  # fmt: skip
        session = self._live()
        self._separate(start)
        for _ in session.display.drag(path):
            session.settle()
        self._clicked = start, time.monotonic()
        return ""

    def _type_text(self, text: str) -> str:
        if len(text) > _LONGEST_TEXT:
            raise DeviceRefusal(
                f"the text has {len(text):,} characters, at most {_LONGEST_TEXT:,}."
            )
        session = self._live()
        room = session.display.spare_room()
        for start in range(0, len(text), room):
            part = text[start : start + room]
            if session.display.prepare(part):
                session.settle()  # programs must learn of new keys before these are pressed
            session.display.type(part)
            session.settle()
        return ""

    def _press_keys(self, keys: str) -> str:
        names = [name.strip() for name in keys.split("+")] if keys != "+" else ["+"]
        unknown = [name for name in names if name.lower() not in KEYS and len(name) != 1]
        if unknown:
            raise DeviceRefusal(
                f"there is no key {unknown[0]!r}. Write single characters or "
                f"{', '.join(sorted(KEYS))}, joined by '+'."
            )
        session = self._live()
        if session.display.prepare("".join(name for name in names if len(name) == 1)):
            session.settle()
        session.display.chord([name if len(name) > 1 else name.lower() for name in names])
        return ""

    def _scroll(
        self, direction: str, index: int | None = None, x: int | None = None,
        y: int | None = None, notches: int = 3,
    ) -> str:  # fmt: skip
        self._live().display.wheel(*self._point(index, x, y), direction, notches)
        return ""

    def _wait(self) -> str:
        self._live().pause()
        return ""

    def _open_app(self, app_name: str, file: str | None = None) -> str:
        program = PROGRAMS.get(app_name)
        if program is None:
            raise DeviceRefusal(
                f"there is no app {app_name!r}. The apps are: {', '.join(PROGRAMS)}."
            )
        session = self._live()
        if file is not None:
            if not program.opens_files:
                raise DeviceRefusal(f"{app_name} does not open files.")
            path = posixpath.normpath(posixpath.join(HOME, file))
            if not path.startswith(f"{HOME}/") or not session.exists(path):
                raise DeviceRefusal(f"there is no file {file!r} in {HOME}.")
            return self._launch(app_name, [*program.command, path])
        if session.display.activate(program.window_class):
            return f"{app_name} is in front."
        return self._launch(app_name, list(program.command))

    def _launch(self, app_name: str, command: list[str]) -> str:
        session = self._live()
        name = PROGRAMS[app_name].window_class
        before = session.display.windows(name)
        session.launch(command)
        session.wait_for(
            f"a window of {app_name}",
            lambda: session.display.windows(name) != before or session.idle(),
        )
        session.settle()
        return f"{app_name} is open."

    def _point(self, index: int | None, x: int | None, y: int | None) -> tuple[int, int]:
        if index is None:
            if x is None or y is None:
                raise DeviceRefusal("give index, the number of an element, or x and y in pixels.")
            return self._on_screen(x, y)
        shown = self._elements()
        if not 0 <= index < len(shown):
            raise DeviceRefusal(f"there is no element {index}; the screen has {len(shown)}.")
        element, node = shown[index]
        shift = self._live().tree.moved(node)
        if shift is None:
            raise DeviceRefusal(
                f"element {index} is no longer there; the screen has changed. wait shows it."
            )
        x, y = element.bounds.center
        return self._on_screen(x + shift[0], y + shift[1])

    def _on_screen(self, x: int, y: int) -> tuple[int, int]:
        width, height = self.size
        if not (0 <= x < width and 0 <= y < height):
            raise DeviceRefusal(f"({x}, {y}) is outside the screen of {width} x {height} pixels.")
        return x, y

    # Seeing ------------------------------------------------------------------------------------

    def elements(self) -> Sequence[UIElement]:
        """Return the elements of the screen, numbered until the next action."""
        return [element for element, _ in self._elements()]

    def _elements(self) -> list[Placed]:
        if self._shown is None:
            session = self._live()
            self._shown = listed(session.tree.in_front(), self.size)
        return self._shown

    def caption(self) -> str:
        """Return the names of the open windows, the foremost first."""
        titles = self._live().display.titles()
        return f"Windows: {'; '.join(titles)}" if titles else "No window is open."

    def pixels(self) -> NDArray[np.uint8]:
        """Return the screen, shape (height, width, 3)."""
        return self._live().pixels()

    def intervene(self, change: Mapping[str, Any]) -> None:
        """Write the files that other people change before the next request.

        Args:
            change: May have `files`, as in a task.
        """
        self._live().write_entries(entries_of(change.get("files", {})))
        self._done.append(("intervene", dict(change)))
        self._settle()

    # State -------------------------------------------------------------------------------------

    def final_state(self) -> dict[str, Any]:
        """Return the files of the home folder that differ from the start; JSON.

        Settings and caches of programs, whose names begin with a dot, are left out.
        """
        changes = self._live().changes()
        files: dict[str, Any] = {}
        for path, entry in changes.written.items():
            name = _document(path)
            if name is None:
                continue
            if entry.folder:
                files[name] = {"folder": True}
            elif entry.link is not None:
                files[name] = {"link": entry.link}
            else:
                files[name] = {"base64": base64.b64encode(entry.data).decode()}
        deleted = [name for path in changes.deleted if (name := _document(path)) is not None]
        return {"files": files, "deleted": deleted, "cut": changes.cut}

    def save(self) -> Any:
        """Return what recreates the desktop: the actions so far, which `load` repeats.

        Processes are not copied: their memory can only be recreated by repeating the actions.
        """
        return {"task": self._task, "actions": list(self._done), "outline": self._outline()}

    def _outline(self) -> list[tuple[str, str]]:
        """Return roles and names of visible elements, except fields that contain the time."""
        return [(element.role, element.text) for element in self.elements()
                if element.role != "table cell"]  # fmt: skip

    def load(self, payload: Any) -> None:
        """Start a new desktop and repeat the actions of a saved one.

        Raises:
            EnvFault: If the resulting screen differs from the saved one.
        """
        self.close()
        self._task = payload["task"]
        self._restart()
        for name, arguments in payload["actions"]:
            if name == "intervene":
                self.intervene(arguments)
            else:
                self.act(name, arguments)
        if self._outline() != payload["outline"]:
            raise EnvFault("repeating the saved actions led to a different screen", cause="replay")

    def close(self) -> None:
        """End all programs; idempotent."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _live(self) -> DesktopSession:
        if self._session is None:
            raise WrongState("the desktop is closed; open() starts one")
        return self._session


def _document(path: str) -> str | None:
    """Return a path relative to the home folder; None for other, hidden and backup files."""
    if not path.startswith(f"{HOME}/"):
        return None
    name = path.removeprefix(f"{HOME}/")
    if name.endswith(_BACKUPS) or any(part.startswith(".") for part in name.split("/")):
        return None
    return name
