"""Boards: which rows are ranked together, and the columns beside the score."""

import pytest

from hexathlon.leaderboard.boards import board_title, make_boards
from hexathlon.leaderboard.submission import SubmissionRejected, load_submission
from support.runs import make_run

BEST = "atlas-72b-instruct"


def boards_of(*runs):
    return make_boards([load_submission(run) for run in runs])


def test_tie_groups_come_from_paired_tests(tmp_path):
    agents = [BEST, "borealis-30b-a3b", "dune-3b", "ember-1.5b"]
    runs = [make_run(tmp_path / agent, agent, tasks=200) for agent in agents]
    (board,) = boards_of(*runs)
    assert [row.submission.name for row in board.rows] == agents
    assert [row.place for row in board.rows] == ["1–2", "1–2", "3", "4"]


def test_reference_agents_set_floor_and_ceiling_and_have_no_rank(tmp_path):
    names = ["oracle", "noop", "majority", "random", "cirrus-8b"]
    (board,) = boards_of(*(make_run(tmp_path / name, name, tasks=100) for name in names))
    scores = {row.submission.name: row.score.mean for row in board.rows}
    assert board.ceiling == scores["oracle"] == 1.0
    assert board.floor == max(scores["noop"], scores["majority"], scores["random"])
    assert board.floor_name in ("majority", "random")
    first, *others = board.rows
    assert (first.submission.name, first.place) == ("cirrus-8b", "1")
    assert first.normalised == pytest.approx(
        (scores["cirrus-8b"] - board.floor) / (1.0 - board.floor)
    )
    assert all(row.best is None and "reference" in row.unranked for row in others)


def test_versions_and_task_sets_never_share_a_board(tmp_path):
    runs = [
        make_run(tmp_path / f"v{version}", "cirrus-8b", tasks=20, envs={"x/E-v0": version})
        for version in ("9", "10", "1.2")
    ]
    boards = boards_of(*runs)
    assert [(board.version, board.older) for board in boards] == [
        ("10", False),
        ("9", True),
        ("1.2", True),
    ]
    assert all(len(board.rows) == 1 for board in boards)


@pytest.mark.parametrize(
    ("tasksets", "title"),
    [
        (["sql:test 0b284b2aa756"], "SQL"),
        (["sql:test:hard 0b284b2aa756"], "SQL · hard"),
        (["chinook:dev 3f35ac0ddf37"], "SQL · chinook dev"),
        (["chinook:test 3f35ac0ddf37", "sql:test 0b284b2aa756"], "SQL · chinook"),
        ([], "SQL"),
    ],
)
def test_a_board_is_named_by_what_tells_it_from_others(tasksets, title):
    assert board_title("hexathlon/SQL-v0", tasksets) == title


def fail_some(record):
    if record["key"]["task"].endswith(("0", "5")):
        return {**record, "status": "infra", "cause": "provider", "reward": None}
    return record


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"write": 0.5}, "incomplete: 50 of 100"),
        ({"edit": fail_some}, "20 of 100 trials are infrastructure failures"),
    ],
)
def test_too_little_evidence_gives_no_rank(tmp_path, options, reason):
    sound = make_run(tmp_path / "sound", BEST, tasks=100)
    poor = make_run(tmp_path / "poor", "cirrus-8b", tasks=100, infra=0.0, **options)
    (board,) = boards_of(sound, poor)
    assert [row.place for row in board.rows] == ["1", "–"]
    assert reason in board.rows[1].unranked


def test_flags_name_what_differs(tmp_path):
    runs = [make_run(tmp_path / str(n), BEST, tasks=10) for n in range(2)]
    earlier = [{"attempt": 1, "cause": "provider", "message": "429"}]
    odd = make_run(
        tmp_path / "odd",
        "cirrus-8b",
        tasks=10,
        limits={"turns": 99},
        edit=lambda record: {**record, "earlier": earlier, "flags": ["canary seen"]},
    )
    (board,) = boards_of(*runs, odd)
    flags = {row.submission.path.name: row.flags for row in board.rows}
    assert flags["0"] == ()
    assert flags["odd"] == ("canary seen ×10", "10 retried", "other limits")


def test_playing_fewer_tasks_shows(tmp_path):
    whole = make_run(tmp_path / "whole", BEST, tasks=40)
    few = make_run(tmp_path / "few", "cirrus-8b", tasks=5)
    (board,) = boards_of(whole, few)
    flags = {row.submission.path.name: row.flags for row in board.rows}
    assert flags == {"whole": (), "few": ("5 of 40 tasks",)}


def test_cost_axis_is_money_only_where_all_of_it_is_known(tmp_path):
    def unpriced(record):
        usage = {role: {**use, "cost": None} for role, use in record["usage"].items()}
        return {**record, "usage": usage}

    runs = [make_run(tmp_path / name, name, tasks=40) for name in (BEST, "cirrus-8b")]
    (board,) = boards_of(*runs)
    axis, points = board.points()
    assert axis == "cost"
    assert [point.on_front for point in points] == [True, True]
    other = make_run(tmp_path / "dune", "dune-3b", tasks=40, edit=unpriced)
    (board,) = boards_of(*runs, other)
    assert board.points()[0] == "tokens"
    assert next(row for row in board.rows if row.submission.name == "dune-3b").cost is None


def test_templates_are_ordered_by_difficulty(tmp_path):
    (board,) = boards_of(make_run(tmp_path / "a", BEST, tasks=200))
    means = [board.rows[0].result.templates[name].mean for name in board.templates]
    assert means == sorted(means, reverse=True)
    assert board.levels == ["tiny", "easy", "medium", "hard"]


def test_a_record_outside_the_plan_rejects_the_run(tmp_path):
    def stray(record):
        return {**record, "key": {**record["key"], "trial": 7}}

    run = make_run(tmp_path / "a", BEST, tasks=3, edit=stray)
    with pytest.raises(SubmissionRejected, match="line 1: the plan has no trial"):
        load_submission(run)


def test_a_torn_last_line_makes_the_run_incomplete_not_rejected(tmp_path):
    run = make_run(tmp_path / "a", BEST, tasks=10)
    records = run / "records.jsonl"
    records.write_bytes(records.read_bytes()[:-30])
    submission = load_submission(run)
    assert (submission.torn, submission.missing) == (True, 1)
