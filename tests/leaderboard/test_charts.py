"""Geometry of the charts: round numbers on the axes, and marks that do not hide each other."""

import math
from itertools import combinations
from pathlib import Path

import pytest

from hexathlon.leaderboard.boards import Board, make_boards
from hexathlon.leaderboard.charts import DIAMETER, WIDTH, curve, scatter
from hexathlon.leaderboard.methods import Method, TrainingCurve
from hexathlon.leaderboard.submission import load_submission
from support.runs import make_run


def board_of(folder: Path, teams: int) -> Board:
    runs = [
        make_run(folder / str(n), "cirrus-8b", tasks=12, infra=0.0, team=f"team {n}")
        for n in range(teams)
    ]
    runs.append(make_run(folder / "other", "dune-3b", tasks=12, infra=0.0))
    (board,) = make_boards([load_submission(run) for run in runs])
    return board


def test_equal_systems_have_marks_beside_each_other(tmp_path: Path) -> None:
    name, points = board_of(tmp_path, 3).planes()[0]
    plot = scatter(points)
    assert name == "cost" and len({dot.x for dot in plot.dots}) == 2
    marks = [(dot.mark, dot.y) for dot in plot.dots]
    assert all(math.dist(a, b) >= 0.7 * DIAMETER for a, b in combinations(marks, 2))
    assert all(dot.x <= dot.mark < WIDTH for dot in plot.dots)


def test_equal_names_are_shown_with_their_teams(tmp_path: Path) -> None:
    assert board_of(tmp_path, 2).ambiguous == {"cirrus-8b"}


@pytest.mark.parametrize(
    ("first", "last", "labels"),
    [
        (0.02, 0.8, ["0.2", "0.4", "0.6", "0.8"]),
        (1.1, 5.0, ["2", "3", "4", "5"]),
        (-3e-5, 2e-5, ["-3e-05", "-2e-05", "-1e-05", "0", "1e-05", "2e-05"]),
        (1.0, 3.0, ["1", "1.5", "2", "2.5", "3"]),
        (7.0, 7.0, ["7", "7.2", "7.4", "7.6", "7.8", "8"]),
    ],
)
def test_axes_have_round_numbers(first: float, last: float, labels: list[str]) -> None:
    rows = tuple({"step": float(n), "reward": first + n * (last - first) / 40} for n in range(41))
    runs = (TrainingCurve(Path("run"), 1, {"name": "x"}, rows),)
    plot = curve(Method("x", "x", {}, runs), "reward")
    assert plot is not None and [tick.label for tick in plot.up] == labels
    assert [tick.label for tick in plot.across] == ["0", "10", "20", "30", "40"]
    assert all(plot.top <= tick.position <= plot.bottom for tick in plot.up)
