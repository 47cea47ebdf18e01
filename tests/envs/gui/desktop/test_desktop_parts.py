import os
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from hexathlon.envs.gui.desktop.accessibility import AccessibleNode
from hexathlon.envs.gui.desktop.display import picture
from hexathlon.envs.gui.desktop.elements import listed
from hexathlon.envs.gui.desktop.idleness import Processes
from hexathlon.envs.gui.desktop.stored import entries_of


def test_pictures_of_the_framebuffer():
    width, height, line = 3, 2, 16
    header = [0] * 25
    for place, value in ((0, 100), (4, width), (5, height), (11, 32), (12, line), (19, 1)):
        header[place] = value
    rows = b"".join(bytes([at, 50, 100, 0]) * width + b"\0" * 4 for at in range(height))
    image = picture(struct.pack(">25I", *header) + b"\0" * 12 + rows)
    assert image.shape == (2, 3, 3)
    assert image[0, 0].tolist() == [100, 50, 0] and image[1, 2].tolist() == [100, 50, 1]
    header[11] = 16
    with pytest.raises(ValueError, match="16 bits per pixel"):
        picture(struct.pack(">25I", *header) + b"\0" * 12 + rows)
    assert image.dtype == np.uint8


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A shell whose only child reads lines and loops forever after the line `busy`."""
    code = "import sys\nprint('ready', flush=True)\nfor line in sys.stdin:\n"
    code += "    while line.startswith('busy'): pass\n"
    with subprocess.Popen(
        ["sh", "-c", f'"{sys.executable}" -c "$0"; true', code],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    ) as process:  # fmt: skip
        yield process
        os.killpg(process.pid, signal.SIGKILL)


def test_a_waiting_process_is_still_and_a_busy_one_is_not(child):
    assert child.stdout.readline() == b"ready\n"
    family = Processes(child.pid)
    assert len(family.ids()) == 1
    assert child.pid in Processes(os.getpid()).ids()
    assert family.settle(60.0)
    child.stdin.write(b"busy\n")
    child.stdin.flush()
    assert not family.settle(0.5)


def node(role: str, name: str, bounds: tuple[int, int, int, int], *states: str,
         children: tuple[AccessibleNode, ...] = ()) -> AccessibleNode:  # fmt: skip
    flags = frozenset({"showing", "visible", "sensitive", *states})
    return AccessibleNode(
        (":1.1", f"/{role}/{name}"), role, name, flags, bounds, bounds[:2], children=list(children)
    )


def test_elements_are_in_reading_order_and_covered_ones_left_out():
    box = node("filler", "", (0, 0, 400, 300), children=(
        node("push button", "Right", (200, 50, 260, 80)),
        node("push button", "Left", (10, 51, 60, 80)),
        node("push button", "Top", (10, 5, 60, 30)),
        node("push button", "Outside", (10, 500, 60, 520)),
        node("label", "", (10, 100, 60, 120)),
        node("check box", "", (10, 130, 60, 150), "checked"),
    ))  # fmt: skip
    frame = node("frame", "Window", (0, 0, 400, 300), "active", children=(box,))
    shown = [element for element, _ in listed([frame], (400, 300))]
    names = [(each.role, each.text) for each in shown]
    assert names == [("frame", "Window"), ("push button", "Top"), ("push button", "Left"),
                     ("push button", "Right"), ("check box", "")]  # fmt: skip
    assert [each.index for each in shown] == [0, 1, 2, 3, 4]
    assert shown[4].checked and shown[4].checkable and shown[1].clickable
    dialog = node("dialog", "Question", (150, 40, 390, 200), "active")
    behind = [each.text for each, _ in listed([dialog, frame], (400, 300))]
    assert "Left" in behind and "Right" not in behind


def test_stored_files_and_their_folders():
    entries = entries_of({"a/b/c.txt": {"text": "é"}, "d": {"folder": True},
                          "e.bin": {"base64": "AAE="}, "f.db": {"sql": "CREATE TABLE t (x)"},
                          "/etc/own": {"text": ""}})  # fmt: skip
    assert entries["/home/user/a"].folder and entries["/home/user/a/b"].folder
    assert entries["/home/user/a/b/c.txt"].data == "é".encode()
    assert entries["/home/user/d"].folder and entries["/home/user/e.bin"].data == b"\0\1"
    assert entries["/home/user/f.db"].data.startswith(b"SQLite format 3")
    assert "/etc/own" in entries and "/etc" not in entries
