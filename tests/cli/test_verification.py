"""The commands `verify` and `leaderboard build --verify` on honest, forged and incomplete runs."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import gymnasium
import pytest

from hexathlon_cli.app import run
from support.counter import counter_run
from support.events import TOY, register_toy, toy_run, unregister
from support.forger import Forger
from support.forgeries import as_infra, failed, passed
from support.forgeries.plans import drop_failed_trials


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A run of a model, with the runs that set floor and ceiling."""
    registered = TOY in gymnasium.registry  # by tests of the baselines, for a whole session
    if not registered:
        register_toy()
    folder = tmp_path_factory.mktemp("honest")
    counter_run(folder / "model")
    toy_run(folder / "oracle", tasks=12)
    toy_run(folder / "noop", "agent:noop", tasks=12)
    yield folder
    if not registered:
        unregister()


def copied(honest: Path, folder: Path) -> Forger:
    shutil.copytree(honest / "model", folder)
    return Forger(folder)


def board_of(runs: list[Path], out: Path) -> dict[str, dict[str, object]]:
    """Build a verified leaderboard; return its rows by plan and head, and the rejected runs."""
    assert run(["leaderboard", "build", *map(str, runs), "--verify", "--out", str(out)]) == 0
    data = json.loads((out / "board.json").read_text("utf-8"))
    (board,) = data["boards"]
    rows = {f"{row['name']} {row['trials']}": row for row in board["rows"]}
    return {"rows": rows, "rejected": {one["run"]: one["reason"] for one in data["rejected"]}}


def test_dropped_trials_are_named_and_rejected(
    honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forger = copied(honest, tmp_path / "run")
    drop_failed_trials(forger)
    dropped = 12 - len(forger.records)
    assert run(["verify", str(forger.save())]) == 3
    shown = capsys.readouterr()
    assert dropped and f"the configuration selects 12 trials; {dropped} left out" in shown.err
    assert "rejected" in shown.out


def test_trials_without_a_score_are_bounded(
    honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forger = copied(honest, tmp_path / "run")
    good = sum(map(passed, forger.records))
    as_infra("provider", cut=1)(forger.first(failed))
    assert run(["verify", str(forger.save())]) == 0
    shown = capsys.readouterr().out
    assert "12 of 12 trials replayed identically" in shown
    low, high = f"{100 * good / 12:.1f}", f"{100 * (good + 1) / 12:.1f}"
    bounds = f"Toy {100 * good / 11:.1f}% without them, {low}…{high}% if they failed or passed"
    assert f"planned trials without a score: 1; {bounds}" in shown


def test_a_forged_run_is_rejected_from_a_verified_board(honest: Path, tmp_path: Path) -> None:
    forger = copied(honest, tmp_path / "forged")
    forger.first(failed).update(reward=1.0)
    runs = [honest / "model", honest / "oracle", honest / "noop", forger.save()]
    found = board_of(runs, tmp_path / "site")
    assert list(found["rejected"]) == ["forged"]
    assert "not verified: " in found["rejected"]["forged"]
    assert "reward: recorded 1.0, replayed 0.0" in found["rejected"]["forged"]
    rows = found["rows"]
    assert {row["verified"] for row in rows.values()} == {True}
    assert rows["counter 12"]["best"] == rows["counter 12"]["worst"] == 1


def test_an_incomplete_run_is_listed_without_a_badge(honest: Path, tmp_path: Path) -> None:
    forger = copied(honest, tmp_path / "part")
    forger.drop(passed)
    left = len(forger.records)
    found = board_of([honest / "model", forger.save()], tmp_path / "site")
    part = found["rows"][f"counter {left}"]
    assert found["rejected"] == {}
    assert (part["verified"], part["best"]) == (False, None)
    assert part["unranked"] == f"incomplete: {left} of 12 planned trials"


def test_a_floor_of_other_tasks_sets_none(
    honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toy_run(tmp_path / "few", "agent:noop", tasks=3)
    board_of([honest / "model", tmp_path / "few"], tmp_path / "site")
    assert "another plan: 3 of the board's 12 tasks" in " ".join(capsys.readouterr().out.split())
