"""Procedures with and without a critical failure, after How2Bench.

A critical failure keeps a procedure from its goal: an essential step is left out (`omitted`),
comes before one that it needs (`order`), or is replaced by one that defeats it (`ruined`). What
only looks like a fault is not critical: an ornamental step left out or independent steps exchanged
(`harmless`), a remark (`remarked`).
"""

import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from hexathlon.tasks.task import Split

__all__ = ["FAILURES", "Procedure", "critical_statement", "draw_procedure", "table", "works"]

FAILURES = ("omitted", "order", "ruined")
"""Kinds of critical failures."""


@lru_cache(maxsize=1)
def table() -> Mapping[str, Any]:
    """Load the table of procedures."""
    return tomllib.loads((files(__package__) / "procedures.toml").read_text("utf-8"))


class Procedure(NamedTuple):
    """A goal and a numbered procedure."""

    goal: str
    text: str
    critical: bool
    evidence: str
    """The step that fails, or the step at the place of the failure."""


def critical_statement() -> str:
    """Return the statement that a judge decides: that there is a critical failure."""
    return str(table()["statement"]["text"])


def draw_procedure(failure: str, split: Split, rng: np.random.Generator) -> Procedure:
    """Draw a procedure of a split with a failure of a kind; any other name has no critical one."""
    own = [row for row in table()["procedures"] if row["split"] == split]
    drawn = own[int(rng.integers(len(own)))]
    steps = drawn["steps"]
    order = list(range(len(steps)))
    lines = [str(step["text"]) for step in steps]
    essential = [place for place in order if "ruin" in steps[place]]
    at = essential[int(rng.integers(len(essential)))]
    shown = at
    if failure == "omitted":
        order.remove(at)
        shown = order[min(at, len(order) - 1)]
    elif failure == "ruined":
        lines[at] = str(steps[at]["ruin"])
    elif failure == "order":
        at = int(rng.choice([place for place in essential if steps[place]["needs"]]))
        order.remove(at)
        needed = steps[at]["needs"]
        order.insert(order.index(int(rng.choice(needed)) - 1), at)
        shown = at
    elif failure == "harmless":
        order = _harmless(steps, order, rng)
    elif failure == "remarked":
        lines[at] = f"{lines[at]} {_remark(rng)}"
    text = "\n".join(f"{number}. {lines[place]}" for number, place in enumerate(order, 1))
    return Procedure(str(drawn["goal"]), text, failure in FAILURES, lines[shown])


def works(goal: str, text: str) -> bool:
    """Whether a procedure reaches its goal, read from its text against the table of steps."""
    (known,) = (row for row in table()["procedures"] if row["goal"] == goal)
    places = {
        number: next((at for at, line in enumerate(text.split("\n")) if step["text"] in line), None)
        for number, step in enumerate(known["steps"], 1)
    }
    for number, step in enumerate(known["steps"], 1):
        place = places[number]
        if place is None:
            if "ruin" in step:
                return False
            continue
        before = [places[need] for need in step["needs"]]
        if "ruin" in step and any(other is None or other > place for other in before):
            return False
    return True


def _harmless(
    steps: Sequence[Mapping[str, Any]], order: list[int], rng: np.random.Generator
) -> list[int]:
    """Leave out an ornamental step, or exchange neighbours of which neither needs the other."""
    ornaments = [place for place in order if "ruin" not in steps[place]]
    free = [place for place in order[:-1] if place + 1 not in steps[place + 1]["needs"]]
    if rng.random() < 0.5 or not free:
        return [place for place in order if place != ornaments[0]]
    first = int(rng.choice(free))
    order[first], order[first + 1] = order[first + 1], order[first]
    return order


def _remark(rng: np.random.Generator) -> str:
    remarks = table()["harmless"]["remarks"]
    return str(remarks[int(rng.integers(len(remarks)))])
