"""Collects UI nodes and paint operations of a screen, clipped to the current scroll area."""

from hexathlon.tasks.gui.elements import ElementBounds
from hexathlon.tasks.gui.world.kit.events import PhoneEvent
from hexathlon.tasks.gui.world.kit.looks import Appearance, Colour
from hexathlon.tasks.gui.world.kit.metrics import ellipsize, text_width
from hexathlon.tasks.gui.world.kit.scene import ScreenScene, UINode

__all__ = ["Pen", "on_ground", "tint"]

_TINTS: tuple[Colour, ...] = (
    (84, 110, 190), (176, 92, 70), (62, 138, 96), (140, 88, 160), (178, 128, 42), (50, 130, 150),
    (170, 78, 118), (96, 116, 70),
)  # fmt: skip


def tint(name: str) -> Colour:
    """Return the colour of a name's disc."""
    return _TINTS[sum(map(ord, name)) % len(_TINTS)]


def on_ground(colour: Colour) -> Colour:
    """Return black or white, whichever is legible on a colour."""
    red, green, blue = colour
    return (255, 255, 255) if red * 3 + green * 6 + blue < 1500 else (24, 24, 28)


class Pen:
    """Writes one scene.

    Args:
        appearance: Look, theme, font size and screen size.
    """

    def __init__(self, appearance: Appearance) -> None:
        self.appearance = appearance
        self.look = appearance.look
        self.palette = appearance.palette
        self.width, self.height = appearance.size
        self.scale = self.width / 360
        self.font_scale = appearance.font_scale
        self.pixels = [round(units * self.scale) for units in range(801)]
        self.small = self.font(12)
        self.body = self.font(15)
        self.title = self.font(18)
        self.big = self.font(25)
        self.begin()

    def begin(self) -> None:
        """Start an empty scene without a scroll area."""
        self.scene = ScreenScene()
        self.top, self.bottom = 0, self.height
        self.clip: tuple[int, int] | None = None

    def font(self, size: int) -> int:
        """Return a font size in pixels."""
        return round(size * self.scale * self.font_scale)

    def clip_to(self, bounds: ElementBounds | None) -> None:
        """Enter or leave a scroll area."""
        if bounds is None:
            self.top, self.bottom, self.clip = 0, self.height, None
        else:
            self.top, self.bottom = bounds.top, bounds.bottom
            self.clip = (bounds.top, bounds.bottom)

    def node(
        self, role: str, text: str, left: int, top: int, right: int, bottom: int,
        on: PhoneEvent | None = None,
    ) -> UINode:  # fmt: skip
        """Add an element; one that is not visible is created but not added."""
        top, bottom = max(top, self.top), min(bottom, self.bottom)
        node = UINode(role, text, left, top, right, bottom, on)
        # A sliver of an entry is neither legible nor safe to touch.
        if bottom - top > 4 * self.scale:
            self.scene.nodes.append(node)
        return node

    def rect(
        self, left: int, top: int, right: int, bottom: int, colour: Colour, radius: int = 0
    ) -> None:
        """Paint a rectangle with rounded corners."""
        if bottom > self.top and top < self.bottom:
            self.scene.ops.append(("r", left, top, right, bottom, colour, radius, self.clip))

    def frame(
        self, left: int, top: int, right: int, bottom: int, colour: Colour, radius: int,
        ground: Colour,
    ) -> None:  # fmt: skip
        """Paint a rectangle with an outline."""
        edge = max(1, round(self.scale))
        self.rect(left, top, right, bottom, colour, radius)
        self.rect(left + edge, top + edge, right - edge, bottom - edge, ground,
                  max(0, radius - edge))  # fmt: skip

    def text(
        self, left: int, top: int, text: str, size: int, colour: Colour, bold: bool = False
    ) -> None:
        """Paint a line of text whose line box begins at `top`."""
        if text and top + 2 * size > self.top and top < self.bottom:
            self.scene.ops.append(("t", left, top, text, size, colour, bold, self.clip))

    def text_centred(
        self, left: int, right: int, top: int, text: str, size: int, colour: Colour,
        bold: bool = False,
    ) -> None:  # fmt: skip
        """Paint a line of text centred between two edges, cut to fit."""
        text = ellipsize(text, size, right - left)
        offset = (right - left - text_width(text, size)) // 2
        self.text(left + offset, top, text, size, colour, bold)

    def icon(self, name: str, left: int, top: int, size: int, colour: Colour) -> None:
        """Paint an icon in a square."""
        if top + size > self.top and top < self.bottom:
            self.scene.ops.append(("i", name, left, top, size, colour, self.clip))

    def picture(
        self, left: int, top: int, right: int, bottom: int, scene: object, radius: int
    ) -> None:
        """Paint a picture."""
        if bottom > self.top and top < self.bottom:
            self.scene.ops.append(("p", left, top, right, bottom, scene, radius, self.clip))
