"""What a board says about itself: neighbours, detectable differences, the noise of repeats."""

import json

import pytest

from hexathlon.leaderboard.boards import make_boards
from hexathlon.leaderboard.build import build
from hexathlon.leaderboard.submission import load_submission
from support.runs import make_run
from support.sites import board_texts

BEST = "atlas-72b-instruct"


def board_of(*runs):
    (board,) = make_boards([load_submission(run) for run in runs])
    return board


def test_neighbours_that_differ_are_told_apart_and_others_are_not(tmp_path):
    agents = [BEST, "borealis-30b-a3b", "dune-3b", "ember-1.5b"]
    found = board_of(*(make_run(tmp_path / name, name, tasks=200) for name in agents)).resolution
    assert (found.neighbours, found.separated, found.groups) == (3, 2, 3)
    assert 0.01 < found.detectable < 0.2
    assert found.noise is None and found.repeated == ()


def test_repeat_runs_of_one_agent_measure_the_noise(tmp_path):
    def redrawn(record):
        flip = record["key"]["task"].endswith("3") and record["key"]["trial"] == 0
        return {**record, "reward": 1.0 - record["reward"]} if flip else record

    runs = [
        make_run(tmp_path / "one", BEST, tasks=40, trials=4, infra=0.0, team="north"),
        make_run(tmp_path / "two", BEST, tasks=40, trials=4, infra=0.0, edit=redrawn),
        make_run(tmp_path / "other", "dune-3b", tasks=40, trials=4, infra=0.0),
    ]
    found = board_of(*runs).resolution
    ((name, count, largest),) = [(one.name, one.runs, one.largest) for one in found.repeated]
    assert (name, count) == (BEST, 2) and 0 <= largest < 0.1
    assert 0.02 < found.noise < 0.2
    build(runs, tmp_path / "site")
    text = board_texts(tmp_path / "site")
    assert "Neighbours told apart" in text and f"2 runs of <bdi>{BEST}</bdi>" in text
    data = json.loads((tmp_path / "site" / "board.json").read_bytes())
    assert data["boards"][0]["resolution"]["repeated"][0][1] == 2


def test_groups_of_few_tasks_have_no_colour_and_are_no_ones_worst(tmp_path):
    run = make_run(tmp_path / "run", BEST, tasks=103)
    (row,) = board_of(run).rows
    worst = row.variants
    templates = row.result.templates
    large = {name: one.mean for name, one in templates.items() if one.tasks >= 5}
    assert worst[0] in large and worst[1] == min(large.values())
    assert worst[2] == pytest.approx(max(large.values()) - min(large.values()))
    few = make_run(tmp_path / "few", BEST, tasks=60)
    assert board_of(few).rows[0].variants is None
    build([few], tmp_path / "site")
    text = board_texts(tmp_path / "site").partition("By level and template")[2]
    body = text.partition("</tbody>")[2].partition("</table>")[0]
    assert 'class="heat hx"' in body and 'class="heat h' not in body.replace("heat hx", "")
