"""Training runs on the toy event: resumed bit for bit, and one-line errors for bad input."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.baselines.training.metrics import MetricsLog, read_metrics
from hexathlon.baselines.training.recipe import RecipeError, load_recipe
from hexathlon.baselines.training.rollouts import RolloutLog, rescored
from hexathlon.baselines.training.run import RecipeDiffers, train
from hexathlon.baselines.training.saving import StateTorn
from hexathlon.baselines.training.step import NothingToLearn
from hexathlon.evaluators.records import check_chain, read_records
from hexathlon.evaluators.records.plan import read_plan
from hexathlon_cli.app import run

TESTS = Path(__file__).resolve().parents[2]
DEADLINE = 180.0
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


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "toy.toml"
    path.write_text(RECIPE)
    return path


def quiet(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
    """Report nothing."""


def digest(run: Path) -> str:
    return hashlib.sha256((run / "policy" / "model.safetensors").read_bytes()).hexdigest()


def rows(run: Path) -> list[dict[str, float]]:
    return [
        {name: value for name, value in row.items() if not name.startswith("seconds/")}
        for row in read_metrics(run / "metrics.jsonl")
    ]


def test_a_run_that_was_stopped_goes_on_bit_for_bit(recipe: Path, tmp_path: Path) -> None:
    train(load_recipe(str(recipe)), tmp_path / "whole", quiet)

    def stop(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
        if phase == "train" and step == 2:
            raise Stopped

    with pytest.raises(Stopped):
        train(load_recipe(str(recipe)), tmp_path / "broken", stop)
    train(load_recipe(str(recipe)), tmp_path / "broken", quiet)
    assert digest(tmp_path / "broken") == digest(tmp_path / "whole")
    assert rows(tmp_path / "broken") == rows(tmp_path / "whole")
    assert (tmp_path / "whole" / "start" / "model.safetensors").read_bytes() != (
        tmp_path / "whole" / "policy" / "model.safetensors"
    ).read_bytes()
    assert "<svg" in (tmp_path / "whole" / "curve.html").read_text()


def test_a_killed_process_goes_on_bit_for_bit(recipe: Path, tmp_path: Path) -> None:
    train(load_recipe(str(recipe)), tmp_path / "whole", quiet)
    broken = tmp_path / "broken"
    command = [sys.executable, "-m", "support.toy_command", "train", str(recipe)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [*command, "--out", str(broken)],
        cwd=TESTS,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    deadline = time.monotonic() + DEADLINE
    while len(read_metrics(broken / "metrics.jsonl")) < 3 and process.poll() is None:
        assert time.monotonic() < deadline, "the run made no progress"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    done = subprocess.run(
        [*command, "--out", str(broken)],
        cwd=TESTS,
        env=environment,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    assert done.returncode == 0, done.stderr
    assert digest(broken) == digest(tmp_path / "whole")
    assert rows(broken) == rows(tmp_path / "whole")


def test_evaluations_are_run_folders_that_say_what_the_metrics_say(
    recipe: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    found = train(load_recipe(str(recipe)), out, quiet)
    for name in ("before", "after"):
        run = out / name
        plan = read_plan(run)
        assert check_chain(run, plan["plan_hash"]) == []
        records = list(read_records(run))
        assert [record["split"] for record in records] == ["dev"] * 4
        assert found[name].mean == sum(record["reward"] for record in records) / 4
    measured = {row["step"]: row["dev/success"] for row in rows(out) if "dev/success" in row}
    shorter = train(load_recipe(str(recipe), {"steps": 2}), tmp_path / "shorter", quiet)
    assert measured == {0: found["before"].mean, 2: shorter["after"].mean}
    assert (out / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_rewards_from_judging_the_records_again_are_the_same(recipe: Path, tmp_path: Path) -> None:
    train(load_recipe(str(recipe)), tmp_path / "played", quiet)
    changes = {"rollout.rewards": "rescored"}
    train(load_recipe(str(recipe), changes), tmp_path / "rescored", quiet)
    assert digest(tmp_path / "rescored") == digest(tmp_path / "played")
    assert rows(tmp_path / "rescored") == rows(tmp_path / "played")
    logged = sorted((tmp_path / "played" / "rollouts").iterdir())
    assert [path.name for path in logged] == [f"step-{n:06}-0.jsonl.gz" for n in (1, 2, 3, 4)]
    again = tmp_path / "rescored" / "rollouts"
    first = rescored(again / logged[0].name)
    assert len(first) == 12
    spoilt = [Trajectory(record | {"reward": 1.0 - record["reward"]}) for record in first]
    kept = RolloutLog(tmp_path / "spoilt", "rescored").keep(1, 0, spoilt)
    assert [one.record["reward"] for one in kept] == [one["reward"] for one in first]


def test_train_init_makes_a_policy_that_plays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "fresh"
    words = ["train", "init", "--env", "SQL", "--level", "tiny", "--transcripts", "16"]
    assert run([*words, "--width", "32", "--layers", "2", "--out", str(out)]) == 0
    assert "M parameters" in capsys.readouterr().out
    assert run([*words, "--out", str(out)]) == 1
    assert "exists" in capsys.readouterr().err
    played = ["eval", str(out), "--envs", "SQL", "--level", "tiny", "--tasks", "1"]
    assert run([*played, "--max-tokens", "8", "--out", str(tmp_path / "run")]) == 0
    (record,) = read_records(tmp_path / "run")
    assert record["status"] == "scored"


def test_a_control_without_updates_changes_nothing(recipe: Path, tmp_path: Path) -> None:
    train(load_recipe(str(recipe), {"control": "no_update"}), tmp_path / "run", quiet)
    start = tmp_path / "run" / "start" / "model.safetensors"
    assert start.read_bytes() == (tmp_path / "run" / "policy" / "model.safetensors").read_bytes()


def test_a_policy_that_never_succeeds_ends_with_a_name(recipe: Path, tmp_path: Path) -> None:
    changes = {
        "credit.filters": [{"name": "varied"}],
        "credit.estimator": {"name": "grpo"},
        "clone.demonstrations": 0,
        "rollout.tries": 2,
    }
    with pytest.raises(NothingToLearn, match="2 batches of 3 groups left nothing to learn"):
        train(load_recipe(str(recipe), changes), tmp_path / "run", quiet)


def test_a_torn_state_is_named(recipe: Path, tmp_path: Path) -> None:
    train(load_recipe(str(recipe), {"steps": 2}), tmp_path / "run", quiet)
    newest = max((tmp_path / "run" / "states").iterdir())
    (newest / "optimiser.pt").write_bytes(b"torn")
    with pytest.raises(StateTorn, match="delete it to go on from the state before it"):
        train(load_recipe(str(recipe), {"steps": 2}), tmp_path / "run", quiet)


def test_another_recipe_is_not_mixed_in(recipe: Path, tmp_path: Path) -> None:
    changes = {"steps": 0, "clone.demonstrations": 0}
    train(load_recipe(str(recipe), changes), tmp_path / "run", quiet)
    with pytest.raises(RecipeDiffers, match="another recipe"):
        train(load_recipe(str(recipe), {**changes, "seed": 1}), tmp_path / "run", quiet)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"rollout.group": 3}, r"rollout\.group: Extra inputs"),
        ({"steps": -1}, r"steps: .*greater than or equal to 0"),
        ({"credit.estimator": {"name": "grop"}}, "'grop' is no advantage estimator"),
        ({"credit.filters": [{"name": "varied", "parameters": {"x": 1}}]}, "no parameter x"),
        ({"learn.objective": {"surrogate": "pqo"}}, "'pqo' is no surrogate loss"),
        ({"tasks.source": "toyy"}, "'toyy'"),
        ({"tasks.source": "chinook"}, "chinook has no train tasks at level tiny"),
        ({"tasks.templates": ["ad", "nothing"]}, "toy has no template '.+' at level .*there are"),
        (
            {"tasks.source": "roleplay", "evaluation.tasks": 99_999},
            r"roleplay has \d+ dev tasks of this kind, .* wants 99999: lower evaluation.tasks",
        ),
    ],
)
def test_bad_recipes_end_in_a_sentence(recipe: Path, changes, complaint) -> None:
    with pytest.raises(RecipeError, match=complaint):
        load_recipe(str(recipe), changes)


def test_a_recipe_that_is_not_there_names_those_that_are() -> None:
    with pytest.raises(RecipeError, match="sql-tiny"):
        load_recipe("nowhere")


def test_the_dial_scales_a_run(recipe: Path) -> None:
    scaled = load_recipe(str(recipe), {"scale": 2.0}).scaled()
    assert (scaled.steps, scaled.rollout.groups, scaled.clone.demonstrations) == (8, 6, 128)
    assert scaled.clone.settings.steps == 120
    assert scaled.scaled() == scaled


def test_metrics_after_a_crash_are_cut_to_what_stands(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    lines = [json.dumps({"step": step}) for step in range(5)]
    path.write_text("\n".join(lines) + '\n{"step": 5, "rew')
    MetricsLog(path, 3).close()
    assert [row["step"] for row in read_metrics(path)] == [0, 1, 2, 3]
