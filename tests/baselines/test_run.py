"""Runs: plan, streamed records, resume as a set difference, and errors that name the field."""

import json
from pathlib import Path
from typing import Any

import pytest

from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig, load_config
from hexathlon.baselines.harness.errors import (
    EnvironmentUnavailable,
    PlanDiffers,
    UsageError,
)
from hexathlon.baselines.harness.run import resume
from hexathlon.evaluators.records import RecordWriter, check_chain, record_key
from hexathlon.evaluators.records.plan import plan_hash, read_plan
from support import toy
from support.chat_server import ChatServer
from support.events import FIRST, TOY, records, toy_run


def without_timing(run: Path) -> list[dict[str, Any]]:
    return [{**record, "timing": None} for record in records(run)]


def cut(run: Path, keep: int, torn: bytes = b"") -> None:
    """Keep the first records of a run and the beginning of the next one."""
    file = run / "records.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:keep]) + torn)


def test_run_contains_plan_and_one_record_per_key(tmp_path: Path) -> None:
    outcome = toy_run(tmp_path / "run", tasks=6, seeds=2, trials=2)
    plan = read_plan(outcome.run)
    assert outcome.planned == outcome.played == len(plan["keys"]) == 24
    assert [list(record_key(record)) for record in records(outcome.run)] == plan["keys"]
    assert check_chain(outcome.run, plan["plan_hash"]) == []
    assert plan["envs"][0] | {"taskset_hash": ""} == {
        "id": TOY, "version": "1", "taskset": "toy", "taskset_version": "1", "taskset_hash": "",
        "split": "test", "level": None, "size": 40, "salt_commitment": None,
    }  # fmt: skip
    assert plan["model"] == {"kind": "agent", "name": "oracle", "place": ""}
    assert plan["agent"] == {"name": "oracle", "version": "1", "prompt_hash": None}
    assert {"git_revision", "dirty", "packages", "python"} == set(plan["code"])
    assert all(record["reward"] == 1.0 for record in records(outcome.run))


def test_seeds_change_the_environment_and_trials_do_not(tmp_path: Path) -> None:
    toy_run(tmp_path / "run", tasks=1, seeds=2, trials=2)
    openings = [record["opening"] for record in records(tmp_path / "run")]
    assert openings[0] == openings[1] != openings[2] == openings[3]


@pytest.mark.parametrize("keep", [0, 1, 5, 12])
def test_resumed_records_are_identical_except_timing(tmp_path: Path, keep: int) -> None:
    toy_run(tmp_path / "whole", tasks=12)
    toy_run(tmp_path / "broken", tasks=12)
    cut(tmp_path / "broken", keep, b'{"schema": "hexathlon.tri')
    outcome = resume(tmp_path / "broken", ExecutionConfig())
    assert (outcome.played, outcome.torn) == (12 - keep, 25)
    assert without_timing(tmp_path / "broken") == without_timing(tmp_path / "whole")


def test_scored_records_of_other_runs_are_copied(tmp_path: Path) -> None:
    tasks = tuple(f"toy/count/tiny/test/{number:05d}" for number in range(7))
    toy_run(tmp_path / "whole", envs=(), task=tasks)
    toy_run(tmp_path / "0", envs=(), task=tasks[0:5:2])
    toy_run(tmp_path / "1", envs=(), task=(*tasks[1:5:2], "toy/count/tiny/test/00030"))
    played = [tmp_path / "0", tmp_path / "1"]
    outcome = toy_run(tmp_path / "run", envs=(), task=tasks, played=played)
    assert (outcome.planned, outcome.played) == (7, 2)
    made = {record_key(record): record | {"timing": 0} for record in records(outcome.run)}
    for record in records(tmp_path / "whole"):
        chain = {name: made[record_key(record)][name] for name in ("prev", "hash")}
        assert made.pop(record_key(record)) == record | {"timing": 0} | chain
    assert not made
    assert check_chain(outcome.run, read_plan(outcome.run)["plan_hash"]) == []
    assert toy_run(tmp_path / "run", envs=(), task=tasks, played=played).played == 0


