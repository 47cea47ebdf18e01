"""The table `[learner]`: invalid combinations, and sharded runs of one process."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.training.folder import RecipeDiffers, claimed
from hexathlon.baselines.training.recipe import RecipeError, load_recipe


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learner.reshard": False}, 'set kind = "sharded"'),
        (
            {"learner.kind": "sharded", "learn.optimiser.kind": "muon"},
            'Muon needs whole matrices.*learn.optimiser.kind = "adamw"',
        ),
        (
            {
                "learner.kind": "sharded",
                "credit.estimator": {"name": "gae"},
                "critic": {"trunk": "shared"},
            },
            'critic.trunk = "copy"',
        ),
        (
            {"learner.kind": "sharded", "asynchrony.staleness": 2},
            'ratio \'snapshot\' keeps whole copies.*"a3po" or "none"',
        ),
        ({"learner.kind": "split"}, "learner.kind"),
    ],
)
def test_invalid_combinations_are_rejected(changes, message):
    with pytest.raises(RecipeError, match=message):
        load_recipe("sql-tiny", {"learn.optimiser.kind": "adamw", **changes})


def test_asynchronous_sharded_runs_interpolate_the_proximal_policy():
    changes = {
        "learn.optimiser.kind": "adamw",
        "learner.kind": "sharded",
        "asynchrony.staleness": 2,
        "asynchrony.ratio": "a3po",
    }
    assert load_recipe("sql-tiny", changes).learner_config().objective.proximal == "interpolated"


def test_only_sharded_runs_resume_with_another_number_of_ranks(tmp_path: Path) -> None:
    def recipe(ranks: int, kind: str, seed: int = 0):
        changes = {"learn.optimiser.kind": "adamw", "learner.kind": kind, "ranks": ranks}
        return load_recipe("sql-tiny", {**changes, "seed": seed})

    for kind in ("sharded", "replicated"):
        with claimed(tmp_path / kind, recipe(4, kind)):
            pass
    with claimed(tmp_path / "sharded", recipe(2, "sharded")):
        assert '"ranks": 2' in (tmp_path / "sharded" / "recipe.json").read_text()
    with pytest.raises(RecipeDiffers), claimed(tmp_path / "sharded", recipe(2, "sharded", 1)):
        pass
    with pytest.raises(RecipeDiffers), claimed(tmp_path / "replicated", recipe(2, "replicated")):
        pass
