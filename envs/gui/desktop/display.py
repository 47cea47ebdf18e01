"""The X display: pointer, keys and pixels.

Input goes through the XTEST extension, as from real devices; pixels are read from the server's own
framebuffer file. Independent of which programs run and of what the pixels mean.
"""

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from typing_extensions import Buffer

__all__ = ["KEYS", "Display", "picture"]

_CONNECTING = threading.Lock()
_FIRST_SPARE, _LAST_SPARE = 200, 247
"""Spare key codes, for characters that the keyboard lacks."""

_BUTTONS = {"left": 1, "middle": 2, "right": 3}
_WHEEL = {"up": 4, "down": 5, "left": 6, "right": 7}

KEYS = {
    "alt": "Alt_L", "backspace": "BackSpace", "ctrl": "Control_L", "delete": "Delete",
    "down": "Down", "end": "End", "enter": "Return", "escape": "Escape", "home": "Home",
    "insert": "Insert", "left": "Left", "menu": "Menu", "pagedown": "Next", "pageup": "Prior",
    "right": "Right", "shift": "Shift_L", "space": "space", "tab": "Tab", "up": "Up",
    **{f"f{number}": f"F{number}" for number in range(1, 13)},
}  # fmt: skip
"""Key name → X name; single characters stand for themselves."""