@pytest.mark.parametrize(
    ("flags", "field"),
    [
        ({"model": "agent:noop"}, "model.name ('noop' stored, 'oracle' now)"),
        ({"limit_turns": 3}, "limits.turns (3 stored, None now)"),
        ({"prompt_suffix": "Hurry."}, "config.prompt_suffix ('Hurry.' stored, '' now)"),
        ({"team": "north"}, "team ('north' stored, None now)"),
    ],
)
def test_records_of_another_plan_are_not_copied(
    tmp_path: Path, flags: dict[str, Any], field: str
) -> None:
    toy_run(tmp_path / "share", tasks=4, **flags)
    with pytest.raises(PlanDiffers, match="differs in more than its tasks") as caught:
        toy_run(tmp_path / "run", played=[tmp_path / "share"])
    assert field in str(caught.value) and not (tmp_path / "run").exists()


def test_records_of_other_task_sets_are_not_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(toy.ToySource, "version", "2")
        toy_run(tmp_path / "share", tasks=4)
    with pytest.raises(PlanDiffers, match=r"envs\[0\]\.taskset_hash"):
        toy_run(tmp_path / "run", played=[tmp_path / "share"])


def test_a_shard_killed_before_its_plan_has_nothing_to_copy(tmp_path: Path) -> None:
    (tmp_path / "share").mkdir()
    assert toy_run(tmp_path / "run", played=[tmp_path / "share"]).played == 8
    file = tmp_path / "share" / "records.jsonl"
    file.write_bytes((tmp_path / "run" / "records.jsonl").read_bytes())
    with pytest.raises(UsageError, match="has no plan.json|holds no plan.json"):
        toy_run(tmp_path / "other", played=[tmp_path / "share"])


def test_eval_on_the_same_plan_continues(tmp_path: Path) -> None:
    toy_run(tmp_path / "run")
    cut(tmp_path / "run", 3)
    assert toy_run(tmp_path / "run").played == 5
    assert toy_run(tmp_path / "run").played == 0


@pytest.mark.parametrize(
    ("flags", "field"),
    [
        ({"model": "agent:noop"}, "model.name ('oracle' stored, 'noop' now)"),
        ({"seeds": 2}, "config.seeds (1 stored, 2 now)"),
        ({"split": "dev"}, "envs[0].split ('test' stored, 'dev' now)"),
        ({"limit_turns": 3}, "limits.turns (None stored, 3 now)"),
        ({"tasks": 9}, "keys (8 items stored, 9 now)"),
    ],
)
def test_different_plan_is_rejected_with_the_field(
    tmp_path: Path, flags: dict[str, Any], field: str
) -> None:
    toy_run(tmp_path / "run")
    with pytest.raises(PlanDiffers) as refusal:
        toy_run(tmp_path / "run", **flags)
    assert field in str(refusal.value)


def test_execution_settings_may_change(tmp_path: Path) -> None:
    toy_run(tmp_path / "run")
    cut(tmp_path / "run", 3)
    assert toy_run(tmp_path / "run", concurrency=3, retries=0).played == 5


def test_force_new_moves_the_old_run_aside(tmp_path: Path) -> None:
    from hexathlon.baselines.harness.run import evaluate

    config = load_config({"model": "agent:noop", "envs": ("Toy",), "tasks": 2})[0]
    for number in range(2):
        toy_run(tmp_path / "run", tasks=2) if number == 0 else None
        outcome = evaluate(config, ExecutionConfig(), tmp_path / "run", force_new=True)
        assert outcome.played == (2 if number == 0 else 0)
    assert records(tmp_path / "run.old-1")[0]["reward"] == 1.0
    assert records(tmp_path / "run")[0]["reward"] == 0.0


def test_edited_plan_is_rejected(tmp_path: Path) -> None:
    toy_run(tmp_path / "run")
    file = tmp_path / "run" / "plan.json"
    plan = json.loads(file.read_text())
    plan["config"]["seeds"] = 7
    file.write_text(json.dumps(plan))
    with pytest.raises(UsageError, match="was changed after it was written"):
        resume(tmp_path / "run", ExecutionConfig())


def test_second_writer_is_rejected(tmp_path: Path) -> None:
    toy_run(tmp_path / "run")
    plan = read_plan(tmp_path / "run")
    with RecordWriter(tmp_path / "run", plan_hash(plan)):
        with pytest.raises(UsageError, match="is being written by another process"):
            toy_run(tmp_path / "run")


def test_resume_without_run_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no plan\.json"):
        resume(tmp_path, ExecutionConfig())


