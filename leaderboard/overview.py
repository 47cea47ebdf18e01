"""Overview of all events: one row per agent, even if its events were run separately."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hexathlon.evaluators.records.canonical import content_hash
from hexathlon.evaluators.statistics import normalised_score
from hexathlon.evaluators.summary import Score
from hexathlon.leaderboard.boards import Board
from hexathlon.leaderboard.submission import Submission

__all__ = ["Cell", "OverviewRow", "overview", "point_rows"]


class Cell(NamedTuple):
    """A submission's score on one board."""

    submission: Submission
    score: Score
    ranked: bool
    """Whether the score is comparable with the others: ranked, or a reference agent's."""


@dataclass(slots=True)
class OverviewRow:
    """The scores of an agent: of one submission, or of several that share no board."""

    cells: list[Cell | None]
    """One per board."""
    submissions: list[Submission] = field(default_factory=list)

    @property
    def first(self) -> Submission:
        """One of its submissions; all have the same name, team and kind."""
        return self.submissions[0]

    @property
    def checked(self) -> str:
        """The weakest check of its submissions: ``re-run``, ``replayed`` or ``self-reported``."""
        if all(one.rerun_by for one in self.submissions):
            return "re-run"
        if all(one.verified for one in self.submissions):
            return "replayed"
        return "self-reported"

    def order(self) -> tuple[bool, bool, float, str]:
        """Return the sorting key: rows without a rank after ranked ones, reference agents last."""
        ranked = [cell.score.mean for cell in self.cells if cell is not None and cell.ranked]
        means = [mean for mean in ranked if mean is not None]
        mean = math.fsum(means) / len(means) if means else -1.0
        return (self.first.reference is not None, not ranked, -mean, self.first.slug)


def overview(boards: Sequence[Board]) -> dict[str, Any]:
    """Return the boards of each event's newest version and each agent's scores on them."""
    columns = [board for board in boards if not board.older]
    cells: dict[str, list[Cell | None]] = {}
    submissions: dict[str, Submission] = {}
    for place, board in enumerate(columns):
        for row in board.rows:
            one = submissions.setdefault(row.submission.slug, row.submission)
            ranked = row.best is not None or one.reference is not None
            own = cells.setdefault(one.slug, [None] * len(columns))
            own[place] = Cell(one, row.score, ranked)
    rows = _merged([OverviewRow(cells[slug], [one]) for slug, one in submissions.items()])
    return {"boards": columns, "rows": sorted(rows, key=OverviewRow.order)}


def point_rows(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of the table of points: 0 at the floor of an event, 1,000 at its ceiling."""
    boards: list[Board] = found["boards"]
    rows = []
    for row in found["rows"]:
        if row.first.reference is None:
            pairs = zip(boards, row.cells, strict=True)
            points = [_points(board, cell) for board, cell in pairs]
            one = row.first
            rows.append({"name": one.name, "team": one.team, "slug": one.slug, "points": points})
    return rows


def _points(board: Board, cell: Cell | None) -> float | None:
    if cell is None or not cell.ranked or cell.score.mean is None:
        return None
    floor = board.floor or 0.0
    ceiling = board.ceiling if board.ceiling is not None else 1.0
    share = normalised_score(cell.score.mean, floor, ceiling)
    return None if share is None else 1000.0 * max(0.0, share)


def _merged(rows: Sequence[OverviewRow]) -> list[OverviewRow]:
    """Join the rows of the same agent, team and limits that share no board."""
    groups: dict[str, list[OverviewRow]] = {}
    for row in sorted(rows, key=OverviewRow.order):
        group = groups.setdefault(_identity(row.first), [])
        place = next((other for other in group if not _overlap(row, other)), None)
        if place is None:
            group.append(row)
        else:
            place.cells = [b or a for a, b in zip(row.cells, place.cells, strict=True)]
            place.submissions += row.submissions
    return [row for group in groups.values() for row in group]


def _overlap(one: OverviewRow, other: OverviewRow) -> bool:
    return any(a and b for a, b in zip(one.cells, other.cells, strict=True))


def _identity(one: Submission) -> str:
    """Return a hash of the properties that identify submissions of the same agent."""
    return content_hash([one.team, *(one.plan.get(part) for part in ("model", "agent", "limits"))])
