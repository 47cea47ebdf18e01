"""Submitters and reruns: teams, copies, and the badge."""

import json

import pytest

from hexathlon.leaderboard.build import build
from hexathlon.leaderboard.reruns import with_reruns
from hexathlon.leaderboard.submission import load_submission
from support.runs import make_run
from support.sites import board_texts

AGENT = "cirrus-8b"


def begun_at(hour: int, **changes):
    def edit(record):
        timing = {**record["timing"], "started": f"2026-11-21T{hour:02}:00:00Z"}
        return {**record, "timing": timing, **changes}

    return edit


def run_of(folder, team, hour, agent=AGENT, **options):
    options = {"tasks": 60, "edit": begun_at(hour), **options}
    return make_run(folder / f"{team}-{hour}-{agent}", agent, team=team, **options)


def confirmed(*runs):
    return [one.rerun_by for one in with_reruns([load_submission(run) for run in runs])]


def test_two_teams_that_ran_the_same_confirm_each_other(tmp_path):
    runs = [run_of(tmp_path, "north", 9), run_of(tmp_path, "south", 11)]
    other = run_of(tmp_path, "south", 12, agent="dune-3b")
    assert confirmed(*runs, other) == [("south",), ("north",), ()]


@pytest.mark.parametrize(
    ("team", "hour", "options"),
    [
        ("North", 11, {}),
        ("", 11, {}),
        ("south", 9, {}),
        ("south", 11, {"write": 0.5}),
        ("south", 11, {"limits": {"turns": 99}}),
        ("south", 11, {"edit": begun_at(11, reward=0.0, status="scored", cause=None)}),
        ("south", 11, {"edit": begun_at(11, turns=99)}),
    ],
    ids=[
        "the same team", "nobody", "a copy", "unfinished", "another plan", "another outcome",
        "contradicting itself",
    ],
)  # fmt: skip
def test_reruns_that_are_not_independent_do_not_confirm(tmp_path, team, hour, options):
    assert confirmed(run_of(tmp_path, "north", 9), run_of(tmp_path, team, hour, **options)) == [
        (), (),
    ]  # fmt: skip


def test_the_site_names_teams_counts_their_submissions_and_shows_the_badge(tmp_path):
    runs = [
        run_of(tmp_path, "north", 9),
        run_of(tmp_path, "south & sons", 11),
        run_of(tmp_path, "south & sons", 12, agent="dune-3b"),
        run_of(tmp_path, "", 10, agent="ember-1.5b"),
    ]
    page = build(runs, tmp_path / "site").read_text("utf-8")
    boards = board_texts(tmp_path / "site")
    assert "by <bdi>north</bdi></span>" in boards
    assert boards.count("by <bdi>south &amp; sons</bdi>, 2 submissions") == 2
    assert "4 submissions by 2 teams" in page
    assert boards.count(">independently re-run<") == 2
    assert boards.count(">self-reported<") == 2
    (board,) = json.loads((tmp_path / "site" / "board.json").read_text())["boards"]
    rerun = {row["team"]: row["rerun_by"] for row in board["rows"] if row["name"] == AGENT}
    assert rerun == {"north": ["south & sons"], "south & sons": ["north"]}
