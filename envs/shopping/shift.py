"""A day at the counter as a world: one clerk, several customers, records that others change too."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hexathlon.tasks.catalogue import open_catalogue
from hexathlon.tasks.shopping.world.looks import draw_market_look
from hexathlon.tasks.shopping.world.shift.counter import CounterState, ShiftCounter
from hexathlon.tasks.shopping.world.tables import TableChanges
from hexathlon.tasks.shopping.world.wording import say
from hexathlon.tasks.task import Task

__all__ = ["ShiftWorld"]


class ShiftWorld:
    """One day at the counter."""

    def __init__(self, task: Task, rng: np.random.Generator) -> None:
        self._task = task
        self._counter = self._opened(draw_market_look(task.split, rng).name)

    @property
    def closed(self) -> bool:
        """Whether the last case was closed."""
        return self._counter.closed

    def opening(self) -> str:
        """Return the instruction and the first customer's words."""
        return f"{self._task.instruction}\n\n{self._counter.greeting()}"

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Run one tool."""
        return self._counter.call(name, arguments)

    def say(self, text: str) -> str:
        """Answer prose: customers answer questions on one subject."""
        return say(
            self._task.params["language"],
            "The customer nods. (Ask about one subject with ask_customer.)",
            "顾客点点头。（请用 ask_customer 询问某一方面。）",
        )

    def save(self) -> tuple[CounterState, TableChanges]:
        """Return the state."""
        return self._counter.save()

    def load(self, payload: tuple[CounterState, TableChanges]) -> None:
        """Restore a state."""
        self._counter = self._opened()
        self._counter.load(payload)

    def final_state(self) -> dict[str, Any]:
        """Return what each close holds, whether the episode has ended, and the look."""
        return {
            "closes": [dict(entry) for entry in self._counter.state.closes],
            "outcome": "ended" if self.closed else "open",
            "look": self._counter.state.look,
        }

    def _opened(self, look: str = "stall") -> ShiftCounter:
        where = self._task.params["catalogue"]
        catalogue = open_catalogue(where["seed"], where["size"])
        return ShiftCounter(self._task.params, catalogue, look)
