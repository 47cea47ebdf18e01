"""`hexathlon train --watch` follows a run from another process."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hexathlon.baselines.training.folder import FolderInUse, RecipeDiffers, claimed, is_training
from hexathlon.baselines.training.metrics import MetricsLog
from hexathlon.baselines.training.recipe import Recipe, recipe_of
from hexathlon_cli.app import run
from hexathlon_cli.train.appended import AppendedLines

TESTS = Path(__file__).resolve().parent
DEADLINE = 120.0


@pytest.fixture
def recipe() -> Recipe:
    tasks = {"env": "hexathlon/SQL-v1", "source": "sql", "level": "tiny"}
    return recipe_of({"name": "watched", "steps": 3, "tasks": tasks})


def watcher(folder: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "hexathlon", "train", "--watch", str(folder)],
        cwd=TESTS,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Tests that a shell runs in the background inherit an ignored SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def test_steps_are_shown_as_they_come_until_the_run_ends(recipe: Recipe, tmp_path: Path) -> None:
    with claimed(tmp_path, recipe):
        log = MetricsLog(tmp_path / "metrics.jsonl", 0)
        log.log(1, {"reward": 0.25, "kl": 0.5})
        process = watcher(tmp_path)
        assert process.stdout is not None
        assert process.stdout.readline() == "1/3  reward 0.250  KL 0.5000\n"
        log.log(2, {"reward": 0.5, "dev/success": 0.75})
        assert process.stdout.readline() == "2/3  reward 0.500  dev 0.750\n"
        log.close()
        assert is_training(tmp_path)
    output, noise = process.communicate(timeout=DEADLINE)
    assert output.startswith("watched: step 2 of 3, not running")
    assert (process.returncode, noise) == (0, "")


def test_an_interruption_ends_watching(recipe: Recipe, tmp_path: Path) -> None:
    with claimed(tmp_path, recipe):
        log = MetricsLog(tmp_path / "metrics.jsonl", 0)
        log.log(1, {"reward": 0.25})
        log.close()
        process = watcher(tmp_path)
        assert process.stdout is not None and process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, noise = process.communicate(timeout=DEADLINE)
        assert (process.returncode, noise) == (0, "")


def test_a_folder_is_trained_in_by_one_process_and_one_recipe(
    recipe: Recipe, tmp_path: Path
) -> None:
    assert not is_training(tmp_path)
    with claimed(tmp_path, recipe), pytest.raises(FolderInUse, match="--watch"):
        with claimed(tmp_path, recipe):
            raise AssertionError("two processes could train in one folder")
    assert not is_training(tmp_path)
    other = recipe.model_copy(update={"steps": 4})
    with pytest.raises(RecipeDiffers, match="another recipe"), claimed(tmp_path, other):
        raise AssertionError("two recipes could train in one folder")


def test_only_appended_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    lines = AppendedLines(path)
    assert lines.read() == ([], True)
    path.write_text('{"reward": 1}\n{"rew')
    assert lines.read() == ([{"reward": 1}], True)
    assert lines.read() == ([], True)
    with path.open("a") as file:
        file.write('ard": 0}\n')
    assert lines.read() == ([{"reward": 0}], True)


def test_a_replaced_or_truncated_file_is_read_from_its_start(tmp_path: Path) -> None:
    path, other = tmp_path / "metrics.jsonl", tmp_path / "metrics.part"
    path.write_text('{"step": 1}\n{"step": 2}\n')
    lines = AppendedLines(path)
    assert len(lines.read()[0]) == 2
    other.write_text('{"step": 1}\n{"step": 2}\n{"step": 3}\n')
    other.replace(path)
    assert lines.read() == ([{"step": 1}, {"step": 2}, {"step": 3}], False)
    path.write_text('{"step": 1}\n')
    assert lines.read() == ([{"step": 1}], False)
    path.unlink()
    assert lines.read() == ([], False)


def test_a_folder_without_a_run_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", "--watch", str(tmp_path)]) == 1
    assert "has no training run" in capsys.readouterr().err
    assert run(["train", "sql-tiny", "--watch", str(tmp_path)]) == 1
    assert "no recipe" in capsys.readouterr().err
    assert run(["train", "run"]) == 1
    assert "missing RECIPE" in capsys.readouterr().err
