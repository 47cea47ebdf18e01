"""tau2's retail desk as a world: its tools, and a customer who confirms."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hexathlon.tasks.shopping.loaders.tau2 import retail_base, retail_policy
from hexathlon.tasks.shopping.world.retail import RetailDesk
from hexathlon.tasks.shopping.world.tables import TableChanges, Tables
from hexathlon.tasks.task import Task

__all__ = ["RetailWorld"]

_ANSWER = "Yes, please. What I want and what I know you have in my notes; I cannot add to them."


class RetailWorld:
    """One conversation at the retail desk."""

    def __init__(self, task: Task, rng: np.random.Generator) -> None:
        self._task = task
        self._desk = RetailDesk(Tables(retail_base()))
        self._looked_at: tuple[str, ...] = ()
        self._transferred = self.closed = False

    def opening(self) -> str:
        """Return the policy and the customer's notes."""
        return f"{retail_policy()}\n\n{self._task.instruction}"

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Run one of tau2's tools, or end."""
        if name == "end_conversation":
            self.closed = True
            return "The conversation has ended."
        # A refused call counts as a lookup as well: the refusal reveals the reason.
        looked = [str(arguments[key]) for key in ("order_id", "user_id") if key in arguments]
        self._looked_at += tuple(key for key in looked if key not in self._looked_at)
        result = self._desk.call(name, dict(arguments))
        self._transferred |= name == "transfer_to_human_agents"
        return result

    def say(self, text: str) -> str:
        """Let the customer answer."""
        return _ANSWER

    def save(self) -> tuple[TableChanges, tuple[str, ...], bool, bool]:
        """Return the changed records, the records looked up, and two flags."""
        return self._desk.tables.changes(), self._looked_at, self._transferred, self.closed

    def load(self, payload: tuple[TableChanges, tuple[str, ...], bool, bool]) -> None:
        """Restore a saved state."""
        changes, self._looked_at, self._transferred, self.closed = payload
        self._desk = RetailDesk(Tables(retail_base(), changes))

    def final_state(self) -> dict[str, Any]:
        """Return the changed records and the course of the conversation."""
        return {
            "changes": self._desk.tables.difference(),
            "looked_at": list(self._looked_at),
            "transferred": self._transferred,
            "outcome": "ended" if self.closed else "open",
        }
