"""A tampered run is rejected, with the trial and the field."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.harness.rescore import rescore_run
from hexathlon.baselines.harness.verify import verify_run
from hexathlon.evaluators.records import RecordWriter
from hexathlon.evaluators.records.canonical import canonical_json, content_hash
from hexathlon.evaluators.records.plan import plan_hash, read_plan
from support import toy
from support.chat_server import ChatServer
from support.events import records, toy_run
from support.toy import ADD

Record = dict[str, Any]


def forge(run: Path, change: Callable[[Record], Any], index: int = 2) -> None:
    """Change one record and repair the chain, as a careful forger would."""
    result = records(run)
    change(result[index])
    (run / "records.jsonl").unlink()
    with RecordWriter(run, plan_hash(read_plan(run)), "never") as writer:
        for record in result:
            record["final_state_hash"] = content_hash(record["final_state"])
            writer.append(record)


def edit(run: Path, index: int, change: Callable[[Record], Any]) -> None:
    """Change one record without repairing the chain."""
    file = run / "records.jsonl"
    lines = file.read_text().splitlines()
    record = json.loads(lines[index])
    change(record)
    lines[index] = canonical_json(record)
    file.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("model", ["agent:oracle", "agent:noop", "agent:random"])
def test_an_honest_run_is_verified(tmp_path: Path, model: str) -> None:
    toy_run(tmp_path / "run", model, seeds=2)
    done = verify_run(tmp_path / "run")
    assert done.sound and done.replayed == done.planned == 16


@pytest.mark.parametrize("dialect", ["json", "auto"])
def test_a_run_of_a_model_on_a_server_is_verified(
    tmp_path: Path, chat_server: ChatServer, dialect: str
) -> None:
    flags = {"dialect": dialect, "sampling_seed": 3, "limit_output_tokens": 40}
    run = toy_run(tmp_path / "run", f"endpoint:{chat_server.url}#solver", **flags).run
    assert all("tokens" in step for record in records(run) for step in record["steps"])
    assert verify_run(run).findings == ()


def test_failures_of_a_models_server_are_bounded(tmp_path: Path, chat_server: ChatServer) -> None:
    chat_server.seen["broken*4"] = 0
    run = toy_run(
        tmp_path / "run", f"endpoint:{chat_server.url}#broken*4", dialect="json", tasks=6,
        concurrency=1, retries=0, request_retries=0, limit_turns=1,
    ).run  # fmt: skip
    done = verify_run(run)
    assert done.findings == () and (done.planned, done.unscored) == (6, 4)


def test_a_run_with_its_own_limits_is_verified(tmp_path: Path) -> None:
    toy_run(tmp_path / "run", "agent:noop", limit_turns=3, limit_wall_seconds=1e-9)
    assert records(tmp_path / "run")[0]["stop"] == "truncated_time"
    assert verify_run(tmp_path / "run").sound


def test_a_held_out_run_is_verified_with_its_salt(tmp_path: Path) -> None:
    salt = tmp_path / "salt"
    salt.write_text("a secret")
    toy_run(tmp_path / "run", split="heldout", salt_file=salt, tasks=3)
    assert verify_run(tmp_path / "run", "a secret").sound
    with pytest.raises(UsageError, match="name the file of its secret with --salt-file"):
        verify_run(tmp_path / "run")
    with pytest.raises(UsageError, match="is not the one that this run was planned with"):
        verify_run(tmp_path / "run", "another")


FORGERIES: list[tuple[str, Callable[[Record], Any], str]] = [
    ("agent:noop", lambda r: r.update(reward=1.0), "reward"),
    ("agent:oracle", lambda r: r.update(partial=0.5), "partial"),
    ("agent:oracle", lambda r: r["steps"][0].update(action=ADD % 8), "steps[0].observation"),
    ("agent:oracle", lambda r: r["steps"][1].update(observation="All is well."), "steps[1].obs"),
    ("agent:oracle", lambda r: r["steps"][1].update(reward=0.5), "steps[1].reward"),
    ("agent:oracle", lambda r: r["steps"].pop(), "turns"),
    ("agent:noop", lambda r: r["final_state"].update(submitted=True), "final_state"),
    ("agent:noop", lambda r: r.update(status="unscored", reward=None), "status"),
    ("agent:oracle", lambda r: r.update(task_hash="0" * 64), "task_hash"),
    ("agent:oracle", lambda r: r.update(opening="An easier task."), "opening"),
    ("agent:oracle", lambda r: r.update(level="hard"), "level"),
    ("agent:oracle", lambda r: r.update(env_version="2"), "env_version"),
    ("agent:oracle", lambda r: r.update(terms={"hit": 0.5}), "terms"),
    ("agent:noop", lambda r: r.update(stop="completed"), "stop"),
    ("agent:noop", lambda r: r.update(tool_errors=0), "tool_errors"),
]


@pytest.mark.parametrize(("model", "change", "field"), FORGERIES)
def test_forgery_with_a_valid_chain_is_detected_by_replay(
    tmp_path: Path, model: str, change: Callable[[Record], Any], field: str
) -> None:
    run = toy_run(tmp_path / "run", model).run
    forge(run, change)
    task = records(run)[2]["key"]["task"]
    findings = verify_run(run).findings
    assert any(f.field.startswith(field) and task in f.trial for f in findings), findings


def test_forged_score_breaks_the_chain_at_its_line(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run", "agent:noop").run
    edit(run, 4, lambda record: record.update(reward=1.0))
    (finding, *_) = verify_run(run).findings
    assert "line 5" in finding.field and "was changed" in finding.message


def test_a_changed_token_count_breaks_the_chain(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run").run
    edit(run, 1, lambda record: record["usage"].update(agent={"input": 1}))
    assert not verify_run(run).sound


def test_missing_trial_is_reported(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run").run
    file = run / "records.jsonl"
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-2]))
    (finding,) = verify_run(run).findings
    assert finding.field == "count" and "2 of 8 planned trials" in finding.message
    assert verify_run(run, whole=False).sound


def test_unplanned_trial_is_reported(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run").run
    forge(run, lambda record: record["key"].update(seed=99))
    assert any(result.field == "key" for result in verify_run(run).findings)


def test_changed_tasks_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = toy_run(tmp_path / "run").run
    monkeypatch.setattr(toy.ToySource, "version", "2")
    result = {finding.field for finding in verify_run(run).findings}
    assert {"envs[0].taskset_version", "envs[0].taskset_hash"} <= result


def test_rescoring_unchanged_trials_changes_nothing(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run", "agent:random").run
    done = rescore_run(run, tmp_path / "again")
    assert (done.records, done.changes) == (8, 0)
    for before, after in zip(records(run), records(tmp_path / "again"), strict=True):
        assert after["rescored"]["hash"] == before["hash"]
        for name in ("reward", "terms", "stop", "status", "checks", "steps"):
            assert after[name] == before[name]
    plan = read_plan(tmp_path / "again")
    assert plan["rescored_from"]["plan_hash"] == read_plan(run)["plan_hash"]
    assert verify_run(tmp_path / "again").sound


def test_rescoring_uses_the_final_state(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run").run
    forge(run, lambda record: record["final_state"].update(counter=0))
    done = rescore_run(run, tmp_path / "again")
    assert done.changes == 1
    assert done.changed[0][1:] == (1.0, 0.0)
    assert records(tmp_path / "again")[2]["reward"] == 0.0


def test_rescoring_scores_unscored_trials(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run").run
    forge(
        run,
        lambda r: r.update(status="unscored", reward=None, cause="verifier", stop="error_judge"),
    )
    rescore_run(run, tmp_path / "again")
    mended = records(tmp_path / "again")[2]
    assert (mended["status"], mended["reward"], mended["stop"]) == ("scored", 1.0, "completed")
    assert mended["cause"] is None


def test_rescoring_keeps_how_a_trial_ended(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run", "agent:noop", limit_turns=3, limit_wall_seconds=1e-9).run
    unscored = {"status": "unscored", "reward": None, "cause": "verifier", "stop": "error_judge"}
    forge(run, lambda record: record.update(unscored))
    assert any(one.field == "status" for one in verify_run(run).findings)
    rescore_run(run, tmp_path / "again")
    assert records(tmp_path / "again")[2]["stop"] == "truncated_time"
    assert verify_run(tmp_path / "again").sound


def test_an_environment_named_twice_is_planned_once(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run", envs=("Toy", "harness/Toy-v0")).run
    plan = read_plan(run)
    assert len(plan["envs"]) == 1 and len(plan["keys"]) == 8
    assert verify_run(run).sound


def test_lost_final_state_is_unscored(tmp_path: Path) -> None:
    toy_run(tmp_path / "run", tasks=3)
    forge(tmp_path / "run", lambda r: r.update(final_state={"lost": "the worker was killed"}), 0)
    done = rescore_run(tmp_path / "run", tmp_path / "again")
    lost, *kept = records(tmp_path / "again")
    assert done.changes == 1
    assert (lost["status"], lost["cause"], lost["reward"]) == ("unscored", "judge", None)
    assert lost["error"] == "the final state was lost: the worker was killed"
    assert [record["reward"] for record in kept] == [1.0, 1.0]


def test_run_with_broken_chain_is_not_rescored(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run").run
    edit(run, 1, lambda record: record.update(reward=0.0))
    with pytest.raises(UsageError, match="with a broken chain"):
        rescore_run(run, tmp_path / "again")


def test_changed_tasks_are_not_rescored(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run").run
    forge(run, lambda record: record.update(task_hash="0" * 64))
    with pytest.raises(UsageError, match="has changed since the run"):
        rescore_run(run, tmp_path / "again")
