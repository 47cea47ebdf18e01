"""A household as a world: one shopper, several people, and a market that moves."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hexathlon.tasks.shopping.world.household.house import Household, HouseState
from hexathlon.tasks.shopping.world.household.looks import draw_market_look
from hexathlon.tasks.shopping.world.tables import TableChanges
from hexathlon.tasks.shopping.world.wording import say
from hexathlon.tasks.task import Task

__all__ = ["HouseholdWorld"]


class HouseholdWorld:
    """One household's month or basket, in a look that is drawn for the episode."""

    def __init__(self, task: Task, rng: np.random.Generator) -> None:
        self._task = task
        self._house = Household(task.params, draw_market_look(task.split, rng).name)

    @property
    def closed(self) -> bool:
        """Whether the last request was finished."""
        return self._house.closed

    def opening(self) -> str:
        """Return the instruction and the first request."""
        return f"{self._task.instruction}\n\n{self._house.heading()}"

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Run one tool."""
        return self._house.call(name, arguments)

    def say(self, text: str) -> str:
        """Answer prose: people answer questions about one topic."""
        return say(
            self._task.params["language"],
            "Nobody answers. (Ask a person about one topic with ask.)",
            "没有人回答。（请用 ask 就某一方面询问某人。）",
        )

    def save(self) -> tuple[HouseState, TableChanges]:
        """Return the state."""
        return self._house.save()

    def load(self, payload: tuple[HouseState, TableChanges]) -> None:
        """Restore a state."""
        self._house = Household(self._task.params)
        self._house.load(payload)

    def final_state(self) -> dict[str, Any]:
        """Return what each finished request changed, and the look."""
        return {
            "closes": [dict(entry) for entry in self._house.state.closes],
            "outcome": "ended" if self.closed else "open",
            "look": self._house.state.look,
        }
