"""The task source `gui-pixels`: the smallest switch tasks, solved by touches at pixel positions.

The tasks are those of `gui`; only the scripts differ. They read the list of elements, which the
environment gives with its bounds, and touch the middle of an element instead of naming it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from hexathlon.tasks.gui.source import GuiSource
from hexathlon.tasks.source import Script, TaskAddress
from hexathlon.tasks.task import Level, Split, Task

__all__ = ["PIXEL_GRID", "GuiPixelSource", "by_touch", "source"]

PIXEL_GRID = 15
"""Touches are at the centres of squares with this many pixels a side."""

_BOUNDS = re.compile(r"\[(\d+)\].* at (\d+),(\d+)-(\d+),(\d+)$", re.MULTILINE)


class GuiPixelSource(GuiSource):
    """Switches that are told apart by their position and their state in the picture."""

    name = "gui-pixels"
    version = "2"
    sizes: ClassVar[Mapping[Split, int | None]] = {
        "train": None, "dev": 800, "test": 400, "heldout": 400,
    }  # fmt: skip

    def templates_of(self, level: Level) -> Sequence[str]:
        """Return the names of the templates with tasks of a level."""
        return ("settings_page",) if level == "tiny" else ()

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """Return the number of tasks in the split, all of which are tiny; None if unbounded."""
        return self.sizes[split] if level in (None, "tiny") else 0

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the id of the task at `index`."""
        (name,) = self.templates_of("tiny")
        return str(TaskAddress(self.name, name, level or "tiny", split, index))

    def oracle(self, task: Task) -> Script:
        """Solve the task by touches."""
        return by_touch(super().oracle(task))

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """Return alternative correct solutions."""
        return {name: by_touch(each) for name, each in super().alternatives(task).items()}

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Return near misses."""
        return {name: by_touch(each) for name, each in super().mutants(task).items()}


def by_touch(script: Script) -> Script:
    """Play a script with clicks at pixels instead of elements' numbers."""
    heard: str | None = None
    while True:
        try:
            action = next(script) if heard is None else script.send(heard)
        except StopIteration:
            return
        heard = yield _touching(action, heard or "")


def _touching(action: str, screen: str) -> str:
    call = json.loads(action)
    index = call["arguments"].get("index")
    if call["name"] != "click" or index is None:
        return action
    for number, *bounds in _BOUNDS.findall(screen):
        if int(number) == index:
            left, top, right, bottom = map(int, bounds)
            point = {"x": _middle(left, right), "y": _middle(top, bottom)}
            return json.dumps({"name": "click", "arguments": point})
    return action


def _middle(low: int, high: int) -> int:
    """Return the centre of the square that is nearest to the middle of a range."""
    return (low + high) // 2 // PIXEL_GRID * PIXEL_GRID + PIXEL_GRID // 2


def source() -> GuiPixelSource:
    """Create the source for the registry."""
    return GuiPixelSource()
