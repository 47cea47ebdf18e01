"""Geometry of the charts: numbers in, coordinates out; the templates write the SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hexathlon.leaderboard.boards import Point

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 46, 20, 16, 50
HEAT_STEPS = 10


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis."""

    position: float
    label: str


@dataclass(frozen=True, slots=True)
class Dot:
    """A submission in the plane, with its interval."""

    number: int
    name: str
    x: float
    y: float
    low: float
    high: float
    on_front: bool


@dataclass(frozen=True, slots=True)
class Scatter:
    """Score against cost, cost on a log scale."""

    width: int
    height: int
    left: int
    right: int
    bottom: int
    top: int
    across: list[Tick]
    up: list[Tick]
    dots: list[Dot]
    front: str
    """The Pareto front as the points of a polyline."""


def scatter(points: Sequence[Point]) -> Scatter:
    """Lay out the plot of score against cost."""
    costs = [point.cost for point in points]
    intervals = [point.row.score.interval for point in points]
    lows = [interval.low for interval in intervals if interval]
    highs = [interval.high for interval in intervals if interval]
    bottom = math.floor(10 * min(lows)) / 10
    top = max(math.ceil(10 * max(highs)) / 10, bottom + 0.1)
    first, last = math.log10(min(costs) / 1.35), math.log10(max(costs) * 1.35)

    def x(cost: float) -> float:
        share = (math.log10(cost) - first) / (last - first)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def y(score: float) -> float:
        share = (score - bottom) / (top - bottom)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)

    dots = [
        Dot(
            number=point.number,
            name=point.row.submission.name,
            x=x(point.cost),
            y=y(interval.mean),
            low=y(interval.low),
            high=y(interval.high),
            on_front=point.on_front,
        )
        for point, interval in zip(points, intervals, strict=True)
        if interval
    ]
    return Scatter(
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=WIDTH - RIGHT,
        top=TOP,
        bottom=HEIGHT - BOTTOM,
        across=[
            Tick(x(10.0**power * step), _amount(10.0**power * step))
            for power, step in _decades(first, last)
        ],
        up=[
            Tick(y(tenth / 10), str(10 * tenth))
            for tenth in range(round(10 * bottom), round(10 * top) + 1)
        ],
        dots=dots,
        front=_staircase(sorted((d.x, d.y) for d in dots if d.on_front)),
    )


def _decades(first: float, last: float) -> list[tuple[int, int]]:
    """Return (power, 1 | 2 | 5) of the round numbers between two powers of ten."""
    steps = (1, 2, 5) if last - first < 2.2 else (1,)
    powers = range(math.floor(first), math.ceil(last) + 1)
    marks = [(power, step) for power in powers for step in steps]
    return [(p, s) for p, s in marks if first <= p + math.log10(s) <= last]


def _amount(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if value >= 1e3 else f"{value:g}"


def _staircase(points: Sequence[tuple[float, float]]) -> str:
    corners: list[tuple[float, float]] = []
    for x, y in points:
        if corners:
            corners.append((x, corners[-1][1]))
        corners.append((x, y))
    return " ".join(f"{x},{y}" for x, y in corners)


def heat_step(share: float | None) -> str:
    """Return the colour class of a share, ``h0`` to ``h9``, or ``hx`` for none."""
    if share is None:
        return "hx"
    return f"h{min(HEAT_STEPS - 1, int(share * HEAT_STEPS))}"
