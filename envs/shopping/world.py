"""Interface between the shopping environment and its worlds, and the worlds by name."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

import numpy as np

from hexathlon.tasks.task import Task

__all__ = ["ShoppingWorld", "open_world"]

_WORLDS = {
    "store": "hexathlon.envs.shopping.store:StoreWorld",
    "shift": "hexathlon.envs.shopping.shift:ShiftWorld",
    "household": "hexathlon.envs.shopping.household:HouseholdWorld",
    "talk": "hexathlon.envs.shopping.talk:TalkWorld",
    "service": "hexathlon.envs.shopping.service:ServiceWorld",
    "retail": "hexathlon.envs.shopping.retail:RetailWorld",
    "webshop": "hexathlon.envs.shopping.webshop:WebShopWorld",
}


class ShoppingWorld(Protocol):
    """One episode's world: tools, a counterpart, and a state that is free to copy."""

    closed: bool
    """Whether the episode has ended by itself."""

    def opening(self) -> str:
        """Return the first message to the agent."""
        ...

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Run a tool; raises `DeskProblem` for refused calls."""
        ...

    def say(self, text: str) -> str:
        """Answer prose."""
        ...

    def save(self) -> Any:
        """Return the state as an immutable value."""
        ...

    def load(self, payload: Any) -> None:
        """Restore a state."""
        ...

    def final_state(self) -> dict[str, Any]:
        """Return the state for the verifiers, as JSON."""
        ...


def open_world(task: Task, rng: np.random.Generator) -> ShoppingWorld:
    """Open the world of a task; `rng` is the episode's stream."""
    module, _, name = _WORLDS[task.params["world"]].partition(":")
    make = cast(
        "Callable[[Task, np.random.Generator], ShoppingWorld]",
        getattr(importlib.import_module(module), name),
    )
    return make(task, rng)
