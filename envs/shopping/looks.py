"""Worlds with looks: the desk's pages appear in a look that is drawn for each episode."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from hexathlon.tasks.shopping.world.looks import draw_market_look
from hexathlon.tasks.shopping.world.tables import TableChanges
from hexathlon.tasks.shopping.world.wording import say
from hexathlon.tasks.task import Task

__all__ = ["LookedWorld"]


class LookedWorld:
    """A world that passes calls to a desk with `heading`, `closed` and closed requests or cases.

    Subclasses name the class of the desk, which takes the task's parameters and the name of a look.
    One whose desk takes more overrides `_opened`.
    """

    desk_type: ClassVar[Any]
    prose: ClassVar[tuple[str, str]]
    """Answer to prose, in English and Chinese."""

    def __init__(self, task: Task, rng: np.random.Generator) -> None:
        self._task = task
        self._desk = self._opened(draw_market_look(task.split, rng).name)

    @property
    def closed(self) -> bool:
        """Whether everything was closed."""
        return bool(self._desk.closed)

    def opening(self) -> str:
        """Return the instruction and what is said first."""
        return f"{self._task.instruction}\n\n{self._desk.heading()}"

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Run one tool."""
        return str(self._desk.call(name, arguments))

    def say(self, text: str) -> str:
        """Answer prose, which nobody understands: the answer names the tool that asks."""
        return say(self._task.params["language"], *self.prose)

    def save(self) -> tuple[Any, TableChanges]:
        """Return the state."""
        saved: tuple[Any, TableChanges] = self._desk.save()
        return saved

    def load(self, payload: tuple[Any, TableChanges]) -> None:
        """Restore a state, with its look."""
        self._desk = self._opened()
        self._desk.load(payload)

    def final_state(self) -> dict[str, Any]:
        """Return what each close holds, whether the episode has ended, and the look."""
        return {
            "closes": [dict(entry) for entry in self._desk.state.closes],
            "outcome": "ended" if self.closed else "open",
            "look": self._desk.state.look,
        }

    def _opened(self, look: str = "stall") -> Any:
        return self.desk_type(self._task.params, look)
