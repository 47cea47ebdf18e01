"""The on-screen keyboard: the position of each key, and its effect on the text."""

from hexathlon.tasks.gui.world.kit.events import PhoneEvent
from hexathlon.tasks.gui.world.kit.layout import ScreenLayout

__all__ = ["KEYBOARD_UNITS", "LETTERS", "SYMBOLS", "add_keyboard"]

KEYBOARD_UNITS = 236
"""Height of the keyboard."""

LETTERS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
SYMBOLS = ("1234567890", "@#$%&-+()/", "*\"':;!?_=")
"""Rows of keys; a comma, a space and a full stop follow below."""

_ROW = 54


def add_keyboard(layout: ScreenLayout, shift: bool, symbols: bool) -> None:
    """Add the keyboard to the scene, at the bottom of the screen."""
    scene, known = layout.scene, layout.keyboards.get((shift, symbols))
    if known is None:
        nodes, ops = len(scene.nodes), len(scene.ops)
        _lay_out(layout, shift, symbols)
        layout.keyboards[shift, symbols] = scene.nodes[nodes:], scene.ops[ops:]
    else:
        scene.nodes += known[0]
        scene.ops += known[1]


def _lay_out(layout: ScreenLayout, shift: bool, symbols: bool) -> None:
    pixels, palette, width = layout.pixels, layout.palette, layout.width
    top = layout.height - pixels[KEYBOARD_UNITS]
    layout.rect(0, top, width, layout.height, palette.raised)
    y = top + pixels[8]
    rows = SYMBOLS if symbols else LETTERS
    for number, row in enumerate(rows):
        keys = [
            (char.upper() if shift else char, char.upper() if shift else char, 2) for char in row
        ]
        if number == 2:
            keys.insert(0, ("123" if symbols else "⇧", "shift", 3))
            keys.append(("⌫", "erase", 3))
        _row(layout, keys, y, width)
        y += pixels[_ROW]
    _row(
        layout,
        [("abc" if symbols else "123", "symbols", 3), (",", ",", 2), (" ", " ", 10), (".", ".", 2),
         ("⏎", "enter", 3)],
        y,
        width,
    )  # fmt: skip


def _row(layout: ScreenLayout, keys: list[tuple[str, str, int]], top: int, width: int) -> None:
    pixels, palette = layout.pixels, layout.palette
    total = max(20, sum(key[2] for key in keys))
    unit = (width - pixels[6]) / total
    x = (width - unit * sum(key[2] for key in keys)) / 2
    height = pixels[_ROW - 8]
    size = layout.font(16)
    for text, name, share in keys:
        left, right = round(x + unit * 0.1), round(x + unit * share - unit * 0.1)
        special = len(name) > 1
        layout.rect(left, top, right, top + height,
                    palette.line if special else palette.surface, pixels[6])  # fmt: skip
        if text in _ICONS:
            side = pixels[20]
            layout.icon(_ICONS[text], (left + right - side) // 2, top + (height - side) // 2, side,
                        palette.text)  # fmt: skip
        else:
            layout.text_centred(left, right, top + (height - size * 27 // 20) // 2, text, size,
                                palette.text)  # fmt: skip
        layout.node("key", name, left, top, right, top + height, PhoneEvent("key", name))
        x += unit * share


_ICONS = {"⇧": "up", "⌫": "erase", "⏎": "enter"}
