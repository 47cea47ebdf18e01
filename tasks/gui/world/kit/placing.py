"""Places widgets one below the other: each method places one kind and returns its height."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hexathlon.tasks.gui.world.kit.fields import FieldPlacer
from hexathlon.tasks.gui.world.kit.metrics import ellipsize, text_width, wrap
from hexathlon.tasks.gui.world.kit.pen import on_ground, tint
from hexathlon.tasks.gui.world.kit.scene import ScreenScene
from hexathlon.tasks.gui.world.kit.widgets import (
    Bubble,
    Button,
    Canvas,
    Card,
    Checkbox,
    Chips,
    Columns,
    DateField,
    Divider,
    Heading,
    IconButton,
    ListRow,
    ListView,
    Picture,
    Radio,
    Select,
    Slider,
    Spacer,
    TextField,
    TextLabel,
    Tile,
    TileGrid,
    TimeField,
    Toggle,
)

__all__ = ["Placer", "UnknownWidget"]

_MANY = 24
"""Lists with more items have rows of equal height, and only visible ones are built."""


class UnknownWidget(TypeError):
    """A screen contains something that is not a widget."""


class Placer(FieldPlacer):
    """Places widgets from the top of an area down."""

    def place(self, widget: Any, left: int, top: int, width: int) -> int:
        """Place a widget and return its height.

        Raises:
            UnknownWidget: If it is not a widget.
        """
        method = _METHODS.get(widget.__class__)
        if method is None:
            raise UnknownWidget(f"a screen contains {widget!r:.80}, which is not a widget")
        return method(self, widget, left, top, width)

    def column(self, widgets: Sequence[Any], left: int, top: int, width: int) -> int:
        """Place widgets one below the other and return their height."""
        y = top
        place = self.place
        for widget in widgets:
            if widget is not None:
                y += place(widget, left, y, width)
        return y - top

    def measure(self, widgets: Sequence[Any], width: int) -> int:
        """Return the height of widgets without adding them to the scene."""
        scene, top, bottom, clip = self.scene, self.top, self.bottom, self.clip
        self.scene, self.top, self.bottom = ScreenScene(), 0, 0
        try:
            return self.column(widgets, 0, 0, width)
        finally:
            self.scene, self.top, self.bottom, self.clip = scene, top, bottom, clip

    # Text --------------------------------------------------------------------------------------

    def _label(self, widget: TextLabel, left: int, top: int, width: int) -> int:
        size, colour, bold = self.styles[widget.style]
        pad = self.pixels[16]
        lines = wrap(widget.text, size, width - 2 * pad, widget.lines)
        step = size * 27 // 20
        gap = self.pixels[5]
        y = top + gap
        for line in lines:
            if widget.centre:
                self.text_centred(left + pad, left + width - pad, y, line, size, colour, bold)
            else:
                self.text(left + pad, y, line, size, colour, bold)
            y += step
        self.node("text", widget.text, left + pad, top, left + width - pad, y + gap)
        return y + gap - top

    def _heading(self, widget: Heading, left: int, top: int, width: int) -> int:
        pad, size = self.pixels[16], self.small
        height = self.pixels[14] + size * 3 // 2
        y = top + self.pixels[10]
        self.text(left + pad, y, ellipsize(widget.text, size, width - 2 * pad), size,
                  self.palette.accent, True)  # fmt: skip
        self.node("heading", widget.text, left + pad, y, left + width - pad, top + height)
        return height

    def _divider(self, widget: Divider, left: int, top: int, width: int) -> int:
        middle = top + self.pixels[4]
        self.rect(left, middle, left + width, middle + max(1, self.pixels[1]), self.palette.line)
        return self.pixels[9]

    def _spacer(self, widget: Spacer, left: int, top: int, width: int) -> int:
        return self.pixels[widget.height]

    # Buttons -----------------------------------------------------------------------------------

    def _button(self, widget: Button, left: int, top: int, width: int) -> int:
        pad, gap = self.pixels[16], self.pixels[5]
        height = max(self.pixels[42], self.body * 2)
        self.button(widget, left + pad, top + gap, width - 2 * pad, height)
        return height + 2 * gap

    def button(self, widget: Button, left: int, top: int, width: int, height: int) -> None:
        """Place a button in a rectangle."""
        palette, right, bottom = self.palette, left + width, top + height
        radius = min(self.pixels[self.look.corner], height // 2)
        style, ink = widget.style, palette.accent
        if not widget.enabled:
            self.rect(left, top, right, bottom, palette.raised, radius)
            ink = palette.dim
        elif style == "filled":
            self.rect(left, top, right, bottom, palette.accent, radius)
            ink = palette.on_accent
        elif style == "danger":
            self.rect(left, top, right, bottom, palette.danger, radius)
            ink = on_ground(palette.danger)
        elif style == "outlined":
            self.frame(left, top, right, bottom, palette.dim, radius, palette.back)
        size = self.body
        self.text_centred(
            left + self.pixels[4],
            right - self.pixels[4],
            top + (height - size * 27 // 20) // 2,
            widget.text,
            size,
            ink,
            True,
        )
        node = self.node("button", widget.text, left, top, right, bottom,
                         widget.on if widget.enabled else None)  # fmt: skip
        node.enabled = widget.enabled

    def _icon_button(self, widget: IconButton, left: int, top: int, width: int) -> int:
        height = self.pixels[44]
        self.icon_button(widget, left + (width - height) // 2, top, height)
        return height

    def icon_button(
        self, widget: IconButton, left: int, top: int, size: int, colour: Any = None
    ) -> None:
        """Place a square button with an icon."""
        inner = size * 5 // 9
        inset = (size - inner) // 2
        ink = colour or (self.palette.accent if widget.active else self.palette.dim)
        name = f"{widget.icon}!" if widget.active else widget.icon
        self.icon(name, left + inset, top + inset, inner, ink)
        node = self.node("button", "", left, top, left + size, top + size, widget.on)
        node.label = "" if widget.icon in self.look.mute else widget.label
        node.selected = widget.active

    def _chips(self, widget: Chips, left: int, top: int, width: int) -> int:
        pixels, palette, size = self.pixels, self.palette, self.small
        gap, height = pixels[6], max(pixels[32], size * 2)
        x, y, end = left + pixels[16], top + gap, left + width - pixels[12]
        radius = min(pixels[self.look.corner], height // 2)
        for choice in widget.choices:
            wide = min(text_width(choice.label, size) + pixels[22], end - left - pixels[16])
            if x + wide > end and x > left + pixels[16]:
                x, y = left + pixels[16], y + height + gap
            ink = palette.text
            if choice.selected:
                self.rect(x, y, x + wide, y + height, palette.accent, radius)
                ink = palette.on_accent
            else:
                self.frame(x, y, x + wide, y + height, palette.line, radius, palette.surface)
            self.text_centred(x, x + wide, y + (height - size * 27 // 20) // 2, choice.label,
                              size, ink)  # fmt: skip
            node = self.node("chip", choice.label, x, y, x + wide, y + height, choice.on)
            node.selected = choice.selected
            x += wide + gap
        return y + height + gap - top

    # Lists -------------------------------------------------------------------------------------

    def _row_height(self, widget: ListRow) -> int:
        size, small = self.body, self.small
        height = size * 27 // 20
        if widget.detail:
            height += widget.lines * (small * 27 // 20)
        height += self.pixels[18 + 6 * self.look.density]
        height = max(height, self.pixels[(46, 52, 60)[self.look.density]])
        return height + self.row_gap

    def _list_row(self, widget: ListRow, left: int, top: int, width: int) -> int:
        height = self._row_height(widget)
        bottom = top + height
        if bottom <= self.top or top >= self.bottom:
            return height
        pixels, palette, size, small = self.pixels, self.palette, self.body, self.small
        x0, x1, y1 = left, left + width, bottom
        if self.look.rows == "cards":
            x0, x1, y1 = left + pixels[10], x1 - pixels[10], bottom - self.row_gap
            ground = palette.raised if widget.selected else palette.surface
            self.rect(x0, top, x1, y1, ground, pixels[min(self.look.corner, 14)])
        elif widget.selected:
            self.rect(x0, top, x1, y1, palette.raised)
        if self.look.rows == "lines":
            self.rect(x0 + pixels[16], y1 - max(1, pixels[1]), x1, y1, palette.line)
        inner = y1 - top
        node = self.node("item", "", x0, top, x1, y1, widget.on)
        x = x0 + pixels[14]
        if widget.picture is not None:
            side = min(inner - pixels[8], pixels[52])
            self.picture(x, top + (inner - side) // 2, x + side, top + (inner + side) // 2,
                         widget.picture, pixels[4])  # fmt: skip
            x += side + pixels[12]
        elif widget.icon:
            side = pixels[24]
            ink = palette.danger if widget.danger else palette.dim
            self.icon(widget.icon, x, top + (inner - side) // 2, side, ink)
            x += side + pixels[14]
        elif widget.avatar and self.look.avatars:
            side = pixels[36]
            y = top + (inner - side) // 2
            ground = tint(widget.avatar)
            self.rect(x, y, x + side, y + side, ground, side // 2)
            self.text_centred(x, x + side, y + (side - size * 27 // 20) // 2, widget.avatar[:1],
                              size, on_ground(ground), True)  # fmt: skip
            x += side + pixels[12]
        end = x1 - pixels[12]
        if widget.trailing is not None:
            end = self._trailing(widget.trailing, end, top, inner, node)
        if widget.value:
            value = ellipsize(widget.value, small, (end - x) // 2)
            end -= text_width(value, small)
            self.text(end, top + (inner - small * 27 // 20) // 2, value, small,
                      palette.text if widget.bold else palette.dim, widget.bold)  # fmt: skip
            end -= pixels[8]
        lines = wrap(widget.detail, small, end - x, widget.lines) if widget.detail else ()
        block = size * 27 // 20 + len(lines) * (small * 27 // 20)
        y = top + (inner - block) // 2
        ink = palette.danger if widget.danger else palette.text
        self.text(x, y, ellipsize(widget.title, size, end - x), size, ink, widget.bold)
        y += size * 27 // 20
        for line in lines:
            self.text(x, y, line, small, palette.dim)
            y += small * 27 // 20
        parts = [part for part in (widget.title, widget.detail, widget.value) if part]
        node.text = " | ".join(parts)
        node.long = widget.long
        node.selected = widget.selected
        if widget.swipe_left or widget.swipe_right:
            node.swipes = (widget.swipe_left, widget.swipe_right)
        return height

    def _trailing(self, widget: Any, end: int, top: int, height: int, row: Any) -> int:
        """Place the control at the end of a row; return where the rest must end."""
        pixels = self.pixels
        if isinstance(widget, IconButton):
            side = pixels[42]
            self.icon_button(widget, end - side, top + (height - side) // 2, side)
            return end - side - pixels[4]
        wide, tall = pixels[44], pixels[36]
        y = top + (height - tall) // 2
        checked = self.is_checked(widget)
        role = "switch" if isinstance(widget, Toggle) else "checkbox"
        self.control(role, end - wide, y, wide, tall, checked, True)
        node = self.node(role, "", end - wide, y, end, y + tall, widget.on)
        node.label, node.checkable, node.checked = widget.label, True, checked
        if widget.key:
            node.kind, node.key = "flip", widget.key
        return end - wide - pixels[6]

    def _list_view(self, widget: ListView, left: int, top: int, width: int) -> int:
        items, build = widget.items, widget.row
        count = len(items)
        if not count:
            return (
                self._label(TextLabel(widget.empty, "dim", 0, True), left, top, width)
                if (widget.empty)
                else 0
            )
        if count <= _MANY:
            y = top
            for item in items:
                y += self.place(build(item), left, y, width)
            return y - top
        step = self.measure((build(items[0]),), width)
        first = max(0, (self.top - top) // step)
        last = min(count, -((top - self.bottom) // step))
        for place in range(first, last):
            self.place(build(items[place]), left, top + place * step, width)
        return count * step

    # Grids -------------------------------------------------------------------------------------

    def _grid(self, widget: TileGrid, left: int, top: int, width: int) -> int:
        pad = self.pixels[8]
        step = (width - 2 * pad) // widget.columns
        tall = self.pixels[widget.height] if widget.height else self._tile_height(widget, step)
        place = 0
        for place, tile in enumerate(widget.tiles):
            row, column = divmod(place, widget.columns)
            y = top + row * tall
            blank = not (tile.label or tile.text or tile.on)
            if not blank and y + tall > self.top and y < self.bottom:
                self._tile(tile, left + pad + column * step, y, step, tall)
        return (place // widget.columns + 1) * tall if widget.tiles else 0

    def _tile_height(self, widget: TileGrid, step: int) -> int:
        tiles = widget.tiles
        if any(tile.picture is not None for tile in tiles):
            caption = any(tile.caption for tile in tiles)
            return step + (self.small * 2 if caption else 0)
        if any(tile.icon for tile in tiles):
            return self.pixels[62] + self.small * 2
        return max(self.pixels[40], self.body * 2)

    def _tile(self, tile: Tile, left: int, top: int, width: int, height: int) -> None:
        pixels, palette, small = self.pixels, self.palette, self.small
        gap, right = pixels[3], left + width
        ink = palette.text
        if tile.picture is not None:
            room = height - (small * 2 if tile.caption else gap)
            self.picture(left + gap, top + gap, right - gap, top + room, tile.picture,
                         pixels[min(self.look.corner, 10)])  # fmt: skip
            if tile.selected:
                self.icon("check", right - pixels[30], top + pixels[8], pixels[22], palette.accent)
            if tile.caption:
                self.text_centred(left + gap, right - gap, top + room, tile.label, small, ink)
        elif tile.icon:
            side = pixels[52]
            x, y = left + (width - side) // 2, top + pixels[4]
            ground = tile.colour or palette.raised
            self.rect(x, y, x + side, y + side, ground, side * (2 + self.look.corner) // 54)
            self.icon(tile.icon, x + side // 5, y + side // 5, side * 3 // 5, on_ground(ground))
            if tile.mark:
                self.rect(x + side - pixels[12], y - pixels[4], x + side + pixels[8],
                          y + pixels[16], palette.danger, pixels[10])  # fmt: skip
                self.text_centred(
                    x + side - pixels[12],
                    x + side + pixels[8],
                    y - pixels[2],
                    tile.mark,
                    self.pixels[12],
                    on_ground(palette.danger),
                )
            if tile.caption:
                self.text_centred(left, right, y + side + pixels[3], tile.label, small, ink)
        else:
            if tile.selected:
                self.rect(left + gap, top + gap, right - gap, top + height - gap, palette.accent,
                          min(pixels[self.look.corner], height // 2))  # fmt: skip
                ink = palette.on_accent
            size = self.body
            y = top + (height - size * 27 // 20) // 2 - (small // 2 if tile.mark else 0)
            self.text_centred(left, right, y, tile.text or tile.label, size, ink)
            if tile.mark:
                self.text_centred(left, right, y + size * 5 // 4, tile.mark, small, palette.dim)
        shown = tile.caption or not (tile.icon or tile.picture is not None)
        role = "image" if tile.picture is not None else "tile"
        node = self.node(role, (tile.text or tile.label) if shown else "", left, top, right,
                         top + height, tile.on)  # fmt: skip
        node.label = "" if shown and not tile.text else tile.label
        if tile.mark:
            node.value = tile.mark
        node.long, node.selected = tile.long, tile.selected

    # Other -------------------------------------------------------------------------------------

    def _picture(self, widget: Picture, left: int, top: int, width: int) -> int:
        height, pad = self.pixels[widget.height], self.pixels[8]
        self.picture(left + pad, top, left + width - pad, top + height - pad, widget.scene,
                     self.pixels[min(self.look.corner, 12)])  # fmt: skip
        node = self.node("image", "", left + pad, top, left + width - pad, top + height - pad,
                         widget.on)  # fmt: skip
        node.label = widget.label
        return height

    def _bubble(self, widget: Bubble, left: int, top: int, width: int) -> int:
        pixels, size, small, palette = self.pixels, self.body, self.small, self.palette
        pad, gap = pixels[10], pixels[5]
        lines = wrap(widget.text, size, width * 7 // 10) if widget.text else ()
        wide = max([text_width(line, size) for line in lines], default=0)
        wide = max(wide, text_width(widget.author, small), text_width(widget.time, small))
        tall = len(lines) * (size * 27 // 20) + 2 * gap
        if widget.picture is not None:
            wide, tall = max(wide, width // 2), tall + width // 3
        if widget.author:
            tall += small * 27 // 20
        if widget.time:
            tall += small * 27 // 20
        x0 = left + width - wide - 3 * pad if widget.mine else left + pad
        x1, y1 = x0 + wide + 2 * pad, top + gap + tall
        if y1 > self.top and top < self.bottom:
            ground = palette.accent if widget.mine else palette.raised
            ink = palette.on_accent if widget.mine else palette.text
            self.rect(x0, top + gap, x1, y1, ground, pixels[min(self.look.corner + 2, 16)])
            y = top + 2 * gap
            if widget.author:
                self.text(x0 + pad, y, widget.author, small, ink, True)
                y += small * 27 // 20
            if widget.picture is not None:
                self.picture(x0 + gap, y, x1 - gap, y + width // 3 - gap, widget.picture, gap)
                y += width // 3
            for line in lines:
                self.text(x0 + pad, y, line, size, ink)
                y += size * 27 // 20
            if widget.time:
                self.text(x0 + pad, y, widget.time, small, ink)
            parts = [part for part in (widget.author, widget.text, widget.time) if part]
            node = self.node("message", " | ".join(parts), x0, top + gap, x1, y1)
            node.label = "sent" if widget.mine else "received"
            node.long = widget.long
        return tall + gap

    def _canvas(self, widget: Canvas, left: int, top: int, width: int) -> int:
        factor = width / widget.width
        height = round(widget.height * factor)
        shapes, clip = self.scene.ops, (max(top, self.top), min(top + height, self.bottom))
        self.rect(left, top, left + width, top + height, self.palette.raised)
        for shape in widget.shapes:
            kind, colour = shape[0], shape[1]
            if kind == "text":
                size = round(shape[2] * self.scale)
                text = shape[5]
                x = left + round(shape[3] * factor) - text_width(text, size) // 2
                shapes.append(("t", x, top + round(shape[4] * factor), text, size, colour, False,
                               clip))  # fmt: skip
                continue
            skip = 3 if kind == "line" else 2
            last = -1 if kind == "disc" else len(shape)
            points = tuple(
                round(value * factor) + (left, top)[place % 2]
                for place, value in enumerate(shape[skip:last])
            )
            if kind == "line":
                wide = max(1, round(shape[2] * factor))
                shapes.append(("l", points, wide, colour, clip))
            elif kind == "area":
                shapes.append(("g", points, colour, clip))
            elif kind == "disc":
                shapes.append(("c", *points, round(shape[-1] * factor), colour, clip))
        ground = self.node("canvas", "", left, top, left + width, top + height)
        ground.label, ground.data = widget.label, factor
        if widget.pan is not None:
            ground.kind, ground.swipes = "pan", (widget.pan, widget.pan)
        for spot in widget.spots:
            x, y = left + round(spot.x * factor), top + round(spot.y * factor)
            reach = round(spot.radius * self.scale)
            if top <= y < top + height and left <= x < left + width:
                node = self.node("pin", "", max(left, x - reach), y - reach,
                                 min(left + width, x + reach), y + reach, spot.on)  # fmt: skip
                node.label = spot.label
        return height

    def _card(self, widget: Card, left: int, top: int, width: int) -> int:
        pad = self.pixels[8]
        inner = self.measure(widget.children, width - 2 * pad)
        height = inner + 2 * pad
        radius = self.pixels[min(self.look.corner, 14)]
        self.frame(left + pad, top + pad // 2, left + width - pad, top + height - pad // 2,
                   self.palette.line, radius, self.palette.surface)  # fmt: skip
        if widget.on is not None:
            self.node("card", "", left + pad, top, left + width - pad, top + height, widget.on)
        self.column(widget.children, left + pad, top + pad, width - 2 * pad)
        return height

    def _columns(self, widget: Columns, left: int, top: int, width: int) -> int:
        weights = widget.weights or [1] * len(widget.children)
        total, used, height = sum(weights), 0, 0
        for child, weight in zip(widget.children, weights, strict=True):
            x0, x1 = left + width * used // total, left + width * (used + weight) // total
            if child is not None:
                height = max(height, self.place(child, x0, top, x1 - x0))
            used += weight
        return height


_Method = Callable[[Placer, Any, int, int, int], int]
_METHODS: Mapping[type, _Method] = {
    TextLabel: Placer._label, Heading: Placer._heading, Divider: Placer._divider,
    Spacer: Placer._spacer, Button: Placer._button, IconButton: Placer._icon_button,
    Chips: Placer._chips, ListRow: Placer._list_row, ListView: Placer._list_view,
    TileGrid: Placer._grid, Picture: Placer._picture, Bubble: Placer._bubble,
    Canvas: Placer._canvas, Card: Placer._card, Columns: Placer._columns,
    TextField: Placer.text_field, Toggle: Placer.toggle, Checkbox: Placer.toggle,
    Radio: Placer.radio, Select: Placer.select, Slider: Placer.slider,
    DateField: Placer.day_field, TimeField: Placer.hour_field,
}  # fmt: skip
