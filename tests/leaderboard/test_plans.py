"""The plan of a board: named, or that of most rows; copies; rows that could not be replayed."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from hexathlon.evaluators.records.plan import read_plan
from hexathlon.leaderboard import build as building
from hexathlon.leaderboard.build import BuildError, BuildOptions, build
from support.runs import make_run
from support.sites import board_texts

BEST = "atlas-72b-instruct"


def plan_of(run: Path) -> str:
    return str(read_plan(run)["plan_hash"])


def rows_of(site: Path) -> dict[tuple[str, int], dict[str, object]]:
    """Return the rows of the only board by team and number of tasks."""
    (board,) = json.loads((site / "board.json").read_text("utf-8"))["boards"]
    return {(row["team"], row["tasks"]): row for row in board["rows"]}


@pytest.fixture
def outvoted(tmp_path: Path) -> list[Path]:
    """An honest run, and a run of few tasks under three teams' names."""
    few = [
        make_run(tmp_path / team, "dune-3b", tasks=20, team=team, infra=0.0)
        for team in ("a", "b", "c")
    ]
    return [make_run(tmp_path / "honest", BEST, tasks=60, team="north", infra=0.0), *few]


def test_copies_under_several_names_do_not_outvote_a_named_plan(
    outvoted: list[Path], tmp_path: Path
) -> None:
    build(outvoted, tmp_path / "voted")
    rows = rows_of(tmp_path / "voted")
    assert rows["north", 60]["unranked"] == "another plan: 60 tasks, 20 of them the board's 20"
    assert rows["a", 20]["best"] == 1

    digest = plan_of(outvoted[0])
    for name in (digest, digest[:16], digest[:20].upper()):
        build(outvoted, tmp_path / "named", BuildOptions(plans=[name]))
        page = board_texts(tmp_path / "named")
        rows = rows_of(tmp_path / "named")
        assert rows["north", 60]["best"] == rows["north", 60]["worst"] == 1
        assert {rows[team, 20]["unranked"] for team in "abc"} == {
            "another plan: 20 of the board's 60 tasks"
        }
        assert "named by the builder of this page" in page and f'title="{digest}"' in page


def test_a_named_plan_that_no_run_has_is_refused(outvoted: list[Path], tmp_path: Path) -> None:
    for name, said in (
        (plan_of(outvoted[0])[:8], "too short"),
        ("", "too short"),
        ("0" * 64, "no valid run has the plan 000"),
    ):
        with pytest.raises(BuildError, match=said):
            build(outvoted, tmp_path / "site", BuildOptions(plans=[name]))
    both = [plan_of(outvoted[0]), plan_of(outvoted[1])]
    with pytest.raises(BuildError, match="are different plans for hexathlon/SQL-v1"):
        build(outvoted, tmp_path / "site", BuildOptions(plans=both))
    assert not (tmp_path / "site").exists()
    shared = [plan_of(outvoted[1]), plan_of(outvoted[2])]
    build(outvoted, tmp_path / "site", BuildOptions(plans=shared))


def test_a_copy_counts_once_and_a_run_with_the_same_short_name_separately(
    outvoted: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(outvoted[0], tmp_path / "copy")
    build([*outvoted, tmp_path / "copy"], tmp_path / "site")
    assert len(rows_of(tmp_path / "site")) == 4
    monkeypatch.setattr(
        building,
        "with_reruns",
        lambda given: building.with_own_slugs(
            [replace(one, slug="the-same-0123456789") for one in given]
        ),
    )
    build([*outvoted, tmp_path / "copy"], tmp_path / "site")
    rows = rows_of(tmp_path / "site")
    assert len(rows) == 4
    assert {row["submission"] for row in rows.values()} == {row["head"] for row in rows.values()}
    assert len(list((tmp_path / "site" / "runs").iterdir())) == 4


def test_a_run_that_could_not_be_replayed_has_no_rank_beside_those_that_were(
    tmp_path: Path,
) -> None:
    names = ("north", "south", "west")
    runs = [
        make_run(tmp_path / team, agent, tasks=20, team=team, infra=0.0)
        for team, agent in zip(names, ("dune-3b", BEST, BEST), strict=True)
    ]
    obstacles = {runs[1]: f"{runs[1]} needs a sandbox", runs[2]: "no sandbox"}
    build(runs, tmp_path / "site", BuildOptions(verified=[runs[0]], obstacles=obstacles))
    page = board_texts(tmp_path / "site")
    rows = rows_of(tmp_path / "site")
    assert (rows["north", 20]["best"], rows["north", 20]["worst"]) == (1, 1)
    assert rows["south", 20]["unranked"] == "not verified: south needs a sandbox"
    assert next(iter(rows)) == ("north", 20)
    assert page.count(">not verified<") == 2 and ">self-reported<" not in page

    options = BuildOptions(obstacles={run: "no sandbox" for run in runs})
    build(runs, tmp_path / "none", options)
    assert {row["unranked"] for row in rows_of(tmp_path / "none").values()} == {None}


def test_runs_that_could_not_be_replayed_do_not_choose_the_plan(
    outvoted: list[Path], tmp_path: Path
) -> None:
    obstacles = {run: "no sandbox" for run in outvoted[1:]}
    options = BuildOptions(verified=outvoted[:1], obstacles=obstacles)
    build(outvoted, tmp_path / "site", options)
    assert rows_of(tmp_path / "site")["north", 60]["best"] == 1
