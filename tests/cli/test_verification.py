"""The commands `verify` and `leaderboard build --verify` on honest, forged and incomplete runs."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from hexathlon.envs.errors import EnvFault
from hexathlon.evaluators.content import Image
from hexathlon.evaluators.records.media import MediaStore
from hexathlon_cli.app import run
from support.counter import counter_run
from support.events import TOY, register_toy, toy_run, unregister
from support.forger import Forger
from support.forgeries import as_infra, failed, passed
from support.forgeries.plans import drop_failed_trials
from support.toy import ToyEnv


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


def test_a_floor_on_other_tasks_does_not_count(
    honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toy_run(tmp_path / "few", "agent:noop", tasks=3)
    board_of([honest / "model", tmp_path / "few"], tmp_path / "site")
    assert "another plan: 3 of the board's 12 tasks" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("kind", ["a named pipe", "a directory", "a device"])
@pytest.mark.parametrize("name", ["plan.json", "records.jsonl"])
@pytest.mark.timeout(60)
def test_special_files_are_rejected_without_waiting(
    honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, kind: str
) -> None:
    forged = tmp_path / "forged"
    shutil.copytree(honest / "oracle", forged)
    (forged / name).unlink()
    match kind:
        case "a named pipe":
            os.mkfifo(forged / name)
        case "a directory":
            (forged / name).mkdir()
        case _:
            (forged / name).symlink_to("/dev/zero")
    said = f"is {kind}, not a regular file"
    for command in ("verify", "report", "resume"):
        assert run([command, str(forged)]) in (1, 3)
        shown = capsys.readouterr()
        assert said in " ".join((shown.out + shown.err).split()), command
    found = board_of([honest / "model", forged], tmp_path / "site")
    assert said in found["rejected"]["forged"]
    assert list(found["rows"]) == ["counter 12"]


@pytest.mark.timeout(60)
def test_an_image_that_is_not_a_file_is_rejected_without_waiting(
    tmp_path: Path,
) -> None:
    data = Image.from_array(np.zeros((4, 4, 3), np.uint8))
    part = {"type": "image", "sha256": data.sha256, "width": 4, "height": 4}
    store = MediaStore(tmp_path / "media")
    store.add(part, data.png())
    assert store.fault(part) == ""
    store.path(part).unlink()
    os.mkfifo(store.path(part))
    assert "is a named pipe" in store.fault(part)


def test_a_held_out_round_is_verified_with_its_secret(
    honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    salt = tmp_path / "salt"
    salt.write_text("of the round")
    counter_run(tmp_path / "model", split="heldout", salt_file=salt)
    runs = [str(tmp_path / "model"), str(honest / "oracle")]
    build = ["leaderboard", "build", *runs, "--verify", "--out", str(tmp_path / "site")]
    for more, verified in (([], False), (["--salt-file", str(salt)], True)):
        assert run([*build, *more]) == 0
        data = json.loads((tmp_path / "site" / "board.json").read_text("utf-8"))
        rows = {row["name"]: row for board in data["boards"] for row in board["rows"]}
        assert rows["counter"]["verified"] is verified and rows["oracle"]["verified"]
        assert bool(rows["counter"]["obstacle"]) is not verified
    assert "of the round" not in "".join(
        page.read_text("utf-8") for page in (tmp_path / "site").rglob("*.html")
    )
    assert run(["leaderboard", "build", *runs, "--salt-file", str(salt)]) == 1
    assert "add --verify" in capsys.readouterr().err


class AwayEnv(ToyEnv):
    """An environment that runs only on the forger's machine."""

    here = True

    def __init__(self, **options: Any) -> None:
        if not self.here:
            raise EnvFault("its backend is elsewhere", cause="backend")
        super().__init__(**options)


def test_an_event_that_cannot_run_here_does_not_exempt_a_run_from_replay(
    honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its owner could have planned that event for this purpose alone."""
    away = "harness/Away-v0"
    register_toy(away, f"{__name__}:AwayEnv")
    try:
        forger = Forger(counter_run(tmp_path / "forged", envs=("Toy", "Away"), seeds=1))
        for record in filter(failed, forger.records):
            record.update(reward=1.0)
        runs = [honest / "model", forger.save()]
        assert list(board_rows(runs, tmp_path / "site", TOY)) == [True]
        monkeypatch.setattr(AwayEnv, "here", False)
        rows = board_rows(runs, tmp_path / "site", TOY)
    finally:
        unregister(away)
    assert rows[True]["best"] == rows[True]["worst"] == 1 and rows[True]["unranked"] is None
    assert rows[False]["score"] == 1.0 > rows[True]["score"] and rows[False]["best"] is None
    assert rows[False]["unranked"].startswith("not verified: cannot create harness/Away-v0")


def board_rows(runs: list[Path], out: Path, env: str) -> dict[bool, dict[str, Any]]:
    """Build a verified leaderboard; return the rows of one event by whether they were verified."""
    assert run(["leaderboard", "build", *map(str, runs), "--verify", "--out", str(out)]) == 0
    data = json.loads((out / "board.json").read_text("utf-8"))
    (board,) = (one for one in data["boards"] if one["env"] == env)
    return {row["verified"]: row for row in board["rows"]}
