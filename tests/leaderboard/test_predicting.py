"""Boards show how predictable the oracle's endings are from ids, digests and openings."""

import json

import pytest

from hexathlon.evaluators.records.canonical import text_hash
from hexathlon.leaderboard.boards import make_boards
from hexathlon.leaderboard.build import build
from hexathlon.leaderboard.submission import load_submission
from support.runs import make_run

TASKS = 120


def ending_by(side):
    """Let each record end with a verdict that a function of index and hash decides."""

    def edit(record):
        index = int(record["key"]["task"].rpartition("/")[2])
        call = {"name": "verdict", "arguments": {"possible": side(index, record["task_hash"])}}
        record["steps"][-1]["action"] = json.dumps(call)
        record["steps"][0]["action"] = json.dumps(call)
        return record

    return edit


def by_hash(index, task_hash):
    return int(task_hash[:8], 16) % 2 == 0


def by_coin(index, task_hash):
    return int(text_hash(f"coin {index}")[:8], 16) % 2 == 0


def board(folder, side, agent="oracle"):
    run = make_run(folder / agent, agent, tasks=TASKS, trials=2, edit=ending_by(side))
    (made,) = make_boards([load_submission(run)])
    return made


def test_an_index_that_decides_is_found_in_the_id_and_not_in_the_digest(tmp_path):
    found = board(tmp_path, lambda index, task_hash: index % 2 == 0).predictable
    assert found.tasks == TASKS  # each counts once, whatever the number of its trials
    assert found.identity > 0.8  # within templates of six tasks
    assert max(found.digest, found.opening, found.constant) < 0.65


def test_a_digest_that_decides_is_found(tmp_path):
    found = board(tmp_path, by_hash).predictable
    assert found.digest == 1.0
    assert max(found.opening, found.constant) < 0.65


def test_only_the_run_that_sets_the_ceiling_is_classified(tmp_path):
    assert board(tmp_path, by_hash, "random").predictable is None


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("predictable")
    run = make_run(folder / "oracle", "oracle", tasks=TASKS, edit=ending_by(by_coin))
    other = make_run(folder / "atlas", "atlas-72b-instruct", tasks=TASKS)
    build([run, other], folder / "site")
    return folder


def test_page_and_data_show_the_figures_also_from_the_cache(site):
    (board,) = json.loads((site / "site" / "board.json").read_bytes())["boards"]
    found = board["predictable"]
    assert found["tasks"] == TASKS and found["digest"] < 0.65
    (page,) = (site / "site" / "boards").glob("*.html")
    assert "Predictable endings" in page.read_text()
    for name in ("constant", "digest", "opening", "identity"):
        assert f"<dd>{100 * found[name]:.1f}&nbsp;%</dd>" in page.read_text()
    before = page.read_bytes()
    build([site / "oracle", site / "atlas"], site / "site")
    assert page.read_bytes() == before
