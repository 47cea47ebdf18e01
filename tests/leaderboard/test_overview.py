"""The overview: one row per agent, whether it was run on all events at once or one by one."""

from pathlib import Path

from hexathlon.leaderboard.boards import make_boards
from hexathlon.leaderboard.build import build
from hexathlon.leaderboard.overview import overview
from hexathlon.leaderboard.submission import load_submission
from support.runs import make_run
from support.sites import board_texts

EVENTS = ("hexathlon/SQL-v1", "hexathlon/Shopping-v1")


def rows_of(*runs: Path) -> list[tuple[str, str, list[bool]]]:
    found = overview(make_boards([load_submission(run) for run in runs]))
    return [
        (row.first.name, row.first.team, [cell is not None for cell in row.cells])
        for row in found["rows"]
    ]


def one_by_one(folder: Path, agent: str, team: str = "") -> list[Path]:
    return [
        make_run(folder / f"{agent}{team}{place}", agent, tasks=8, envs={env: "1"}, team=team)
        for place, env in enumerate(EVENTS)
    ]


def test_runs_of_single_events_share_a_row(tmp_path: Path) -> None:
    runs = [*one_by_one(tmp_path, "dune-3b"), *one_by_one(tmp_path, "oracle")]
    both = make_run(tmp_path / "both", "cirrus-8b", tasks=8, envs=dict.fromkeys(EVENTS, "1"))
    rows = rows_of(*runs, both)
    assert sorted(rows) == [
        ("cirrus-8b", "", [True, True]),
        ("dune-3b", "", [True, True]),
        ("oracle", "", [True, True]),
    ]
    assert rows[-1][0] == "oracle"


def test_other_teams_and_other_runs_of_the_same_event_keep_rows_of_their_own(
    tmp_path: Path,
) -> None:
    runs = [*one_by_one(tmp_path, "dune-3b", "north"), *one_by_one(tmp_path, "dune-3b", "south")]
    again = make_run(tmp_path / "again", "dune-3b", tasks=9, team="north")
    assert sorted(rows_of(*runs, again)) == [
        ("dune-3b", "north", [True, False]),
        ("dune-3b", "north", [True, True]),
        ("dune-3b", "south", [True, True]),
    ]


def test_each_score_of_a_shared_row_leads_to_its_own_run(tmp_path: Path) -> None:
    page = build(one_by_one(tmp_path, "dune-3b"), tmp_path / "site").read_text("utf-8")
    _, _, table = page.partition('class="heatmap overview"')
    links = [part.split('"')[0] for part in table.partition("</table>")[0].split('href="')[1:]]
    assert len(set(links)) == 2
    assert all((tmp_path / "site" / link).is_file() for link in links)
    assert "2 submissions, 16 trials" in page and "reference agents, 16" not in page


def test_reference_agents_are_counted_separately(tmp_path: Path) -> None:
    runs = [*one_by_one(tmp_path, "dune-3b"), make_run(tmp_path / "noop", "noop", tasks=8)]
    page = build(runs, tmp_path / "site").read_text("utf-8")
    assert "2 submissions, 1 run of reference agents, 24 trials" in page
    boards = board_texts(tmp_path / "site")
    assert boards.count(">Reference agents</th>") == 1 and ">Not ranked</th>" not in boards
