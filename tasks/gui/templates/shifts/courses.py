"""The course of a layout in a day: its problem in the morning, and changes that make another best.

Problems are drawn until greedy choices and exchanges do not lead to the best layout, neither from
nothing nor from the layout that held before.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hexathlon.tasks.gui.templates.errand import Errand, NoErrand
from hexathlon.tasks.gui.templates.shifts.layouts import (
    COUNT,
    MARGIN,
    PAIRS,
    Pair,
    Placement,
    SiteLayout,
)

__all__ = ["LayoutChange", "changed", "drawn", "falsely_changed", "hard_best"]

_TRIES = 60
_VALUES = 3
"""Number of values that a change sets."""

_STEP = 6
"""Largest change of one value."""


@dataclass(frozen=True)
class LayoutChange:
    """A change of a problem, as somebody writes it."""

    values: Mapping[Pair, int] = field(default_factory=dict)
    """New values."""

    newcomer: int | None = None
    """A thing that another one replaces; values of its pairs that are not given are then 0."""

    added: tuple[int, int] | None = None
    """A thing and a place that is now barred for it."""

    lifted: tuple[int, int] | None = None
    """A thing and a place that is no longer barred for it."""

    def applied(self, problem: SiteLayout) -> SiteLayout:
        """Return the problem with this change."""
        kept = {pair: value for pair, value in problem.values.items() if self.newcomer not in pair}
        barred = [each for each in problem.barred if each != self.lifted]
        if self.added is not None:
            barred.append(self.added)
        return replace(problem.given({**kept, **self.values}), barred=tuple(barred))


def hard_best(problem: SiteLayout, *former: Placement) -> Placement | None:
    """Return the best layout if it is the only one and hard to find.

    Args:
        problem: The problem.
        *former: Layouts that held before, none of which the best one may be.
    """
    best, margin = problem.best()
    if margin < MARGIN or best in former:
        return None
    if any(best in layouts for layouts in problem.hasty(*former)):
        return None
    return best


def drawn(e: Errand, count: int, low: int, high: int) -> tuple[SiteLayout, Placement]:
    """Draw the problem of the morning, with two barred places that matter, and its best layout.

    Args:
        e: Source of the draws.
        count: Number of pairs with a value.
        low: Lowest value.
        high: Highest value.
    """
    # No distance is more than twice another, so that no way round is shorter.
    steps = tuple(e.scene.rng.integers(12, 25, len(PAIRS)).tolist())
    for _ in range(_TRIES):
        values = e.scene.rng.integers(low, high + 1, count).tolist()
        problem = SiteLayout({}, steps).given(
            dict(zip(e.sample(PAIRS, count), values, strict=True))
        )
        for _ in range(2):
            problem = _barred(e, problem)
        best = hard_best(problem)
        if best is not None and all(
            replace(problem, barred=(each,)).best()[0] != best for each in problem.barred
        ):
            return problem, best
    raise NoErrand


def _barred(e: Errand, problem: SiteLayout) -> SiteLayout:
    """Bar a thing from the place that it has in the best layout."""
    best, _ = problem.best()
    known = {thing for thing, _ in problem.barred}
    thing = e.pick([each for each in range(COUNT) if each not in known])
    return replace(problem, barred=(*problem.barred, (thing, best[thing])))


def changed(
    e: Errand, problem: SiteLayout, former: Sequence[Placement], kind: str, limits: tuple[int, int]
) -> tuple[LayoutChange, Placement]:
    """Draw a change after which another layout, hard to find from former ones, is the best.

    Args:
        e: Source of the draws.
        problem: The problem before.
        former: The layouts that held so far, its best one last.
        kind: `values`, `newcomer` or `barred`.
        limits: Lowest and highest value.
    """
    bound = {thing for thing, _ in problem.barred}
    for _ in range(_TRIES):
        change, pairs = LayoutChange(), PAIRS
        if kind == "newcomer":
            who = e.pick([thing for thing in range(COUNT) if thing not in bound])
            pairs = tuple(pair for pair in PAIRS if who in pair)
            old = [problem.values.get(pair, 0) for pair in pairs]
            change = LayoutChange(dict(zip(pairs, e.sample(old, len(old)), strict=True)), who)
        elif kind == "barred":
            who = e.pick([thing for thing in range(COUNT) if thing not in bound])
            change = LayoutChange(added=(who, former[-1][who]), lifted=e.pick(problem.barred))
        rough = problem if change == LayoutChange() else change.applied(problem)
        tilt = _tilted(e, rough, pairs, limits)
        change = replace(change, values={**change.values, **tilt})
        best = hard_best(change.applied(problem), *former)
        if best is not None:
            return change, best
    raise NoErrand


def _tilted(
    e: Errand, problem: SiteLayout, pairs: Collection[Pair], limits: tuple[int, int]
) -> Mapping[Pair, int]:
    """Return new values of a few pairs, so that a layout far from the best one may become it."""
    best, _ = problem.best()
    rival = problem.rival(best)
    need = problem.cost(rival) - problem.cost(best) + MARGIN
    gains = {
        (one, other): problem.far(best[one], best[other]) - problem.far(rival[one], rival[other])
        for one, other in pairs
    }
    able = [pair for pair, gain in gains.items() if gain]
    values = {}
    for left, pair in zip(range(_VALUES, 0, -1), e.sample(able, _VALUES), strict=False):
        by = min(_STEP, max(1, -(-need // (left * abs(gains[pair])))))
        old = problem.values.get(pair, 0)
        new = min(limits[1], max(limits[0], old + (by if gains[pair] > 0 else -by)))
        if new != old:
            values[pair] = new
            need -= (new - old) * gains[pair]
    return values


def falsely_changed(
    e: Errand, problem: SiteLayout, taken: Collection[Pair], limits: tuple[int, int]
) -> tuple[LayoutChange, Placement]:
    """Draw a change that must not be followed, and the best layout of those who follow it.

    Args:
        e: Source of the draws.
        problem: The problem as it is.
        taken: Pairs about which something else is said.
        limits: Lowest and highest value.
    """
    best, _ = problem.best()
    pairs = [pair for pair in PAIRS if pair not in taken]
    for _ in range(_TRIES):
        values = {}
        for pair in e.sample(pairs, 2):
            old = problem.values.get(pair, 0)
            values[pair] = e.pick([value for value in range(limits[0], limits[1] + 1)
                                   if 2 < abs(value - old) <= _STEP])  # fmt: skip
        change = LayoutChange(values)
        believed, margin = change.applied(problem).best()
        if believed != best and margin:
            return change, believed
    raise NoErrand
