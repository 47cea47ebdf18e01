"""A forger who knows the code recomputes every hash; `verify` still locates the forgery.

Undetectable forgeries are listed in `docs/guides/verification.md` and tested here, too.
"""

import copy
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.harness.verify import verify_run
from hexathlon.tasks.taskset import commitment
from hexathlon_cli.leaderboard import build
from support.counter import FailingEnv, counter_run, failing_toy
from support.events import register_toy, unregister
from support.forger import Forger
from support.forgeries import (
    CATALOGUE,
    UNDETECTED,
    Forgery,
    as_infra,
    failed,
    honest_runs,
    passed,
)

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "verification.md"
PARTS = "harness/Parts-v0"


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Honest runs by name; forgers get copies."""
    folder = tmp_path_factory.mktemp("honest")
    register_toy(PARTS, "support.parts:PartsEnv")
    honest_runs(folder)
    yield folder
    unregister(PARTS)


def forger(honest: Path, name: str, folder: Path) -> Forger:
    shutil.copytree(honest / name, folder / "run")
    return Forger(folder / "run", honest)


def test_the_honest_runs_are_verified(honest: Path) -> None:
    for run in honest.iterdir():
        assert verify_run(run).findings == (), run.name
    records = Forger(honest / "model").records
    assert any(map(failed, records)) and any(map(passed, records))


def test_the_catalogue_is_large() -> None:
    assert len({one.name for one in CATALOGUE}) == len(CATALOGUE) >= 80


@pytest.mark.parametrize("forgery", CATALOGUE, ids=[one.name for one in CATALOGUE])
def test_a_forgery_with_recomputed_hashes_is_located(
    honest: Path, tmp_path: Path, forgery: Forgery
) -> None:
    f = forger(honest, forgery.run, tmp_path)
    record = forgery.change(f)
    run = f.save()
    where = forgery.where or (record or {}).get("key", {}).get("task", "")
    findings = verify_run(run).findings
    assert where and any(
        one.field.startswith(forgery.field) and where in one.trial for one in findings
    ), findings


@pytest.mark.parametrize(
    ("name", "change", "run"), UNDETECTED, ids=[one[1].__name__ for one in UNDETECTED]
)
def test_undetectable_forgeries_are_listed_in_the_guide(
    honest: Path, tmp_path: Path, name: str, change: Callable[[Forger], None], run: str
) -> None:
    f = forger(honest, run, tmp_path)
    change(f)
    assert verify_run(f.save()).findings == ()
    _, _, listed = GUIDE.read_text("utf-8").partition("## Cannot be detected")
    assert f"\n| {name} |" in listed


def test_a_round_made_up_by_the_forger_is_rejected(honest: Path, tmp_path: Path) -> None:
    salt = tmp_path / "salt"
    salt.write_text("of my own")
    counter_run(tmp_path / "run", split="heldout", salt_file=salt)
    assert verify_run(tmp_path / "run", "of my own").sound
    with pytest.raises(UsageError, match="is not the one that this run was planned with"):
        verify_run(tmp_path / "run", "of the round")
    f = Forger(tmp_path / "run")
    f.plan["envs"][0]["salt_commitment"] = commitment("of the round")
    findings = verify_run(f.save(), "of the round").findings
    assert {"envs[0].taskset_hash"} <= {one.field for one in findings if one.trial == "plan"}
    assert any(one.field == "task_hash" for one in findings)


def test_an_unfinished_line_is_found(honest: Path, tmp_path: Path) -> None:
    run = forger(honest, "model", tmp_path).run
    file = run / "records.jsonl"
    file.write_bytes(file.read_bytes()[:-30])
    (finding,) = verify_run(run).findings
    assert finding.field == "line 12, line" and "unfinished" in finding.message


def test_an_environment_that_fails_again_is_not_a_forgery(tmp_path: Path) -> None:
    """A failure that an action reproducibly causes is bounded, not rejected."""
    with failing_toy():
        counter_run(tmp_path / "run", tasks=8, envs=("Fails",), retries=0)
        f = Forger(tmp_path / "run")
        infra = [record for record in f.records if record["status"] == "infra"]
        assert infra and all("failed_action" in record for record in infra)
        done = verify_run(tmp_path / "run")
        assert done.sound and done.unscored == len(infra)
        for record in f.records:
            record.pop("failed_action", None)
        fields = {one.field for one in verify_run(f.save()).findings}
        assert fields == {"status"}


def test_a_retried_failure_is_not_a_finding(tmp_path: Path) -> None:
    run = counter_run(tmp_path / "run", tasks=4)
    f = Forger(run)
    failure = copy.deepcopy(f.records[0])
    as_infra("sandbox", cut=1)(failure)
    f.records[0].update(attempt=2)
    f.records.insert(0, failure)
    done = verify_run(f.save())
    assert done.findings == () and done.unscored == 0


def test_trials_that_were_played_again_after_a_failure_are_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with failing_toy():
        counter_run(tmp_path / "run", tasks=8, envs=("Fails",), retries=1)
        monkeypatch.setattr(FailingEnv, "broken", False)
        counter_run(tmp_path / "run", tasks=8, envs=("Fails",), retry_infra=True)
        forger = Forger(tmp_path / "run")
        retried = [record for record in forger.records if record["attempt"] == 3]
        assert len(forger.records) == 8 + len(retried) > 8
        done = verify_run(tmp_path / "run")
        assert done.findings == () and done.unscored == 0
        forger.records.remove(next(r for r in forger.records if r["status"] == "infra"))
        (finding,) = verify_run(forger.save()).findings
        assert finding.field == "attempt"


def test_named_pipes_are_read_by_neither_verification_nor_pages(tmp_path: Path) -> None:
    run = counter_run(tmp_path / "run", tasks=4)
    (run / "judged").mkdir()
    (run / "judged" / "folder.jsonl").mkdir()
    os.mkfifo(run / "judged" / "pipe.jsonl")
    assert verify_run(run).sound
    (run / "records.jsonl").unlink()
    os.mkfifo(run / "records.jsonl")
    (finding,) = verify_run(run).findings
    assert finding.field == "line 1, line" and "is a named pipe" in finding.message


def test_runs_hidden_among_the_anchors_of_another_are_on_no_board(
    honest: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(honest / "model", run)
    shutil.copytree(honest / "tiny", run / "anchors" / "oracle")
    shutil.copytree(honest / "noop", run / "anchors" / "noop")
    build([run], tmp_path / "site")
    boards = json.loads((tmp_path / "site" / "board.json").read_bytes())["boards"]
    assert [row["name"] for board in boards for row in board["rows"]] == ["counter", "noop"]
