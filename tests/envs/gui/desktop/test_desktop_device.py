import base64
import contextlib
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hexathlon.envs.errors import EnvFault, WrongState
from hexathlon.envs.gui.desktop.confined import launch_line
from hexathlon.envs.gui.desktop.device import DesktopDevice
from hexathlon.envs.gui.desktop.home import DOUBLE_CLICK_MS
from hexathlon.envs.gui.desktop.session import DesktopSession
from hexathlon.envs.gui.desktop.stored import entries_of
from hexathlon.envs.gui.errors import DeviceRefusal
from support.desktops import desktop_task, names, number, opened, until

FILES = {"Documents/a.txt": {"text": "hello\n"}, "Documents/b.txt": {"text": "other\n"}}


@pytest.fixture(scope="module")
def shared():
    yield from opened(FILES)


@pytest.fixture
def fresh():
    yield from opened(FILES)


def test_a_desktop_waits_for_buses_that_are_slow_to_start(monkeypatch):
    start = DesktopSession._background

    def late(session: DesktopSession, arguments: str) -> None:
        if arguments.startswith("dbus-daemon"):
            line = launch_line(arguments, "/run/user/log").removesuffix("&")
            session._sandbox.execute(f"(sleep 2; {line}) >/dev/null 2>&1 </dev/null &")
        else:
            start(session, arguments)

    monkeypatch.setattr(DesktopSession, "_background", late)
    with contextlib.closing(DesktopSession(entries_of(FILES), seconds=20.0)) as session:
        assert session.tree.registered()


def text_of(device: Any) -> str:
    return next(element.value for element in device.elements() if element.role == "text")


def test_types_and_saves(fresh):
    fresh.act("open_app", {"app_name": "Text Editor", "file": "Documents/a.txt"})
    fresh.act("press_keys", {"keys": "ctrl+end"})
    fresh.act("type_text", {"text": "Größe 12, 中文\n\tÜ?"})
    assert text_of(fresh) == "hello\nGröße 12, 中文\n\tÜ?"
    assert fresh.final_state() == {"files": {}, "deleted": [], "cut": False}
    fresh.act("press_keys", {"keys": "ctrl+s"})
    until(fresh, "frame", "/home/user/Documents/a.txt - Mousepad")
    state = fresh.final_state()
    saved = base64.b64decode(state["files"]["Documents/a.txt"]["base64"]).decode()
    assert saved == "hello\nGröße 12, 中文\n\tÜ?"
    assert list(state["files"]) == ["Documents/a.txt"] and state["deleted"] == []


def test_pixels_follow_the_pointer_and_elements_have_their_place(shared):
    shared.act("open_app", {"app_name": "Text Editor", "file": "Documents/b.txt"})
    width, height = shared.size
    before = shared.pixels()
    assert before.shape == (height, width, 3) and before.dtype == np.uint8
    menu = shared.elements()[number(shared, "menu", "File")]
    shared.act("click", {"index": menu.index})
    after = shared.pixels()
    items = [element for element in shared.elements() if element.role == "menu item"]
    assert {"Save As...", "Quit"} <= {element.name.strip() for element in items}
    place = items[0].bounds
    changed = np.argwhere((before != after).any(axis=2))
    assert ((changed[:, 0] >= place.top) & (changed[:, 0] < place.bottom)
            & (changed[:, 1] >= place.left) & (changed[:, 1] < place.right)).any()  # fmt: skip
    shared.act("press_keys", {"keys": "escape"})
    shared.act("press_keys", {"keys": "escape"})
    assert "Save As..." not in names(shared, "menu item")


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("click", {}, "give index"),
        ("click", {"index": 9_999}, "no element 9999"),
        ("click", {"x": 5_000, "y": 3}, "outside the screen of 1280 x 800"),
        ("press_keys", {"keys": "ctrl+nokey"}, "no key 'nokey'"),
        ("open_app", {"app_name": "Terminal"}, "no app 'Terminal'. The apps are: Text Editor"),
        ("open_app", {"app_name": "Text Editor", "file": "none.txt"}, "no file 'none.txt'"),
        ("open_app", {"app_name": "Text Editor", "file": "../../etc/passwd"}, "no file"),
        ("open_app", {"app_name": "Calculator", "file": "Documents/a.txt"}, "does not open files"),
        ("type_text", {"text": "x" * 5_000}, "at most 4,000"),
        ("swipe", {"direction": "up"}, "swipe is not an action of the desktop"),
    ],
)
def test_refuses_with_a_reason(shared, name, arguments, words):
    with pytest.raises(DeviceRefusal, match=None) as refused:
        shared.act(name, arguments)
    assert words in str(refused.value)


