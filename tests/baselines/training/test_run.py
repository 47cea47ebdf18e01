"""Training runs on the toy event: resumed bit for bit, and one-line errors for bad input."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.harness.tokens import TOKENS_FILE, read_tokens
from hexathlon.baselines.pipeline.collect import Collected
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.baselines.training.folder import RecipeDiffers
from hexathlon.baselines.training.metrics import MetricsLog, read_metrics
from hexathlon.baselines.training.recipe import RecipeError, load_recipe
from hexathlon.baselines.training.rollouts import RolloutLog, rescored
from hexathlon.baselines.training.run import train
from hexathlon.baselines.training.saving import CorruptState
from hexathlon.baselines.training.step import NothingToLearn, nothing_to_learn
from hexathlon.evaluators.records import check_chain, read_records
from hexathlon.evaluators.records.plan import read_plan
from hexathlon.evaluators.statistics import ScoreInterval
from hexathlon_cli.app import run

TESTS = Path(__file__).resolve().parents[2]
DEADLINE = 600.0
RECIPE = """
name = "toy"
steps = 4
save_every = 1
[tasks]
env = "harness/Toy-v0"
source = "toy"
turns = 5
[policy.shape]
vocabulary = 300
width = 32
layers = 2
heads = 2
kv_heads = 1
feed_forward = 64
context = 256
[clone]
demonstrations = 64
[clone.settings]
steps = 60
batch = 16
[rollout]
groups = 3
members = 4
max_tokens = 12
[credit.estimator]
name = "reinforce"
parameters = { baseline = 0.5 } # so that failures move the policy too
[evaluation]
tasks = 4
every = 2
"""


class Stopped(Exception):
    """Raised by a test to end a run."""


class Trained(NamedTuple):
    """A finished run that several tests read."""

    run: Path
    success: dict[str, ScoreInterval]


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "toy.toml"
    path.write_text(RECIPE)
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """The recipe's run, uninterrupted."""
    return trained(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def shorter(whole: Trained, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """The recipe's run with half the steps, from the same initial policy."""
    folder = tmp_path_factory.mktemp("shorter")
    beside(whole, folder / "run")
    return trained(folder, {"steps": 2})


def trained(folder: Path, changes: dict[str, Any] | None = None) -> Trained:
    recipe = folder / "toy.toml"
    recipe.write_text(RECIPE)
    return Trained(folder / "run", train(load_recipe(str(recipe), changes), folder / "run", quiet))


def beside(start: Trained, out: Path) -> Path:
    """Return a run directory whose initial policy is that of another run."""
    shutil.copytree(start.run / "start", out / "start")
    return out


def quiet(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
    """Report nothing."""


def digest(run: Path) -> str:
    return hashlib.sha256((run / "policy" / "model.safetensors").read_bytes()).hexdigest()


def rows(run: Path) -> list[dict[str, float]]:
    return [
        {name: value for name, value in row.items() if not name.startswith("seconds/")}
        for row in read_metrics(run / "metrics.jsonl")
    ]


def test_stopped_run_resumes_bit_for_bit(recipe: Path, whole: Trained, tmp_path: Path) -> None:
    def stop(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
        if phase == "train" and step == 2:
            raise Stopped

    beside(whole, tmp_path / "broken")
    with pytest.raises(Stopped):
        train(load_recipe(str(recipe)), tmp_path / "broken", stop)
    train(load_recipe(str(recipe)), tmp_path / "broken", quiet)
    assert digest(tmp_path / "broken") == digest(whole.run)
    assert rows(tmp_path / "broken") == rows(whole.run)
    assert (whole.run / "start" / "model.safetensors").read_bytes() != (
        whole.run / "policy" / "model.safetensors"
    ).read_bytes()
    assert "<svg" in (whole.run / "curve.html").read_text()


def test_evaluations_keep_tokens_if_rollouts_do(whole: Trained, tmp_path: Path) -> None:
    beside(whole, tmp_path / "run")
    made = trained(tmp_path, {"steps": 1, "rollout.keep_tokens": True, "evaluation.every": 0})
    for name in ("before", "after"):
        hashes = {record["hash"] for record in read_records(made.run / name)}
        assert {one.record_hash for one in read_tokens(made.run / name)} == hashes
        assert not (whole.run / name / TOKENS_FILE).exists()


def test_killed_process_resumes_bit_for_bit(recipe: Path, whole: Trained, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    command = ["train", str(recipe), "--out", str(broken)]
    process = subprocess.Popen(
        [sys.executable, "-m", "support.toy_command", *command],
        cwd=TESTS,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    deadline = time.monotonic() + DEADLINE
    while len(read_metrics(broken / "metrics.jsonl")) < 3 and process.poll() is None:
        assert time.monotonic() < deadline, "the run made no progress"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert run(command) == 0
    assert digest(broken) == digest(whole.run)
    assert rows(broken) == rows(whole.run)


def test_evaluation_runs_agree_with_the_metrics(whole: Trained, shorter: Trained) -> None:
    out, result = whole
    for name in ("before", "after"):
        run = out / name
        plan = read_plan(run)
        assert check_chain(run, plan["plan_hash"]) == []
        records = list(read_records(run))
        assert [record["split"] for record in records] == ["dev"] * 4
        assert result[name].mean == sum(record["reward"] for record in records) / 4
    measured = {row["step"]: row["dev/success"] for row in rows(out) if "dev/success" in row}
    assert measured == {0: result["before"].mean, 2: shorter.success["after"].mean}
    assert (out / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_rescored_records_give_the_same_rewards(
    recipe: Path, whole: Trained, tmp_path: Path
) -> None:
    changes = {"rollout.rewards": "rescored"}
    beside(whole, tmp_path / "rescored")
    train(load_recipe(str(recipe), changes), tmp_path / "rescored", quiet)
    assert digest(tmp_path / "rescored") == digest(whole.run)
    assert rows(tmp_path / "rescored") == rows(whole.run)
    logged = sorted((whole.run / "rollouts").iterdir())
    assert [path.name for path in logged] == [f"step-{n:06}-0.jsonl.gz" for n in (1, 2, 3, 4)]
    again = tmp_path / "rescored" / "rollouts"
    first = rescored(again / logged[0].name)
    assert len(first) == 12
    flipped = [Trajectory(record | {"reward": 1.0 - record["reward"]}) for record in first]
    kept = RolloutLog(tmp_path / "flipped", "rescored").keep(1, 0, flipped)
    assert [one.record["reward"] for one in kept] == [one["reward"] for one in first]


def test_train_init_creates_a_playable_policy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "fresh"
    words = ["train", "init", "--env", "SQL", "--level", "tiny", "--transcripts", "16"]
    assert run([*words, "--width", "32", "--layers", "2", "--out", str(out)]) == 0
    assert "M parameters" in capsys.readouterr().out
    assert run([*words, "--out", str(out)]) == 1
    assert "exists" in capsys.readouterr().err
    played = ["eval", str(out), "--envs", "SQL", "--level", "tiny", "--tasks", "1"]
    assert run([*played, "--max-reply-tokens", "8", "--out", str(tmp_path / "run")]) == 0
    (record,) = read_records(tmp_path / "run")
    assert record["status"] == "scored"


def test_a_control_without_updates_changes_nothing(
    recipe: Path, whole: Trained, tmp_path: Path
) -> None:
    beside(whole, tmp_path / "run")
    train(load_recipe(str(recipe), {"control": "no_update"}), tmp_path / "run", quiet)
    start = tmp_path / "run" / "start" / "model.safetensors"
    assert start.read_bytes() == (tmp_path / "run" / "policy" / "model.safetensors").read_bytes()


def test_policy_without_success_raises_a_named_error(recipe: Path, tmp_path: Path) -> None:
    changes = {
        "credit.filters": [{"name": "varied"}],
        "credit.estimator": {"name": "grpo"},
        "clone.demonstrations": 0,
        "rollout.tries": 2,
    }
    with pytest.raises(NothingToLearn, match="2 batches of 3 groups left nothing to learn"):
        train(load_recipe(str(recipe), changes), tmp_path / "run", quiet)


def test_failures_of_all_rollouts_are_not_blamed_on_the_policy() -> None:
    record: Any = {"status": "infra", "error": "engine replica 0 died"}
    batch = Collected([], [record, record], 2)
    error = nothing_to_learn(load_recipe("sql-tiny"), 4, [batch])
    assert "step 4: none of the 2 rollouts has a score (the last: engine replica 0" in str(error)


def test_torn_state_is_reported(recipe: Path, shorter: Trained) -> None:
    newest = max((shorter.run / "states").iterdir())
    (newest / "optimiser.pt").write_bytes(b"torn")  # no other test reads it
    with pytest.raises(CorruptState, match="delete it to resume from the previous state"):
        train(load_recipe(str(recipe), {"steps": 2}), shorter.run, quiet)


def test_different_recipe_is_rejected(recipe: Path, tmp_path: Path) -> None:
    changes = {"steps": 0, "clone.demonstrations": 0}
    train(load_recipe(str(recipe), changes), tmp_path / "run", quiet)
    with pytest.raises(RecipeDiffers, match="another recipe"):
        train(load_recipe(str(recipe), {**changes, "seed": 1}), tmp_path / "run", quiet)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"rollout.group": 3}, "rollout has no setting 'group'"),
        ({"steps": -1}, "steps must be at least 0, got -1"),
        ({"credit.estimator": {"name": "grop"}}, "no advantage estimator 'grop'"),
        ({"credit.filters": [{"name": "varied", "parameters": {"x": 1}}]}, "no parameter x"),
        ({"learn.objective": {"surrogate": "pqo"}}, "no surrogate loss 'pqo'"),
        ({"tasks.source": "toyy"}, "'toyy'"),
        ({"tasks.source": "chinook"}, "chinook has no train tasks at level tiny"),
        ({"tasks.templates": ["ad", "nothing"]}, "toy has no template '.+' at level .*there are"),
        (
            {"tasks.source": "roleplay", "evaluation.tasks": 99_999},
            r"roleplay has \d+ dev tasks .*, fewer than the 99999 of .*: lower evaluation.tasks",
        ),
    ],
)
def test_invalid_recipes_give_one_line_errors(recipe: Path, changes, complaint) -> None:
    with pytest.raises(RecipeError, match=complaint):
        load_recipe(str(recipe), changes)


def test_unknown_recipe_lists_the_known_ones() -> None:
    with pytest.raises(RecipeError, match="sql-tiny"):
        load_recipe("nowhere")


def test_scale_setting_scales_a_run(recipe: Path) -> None:
    scaled = load_recipe(str(recipe), {"scale": 2.0}).scaled()
    assert (scaled.steps, scaled.rollout.groups, scaled.clone.demonstrations) == (8, 6, 128)
    assert scaled.clone.settings.steps == 120
    assert scaled.scaled() == scaled


def test_metrics_are_truncated_to_the_saved_state_after_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    lines = [json.dumps({"step": step}) for step in range(5)]
    path.write_text("\n".join(lines) + '\n{"step": 5, "rew')
    MetricsLog(path, 3).close()
    assert [row["step"] for row in read_metrics(path)] == [0, 1, 2, 3]
