"""Boards: which rows are ranked together, and the columns beside the score."""

import pytest

from hexathlon.leaderboard.boards import board_title, make_boards
from hexathlon.leaderboard.build import build
from hexathlon.leaderboard.submission import SubmissionRejected, load_submission
from support.forger import Forger, key_of
from support.runs import make_run
from support.sites import board_texts

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


def test_reference_agents_that_a_limit_stopped_set_neither_floor_nor_ceiling(tmp_path):
    def stop_some(record):
        if not record["key"]["task"].endswith("0"):
            return record
        stopped = {"flags": ["limit:wall_seconds"], "stop": "truncated_time"}
        return {**record, **stopped, "reward": 0.0, "steps": [], "turns": 0, "usage": {}}

    options = {"tasks": 20, "infra": 0.0, "limits": {"wall_seconds": 9}}
    oracle = make_run(tmp_path / "oracle", "oracle", edit=stop_some, **options)
    (board,) = boards_of(oracle, make_run(tmp_path / BEST, BEST, **options))
    row = board.rows[-1]
    assert (board.ceiling, row.score.mean) == (None, 0.9)
    assert row.unranked == "reference agent: sets no ceiling, a limit stopped 2 trials"


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
def test_a_board_is_named_by_what_distinguishes_it(tasksets, title):
    assert board_title("hexathlon/SQL-v1", tasksets) == title


def as_infra(record):
    """Claim that a server failed before the last step."""
    steps = record["steps"][:-1]
    failed = {"status": "infra", "cause": "provider", "reward": None, "stop": "error_env"}
    return {**record, **failed, "steps": steps, "turns": len(steps)}


def fail_some(record):
    return as_infra(record) if record["key"]["task"].endswith(("0", "5")) else record


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
        edit=lambda record: {**record, "attempt": 2, "earlier": earlier, "flags": ["canary seen"]},
    )
    (board,) = boards_of(*runs, odd)
    flags = {row.submission.path.name: row.flags for row in board.rows}
    assert flags["0"] == ()
    assert flags["odd"] == ("canary seen ×10", "10 retried")


def places_of(board):
    return {row.submission.path.name: (row.place, row.unranked) for row in board.rows}


def test_a_row_that_played_other_tasks_is_listed_below_and_never_ranked(tmp_path):
    """5 of 20 tasks at 0 % may not share a rank with 20 of 20 at 40 %."""
    whole = [make_run(tmp_path / name, name, tasks=20, infra=0.0) for name in (BEST, "cirrus-8b")]
    few = make_run(tmp_path / "few", "dune-3b", tasks=5, infra=0.0, edit=lose)
    (board,) = boards_of(*whole, few)
    places = places_of(board)
    assert places["few"] == ("–", "another plan: 5 of the board's 20 tasks")
    assert [row.submission.path.name for row in board.rows][-1] == "few"
    assert {places[name][0] for name in (BEST, "cirrus-8b")} <= {"1", "2", "1–2"}


def lose(record):
    return {**record, "reward": 0.0}


def chosen(*, passed):
    """Keep the trials with this reward."""
    return lambda record: record["reward"] == float(passed)


def cherry_picked(folder, agent, tasks):
    """A run with a plan of its own: the tasks that it passed, as a list of tasks."""
    run = make_run(folder, agent, tasks=tasks, infra=0.0)
    forger = Forger(run)
    forger.drop(chosen(passed=False))
    forger.plan["keys"] = [key_of(record) for record in forger.records]
    forger.plan["config"]["task"] = [key[1] for key in forger.plan["keys"]]
    return forger.save()


def test_a_plan_of_chosen_tasks_is_sound_and_has_no_rank(tmp_path):
    runs = [make_run(tmp_path / name, name, tasks=40) for name in (BEST, "cirrus-8b")]
    picked = cherry_picked(tmp_path / "picked", "dune-3b", 40)
    assert load_submission(picked).contradiction is None
    (board,) = boards_of(*runs, picked)
    place, reason = places_of(board)["picked"]
    assert place == "–" and "of the board's 40 tasks" in reason
    row = next(row for row in board.rows if row.submission.path.name == "picked")
    assert row.score.mean == 1.0 and board.rows[-1] is row


