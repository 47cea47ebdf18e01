"""Reward models: margins, scores and a short training run on pairs of known truth."""

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.learner.preference import PreferenceConfig, PreferenceModel, TokenPair
from hexathlon.baselines.training.metrics import read_metrics
from hexathlon.baselines.training.preference import NoPreferences
from hexathlon.baselines.training.recipe import RecipeError, load_recipe, recipe_of
from hexathlon.baselines.training.run import train
from hexathlon.baselines.warmstart.initial import ModelShape, make_model

SMALL = {"vocabulary": 400, "width": 32, "layers": 1, "heads": 2, "kv_heads": 1,
         "feed_forward": 64, "context": 512}  # fmt: skip


def quiet(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
    """Report nothing."""


def model(steps: int = 60, **changes: Any) -> PreferenceModel:
    policy = make_model(ModelShape(**SMALL), 50, 0)
    return PreferenceModel(policy, PreferenceConfig(steps=steps, **changes))


def pairs(count: int, draw: Any) -> list[TokenPair]:
    """Texts of which the better one contains the token 7."""
    made = []
    for _ in range(count):
        text = torch.randint(10, 50, (12,), generator=draw).tolist()
        place = int(torch.randint(0, 12, (1,), generator=draw))
        made.append(TokenPair([*text[:place], 7, *text[place + 1 :]], text, "token"))
    return made


def test_an_untrained_model_prefers_nothing_and_padding_does_not_count():
    reward = model()
    draw = torch.Generator().manual_seed(0)
    assert not reward.gaps(pairs(4, draw)).any()
    torch.nn.init.normal_(reward.head.weight)
    short, long = [3, 4, 5], [9, 8, 7, 6, 5, 4]
    with torch.no_grad():
        together, alone = reward([short, long]), reward([short])
    assert together[0].item() == pytest.approx(alone[0].item(), abs=1e-5)


def test_a_model_learns_what_makes_a_text_better_and_its_margin_grows():
    draw = torch.Generator().manual_seed(1)
    reward = model()
    rows = [reward.update(pairs(16, draw)) for _ in range(60)]
    assert rows[0]["margin"] == 0.0 < rows[-1]["margin"] <= 1.0
    assert (reward.gaps(pairs(200, draw)) > 0).mean() > 0.9
    plain = model(margin=0.0)
    assert all(plain.update(pairs(16, draw))["margin"] == 0.0 for _ in range(3))


def short_recipe(**changes: Any) -> dict[str, Any]:
    recipe = load_recipe("preference-tiny").model_dump(mode="json")
    recipe["policy"]["shape"] |= {**SMALL, "induction": 0, "head_width": 0, "phrases": 0.003}
    recipe["clone"]["demonstrations"] = 64
    recipe["preference"] |= {"pairs": 64, "steps": 3, "batch": 8}
    recipe["evaluation"]["tasks"] = 40
    return {**recipe, **changes}


def test_a_short_run_writes_the_model_and_reports_unseen_pairs_by_act(tmp_path: Path):
    found = train(recipe_of(short_recipe()), tmp_path, quiet)
    assert found["before"].mean == 0.5 and (tmp_path / "reward.pt").exists()
    assert {"before/right", "after/right"} <= set(found)
    losses = [row["loss"] for row in read_metrics(tmp_path / "metrics.jsonl")]
    assert len(losses) == 3 and losses[0] == pytest.approx(0.6931, abs=1e-3)
    again = train(recipe_of(short_recipe()), tmp_path / "again", quiet)
    assert again == found


def test_without_updates_nothing_is_learned(tmp_path: Path):
    found = train(recipe_of(short_recipe(control="no_update")), tmp_path, quiet)
    assert found["after"].mean == 0.5


def test_a_scaled_recipe_keeps_a_pair():
    table = load_recipe("preference-tiny", {"scale": 1e-5}).scaled().preference
    assert table is not None and (table.pairs, table.steps) == (1, 0)


def test_unfit_recipes_are_one_line_errors(tmp_path: Path):
    with pytest.raises(RecipeError, match="set ranks = 1"):
        recipe_of(short_recipe(ranks=2))
    with pytest.raises(RecipeError, match="pairs and batch must be at least 1, got 0 and 16"):
        load_recipe("preference-tiny", {"preference.pairs": 0})
    sql = load_recipe("sql-tiny").model_dump(mode="json")
    with pytest.raises(NoPreferences, match="with pairs, such as `verdicts`"):
        train(recipe_of(short_recipe(tasks=sql["tasks"], evaluation={"tasks": 8})), tmp_path, quiet)
