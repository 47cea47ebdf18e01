"""One conversation at the service desk as a world: several matters, final bookings."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hexathlon.tasks.shopping.world.household.looks import draw_market_look
from hexathlon.tasks.shopping.world.tables import TableChanges
from hexathlon.tasks.shopping.world.talk.desk import TalkDesk, TalkState
from hexathlon.tasks.shopping.world.wording import say
from hexathlon.tasks.task import Task

__all__ = ["TalkWorld"]


class TalkWorld:
    """One conversation, in a look that is drawn for the episode."""

    def __init__(self, task: Task, rng: np.random.Generator) -> None:
        self._task = task
        self._desk = TalkDesk(task.params, draw_market_look(task.split, rng).name)

    @property
    def closed(self) -> bool:
        """Whether the case was closed."""
        return self._desk.closed

    def opening(self) -> str:
        """Return the instruction and the customer's first words."""
        return f"{self._task.instruction}\n\n{self._desk.heading()}"

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Run one tool."""
        return self._desk.call(name, arguments)

    def say(self, text: str) -> str:
        """Answer prose: the customer answers questions about one topic."""
        return say(
            self._task.params["language"],
            "The customer nods. (Ask about one topic with ask_customer, or anything_else.)",
            "顾客点点头。（请用 ask_customer 询问某一方面，或用 anything_else。）",
        )

    def save(self) -> tuple[TalkState, TableChanges]:
        """Return the state."""
        return self._desk.save()

    def load(self, payload: tuple[TalkState, TableChanges]) -> None:
        """Restore a state."""
        self._desk = TalkDesk(self._task.params)
        self._desk.load(payload)

    def final_state(self) -> dict[str, Any]:
        """Return the records changed, what was declined and told, and the look."""
        return {
            "closes": [dict(entry) for entry in self._desk.state.closes],
            "outcome": "ended" if self.closed else "open",
            "look": self._desk.state.look,
        }