def test_two_clicks_select_and_a_double_click_opens_what_it_hits():
    files = {"Letters/Oulu/d.txt": {"text": "d"}, "Letters/note.txt": {"text": "n"}}
    for device in opened(files):
        device.act("open_app", {"app_name": "Files", "file": "Letters"})
        until(device, "table cell", "note.txt")
        device.act("click", {"index": number(device, "table cell", "note.txt")})
        device.act("press_keys", {"keys": "ctrl+x"})
        device.act("double_click", {"index": number(device, "table cell", "Oulu")})
        until(device, "table cell", "d.txt")
        device.act("press_keys", {"keys": "alt+up"})
        until(device, "table cell", "note.txt")
        for _ in range(2):
            device.act("click", {"index": number(device, "table cell", "Oulu")})
        assert "note.txt" in names(device, "table cell")


def test_clicks_and_drags_at_nearly_one_point_are_no_double_click():
    """On a mock of the display, since no program reports the times of its button presses."""
    pressed = []

    class Display:
        def click(self, x: int, y: int) -> None:
            pressed.append(time.monotonic())

        def drag(self, path: list[tuple[int, int]]) -> Iterator[None]:
            pressed.append(time.monotonic())
            yield

    device = DesktopDevice()
    device._session = SimpleNamespace(display=Display(), settle=lambda: None)  # type: ignore[assignment]
    device._click(x=10, y=10)
    device._click(x=14, y=9)
    device._drag(12, 8, 300, 300)
    device._click(x=12, y=8)
    gaps = [later - before for before, later in zip(pressed, pressed[1:], strict=False)]
    assert len(gaps) == 3 and min(gaps) >= DOUBLE_CLICK_MS / 1000


def test_a_number_never_means_another_element(fresh):
    fresh.act("open_app", {"app_name": "Text Editor", "file": "Documents/a.txt"})
    fresh.act("click", {"index": number(fresh, "menu", "File")})
    stale = number(fresh, "menu item", "Quit")
    shown = list(fresh._elements())
    fresh.act("press_keys", {"keys": "escape"})
    fresh.act("press_keys", {"keys": "escape"})
    fresh._shown = shown  # as if the screen had changed by itself since it was last read
    with pytest.raises(DeviceRefusal, match="no longer there"):
        fresh.act("click", {"index": stale})


def test_an_entry_that_moved_is_clicked_at_its_new_place():
    files = {f"Documents/{name}.txt": {"text": name} for name in "bdf"}
    for device in opened(files):
        device.act("open_app", {"app_name": "Files"})
        device.act("double_click", {"index": number(device, "table cell", "Documents")})
        until(device, "table cell", "d.txt")
        shown, entry = list(device._elements()), number(device, "table cell", "d.txt")
        device._live().write_entries(entries_of({"Documents/a.txt": {"text": "a"}}))
        until(device, "table cell", "a.txt")
        device._shown = shown  # as if the list had changed since it was last read
        device.act("click", {"index": entry})
        assert [e.name for e in device.elements() if e.selected and e.name.endswith(".txt")] == [
            "d.txt"]  # fmt: skip


def test_a_program_closed_by_the_agent_is_not_a_fault(fresh):
    fresh.act("open_app", {"app_name": "Calculator"})
    until(fresh, "toggle button", "AC")
    fresh.act("press_keys", {"keys": "alt+f4"})
    assert fresh.caption() == "No window is open."
    assert fresh.elements() == []
    fresh.act("open_app", {"app_name": "Calculator"})
    until(fresh, "toggle button", "AC")


def test_the_end_of_the_display_is_a_fault(fresh):
    fresh._live()._sandbox.execute("kill -9 $(pgrep -x Xvfb)", 60.0)
    with pytest.raises(EnvFault):
        for _ in range(50):
            fresh.act("wait", {})


def test_continues_a_saved_desktop_without_affecting_the_first(fresh):
    fresh.act("open_app", {"app_name": "Text Editor", "file": "Documents/a.txt"})
    fresh.act("press_keys", {"keys": "ctrl+end"})
    fresh.act("type_text", {"text": "unsaved"})
    saved = fresh.save()
    other = DesktopDevice(seconds=120.0)
    try:
        other.load(saved)
        assert text_of(other) == "hello\nunsaved"
        other.act("press_keys", {"keys": "ctrl+s"})
        until(other, "frame", "/home/user/Documents/a.txt - Mousepad")
        assert list(other.final_state()["files"]) == ["Documents/a.txt"]
    finally:
        other.close()
    assert text_of(fresh) == "hello\nunsaved" and fresh.final_state()["files"] == {}


def test_files_of_other_people_arrive_between_requests(fresh):
    fresh.intervene({"files": {"inbox/new.txt": {"text": "news\n"}}})
    fresh.act("open_app", {"app_name": "Text Editor", "file": "inbox/new.txt"})
    assert text_of(fresh) == "news\n"


def test_a_closed_device_says_so():
    device = DesktopDevice()
    device.close()
    with pytest.raises(WrongState, match="closed"):
        device.elements()
    assert desktop_task({}).params["desktop"]["open"] == []
