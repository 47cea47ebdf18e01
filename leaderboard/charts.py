"""Geometry of the charts: numbers in, coordinates out; the templates write the SVG.

The charts are static SVG with titles and descriptions, coloured by the style sheet, so that they
follow light and dark, print, and need neither a script nor a library.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hexathlon.leaderboard.boards import CostPoint
from hexathlon.leaderboard.methods import Method

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 46, 20, 28, 50
DIAMETER = 22
"""Of the circles of a scatter plot."""
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
    mark: float
    """Where its circle is across: beside `x` if an earlier one is there."""
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


def scatter(points: Sequence[CostPoint]) -> Scatter:
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

    placed: list[tuple[float, float]] = []
    dots = [
        Dot(
            mark=_beside(placed, x(point.cost), y(interval.mean)),
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


def _beside(placed: list[tuple[float, float]], x: float, y: float) -> float:
    """Return where a circle at this place is drawn, and add it to the placed ones.

    A circle that would cover an earlier one moves right by a diameter, at most three times.
    """
    at = x
    for _ in range(3):
        if all(math.hypot(at - a, y - b) >= 0.7 * DIAMETER for a, b in placed):
            break
        at += DIAMETER
    at = round(min(at, WIDTH - RIGHT), 1)
    placed.append((at, y))
    return at


def _decades(first: float, last: float) -> list[tuple[int, float]]:
    """Return (power, factor) of the round numbers between two powers of ten."""
    steps = (1, 2, 5) if last - first < 2.2 else (1,)
    powers = range(math.floor(first), math.ceil(last) + 1)
    marks = [(power, float(step)) for power in powers for step in steps]
    found = [(p, s) for p, s in marks if first <= p + math.log10(s) <= last]
    if len(found) > 1:
        return found
    power = math.floor(first)  # less than an octave: two even marks near its ends
    low, high = 10 ** (first - power), 10 ** (last - power)
    step = (high - low) / 3
    return [(power, float(f"{low + part * step:.2g}")) for part in (1, 2)]


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


@dataclass(frozen=True, slots=True)
class Curve:
    """A metric over the steps of training: mean and band over runs."""

    metric: str
    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    across: list[Tick]
    up: list[Tick]
    line: str
    """The mean, as the points of a polyline."""
    band: str
    """Least and greatest, as the points of a polygon; empty with one run."""
    last: float


def curve(method: Method, metric: str) -> Curve | None:
    """Lay out one metric of a method; None with fewer than two steps."""
    points = method.band(metric)
    if len(points) < 2:
        return None
    first, last = points[0][0], points[-1][0]
    unit = metric in ("success", "dev/success")
    low = 0.0 if unit else min(point[2] for point in points)
    high = 1.0 if unit else max(point[3] for point in points)
    high = high if high > low else low + 1.0
    width, height, left, right, top, bottom = 640, 214, 78, 20, 14, 48

    def x(step: float) -> float:
        return round(left + (step - first) / (last - first) * (width - left - right), 1)

    def y(value: float) -> float:
        return round(height - bottom - (value - low) / (high - low) * (height - top - bottom), 1)

    ring = [*((s, v) for s, _, _, v in points), *((s, v) for s, _, v, _ in reversed(points))]
    return Curve(
        metric=metric,
        width=width,
        height=height,
        left=left,
        right=width - right,
        top=top,
        bottom=height - bottom,
        across=[Tick(x(step), f"{step:g}") for step in _round_numbers(first, last)],
        up=[
            Tick(y(tick), f"{100 * tick:.0f} %" if unit else f"{tick:g}")
            for tick in _round_numbers(low, high)
        ],
        line=" ".join(f"{x(step)},{y(mean)}" for step, mean, _, _ in points),
        band=" ".join(f"{x(s)},{y(v)}" for s, v in ring) if len(method.runs) > 1 else "",
        last=points[-1][1],
    )


def _round_numbers(low: float, high: float) -> list[float]:
    """Return three to eight round numbers between two different ones."""
    power = 10.0 ** math.floor(math.log10(high - low))
    step = next(
        size
        for size in (0.2 * power, 0.25 * power, 0.5 * power, power, 2.0 * power)
        if (high - low) / size <= 7
    )
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{number * step:.10g}") for number in range(first, last + 1)]


def learning_curve(method: Method) -> Curve | None:
    """Lay out the success on held-out tasks by training step or, without, on training tasks."""
    found = (curve(method, name) for name in ("dev/success", "success") if name in method.metrics)
    return next(filter(None, found), None)


def heat_step(share: float | None) -> str:
    """Return the colour class of a share, ``h0`` to ``h9``, or ``hx`` for none."""
    if share is None:
        return "hx"
    return f"h{min(HEAT_STEPS - 1, int(share * HEAT_STEPS))}"
