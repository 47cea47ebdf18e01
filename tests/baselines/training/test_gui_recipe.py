"""The documented recipe on recorded GUI sessions."""

import re
import tomllib
from pathlib import Path

from hexathlon.baselines.training.recipe import recipe_of
from support.recordings import write_recordings

NOTES = Path(__file__).resolve().parents[3] / "docs" / "notes" / "gui_public.md"


def test_the_documented_recipe_is_valid_on_recordings(tmp_path, monkeypatch):
    monkeypatch.setenv("HEXATHLON_DATA", str(tmp_path))
    write_recordings(tmp_path / "gui_replay")
    text, _ = re.findall(r"```toml\n(.*?)```", NOTES.read_text("utf-8"), re.DOTALL)
    recipe = recipe_of(tomllib.loads(text), {"evaluation.tasks": 4})
    assert recipe.credit.estimator.name == "ui_s1"
    assert recipe.tasks[0].addresses("train", 4)[0] == "gui-replay/trajectory/medium/train/00000"


def test_the_documented_recipe_is_valid_on_mined_tasks():
    _, text = re.findall(r"```toml\n(.*?)```", NOTES.read_text("utf-8"), re.DOTALL)
    recipe = recipe_of(tomllib.loads(text), {"evaluation.tasks": 4})
    assert recipe.credit.estimator.name == "hifpo"
    assert recipe.tasks[0].addresses("train", 4)[0] == "gui-mined/walk/tiny/train/00000"
