"""Looks of the phone. Content and possible actions are the same in every look.

Training uses four looks, evaluation four others: with different layouts, label wordings and button
positions, and with missing labels. Brightness, font size and screen size are drawn separately.
"""

from typing import Literal, NamedTuple

import numpy as np

from hexathlon.tasks.task import Split

__all__ = ["LOOKS", "SCREEN_SIZES", "Appearance", "Palette", "PhoneLook", "draw_appearance",
           "phone_looks_of"]  # fmt: skip

Colour = tuple[int, int, int]

SCREEN_SIZES: tuple[tuple[int, int], ...] = ((540, 1200), (1080, 2400), (720, 1280))
"""Widths and heights of the screen in pixels; each is 360 units wide."""


class Palette(NamedTuple):
    """Colours of a theme."""

    back: Colour
    surface: Colour
    raised: Colour
    text: Colour
    dim: Colour
    line: Colour
    accent: Colour
    on_accent: Colour
    bar: Colour
    on_bar: Colour
    danger: Colour = (186, 26, 26)


class PhoneLook(NamedTuple):
    """One appearance of the system and of all apps."""

    name: str
    bar: Literal["left", "centre", "large"]
    """Title of a screen: beside the back button, centred, or large below it."""

    actions: Literal["icons", "words", "menu"]
    """Actions of a screen: icons or words in its bar, or all in a menu."""

    create: Literal["float", "bar", "bottom"]
    """The main action: a floating button, in the bar, or a wide button at the bottom."""

    tabs: Literal["top", "bottom"]
    rows: Literal["lines", "cards", "plain"]
    fields: Literal["outlined", "filled", "line"]
    density: int
    """Height of rows: 0 compact to 2 roomy."""

    corner: int
    """Radius of corners, in units."""

    avatars: bool
    wording: int
    """Index of the wording of labels."""

    dates: Literal["iso", "long", "short", "dotted"]
    hour12: bool
    mute: frozenset[str]
    """Icons whose buttons carry no label."""

    confirm_first: bool
    """Whether the confirming button of a dialog is on the left."""

    light: Palette
    dark: Palette


def _rgb(text: str) -> Colour:
    return int(text[0:2], 16), int(text[2:4], 16), int(text[4:6], 16)


def _light(accent: str, bar: str = "", back: str = "FAFAFA", on_bar: str = "1B1B1F") -> Palette:
    return Palette(
        back=_rgb(back), surface=_rgb("FFFFFF"), raised=_rgb("ECEDF1"), text=_rgb("1B1B1F"),
        dim=_rgb("5F6068"), line=_rgb("DADBE0"), accent=_rgb(accent), on_accent=_rgb("FFFFFF"),
        bar=_rgb(bar or back), on_bar=_rgb(on_bar),
    )  # fmt: skip


def _dark(accent: str, back: str = "121316", bar: str = "") -> Palette:
    return Palette(
        back=_rgb(back), surface=_rgb("1E1F24"), raised=_rgb("2B2D33"), text=_rgb("E6E6EA"),
        dim=_rgb("A6A8B1"), line=_rgb("3A3C43"), accent=_rgb(accent), on_accent=_rgb("14151A"),
        bar=_rgb(bar or back), on_bar=_rgb("E6E6EA"), danger=_rgb("FFB4AB"),
    )  # fmt: skip


LOOKS: dict[str, PhoneLook] = {
    look.name: look
    for look in (
        PhoneLook(
            "pebble", "left", "icons", "float", "bottom", "plain", "outlined", 1, 12, True, 0,
            "long", False, frozenset(), False,
            _light("2F5FD0"), _dark("A9C1FF"),
        ),
        PhoneLook(
            "slate", "left", "menu", "bar", "top", "lines", "line", 0, 4, False, 1,
            "iso", False, frozenset({"plus"}), False,
            _light("00695C", "00695C", on_bar="FFFFFF"), _dark("6FD8C6", bar="00332C"),
        ),
        PhoneLook(
            "linen", "centre", "words", "bottom", "bottom", "cards", "filled", 1, 16, True, 2,
            "short", True, frozenset(), True,
            _light("8A4B2A", back="F6F1EA"), _dark("F0B893", "17120E"),
        ),
        PhoneLook(
            "mono", "large", "icons", "float", "top", "lines", "filled", 2, 8, False, 0,
            "dotted", False, frozenset({"more"}), False,
            _light("333A45", back="FFFFFF"), _dark("C9D2E0", "000000"),
        ),
        PhoneLook(
            "reef", "centre", "icons", "bar", "bottom", "cards", "outlined", 2, 20, True, 3,
            "short", False, frozenset({"plus", "back"}), True,
            _light("0B7285", "E3F4F7", "F3FAFB"), _dark("7FDBEC", "0B1416"),
        ),
        PhoneLook(
            "brick", "left", "words", "float", "top", "cards", "line", 0, 2, False, 1,
            "short", True, frozenset({"plus", "search"}), False,
            _light("A61E4D", "A61E4D", on_bar="FFFFFF"), _dark("FFB1C8", bar="4A0A22"),
        ),
        PhoneLook(
            "orchid", "large", "menu", "bottom", "bottom", "plain", "filled", 1, 24, True, 2,
            "long", True, frozenset({"more", "back"}), True,
            _light("6A3FB5", back="F7F3FC"), _dark("D3BBFF", "15111C"),
        ),
        PhoneLook(
            "signal", "left", "icons", "float", "bottom", "lines", "outlined", 0, 6, True, 3,
            "iso", False, frozenset({"plus", "more", "search"}), False,
            _light("B35900", back="FFFDF8"), _dark("FFC27A", "1A1408"),
        ),
    )
}  # fmt: skip
"""All looks by name: the first four are those of training, the others those of evaluation."""

_TRAINING = tuple(LOOKS)[:4]


class Appearance(NamedTuple):
    """Everything that determines how screens look."""

    look: PhoneLook
    dark: bool = False
    font_scale: float = 1.0
    size: tuple[int, int] = SCREEN_SIZES[0]

    @property
    def palette(self) -> Palette:
        """Colours of the theme."""
        return self.look.dark if self.dark else self.look.light


def phone_looks_of(split: Split) -> tuple[str, ...]:
    """Return the names of the looks that a split draws from."""
    return _TRAINING if split == "train" else tuple(LOOKS)[len(_TRAINING) :]


def draw_appearance(split: Split, rng: np.random.Generator) -> Appearance:
    """Draw a look of the split, a theme and a font size; the screen is 540 x 1200."""
    names = phone_looks_of(split)
    look = LOOKS[names[int(rng.integers(len(names)))]]
    dark, large = bool(rng.random() < 0.3), bool(rng.random() < 0.2)
    return Appearance(look, dark, 1.3 if large else 1.0)
