"""Retired ids: errors that name the successor; old runs stay readable, on boards of their own."""

from pathlib import Path

import gymnasium
import pytest

from hexathlon.baselines.harness.config import ExecutionConfig
from hexathlon.baselines.harness.environments import find_environment
from hexathlon.baselines.harness.errors import EnvironmentUnavailable
from hexathlon.baselines.harness.rescore import rescore_run
from hexathlon.baselines.harness.run import resume
from hexathlon.baselines.harness.verify import verify_run
from hexathlon.baselines.pipeline.tasks_table import TasksTable
from hexathlon.envs.registry import ENVIRONMENTS, RETIRED, retired
from hexathlon.leaderboard.boards import make_boards
from hexathlon.leaderboard.submission import load_submission
from support.runs import make_run

OLD, NEW = "hexathlon/Terminal-v0", "hexathlon/Terminal-v1"
REPLACED = f"{OLD} is retired; use {NEW}. Release 0.1 replays its records"


@pytest.mark.filterwarnings("ignore:.*out of date:DeprecationWarning")
@pytest.mark.parametrize("env_id", sorted(RETIRED))
def test_gymnasium_names_the_successor_of_a_retired_id(env_id: str) -> None:
    assert env_id not in gymnasium.registry
    with pytest.raises(gymnasium.error.DeprecatedEnv, match=RETIRED[env_id].successor):
        gymnasium.make(env_id)
    with pytest.raises(gymnasium.error.DeprecatedEnv, match=RETIRED[env_id].successor):
        gymnasium.make_vec(env_id, num_envs=2)


@pytest.mark.parametrize("env_id", sorted(RETIRED))
def test_every_chain_of_retired_ids_ends_at_a_registered_one(env_id: str) -> None:
    message = retired(env_id) or ""
    name = message.partition("; use ")[2].partition(". ")[0]
    assert name in ENVIRONMENTS
    assert name.rpartition("-v")[0] == env_id.rpartition("-v")[0]


def test_the_chain_is_followed_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RETIRED, NEW, RETIRED[OLD]._replace(successor="hexathlon/Terminal-v2"))
    assert f"use {NEW[:-1]}2." in str(retired(OLD))
    assert retired("hexathlon/Terminal-v2") is None


@pytest.mark.parametrize("name", [OLD, OLD.lower()])
def test_commands_and_recipes_name_the_successor(name: str) -> None:
    with pytest.raises(EnvironmentUnavailable, match=REPLACED):
        find_environment(name)
    with pytest.raises(Exception, match=REPLACED):
        TasksTable(env=name)


def test_the_short_name_means_the_successor() -> None:
    assert find_environment("Terminal").id == NEW


def test_an_old_run_is_neither_rejected_nor_played_on(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "cirrus-8b", tasks=20, envs={OLD: "0"}, infra=0.0)
    for use in (
        verify_run,
        lambda folder: resume(folder, ExecutionConfig()),
        lambda folder: rescore_run(folder, tmp_path / "rescored"),
    ):
        with pytest.raises(EnvironmentUnavailable, match=REPLACED):
            use(run)
    assert not (tmp_path / "rescored").exists()


def test_a_forged_old_run_is_rejected_by_its_chain(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "cirrus-8b", tasks=20, envs={OLD: "0"}, infra=0.0)
    records = run / "records.jsonl"
    text = records.read_text("utf-8")
    assert '"reward":0.0' in text
    records.write_text(text.replace('"reward":0.0', '"reward":1.0', 1), "utf-8")
    assert [finding.trial for finding in verify_run(run).findings] == ["records"]


def test_old_and_new_runs_never_share_a_board(tmp_path: Path) -> None:
    runs = [
        make_run(tmp_path / version, "cirrus-8b", tasks=20, envs={env: version})
        for env, version in ((OLD, "0"), (NEW, "1"))
    ]
    boards = make_boards([load_submission(run) for run in runs])
    assert [(board.env, board.older, len(board.rows)) for board in boards] == [
        (NEW, False, 1),
        (OLD, True, 1),
    ]
