"""The command `arena`: real runs, comparisons by rules and by a judge's server, file and page."""

import json

import pytest

from hexathlon.baselines.arena.recorded import _scenes
from hexathlon.evaluators.judged.arena import ArenaError, read_arena
from hexathlon.evaluators.records.canonical import content_hash
from hexathlon_cli.app import run

PLAYERS = ["agent:oracle", "half=agent:noisy:0.3", "agent:random", "agent:noop"]
SCENES = ["--scenes", "6", "--level", "tiny"]


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Four agents on six scenes, rated by the tasks' scores."""
    out = tmp_path_factory.mktemp("arena")
    players = ["agent:oracle", "half=agent:noisy:0.3", "agent:random", "agent:noop"]
    assert (
        run(["arena", *players, *SCENES, "--title", "Four <b>agents</b>", "--out", str(out)]) == 0
    )
    return out


def players_of(played):
    return [str(played / "players" / name) for name in ("oracle", "half", "random", "noop")]


def test_players_are_rated_by_the_tasks_scores(played):
    arena = read_arena(played / "arena.json")
    (group,) = arena.groups
    assert group.ratings[0].player == "oracle" and arena.scenes == 6
    assert len(arena.comparisons) == 6 * 6 and not arena.abstained and not arena.judge
    assert arena.share("oracle", "noop") == (1.0, 6)


def test_the_players_runs_are_ordinary_runs_and_continue(played, capsys):
    before = (played / "players" / "oracle" / "records.jsonl").read_bytes()
    assert run(["arena", *PLAYERS, *SCENES, "--out", str(played)]) == 0
    assert (played / "players" / "oracle" / "records.jsonl").read_bytes() == before
    assert run(["verify", str(played / "players" / "oracle")]) == 0


def test_a_page_shows_the_ratings_and_links_the_runs(played, tmp_path):
    site = tmp_path / "site"
    line = ["leaderboard", "build", *players_of(played)[:2], "--out", str(site)]
    assert run(line) == 0 and not (site / "arenas.html").exists()
    assert "arenas.html" not in (site / "index.html").read_text("utf-8")
    assert run([*line, "--arena", str(played / "arena.json")]) == 0
    page = (site / "arenas.html").read_text("utf-8")
    assert "by the tasks' own scores" in page.replace("&#39;", "'")
    assert page.count("not among these submissions") == 2
    (slug,) = [path.name for path in (site / "runs").iterdir() if path.name.startswith("oracle")]
    assert f'href="runs/{slug}/index.html"' in page and "<b>agents</b>" not in page
    assert "arenas.html" in (site / "runs" / slug / "index.html").read_text("utf-8")


@pytest.mark.parametrize("kind", ["groupwise", "pairwise"])
def test_a_judge_compares_the_performances(played, judges, tmp_path, kind):
    line = ["arena", *players_of(played), "--judge", judges.model("honest"), "--kind", kind]
    assert run([*line, "--rubric", "shopkeeper", "--out", str(tmp_path)]) in (0, 2)
    arena = read_arena(tmp_path / "arena.json")
    assert arena.kind == kind and arena.judge["identity"]["model"] == "honest"
    assert "unaudited" in arena.remarks
    assert len(arena.comparisons) + arena.abstained == 36


def test_an_undecided_arena_has_exit_code_2_and_no_ratings(played, judges, tmp_path):
    line = ["arena", *players_of(played), "--judge", judges.model("malformed")]
    assert run([*line, "--rubric", "shopkeeper", "--out", str(tmp_path)]) == 2
    arena = read_arena(tmp_path / "arena.json")
    assert not arena.groups and arena.abstained == 36


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--kind", "groupwise"], "needs a judge"),
        (["--kind", "rules", "--judge", "endpoint:http://127.0.0.1:9/v1#x"], "uses no judge"),
        (["--kind", "elo"], "groupwise"),
    ],
)
def test_contradictory_options_are_refused(played, tmp_path, capsys, more, message):
    assert run(["arena", *players_of(played), *more, "--out", str(tmp_path)]) == 1
    assert message in capsys.readouterr().err


def test_one_player_equal_names_and_other_tasks_are_refused(played, tmp_path, capsys):
    oracle = players_of(played)[0]
    assert run(["arena", oracle, "--out", str(tmp_path)]) == 1
    assert "at least two players, got 1" in capsys.readouterr().err
    assert run(["arena", oracle, oracle, "--out", str(tmp_path)]) == 1
    assert "two players are called 'oracle'" in capsys.readouterr().err
    other = tmp_path / "other"
    line = ["eval", "agent:noop", "--envs", "RolePlay", "--split", "dev", "--tasks", "2"]
    assert run([*line, "--out", str(other)]) == 0
    assert run(["arena", oracle, str(other), "--out", str(tmp_path / "x")]) == 1
    assert "split is 'test' and 'dev'" in capsys.readouterr().err


def test_a_group_that_a_judge_cannot_be_shown_is_refused_before_anything_is_played(
    judges, tmp_path, capsys
):
    players = [f"p{number}=agent:noop" for number in range(27)]
    line = ["arena", *players, "--judge", judges.model("honest"), "--out", str(tmp_path / "out")]
    assert run(line) == 1
    assert "at most 26 players, got 27: use --kind pairwise" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_one_task_in_two_environments_is_two_scenes():
    keys = [("a/A-v0", "t/1", 0, 0), ("b/B-v0", "t/1", 0, 0), ("a/A-v0", "t/1", 1, 0)]
    names = [scene for _, scene in _scenes(keys)]
    assert names == ["a/A-v0 t/1", "b/B-v0 t/1", "a/A-v0 t/1 seed 1 trial 0"]


def test_a_changed_file_and_invented_ratings_are_refused(played, tmp_path):
    data = json.loads((played / "arena.json").read_bytes())
    changed = tmp_path / "arena.json"
    data["comparisons"][0][2] = 0.25
    changed.write_text(json.dumps(data))
    with pytest.raises(ArenaError, match="was changed after it was written"):
        read_arena(changed)
    del data["hash"]
    data["groups"][0]["ratings"][0]["rating"] = 9000.0
    changed.write_text(json.dumps({**data, "hash": content_hash(data)}))
    assert read_arena(changed).groups[0].ratings[0].rating < 2000
    data["comparisons"][0][0] = "stranger"
    changed.write_text(json.dumps({**data, "hash": content_hash(data)}))
    with pytest.raises(ArenaError, match="stranger, who are not among the players"):
        read_arena(changed)
    changed.write_text("{}")
    with pytest.raises(ArenaError, match="expected a file of `hexathlon arena`"):
        read_arena(changed)


def test_withheld_ratings_are_not_shown(played, tmp_path):
    data = json.loads((played / "arena.json").read_bytes())
    del data["hash"]
    about = {"identity": {"model": "arbiter", "hash": "a" * 64}, "rubrics": {}, "audit": "b" * 64,
             "audited": True, "experimental": [], "rejected": ["controls missed"], "kin": ["half"],
             "permutations": 2, "usage": {"calls": 6}}  # fmt: skip
    data |= {"kind": "groupwise", "judge": about}
    path = tmp_path / "arena.json"
    path.write_text(json.dumps({**data, "hash": content_hash(data)}))
    site = tmp_path / "site"
    line = ["leaderboard", "build", players_of(played)[0], "--arena", str(path)]
    assert run([*line, "--out", str(site)]) == 0
    page = (site / "arenas.html").read_text("utf-8")
    assert "controls missed" in page and "judge of the same model family as half" in page
    assert '<svg class="plot ratings"' not in page
