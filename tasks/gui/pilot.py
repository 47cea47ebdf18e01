"""Scripts that use a phone by reading the list of elements and acting through the tools.

A `PhonePilot` finds elements by role and name on the screen it was last shown. Labels differ
between looks, so names are given as every wording of a label, and actions may be in a menu.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.gui.world.kit.words import wordings
from hexathlon.tasks.source import Script

__all__ = ["NoSuchElement", "PhonePilot"]

_LINE = re.compile(r'^(?:\[(\d+)\] )?(\w+)(?: "((?:[^"\\]|\\.)*)")?(.*)$')
_AFTER = re.compile(r"^ \[(\d+)\]")
_MORE = {"en": "More options", "zh": "更多选项"}
_MOST_SCROLLS = 40


class NoSuchElement(Exception):
    """The screen shows no element as described."""


class SeenElement:
    """An element as the screen lists it."""

    __slots__ = ("index", "name", "rest", "role")

    def __init__(self, index: int, role: str, name: str, rest: str) -> None:
        self.index, self.role, self.name, self.rest = index, role, name, rest

    @property
    def title(self) -> str:
        """The first part of its name: the title of an entry."""
        return self.name.partition(" | ")[0]

    @property
    def bounds(self) -> tuple[int, int, int, int] | None:
        """Its bounds, if the list has them."""
        found = re.search(r" at (\d+),(\d+)-(\d+),(\d+)", self.rest)
        if found is None:
            return None
        left, top, right, bottom = map(int, found.groups())
        return left, top, right, bottom


class PhonePilot:
    """Reads screens and yields actions.

    Args:
        language: Language of the phone.
    """

    def __init__(self, language: Language) -> None:
        self.language: Language = language
        self.screen = ""
        self._elements: list[SeenElement] | None = None

    def words(self, app: str, key: str) -> tuple[str, ...]:
        """Return every wording of a label of an app; `system` for the phone's own."""
        return wordings(app, key, self.language)

    # Finding -----------------------------------------------------------------------------------

    def elements(self) -> list[SeenElement]:
        """Return the elements of the last screen."""
        if self._elements is None:
            self._elements = []
            for line in self.screen.splitlines():
                match = _LINE.match(line)
                if match is None:
                    continue
                index, role, name, rest = match.groups()
                if index is None:  # in the brief view, the number comes last
                    after = _AFTER.match(rest)
                    if after is None:
                        continue
                    index = after[1]
                name = re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1],
                              name or "")  # fmt: skip
                self._elements.append(SeenElement(int(index), role, name, rest))
        return self._elements

    def find(self, role: str, names: str | Sequence[str] = (), *, nth: int = 0,
             after: str = "") -> SeenElement:  # fmt: skip
        """Return an element.

        Args:
            role: Its role, or several separated by `|`.
            names: Its name or the title of an entry, or several of which one must match.
            nth: Which of several that match.
            after: Title of an element that precedes it.

        Raises:
            NoSuchElement: If there is none.
        """
        wanted = (names,) if isinstance(names, str) else tuple(names)
        roles, begun, found = role.split("|"), not after, 0
        for element in self.elements():
            begun = begun or element.title == after
            fits = not wanted or element.name in wanted or element.title in wanted
            if begun and element.role in roles and fits:
                if found == nth:
                    return element
                found += 1
        raise NoSuchElement(f"no {role} {' or '.join(map(repr, wanted))}:\n{self.screen}")

    def has(self, role: str, names: str | Sequence[str] = ()) -> bool:
        """Whether the screen shows such an element."""
        try:
            self.find(role, names)
        except NoSuchElement:
            return False
        return True

    def shows(self, text: str) -> bool:
        """Whether the screen shows a text."""
        return text in self.screen

    # Acting ------------------------------------------------------------------------------------

    def act(self, tool: str, **arguments: Any) -> Script:
        """Call a tool and read the screen that follows."""
        action = json.dumps({"name": tool, "arguments": arguments}, ensure_ascii=False)
        observation = yield action
        if not observation.startswith("Error:"):
            self.screen, self._elements = observation, None
        if self._rings(observation):
            yield from self.tap("button", self.words("system", "decline_call"))

    def _rings(self, observation: str) -> bool:
        """Whether an incoming call covers the app's screen."""
        return all(
            any(f'button "{word}"' in observation for word in self.words("system", key))
            for key in ("answer_call", "decline_call")
        )

    def open(self, app: str) -> Script:
        """Open an app at its first screen."""
        yield from self.act("open_app", app_name=app)

    def tap(self, role: str, names: str | Sequence[str] = (), **where: Any) -> Script:
        """Tap an element; see `find`."""
        yield from self.act("click", index=self.find(role, names, **where).index)

    def press(self, app: str, key: str) -> Script:
        """Use one of the screen's actions, whether in the bar, in the menu or unlabelled."""
        names = self.words(app, key)
        if not self.has("button", names) and not self.has("menuitem", names):
            bar = self._bar_buttons()
            searching = key == "search" and bool(bar)
            if not searching or self.has("button", _MORE[self.language]):
                yield from self.act("click", index=self._menu_button().index)
                searching = searching and not self.has("menuitem", names)
                if searching:
                    yield from self.act("navigate_back")
            if searching:
                # Unlabelled: the first button of the bar; the last one opens the menu.
                yield from self.act("click", index=bar[0].index)
                if not self.has("menuitem", names):
                    return
        if self.has("menuitem", names):
            yield from self.tap("menuitem", names)
        else:
            yield from self.tap("button", names)

    def create(self, app: str, key: str) -> Script:
        """Use the main action of the screen, which has no label in some looks."""
        names = self.words(app, key)
        if self.has("button", names):
            yield from self.tap("button", names)
        else:
            yield from self.act("click", index=self._main_button().index)

    def _menu_button(self) -> SeenElement:
        for element in self.elements():
            if element.role == "button" and element.name == _MORE[self.language]:
                return element
        bar = self._bar_buttons()
        if not bar:
            raise NoSuchElement(f"no menu:\n{self.screen}")
        return bar[-1]

    def _bar_buttons(self) -> list[SeenElement]:
        """Return the unlabelled buttons of the bar, except the back button."""
        found = [each for each in self._unlabelled() if each.bounds is not None]
        boxes = [each.bounds for each in found if each.bounds is not None]
        left = max((box[2] - box[0] for box in boxes), default=0) // 2
        top = min((box[1] for box in boxes), default=0)
        return [each for each, box in zip(found, boxes, strict=True)
                if box[0] > left and box[1] < top + (box[3] - box[1])]  # fmt: skip

    def _main_button(self) -> SeenElement:
        """Return the unlabelled main action: the largest unlabelled button, or one in the bar."""
        found = [(each, each.bounds) for each in self._unlabelled()]
        sizes = [box[2] - box[0] for _, box in found if box is not None]
        if not sizes:
            raise NoSuchElement(f"no main action:\n{self.screen}")
        largest = [each for each, box in found if box is not None and box[2] - box[0] == max(sizes)]
        bar = self._bar_buttons()
        return bar[-1] if bar and max(sizes) < min(sizes) * 6 / 5 else largest[-1]

    def _unlabelled(self) -> list[SeenElement]:
        return [each for each in self.elements() if each.role == "button" and not each.name]

    def fill(self, names: str | Sequence[str], text: str, *, role: str = "textbox",
             **where: Any) -> Script:  # fmt: skip
        """Replace the text of a field, scrolling to it if it is not visible."""
        yield from self.reveal(role, names, **where)
        index = self.find(role, names, **where).index
        yield from self.act("input_text", text=text, index=index, clear_text=True)

    def choose(self, names: str | Sequence[str], option: str | Sequence[str]) -> Script:
        """Choose an option of a drop-down field."""
        yield from self.reveal("picker", names)
        yield from self.tap("picker", names)
        yield from self.reveal("item", option)
        yield from self.tap("item", option)

    def pick_day(self, names: str | Sequence[str], day: str) -> Script:
        """Choose a day, `YYYY-MM-DD`, in a calendar."""
        yield from self.reveal("picker", names)
        yield from self.tap("picker", names)
        for _ in range(1300):
            shown = [each.rest for each in self.elements() if each.role == "tile"]
            days = re.findall(r"label \"(\d{4}-\d{2})-\d{2}\"", "\n".join(shown))
            if not days or days[0] == day[:7]:
                break
            later = days[0] < day[:7]
            yield from self.tap("button", self.words(
                "system", "next_month" if later else "previous_month"))  # fmt: skip
        index = next(
            each.index for each in self.elements()
            if each.role == "tile" and f'label "{day}"' in each.rest
        )  # fmt: skip
        yield from self.act("click", index=index)
        yield from self.tap("button", self.words("system", "ok"))

    def pick_time(self, names: str | Sequence[str], time: str) -> Script:
        """Choose a time, `HH:MM`."""
        yield from self.reveal("picker", names)
        yield from self.tap("picker", names)
        hours = self.words("system", "hour")[0]
        yield from self.tap("tile", time[:2], after=hours)
        minutes = self.words("system", "minute")[0]
        for _ in range(4):
            if any(each.title == minutes for each in self.elements()) and self.has(
                "tile", time[3:]
            ):
                try:
                    self.find("tile", time[3:], after=minutes)
                    break
                except NoSuchElement:
                    pass
            yield from self.act("scroll", direction="down")
        yield from self.tap("tile", time[3:], after=minutes)
        yield from self.tap("button", self.words("system", "ok"))

    def reveal(self, role: str, names: str | Sequence[str] = (), **where: Any) -> Script:
        """Scroll until an element is visible: down to the end, then again from the top."""
        for direction in ("down", "up"):
            for _ in range(_MOST_SCROLLS):
                try:
                    self.find(role, names, **where)
                    return
                except NoSuchElement:
                    before = self.screen
                if f"scroll {direction}" not in before:
                    break
                yield from self.act("scroll", direction=direction)
        self.find(role, names, **where)

    def tap_entry(self, names: str | Sequence[str], role: str = "item", **where: Any) -> Script:
        """Scroll to an entry and tap it."""
        yield from self.reveal(role, names, **where)
        yield from self.tap(role, names, **where)

    def answer(self, *values: object) -> Script:
        """Answer and report the request as complete."""
        yield from self.act("answer", text="; ".join(map(str, values)))
        yield from self.done()

    def done(self) -> Script:
        """Report the request as complete."""
        yield from self.act("status", goal_status="complete")

    def refuse(self, record: str, reason: str = "not_allowed") -> Script:
        """Report the request as infeasible."""
        yield from self.act("status", goal_status="infeasible", reason=reason, record=record)