def test_single_tasks_can_be_selected(tmp_path: Path) -> None:
    config, _ = load_config({"model": "agent:oracle", "task": (FIRST,)})
    assert config.envs == ()
    toy_run(tmp_path / "run", envs=(), task=(FIRST,))
    assert [record["key"]["task"] for record in records(tmp_path / "run")] == [FIRST]


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        ({"envs": ("Toys",)}, "there is no environment 'Toys'; did you mean 'Toy'"),
        ({"taskset": "toyy"}, "there is no task set of Toy 'toyy'; did you mean 'toy'"),
        ({"split": "train", "tasks": 0}, "is unbounded: choose a number"),
        ({"split": "heldout"}, "the held-out split needs a salt"),
        ({"model": "agent:orcale"}, "did you mean 'oracle'|Did you mean 'oracle'"),
        ({"model": "agent:replay"}, "needs the run to replay"),
        ({"model": "http://x"}, "write 'endpoint:http://x'"),
        ({"model": "endpoint:http://me:hush@host/v1#m"}, "must not contain credentials"),
        ({"model": "endpoint:host#m"}, "expected 'endpoint:http"),
        ({"model": "anthropic:"}, "expected 'anthropic:MODEL'"),
        ({"model": "gemini:http://me:hush@host#m"}, "must not contain credentials"),
        ({"model": "agent:noop:x"}, "takes no argument"),
        ({"model": "nowhere"}, "must be agent:NAME, endpoint:URL#NAME or a checkpoint"),
        ({"task": ("toy/count/tiny/test/x",)}, "'x' is not an index"),
        ({"task": ("toi/count/tiny/test/00001",)}, "did you mean 'toy'"),
        ({"task": ("toy/other/tiny/test/00001",)}, "only the template 'count'"),
    ],
)
def test_invalid_input_gives_an_error_with_a_fix(
    tmp_path: Path, flags: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(UsageError, match=complaint):
        toy_run(tmp_path / "run", **flags)
    assert not (tmp_path / "run").exists()


def test_held_out_runs_store_only_the_commitment(tmp_path: Path) -> None:
    salt = tmp_path / "salt"
    salt.write_text("a secret\n")
    toy_run(tmp_path / "run", split="heldout", salt_file=salt, tasks=3)
    text = (tmp_path / "run" / "plan.json").read_text()
    assert "a secret" not in text
    assert read_plan(tmp_path / "run")["envs"][0]["salt_commitment"]
    with pytest.raises(UsageError, match="needs a salt"):
        resume(tmp_path / "run", ExecutionConfig())


@pytest.mark.parametrize("dialect", ["openai", "hermes", "react", "json"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_model_on_a_server_plays_in_every_dialect(
    tmp_path: Path, chat_server: ChatServer, dialect: str, stream: bool
) -> None:
    model = f"endpoint:{chat_server.url}#solver"
    toy_run(tmp_path / "run", model, dialect=dialect, stream=stream, concurrency=4, sampling_seed=1)
    result = records(tmp_path / "run")
    assert [record["reward"] for record in result] == [1.0] * 8
    assert all(record["usage"]["agent"]["calls"] == record["turns"] for record in result)
    assert all(len(record["timing"]["latencies"]) == record["turns"] for record in result)
    plan = read_plan(tmp_path / "run")
    assert plan["model"]["dialect"] == dialect and plan["agent"]["prompt_hash"]
    assert check_chain(tmp_path / "run", plan["plan_hash"]) == []
    turns = sum(record["turns"] for record in result)
    seeds = {body["seed"] for body in chat_server.requests[-turns:]}
    assert len(seeds) == turns


def test_dialect_is_probed_once_and_stored(tmp_path: Path, chat_server: ChatServer) -> None:
    toy_run(tmp_path / "run", f"endpoint:{chat_server.url}#no-tools", tasks=2)
    assert read_plan(tmp_path / "run")["model"]["dialect"] == "hermes"
    assert [record["reward"] for record in records(tmp_path / "run")] == [1.0, 1.0]
    cut(tmp_path / "run", 1)
    asked = len([body for body in chat_server.requests if body.get("max_tokens") == 1])
    assert resume(tmp_path / "run", ExecutionConfig()).played == 1
    assert len([body for body in chat_server.requests if body.get("max_tokens") == 1]) == asked


@pytest.mark.parametrize(
    ("model", "observed"),
    [("wrong-tool", "there is no tool 'fly'"), ("bad-arguments", "are not valid JSON")],
)
def test_malformed_calls_get_an_error_observation(
    tmp_path: Path, chat_server: ChatServer, model: str, observed: str
) -> None:
    toy_run(
        tmp_path / "run", f"endpoint:{chat_server.url}#{model}", tasks=1, dialect="openai",
        limit_turns=2,
    )  # fmt: skip
    (record,) = records(tmp_path / "run")
    assert observed in record["steps"][0]["observation"]
    assert (record["status"], record["reward"], record["tool_errors"]) == ("scored", 0.0, 2)


def test_server_failures_can_be_retried(tmp_path: Path, chat_server: ChatServer) -> None:
    run, model = tmp_path / "run", "broken*4"
    chat_server.seen[model] = 0
    flags: dict[str, Any] = {
        "tasks": 3, "dialect": "json", "concurrency": 1, "retries": 1, "request_retries": 0,
        "limit_turns": 1,
    }  # fmt: skip
    toy_run(run, f"endpoint:{chat_server.url}#{model}", **flags)
    assert [(r["status"], r["cause"]) for r in records(run)] == [
        ("infra", "provider"), ("infra", "provider"), ("scored", None),
    ]  # fmt: skip
    outcome = resume(run, ExecutionConfig(retry_infra=True))
    assert outcome.played == 2
    result = records(run)
    assert [(r["status"], r["attempt"]) for r in result[3:]] == [("scored", 3), ("scored", 3)]
    assert check_chain(run, read_plan(run)["plan_hash"]) == []


def test_consecutive_infra_failures_abort_the_run(tmp_path: Path, chat_server: ChatServer) -> None:
    with pytest.raises(EnvironmentUnavailable, match="2 consecutive infrastructure failures"):
        toy_run(
            tmp_path / "run", f"endpoint:{chat_server.url}#broken", dialect="json",
            most_infra_in_a_row=2, request_retries=0, retries=0, concurrency=1,
        )  # fmt: skip
    assert len(records(tmp_path / "run")) == 2


@pytest.mark.parametrize(("model", "error"), [("locked", "auth"), ("unknown", "unknown_model")])
def test_wrong_key_or_name_is_reported_before_planning(
    tmp_path: Path, chat_server: ChatServer, model: str, error: str
) -> None:
    with pytest.raises(UsageError, match=error):
        toy_run(tmp_path / "run", f"endpoint:{chat_server.url}#{model}")
    assert not (tmp_path / "run").exists()


def test_the_replay_agent_repeats_a_run(tmp_path: Path) -> None:
    toy_run(tmp_path / "first", "agent:random", tasks=5)
    toy_run(tmp_path / "again", f"agent:replay:{tmp_path / 'first'}", tasks=5)
    first, again = records(tmp_path / "first"), records(tmp_path / "again")
    assert [r["steps"] for r in first] == [r["steps"] for r in again]
    with pytest.raises(UsageError, match="has no record of"):
        toy_run(tmp_path / "more", f"agent:replay:{tmp_path / 'first'}", tasks=6)


def test_missing_policy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from support.toy import ToySource

    monkeypatch.setattr(ToySource, "policies", lambda self, task: {})
    with pytest.raises(UsageError, match="'toy' has no policy 'dump'; it has none"):
        toy_run(tmp_path / "run", "agent:dump")


def test_the_configuration_file_and_flags_are_merged(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(
        'model = "agent:noop"\nenvs = "Toy"\ntasks = 3\nout = "here"\n'
        "[limits]\nturns = 4\n[sampling]\ntemperature = 0.5\n"
    )
    config, execution = load_config({"tasks": 5, "retries": None}, file)
    assert config == EvalConfig(
        model="agent:noop", envs=("Toy",), tasks=5, limits={"turns": 4},  # type: ignore[arg-type]
        sampling={"temperature": 0.5},  # type: ignore[arg-type]
    )  # fmt: skip
    assert execution == ExecutionConfig()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("tasks = ", "is not TOML"),
        ('modell = "agent:noop"', "there is no setting 'modell'; did you mean 'model'"),
        ('split = "tets"', "there is no split 'tets'; did you mean 'test'"),
        ("tasks = -1", "tasks must be at least 0, got -1"),
        ("[limits]\nturn = 3", "did you mean 'limit_turns'"),
        ("tasks = 3", "choose what to evaluate"),
        ('envs = ["Toy"]', "model is missing"),
    ],
)
def test_invalid_configuration_is_rejected(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "run.toml"
    file.write_text(text)
    bare = any(word in complaint for word in ("missing", "evaluate", "modell"))
    flags = {} if bare else {"model": "agent:noop", "envs": ("Toy",)}
    with pytest.raises(UsageError, match=complaint):
        load_config(flags, file)