class Display:
    """A connection to an X server.

    Args:
        link: A connected socket.
    """

    def __init__(self, link: socket.socket) -> None:
        from Xlib import XK

        self._server = _connected(link)
        self._root = self._server.screen().root
        self._keysym_of = XK.string_to_keysym
        self._spare: dict[int, int] = {}

    @property
    def pointer(self) -> tuple[int, int]:
        """Position of the pointer in pixels."""
        place = self._root.query_pointer()
        return int(place.root_x), int(place.root_y)

    def managed(self) -> bool:
        """Whether a window manager runs."""
        name = self._server.intern_atom("_NET_SUPPORTING_WM_CHECK")
        return self._root.get_full_property(name, 0) is not None

    def move(self, x: int, y: int) -> None:
        """Move the pointer."""
        from Xlib import X

        self._fake(X.MotionNotify, x=x, y=y)
        self._server.sync()

    def click(self, x: int, y: int, button: str = "left") -> None:
        """Press and release a button at a point."""
        self.move(x, y)
        self._press_button(_BUTTONS[button])
        self._server.sync()

    def drag(self, path: Sequence[tuple[int, int]]) -> Iterator[None]:
        """Drag with the left button along a path, pausing at each point for the caller."""
        from Xlib import X

        self.move(*path[0])
        self._fake(X.ButtonPress, 1)
        for x, y in path:
            self.move(x, y)
            yield
        self._fake(X.ButtonRelease, 1)
        self._server.sync()

    def wheel(self, x: int, y: int, direction: str, notches: int) -> None:
        """Scroll the wheel at a point."""
        self.move(x, y)
        for _ in range(notches):
            self._press_button(_WHEEL[direction])
        self._server.sync()

    def chord(self, names: Sequence[str]) -> None:
        """Press keys together, in this order, and release them in reverse.

        Raises:
            KeyError: If there is no key with that name.
        """
        from Xlib import X

        codes = [code for name in names for code in self._codes(self._symbol(name))]
        for code in codes:
            self._fake(X.KeyPress, code)
        for code in reversed(codes):
            self._fake(X.KeyRelease, code)
        self._server.sync()

    def type(self, text: str) -> None:
        """Type characters; a line break is the Enter key, a tab the Tab key."""
        from Xlib import X

        for character in text:
            name = {"\n": "enter", "\t": "tab"}.get(character, character)
            codes = self._codes(self._symbol(name))
            for code in codes:
                self._fake(X.KeyPress, code)
            for code in reversed(codes):
                self._fake(X.KeyRelease, code)
        self._server.sync()

    def prepare(self, text: str) -> bool:
        """Map spare keys to characters that the keyboard lacks; return whether any was mapped."""
        wanted = {self._symbol(character) for character in text if character not in "\n\t"}
        missing = sorted(wanted - self._spare.keys() - set(self._server._keymap_syms))
        if not missing:
            return False
        for symbol in missing:
            code = _FIRST_SPARE + len(self._spare) % (_LAST_SPARE - _FIRST_SPARE + 1)
            self._spare = {known: at for known, at in self._spare.items() if at != code}
            self._spare[symbol] = code
            self._server.change_keyboard_mapping(code, [(symbol, symbol)])
        self._server.sync()
        return True

    def windows(self, window_class: str = "") -> list[int]:
        """Return the ids of all managed windows, or of those of one class."""
        return [number for number in self._listed()
                if not window_class or window_class.lower() in self._class_of(number)]  # fmt: skip

    def titles(self) -> list[str]:
        """Return the titles of all windows, topmost first."""
        found = [self._title_of(number) for number in reversed(self._listed())]
        return [title for title in found if title]

    def _title_of(self, number: int) -> str:
        from Xlib.error import BadWindow

        try:
            window = self._server.create_resource_object("window", number)
            name = window.get_full_property(self._server.intern_atom("_NET_WM_NAME"), 0)
        except BadWindow:
            return ""
        return bytes(name.value).decode("utf-8", "replace") if name is not None else ""

    def activate(self, window_class: str) -> bool:
        """Bring the newest window of a class to the front; False if there is none."""
        from Xlib import X
        from Xlib.protocol import event

        numbers = self.windows(window_class)
        if not numbers:
            return False
        message = event.ClientMessage(
            window=self._server.create_resource_object("window", numbers[-1]),
            client_type=self._server.intern_atom("_NET_ACTIVE_WINDOW"),
            data=(32, [2, 0, 0, 0, 0]),
        )
        mask = X.SubstructureRedirectMask | X.SubstructureNotifyMask
        self._root.send_event(message, event_mask=mask)
        self._server.sync()
        return True

    def _listed(self) -> list[int]:
        name = self._server.intern_atom("_NET_CLIENT_LIST_STACKING")
        found = self._root.get_full_property(name, 0)
        return list(found.value) if found is not None else []

    def _class_of(self, number: int) -> str:
        from Xlib.error import BadWindow

        try:
            names = self._server.create_resource_object("window", number).get_wm_class()
        except BadWindow:
            return ""
        return " ".join(names or ()).lower()

    def spare_room(self) -> int:
        """Maximum number of distinct characters that one `prepare` can map."""
        return _LAST_SPARE - _FIRST_SPARE + 1

    def close(self) -> None:
        """Close the connection; idempotent."""
        from Xlib.error import ConnectionClosedError

        with contextlib.suppress(ConnectionClosedError, OSError):
            self._server.close()

    def _fake(self, kind: int, detail: int = 0, x: int = 0, y: int = 0) -> None:
        from Xlib.ext import xtest

        xtest.fake_input(self._server, kind, detail, x=x, y=y)

    def _press_button(self, number: int) -> None:
        from Xlib import X

        self._fake(X.ButtonPress, number)
        self._fake(X.ButtonRelease, number)

    def _symbol(self, name: str) -> int:
        if name.lower() in KEYS:
            return int(self._keysym_of(KEYS[name.lower()]))
        if len(name) != 1:
            raise KeyError(name)
        code = ord(name)
        return code if 0x20 <= code <= 0xFF else 0x01000000 | code

    def _codes(self, symbol: int) -> list[int]:
        """Return the key codes to press together for a symbol."""
        if symbol in self._spare:
            return [self._spare[symbol]]
        choices = list(self._server.keysym_to_keycodes(symbol))
        plain = [code for code, level in choices if level == 0]
        shifted = [code for code, level in choices if level == 1]
        if plain:
            return [plain[0]]
        if not shifted:
            raise KeyError(chr(symbol & 0xFFFFFF))
        return [self._server.keysym_to_keycode(self._keysym_of("Shift_L")), shifted[0]]


def _connected(link: socket.socket) -> Any:
    """Return python-xlib's display on a connected socket.

    The library opens its own sockets, so it is given ours while it connects.
    """
    from Xlib import display
    from Xlib.support import connect

    with _CONNECTING:
        kept = connect.get_socket, connect.get_auth
        connect.get_socket = lambda *name: link
        connect.get_auth = lambda *name: (b"", b"")
        try:
            return display.Display(":0")
        finally:
            connect.get_socket, connect.get_auth = kept


def picture(framebuffer: Buffer) -> NDArray[np.uint8]:
    """Return a copy of the image in an X window dump, shape (height, width, 3).

    Raises:
        ValueError: If it is not a dump with 32 bits per pixel.
    """
    header = struct.unpack(">25I", bytes(memoryview(framebuffer)[:100]))
    size, width, height, bits, line, colours = (header[at] for at in (0, 4, 5, 11, 12, 19))
    if bits != 32:
        raise ValueError(f"the framebuffer has {bits} bits per pixel, expected 32")
    start = size + 12 * colours
    data = bytes(memoryview(framebuffer)[start : start + line * height])
    return np.asarray(Image.frombytes("RGB", (width, height), data, "raw", "BGRX", line, 1))
