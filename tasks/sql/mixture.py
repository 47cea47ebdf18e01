"""The mixture of templates: which one a task has, by its place in a round over all of them.

At level hard, shifts and estates alternate. Other templates exist at level hard, too, but are not
drawn there, only built by their ids: one question about one database is not hard enough.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hexathlon.tasks.sql.engines.tasks import ENGINES
from hexathlon.tasks.sql.estates.tasks import ESTATES
from hexathlon.tasks.sql.shifts.tasks import SHIFTS
from hexathlon.tasks.sql.templates.catalogue import all_templates
from hexathlon.tasks.sql.writes.instances import write_templates
from hexathlon.tasks.task import LEVELS, Level

__all__ = ["GROUPS", "RoundPlace", "arranged_round", "other_strata", "own_strata", "times_of"]

Stratum = tuple[str, Level]

GROUPS = 3
"""Worlds per level in one round over the strata."""
SHIFT_TIMES, ESTATE_TIMES = 18, 15
"""Tasks of each shift and of each estate in one round."""
_TIMES: Mapping[Stratum, int] = {
    **{(name, "hard"): SHIFT_TIMES for name in SHIFTS},
    **{(name, "hard"): ESTATE_TIMES for name in ESTATES},
}


class RoundPlace(NamedTuple):
    """One task of a round."""

    template: str
    level: Level
    place: int
    """Place among the tasks of its template and level in this round."""

    times: int
    """Number of these tasks."""


def times_of(template: str, level: Level) -> int:
    """Return the number of tasks of a template and level in one round."""
    return _TIMES.get((template, level), 1)


def own_strata() -> list[Stratum]:
    """Return templates and levels that have databases of their own: engines, shifts, estates."""
    return [*_engines(), *((name, "hard") for name in (*ENGINES, *SHIFTS, *ESTATES))]


def other_strata() -> list[Stratum]:
    """Return all other templates and levels; every three in a row cover all levels."""
    levels = {item.name: item.levels for item in all_templates().values()}
    levels |= {item.name: item.levels for item in write_templates().values()}
    by_level = {
        level: [(name, level) for name, own in levels.items() if level in own] for level in LEVELS
    }
    arranged: list[Stratum] = []
    for group in range(GROUPS):
        parts = [by_level[level][group::GROUPS] for level in LEVELS]
        for place in range(max(map(len, parts))):
            arranged += [part[place] for part in parts if place < len(part)]
    return arranged


def arranged_round(level: Level | None) -> list[RoundPlace]:
    """Return one round of a level, or of all levels; its parts are spread evenly over it."""
    below = [stratum for stratum in other_strata() if stratum[1] != "hard"]
    easier = [[RoundPlace(*stratum, 0, 1) for stratum in part] for part in (below, _engines())]
    whole = _mixed([_mixed([_repeated(SHIFTS), _repeated(ESTATES)]), _mixed(easier)])
    return [item for item in whole if level in (None, item.level)]


def _engines() -> list[Stratum]:
    """Return the strata of questions about engines that are drawn."""
    return [(name, "medium") for name in ENGINES]


def _repeated(templates: Sequence[str]) -> list[RoundPlace]:
    """Return the tasks of hard templates, which take turns and have the same number."""
    times = times_of(templates[0], "hard")
    return [RoundPlace(name, "hard", place, times) for place in range(times) for name in templates]


def _mixed(parts: Sequence[Sequence[RoundPlace]]) -> list[RoundPlace]:
    """Return all parts as one list over which each of them is spread evenly."""
    placed = [
        ((2 * place + 1) / (2 * len(part)), number, item)
        for number, part in enumerate(parts)
        for place, item in enumerate(part)
    ]
    return [item for _, _, item in sorted(placed, key=lambda entry: entry[:2])]
