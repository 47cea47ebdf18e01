"""Lays out a screen: the bar, the scrolling content, tabs, dialogs, sheets and menus.

The phone's own parts (status bar, keyboard) are added by the caller, who also keeps scroll offsets
and values between layouts.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.tasks.gui.elements import ElementBounds
from hexathlon.tasks.gui.world.kit.events import BACK, PhoneEvent
from hexathlon.tasks.gui.world.kit.metrics import ellipsize, text_width, wrap
from hexathlon.tasks.gui.world.kit.placing import Placer, UnknownWidget
from hexathlon.tasks.gui.world.kit.scene import PaintOp, ScrollArea, UINode
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BarAction,
    BottomSheet,
    Button,
    Dialog,
    IconButton,
    Menu,
    ScreenWidget,
    Spacer,
    Tabs,
)

__all__ = ["ScreenLayout"]

_SHOWN_ICONS, _SHOWN_WORDS = 3, 2
_BACK_LABEL = {"en": "Back", "zh": "返回"}
_MORE_LABEL = {"en": "More options", "zh": "更多选项"}


class ScreenLayout(Placer):
    """Lays out screens of one appearance and language."""

    def __init__(self, appearance: Any, language: str) -> None:
        super().__init__(appearance, language)
        self.status_height = self.pixels[26]
        self.keyboards: dict[tuple[bool, bool], tuple[list[UINode], list[PaintOp]]] = {}
        """Keyboards that were laid out, by shift and symbols."""

    def screen(
        self, widget: ScreenWidget, values: Mapping[str, Any], focus: str, offset: int,
        floor: int,
    ) -> None:  # fmt: skip
        """Add a screen to the scene.

        Args:
            widget: The screen.
            values: Values of its fields.
            focus: Key of the focused field.
            offset: Pixels scrolled; from the end for pages that open there.
            floor: Bottom of the screen, above the keyboard.
        """
        self.values, self.focus = values, focus
        if isinstance(widget, AppPage):
            self._page(widget, offset, floor)
            return
        scene = self.scene
        scene.first = len(scene.nodes)
        scene.ops.append(("d", None))
        if isinstance(widget, Dialog):
            self._dialog(widget, offset, floor)
        elif isinstance(widget, BottomSheet):
            self._sheet(widget, offset, floor)
        elif isinstance(widget, Menu):
            self._menu(widget)
        else:
            raise UnknownWidget(
                f"expected an AppPage, Dialog, BottomSheet or Menu, got {widget!r:.80}"
            )

    def _page(self, page: AppPage, offset: int, floor: int) -> None:
        self.rect(0, 0, self.width, self.height, self.palette.back)
        self.scene.title = page.title
        top = self._bar(page)
        bottom = floor
        tabs_low = page.tabs is not None and self.look.tabs == "bottom"
        if page.tabs is not None:
            tall = self.pixels[54]
            if tabs_low:
                bottom -= tall
            else:
                self._tabs(page.tabs, top, tall, low=False)
                top += tall
        if page.search is not None:
            top += self.text_field(page.search, 0, top, self.width)
        lower = self._pinned(page)
        pinned = self.measure(lower, self.width) if lower else 0
        bottom -= pinned
        body = ElementBounds(0, top, self.width, bottom)
        floating = page.create is not None and self.look.create == "float"
        # The end of a list can be scrolled out from under the floating button.
        children = (*page.children, Spacer(64)) if floating else page.children
        self._scrolled("body", children, body, offset, end=page.end)
        if lower:
            self.rect(0, bottom, self.width, bottom + pinned, self.palette.back)
            self.column(lower, 0, bottom, self.width)
        if page.tabs is not None and tabs_low:
            self._tabs(page.tabs, bottom + pinned, self.pixels[54], low=True)
        if floating and page.create is not None:
            self._floating(page.create, bottom)

    def _pinned(self, page: AppPage) -> Sequence[Any]:
        if page.create is not None and self.look.create == "bottom":
            return (*page.bottom, Button(page.create.label, page.create.on))
        return page.bottom

    def _scrolled(
        self,
        key: str,
        children: Sequence[Any],
        body: ElementBounds,
        offset: int,
        *,
        end: bool = False,
    ) -> None:
        """Place widgets in a scroll area."""
        visible = body.bottom - body.top
        width = body.right - body.left
        if end:
            most = max(0, self.measure(children, width) - visible)
            offset = most - min(offset, most)
        self.clip_to(body)
        before = self.scene.nodes, self.scene.ops
        nodes, ops = len(before[0]), len(before[1])
        pad = self.pixels[6]
        height = self.column(children, body.left, body.top - offset, width) + pad
        if not end:
            most = max(0, height - visible)
            if offset > most:
                del before[0][nodes:], before[1][ops:]
                offset = most
                self.column(children, body.left, body.top - offset, width)
        self.clip_to(None)
        self.scene.areas.append(ScrollArea("end" if end else key, body, offset, most))
        if most > 0:  # the scroll bar
            tall = max(self.pixels[20], visible * visible // height)
            y = body.top + (visible - tall) * offset // most
            self.rect(body.right - self.pixels[4], y, body.right - self.pixels[1], y + tall,
                      self.palette.line, self.pixels[1])  # fmt: skip

    # Bar ---------------------------------------------------------------------------------------

    def _bar(self, page: AppPage) -> int:
        """Place the bar and return where the content begins."""
        if not page.title and not page.actions and page.home:
            return self.status_height
        pixels, palette, look = self.pixels, self.palette, self.look
        top, tall = self.status_height, pixels[50]
        large = look.bar == "large"
        bottom = top + tall + (round(self.big * 1.6) if large else 0)
        self.rect(0, 0, self.width, bottom, palette.bar)
        ink = palette.on_bar
        left, right = pixels[16], self.width - pixels[6]
        side = pixels[44]
        inset = (tall - side) // 2
        if not page.home:
            back = IconButton("back", _BACK_LABEL[self.language], page.back or BACK)
            self.icon_button(back, pixels[4], top + inset, side, ink)
            left = pixels[4] + side + pixels[4]
        shown, hidden = self._split_actions(page)
        placed: list[tuple[BarAction, int, int]] = []
        if hidden:
            right -= side
            placed.append((_menu_action(hidden, self.language), right, side))
        for action in reversed(shown):
            wide = side
            if look.actions == "words" and not (page.create is action and look.create == "bar"):
                wide = text_width(action.label, self.body) + pixels[18]
            right -= wide
            placed.append((action, right, wide))
        title = page.title
        if large:
            size = self.big
            self.text(pixels[16], top + tall, ellipsize(title, size, self.width - pixels[32]), size,
                      ink, True)  # fmt: skip
            self.node("heading", title, pixels[16], top + tall, self.width - pixels[16], bottom)
        else:
            size, y = self.title, top + (tall - self.title * 27 // 20) // 2
            text = ellipsize(title, size, right - left)
            x = left
            if look.bar == "centre":
                x = max(left, min((self.width - text_width(text, size)) // 2,
                                  right - text_width(text, size)))  # fmt: skip
            self.text(x, y, text, size, ink, True)
            self.node("heading", title, x, top, right, top + tall)
        for action, x, wide in reversed(placed):
            if wide == side or action.icon == "more":
                self.icon_button(IconButton(action.icon, action.label, action.on), x, top + inset,
                                 side, ink)  # fmt: skip
            else:
                y = top + (tall - self.body * 27 // 20) // 2
                self.text(x + pixels[9], y, action.label, self.body, ink, True)
                self.node("button", action.label, x, top + inset, x + wide, top + tall - inset,
                          action.on)  # fmt: skip
        return bottom

    def _split_actions(self, page: AppPage) -> tuple[list[BarAction], list[BarAction]]:
        """Return the actions in the bar, and those in its menu."""
        look = self.look
        room = {"icons": _SHOWN_ICONS, "words": _SHOWN_WORDS, "menu": 0}[look.actions]
        usual = [action for action in page.actions if not action.rare]
        if len(page.actions) == 1 and usual:
            room = max(room, 1)  # no menu for a single action
        shown = usual[:room]
        hidden = [action for action in page.actions if action not in shown]
        if page.create is not None and look.create == "bar":
            shown.append(page.create)
        return shown, hidden

    def _tabs(self, tabs: Tabs, top: int, height: int, *, low: bool) -> None:
        palette, small, pixels = self.palette, self.small, self.pixels
        self.rect(0, top, self.width, top + height, palette.bar)
        count = len(tabs.choices)
        for place, choice in enumerate(tabs.choices):
            x0, x1 = self.width * place // count, self.width * (place + 1) // count
            ink = palette.on_bar
            if choice.selected:
                if low:
                    self.rect(x0 + pixels[6], top + pixels[3], x1 - pixels[6],
                              top + height - pixels[3], palette.accent, pixels[10])  # fmt: skip
                    ink = palette.on_accent
                else:
                    self.rect(
                        x0,
                        top + height - pixels[3],
                        x1,
                        top + height,
                        palette.accent if palette.accent != palette.bar else palette.on_bar,
                    )
            if choice.icon:
                self.icon(
                    choice.icon, (x0 + x1) // 2 - pixels[11], top + pixels[6], pixels[22], ink
                )
                self.text_centred(x0, x1, top + pixels[30], choice.label, small, ink)
            else:
                self.text_centred(x0, x1, top + (height - small * 27 // 20) // 2, choice.label,
                                  small, ink, choice.selected)  # fmt: skip
            node = self.node("tab", choice.label, x0, top, x1, top + height, choice.on)
            node.selected = choice.selected

    def _floating(self, action: BarAction, floor: int) -> None:
        pixels, palette = self.pixels, self.palette
        side = pixels[54]
        x, y = self.width - side - pixels[16], floor - side - pixels[16]
        self.rect(x, y, x + side, y + side, palette.accent, min(pixels[self.look.corner + 6],
                                                                side // 2))  # fmt: skip
        self.icon(action.icon, x + pixels[15], y + pixels[15], pixels[24], palette.on_accent)
        node = self.node("button", "", x, y, x + side, y + side, action.on)
        node.label = "" if action.icon in self.look.mute else action.label

    # Above the page ----------------------------------------------------------------------------

    def _dialog(self, dialog: Dialog, offset: int, floor: int) -> None:
        from hexathlon.tasks.gui.world.kit.widgets import TextLabel

        pixels, palette = self.pixels, self.palette
        width = self.width - pixels[48]
        left = pixels[24]
        children = [TextLabel(dialog.text)] if dialog.text else []
        children += dialog.children
        content = self.measure(children, width)
        size = self.title
        lines = wrap(dialog.title, size, width - pixels[32], 2) if dialog.title else ()
        head = size * 2 + size * 5 // 4 * (len(lines) - 1) if lines else pixels[8]
        foot = pixels[56] if dialog.buttons else pixels[8]
        room = floor - self.status_height - pixels[32] - head - foot
        visible = min(content + pixels[6], room)
        height = head + visible + foot
        top = self.status_height + (floor - self.status_height - height) // 2
        self.rect(left, top, left + width, top + height, palette.surface,
                  pixels[min(self.look.corner + 4, 24)])  # fmt: skip
        self.scene.title = dialog.title or dialog.text
        for place, line in enumerate(lines):
            at = top + size // 2 + place * size * 5 // 4
            self.text(left + pixels[16], at, line, size, palette.text, True)
        if lines:
            self.node("heading", dialog.title, left + pixels[16], top, left + width, top + head)
        body = ElementBounds(left, top + head, left + width, top + head + visible)
        self._scrolled("body", children, body, offset)
        buttons = list(dialog.buttons)
        if not self.look.confirm_first:
            buttons.reverse()
        share = (width - pixels[16]) // max(1, len(buttons))
        for place, (text, on) in enumerate(buttons):
            main = on is dialog.buttons[0][1]
            self.button(Button(text, on, "filled" if main else "text"),
                        left + pixels[8] + place * share + pixels[4], top + height - pixels[48],
                        share - pixels[8], pixels[40])  # fmt: skip

    def _sheet(self, sheet: BottomSheet, offset: int, floor: int) -> None:
        pixels, palette = self.pixels, self.palette
        head = self.title * 2 + pixels[8]
        content = self.measure(sheet.children, self.width) + pixels[12]
        visible = min(content, (floor - self.status_height) * 4 // 5 - head)
        top = floor - head - visible
        corner = pixels[min(self.look.corner + 4, 24)]
        self.rect(0, top, self.width, floor + corner, palette.surface, corner)
        self.scene.title = sheet.title
        self.text(pixels[16], top + self.title // 2,
                  ellipsize(sheet.title, self.title, self.width - pixels[32]), self.title,
                  palette.text, True)  # fmt: skip
        self.node("heading", sheet.title, pixels[16], top, self.width - pixels[16], top + head)
        self._scrolled(
            "body", sheet.children, ElementBounds(0, top + head, self.width, floor), offset
        )

    def _menu(self, menu: Menu) -> None:
        pixels, palette = self.pixels, self.palette
        tall, size = max(pixels[44], self.body * 2), self.body
        wide = max(text_width(text, size) for text, _ in menu.choices) + pixels[40]
        wide = min(max(wide, pixels[150]), self.width - pixels[16])
        left, top = self.width - wide - pixels[8], self.status_height + pixels[8]
        self.rect(left, top, left + wide, top + tall * len(menu.choices) + pixels[12],
                  palette.surface, pixels[min(self.look.corner, 14)])  # fmt: skip
        y = top + pixels[6]
        for text, on in menu.choices:
            self.text(left + pixels[16], y + (tall - size * 27 // 20) // 2,
                      ellipsize(text, size, wide - pixels[24]), size, palette.text)  # fmt: skip
            self.node("menuitem", text, left, y, left + wide, y + tall, on)
            y += tall


def _menu_action(hidden: Sequence[BarAction], language: str) -> BarAction:
    choices = [(action.label, action.on) for action in hidden]
    return BarAction("more", _MORE_LABEL[language], PhoneEvent("menu", "", {"choices": choices}))
