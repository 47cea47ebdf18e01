"""The street graph: shortest routes by mode, as steps along streets."""

import heapq
from collections.abc import Mapping
from typing import NamedTuple

from hexathlon.tasks.web.world.store import SiteStore

__all__ = ["MODES", "RouteStep", "StreetRoute", "minutes_from", "street_route"]

MODES: Mapping[str, tuple[int, frozenset[str]]] = {
    "walk": (80, frozenset(("road", "alley", "stairs"))),
    "bike": (240, frozenset(("road", "alley"))),
    "car": (420, frozenset(("road",))),
}
"""Metres per minute and kinds of streets that may be used, by mode."""

_Neighbours = Mapping[int, list[tuple[int, int, str]]]


class RouteStep(NamedTuple):
    """One street of a route."""

    street: str
    metres: int


class StreetRoute(NamedTuple):
    """A shortest route."""

    metres: int
    minutes: int
    """Rounded up."""

    steps: tuple[RouteStep, ...]


def street_route(store: SiteStore, start: int, goal: int, mode: str) -> StreetRoute | None:
    """Return the shortest route between two corners, or None if there is none."""
    speed, kinds = MODES[mode]
    neighbours = _neighbours(store, kinds)
    best, came = {start: 0}, dict[int, tuple[int, int, str]]()
    queue = [(0, start)]
    while queue:
        metres, corner = heapq.heappop(queue)
        if corner == goal:
            break
        if metres > best[corner]:
            continue
        for other, length, name in neighbours.get(corner, ()):
            if metres + length < best.get(other, 1 << 30):
                best[other] = metres + length
                came[other] = (corner, length, name)
                heapq.heappush(queue, (metres + length, other))
    if goal not in best:
        return None
    steps: list[RouteStep] = []
    corner = goal
    while corner != start:
        corner, length, name = came[corner]
        if steps and steps[-1].street == name:
            steps[-1] = RouteStep(name, steps[-1].metres + length)
        else:
            steps.append(RouteStep(name, length))
    return StreetRoute(best[goal], -(-best[goal] // speed), tuple(reversed(steps)))


def minutes_from(store: SiteStore, start: int, mode: str) -> dict[int, int]:
    """Return the minutes, rounded up, from one corner to every corner that can be reached."""
    speed, kinds = MODES[mode]
    neighbours = _neighbours(store, kinds)
    best = {start: 0}
    queue = [(0, start)]
    while queue:
        metres, corner = heapq.heappop(queue)
        if metres > best[corner]:
            continue
        for other, length, _ in neighbours.get(corner, ()):
            if metres + length < best.get(other, 1 << 30):
                best[other] = metres + length
                heapq.heappush(queue, (metres + length, other))
    return {corner: -(-metres // speed) for corner, metres in best.items()}


def _neighbours(store: SiteStore, kinds: frozenset[str]) -> _Neighbours:
    neighbours: dict[int, list[tuple[int, int, str]]] = {}
    for row in store.rows("SELECT a, b, name, metres, kind FROM streets"):
        if row["kind"] in kinds:
            neighbours.setdefault(row["a"], []).append((row["b"], row["metres"], row["name"]))
            neighbours.setdefault(row["b"], []).append((row["a"], row["metres"], row["name"]))
    return neighbours