def test_more_trials_than_the_boards_are_another_plan(tmp_path):
    runs = [make_run(tmp_path / name, name, tasks=20) for name in (BEST, "cirrus-8b")]
    more = make_run(tmp_path / "more", "dune-3b", tasks=20, trials=3)
    places = places_of(boards_of(*runs, more)[0])
    assert places["more"][1] == "another plan: 60 trials of its 20 tasks, the board's has 20"


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"turns": 30, "output_tokens": 8192}, "other limits: turns 30, the board's 20"),
        ({"turns": None, "output_tokens": 8192}, "other limits: turns unset, the board's 20"),
        ({"turns": 20}, "other limits: output_tokens unset, the board's 8192"),
        ({"turns": 20, "output_tokens": 100, "cost": 1.0}, None),
    ],
)
def test_looser_limits_have_no_rank(tmp_path, limits, reason):
    runs = [make_run(tmp_path / name, name, tasks=20) for name in (BEST, "cirrus-8b")]
    other = make_run(tmp_path / "other", "dune-3b", tasks=20, limits=limits)
    (board,) = boards_of(*runs, other)
    place, unranked = places_of(board)["other"]
    assert unranked == reason and (place == "–") == (reason is not None)
    row = next(row for row in board.rows if row.submission.path.name == "other")
    assert ("other limits" in row.flags) == (reason is None)


def test_trials_without_a_score_never_lift_a_row(tmp_path):
    """Calling failures infrastructure failures raises the score, but not the rank."""

    def hide(record):
        hidden = record["key"]["task"].endswith(("17", "38")) and record["reward"] == 0.0
        return as_infra(record) if hidden else record

    honest = make_run(tmp_path / "honest", "cirrus-8b", tasks=100, infra=0.0)
    hiding = make_run(tmp_path / "hiding", "cirrus-8b", tasks=100, infra=0.0, edit=hide)
    (board,) = boards_of(honest, hiding)
    rows = {row.submission.path.name: row for row in board.rows}
    assert rows["hiding"].score.infra == 1
    assert rows["hiding"].score.mean > rows["honest"].score.mean
    assert rows["hiding"].score.bounds.low == rows["honest"].score.mean
    assert rows["hiding"].result.rank_means() == rows["honest"].result.rank_means()
    assert rows["hiding"].place == rows["honest"].place == "1–2"


def test_statements_that_contradict_each_other_have_no_rank(tmp_path):
    sound = make_run(tmp_path / "sound", BEST, tasks=20)
    forger = Forger(make_run(tmp_path / "odd", "cirrus-8b", tasks=20, infra=0.0))
    for record in forger.drop(chosen(passed=False)):
        failed = {"status": "infra", "cause": "provider", "reward": None, "stop": "error_env"}
        forger.records.append({**record, **failed})
    (board,) = boards_of(sound, forger.save())
    place, reason = places_of(board)["odd"]
    assert place == "–"
    assert reason.startswith("inconsistent: line ") and "last step ended the episode" in reason


def test_dropped_keys_contradict_the_configuration(tmp_path):
    forger = Forger(make_run(tmp_path / "run", "cirrus-8b", tasks=20, infra=0.0))
    forger.drop(chosen(passed=False))
    forger.plan["keys"] = [key_of(record) for record in forger.records]
    fault = load_submission(forger.save()).contradiction
    assert fault.startswith("plan, keys: has ") and "the configuration asks for 20" in fault


def test_the_floor_comes_from_runs_of_the_boards_plan(tmp_path):
    runs = [make_run(tmp_path / name, name, tasks=40) for name in (BEST, "cirrus-8b")]
    lucky = make_run(tmp_path / "noop", "noop", tasks=4, edit=lambda r: {**r, "reward": 1.0})
    floor = make_run(tmp_path / "random", "random", tasks=40)
    (board,) = boards_of(*runs, lucky, floor)
    assert board.floor_name == "random"
    assert places_of(board)["noop"][1] == "another plan: 4 of the board's 40 tasks"


def test_replayed_references_go_before_reported_ones(tmp_path):
    reported = make_run(tmp_path / "noop", "noop", tasks=20, edit=lambda r: {**r, "reward": 1.0})
    replayed = make_run(tmp_path / "random", "random", tasks=20)
    (board,) = make_boards([load_submission(reported), load_submission(replayed, verified=True)])
    assert board.floor_name == "random"


def test_cost_axis_is_money_only_if_all_costs_are_known(tmp_path):
    def unpriced(record):
        usage = {role: {**use, "cost": None} for role, use in record["usage"].items()}
        return {**record, "usage": usage}

    runs = [make_run(tmp_path / name, name, tasks=40) for name in (BEST, "cirrus-8b")]
    (board,) = boards_of(*runs)
    (axis, points), *_ = board.planes()
    assert axis == "cost"
    assert [point.on_front for point in points] == [True, True]
    other = make_run(tmp_path / "dune", "dune-3b", tasks=40, edit=unpriced)
    (board,) = boards_of(*runs, other)
    assert board.planes()[0][0] == "tokens"
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


def test_failure_causes_are_terms_that_verifiers_found_unmet(tmp_path):
    build([make_run(tmp_path / "run", "dune-3b", tasks=12, infra=0.0)], tmp_path / "site")
    causes = board_texts(tmp_path / "site").partition("How trials failed")[2]
    assert "<bdi>rows_equal</bdi> unmet ×" in causes
