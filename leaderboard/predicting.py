"""Predictability of the oracle's endings, from the records of its run.

Boards show it beside the floor: what a classifier makes of ids, which agents do not see, of the
digest that they see, and of the openings. `hexathlon.envs.testing.forecasting` has the classifiers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hexathlon.envs.testing.forecasting import (
    CONSTANT,
    LAST,
    SEEN_ID,
    TEXTS,
    WHOLE_ID,
    Foreknown,
    endings,
    forecasts,
)
from hexathlon.evaluators.content import described
from hexathlon.tasks.errors import TaskError

__all__ = ["EndingsSeen", "Predictability"]

_LONGEST_OPENING = 20_000
"""Characters of an opening that are compared."""

_MOST_TASKS = 1_000
"""Tasks of one environment; comparing openings takes quadratic time."""


class Predictability(NamedTuple):
    """Shares of the oracle's endings that classifiers predict, each task left out once."""

    tasks: int
    constant: float
    """Share of the most frequent ending."""
    digest: float
    """From the part of the id that agents see."""
    opening: float
    """From similar openings, the better of two measures."""
    identity: float
    """From id, index and hash."""


class EndingsSeen:
    """Collects the endings of solved tasks, by environment and version."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], dict[str, tuple[Foreknown, tuple[str, ...]]]] = {}

    def add(self, record: Mapping[str, Any]) -> None:
        """Add the first solved trial of a task."""
        task = record["key"]["task"]
        found = self._known.setdefault((record["key"]["env"], record["env_version"]), {})
        if record["reward"] != 1.0 or not record["steps"]:
            return
        if task in found or len(found) >= _MOST_TASKS:
            return
        try:
            opening = described(record["opening"])[:_LONGEST_OPENING]
            known = Foreknown.of_record(task, record["level"], record["task_hash"], opening)
        except (TaskError, ValueError):  # an id or a hash of another form
            return
        actions = tuple(step["action"] for step in record["steps"][-LAST:])
        found[task] = (known, actions)

    def finish(self) -> dict[tuple[str, str], Predictability]:
        """Return the shares of each environment with two solved tasks or more."""
        return {
            key: _shares(list(own.values())) for key, own in self._known.items() if len(own) > 1
        }


def _shares(solved: list[tuple[Foreknown, tuple[str, ...]]]) -> Predictability:
    ends = endings([actions for _, actions in solved])
    right = forecasts([known for known, _ in solved], ends)
    shares = {name: sum(hits) / len(hits) for name, hits in right.items()}
    return Predictability(
        len(ends),
        shares[CONSTANT],
        shares[SEEN_ID],
        max(shares[name] for name in TEXTS),
        shares[WHOLE_ID],
    )
