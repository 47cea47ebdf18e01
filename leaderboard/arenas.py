"""The page of arenas: ratings by comparison, shown apart from the boards' verified scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hexathlon.evaluators.judged.arena import ArenaDocument
from hexathlon.evaluators.statistics.ratings import RatedGroup
from hexathlon.leaderboard.submission import Submission

__all__ = ["RatingLane", "RatingChart", "arena_players", "rating_chart"]

_WIDTH, _LEFT, _RIGHT, _ROW, _BOTTOM = 640, 190, 36, 30, 48
_LONGEST = 18
"""Characters of a name in the chart."""

_STEPS = (25, 50, 100, 200, 500, 1000)
_MOST_TICKS = 9


@dataclass(frozen=True, slots=True)
class RatingLane:
    """One player's rating in the chart; positions across, in units of the drawing."""

    player: str
    y: float
    low: float
    rating: float
    high: float


@dataclass(frozen=True, slots=True)
class RatingChart:
    """Ratings of a group on one scale, best above."""

    width: int
    height: int
    bottom: int
    lanes: list[RatingLane]
    ticks: list[tuple[float, str]]
    """Position and label of the marks on the axis."""


def rating_chart(group: RatedGroup) -> RatingChart:
    """Lay out the ratings of a group with their intervals."""
    low = min(rating.low for rating in group.ratings)
    high = max(rating.high for rating in group.ratings)
    step = next((one for one in _STEPS if (high - low) / one < _MOST_TICKS), _STEPS[-1])
    first, last = step * int(low // step), step * int(-(-high // step))

    def x(value: float) -> float:
        return round(_LEFT + (value - first) / (last - first) * (_WIDTH - _LEFT - _RIGHT), 1)

    bottom = _ROW * len(group.ratings)
    middles = [_ROW * (place + 0.5) for place in range(len(group.ratings))]
    return RatingChart(
        _WIDTH,
        bottom + _BOTTOM,
        bottom,
        [
            RatingLane(_short(one.player), y, x(one.low), x(one.rating), x(one.high))
            for one, y in zip(group.ratings, middles, strict=True)
        ],
        [(x(value), f"{value:+d}" if value else "0") for value in range(first, last + 1, step)],
    )


def arena_players(
    arena: ArenaDocument, submissions: Sequence[Submission]
) -> Mapping[str, Mapping[str, Any]]:
    """Return each player's entry by name, with the slug of its submission, "" if it has none.

    The run counts as that of a submission only if its last hash is the same.
    """
    slugs = {one.head: one.slug for one in submissions}
    return {
        str(player["name"]): {**player, "slug": slugs.get(str(player["head"]), "")}
        for player in arena.players
    }


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
