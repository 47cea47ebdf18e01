"""Families of near-identical goods, built around targets that constraints can single out.

A family varies along a few axes. Around each designed target is a star: for every axis of the
target's set, a neighbour that equals the target on the other axes of the set and fails on this one.
No other product of the family satisfies the whole set. A request for the target's values on those
axes therefore has exactly one answer, and every condition in it matters. Ordered axes are built for
the weakest reading ("at least", "at most"), which also covers "exactly".
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hexathlon.tasks.catalogue.columns import WIDTH, CatalogueColumn
from hexathlon.tasks.catalogue.noise import Stream

__all__ = ["FamilyPlan", "Star", "holds", "plan_family"]

_STAR_SIZES = (4, 3, 5, 2, 6, 7, 4, 5, 3, 6, 2, 7)
"""Numbers of axes of successive targets, so that every family has easy and hard targets."""
_TRIES = 24
DesignRow = list[int]


@dataclass(frozen=True, slots=True)
class Star:
    """A designed target and the axes that single it out."""

    row: int
    axes: tuple[int, ...]
    """Positions of columns, ascending."""


@dataclass(frozen=True, slots=True)
class FamilyPlan:
    """The rows of one family: stars first, fillers last."""

    rows: list[DesignRow]
    stars: list[Star]
    axes: tuple[int, ...]


def holds(column: CatalogueColumn, code: int, wanted: int) -> bool:
    """Whether a code satisfies a request for `wanted`, in the column's own reading."""
    if column.order == "more":
        return code >= wanted
    return code <= wanted if column.order == "less" else code == wanted


def plan_family(columns: Sequence[CatalogueColumn], size: int, stream: Stream) -> FamilyPlan:
    """Plan a family of `size` rows; a pure function of the stream's address."""
    return _Planner(columns, size, stream).plan()


class _Planner:
    def __init__(self, columns: Sequence[CatalogueColumn], size: int, stream: Stream) -> None:
        self._stream = stream
        self._size = size
        self._columns = {column.position: column for column in columns}
        self._axes = _choose_axes(columns, stream)
        self._codes = {axis: self._choose_codes(self._columns[axis]) for axis in self._axes}
        self._base = [0] * WIDTH
        for column in columns:
            if column.kind != "option":
                self._base[column.position] = stream.below(column.values)
        self._rows: list[DesignRow] = []
        self._stars: list[Star] = []

    def plan(self) -> FamilyPlan:
        room = self._size * 4 // 5
        for wanted in _STAR_SIZES:
            degree = min(wanted, len(self._axes))
            if len(self._rows) + degree + 1 > room:
                continue
            self._add_star(degree)
        self._fill()
        return FamilyPlan(self._rows, self._stars, self._axes)

    def _choose_codes(self, column: CatalogueColumn) -> list[int]:
        count = min(column.values, 2 + self._stream.below(3))
        return sorted(self._stream.shuffled(range(column.values))[:count])

    def _wrong_codes(self, axis: int, wanted: int) -> list[int]:
        column = self._columns[axis]
        return [code for code in self._codes[axis] if not holds(column, code, wanted)]

    def _random_row(self) -> DesignRow:
        row = self._base.copy()
        for axis in self._axes:
            row[axis] = self._stream.pick(self._codes[axis])
        return row

    def _answers(self, row: DesignRow, star: Star, target: DesignRow) -> bool:
        columns = self._columns
        return all(holds(columns[axis], row[axis], target[axis]) for axis in star.axes)

    def _answers_any(self, row: DesignRow) -> bool:
        return any(self._answers(row, star, self._rows[star.row]) for star in self._stars)

    def _add_star(self, degree: int) -> None:
        for _ in range(_TRIES):
            axes = tuple(sorted(self._stream.shuffled(self._axes)[:degree]))
            target = self._random_row()
            if any(not self._wrong_codes(axis, target[axis]) for axis in axes):
                continue
            star = Star(len(self._rows), axes)
            rows = [target, *(self._neighbour(target, axes, axis) for axis in axes)]
            if any(self._answers_any(row) for row in rows):
                continue
            if any(self._answers(row, star, target) for row in self._rows):
                continue
            self._rows.extend(rows)
            self._stars.append(star)
            return

    def _neighbour(self, target: DesignRow, axes: tuple[int, ...], changed: int) -> DesignRow:
        row = target.copy()
        row[changed] = self._stream.pick(self._wrong_codes(changed, target[changed]))
        outside = [axis for axis in self._axes if axis not in axes]
        if outside and self._stream.chance(50):
            axis = self._stream.pick(outside)
            row[axis] = self._stream.pick(self._codes[axis])
        return row

    def _fill(self) -> None:
        while len(self._rows) < self._size:
            self._rows.append(self._filler())

    def _filler(self) -> DesignRow:
        for _ in range(_TRIES):
            row = self._stream.pick(self._rows).copy() if self._rows else self._random_row()
            for _ in range(1 + self._stream.below(3)):
                axis = self._stream.pick(self._axes)
                row[axis] = self._stream.pick(self._codes[axis])
            if not self._answers_any(row):
                return row
        return self._rows[-1].copy()  # a neighbour or a filler, never a target


def _choose_axes(columns: Sequence[CatalogueColumn], stream: Stream) -> tuple[int, ...]:
    """Choose five to eight axes, including one in plain sight and one below the surface."""
    groups = {
        "shallow": [c.position for c in columns if c.kind == "attribute"],
        "deep": [c.position for c in columns if c.kind in ("specification", "review")],
    }
    chosen = [stream.pick(groups["shallow"]), stream.pick(groups["deep"])]
    rest = [column.position for column in columns if column.position not in chosen]
    chosen.extend(stream.shuffled(rest)[: 3 + stream.below(4)])
    return tuple(sorted(chosen))
