"""Our own training loop, with a Tinker endpoint as its engine and learner."""

import asyncio
import copy
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from bridges.contract import installed

if not installed("tinker", "0.38"):
    pytest.skip("scripts/bridges tinker", allow_module_level=True)
pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

import tinker
from bridges.contract import EVENT
from bridges.learned import HalfLearned

from hexathlon.baselines.agents.checkpoint import SETTINGS, open_policy
from hexathlon.baselines.algorithms.objectives import Objective
from hexathlon.baselines.algorithms.samples import Sample
from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.baselines.bridges.tinker.app import TinkerApp
from hexathlon.baselines.bridges.tinker.service import TinkerService
from hexathlon.baselines.engines.errors import ServerError, UnknownModel
from hexathlon.baselines.engines.local.loading import load_checkpoint
from hexathlon.baselines.engines.tinker import TinkerEngine
from hexathlon.baselines.learner.batching import Example
from hexathlon.baselines.learner.learner import Learner, LearnerConfig
from hexathlon.baselines.learner.optimiser import OptimiserConfig
from hexathlon.baselines.learner.tinker import TinkerLearner
from hexathlon.baselines.tokens.conversation import TokenConversation
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.tokens.requests import TokenRequest, TokenSampling
from hexathlon.baselines.training.recipe import RecipeError, recipe_of
from hexathlon.baselines.training.run import train
from hexathlon.baselines.warmstart.initial import save_policy
from support.gateways import served
from support.policies import untrained_policy


@pytest.fixture(autouse=True)
def no_telemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINKER_TELEMETRY", "0")
    monkeypatch.setenv("TINKER_API_KEY", "tml-any")


def endpoint(path: Path, name: str, out: Path | None = None) -> TinkerApp:
    policy = open_policy(path, "auto", 8)
    return TinkerApp(TinkerService(policy, load_checkpoint(path).model, name, path, out))


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return untrained_policy(tmp_path_factory.mktemp("driver") / "tiny")


@pytest.fixture
def client(checkpoint: Path) -> Iterator[Any]:
    with served(endpoint(checkpoint, "tiny")) as url:
        service = tinker.ServiceClient(base_url=url)
        yield service.create_lora_training_client("tiny", rank=0)


def example(length: int, seed: int) -> Example:
    drawn = np.random.default_rng(seed)
    sampled = (np.arange(length) >= 4) & (np.arange(length) != length - 2)
    behaviour = np.where(sampled, -drawn.random(length) * 6, 0.0)
    sample = Sample(
        ids=drawn.integers(5, 200, length),
        sampled=sampled,
        observed=np.arange(length) == length - 2,
        behaviour=behaviour,
        turn=np.where(sampled, 0, -1),
        rewards=(1.0,),
    )
    return Example(sample, drawn.normal(size=length), sampled.astype(float))


@pytest.mark.parametrize(("objective", "minibatches"), [
    (Objective(), 1),
    (Objective(), 2),
    (Objective(surrogate="cispo", proximal="behaviour"), 1),
    (Objective(surrogate="gspo", aggregation="sequence_mean"), 1),
    (Objective(surrogate="reinforce", observation_weight=0.1), 1),
], ids=["ppo", "minibatches", "cispo", "gspo", "observations"])  # fmt: skip
def test_updates_equal_those_of_our_own_learner(
    client: Any, checkpoint: Path, objective: Objective, minibatches: int
) -> None:
    config = LearnerConfig(
        optimiser=OptimiserConfig(learning_rate=1e-2, warmup=2),
        objective=objective,
        minibatches=minibatches,
    )
    batch = [example(9, 1), example(14, 2), example(7, 3)]
    own = Learner(copy.deepcopy(load_checkpoint(checkpoint).model).eval(), config, 4)
    theirs = TinkerLearner(client, config, 4)
    before = own.score(batch)
    for _ in range(2):
        own_metrics, metrics = own.update(batch), theirs.update(batch)
    shared = own_metrics.keys() & metrics.keys()
    assert {name: metrics[name] for name in shared} == pytest.approx(
        {name: own_metrics[name] for name in shared}, rel=1e-3, abs=1e-5
    )
    assert {"learning_rate"} < shared
    pairs = zip(own.score(batch), theirs.score(batch), before, batch, strict=True)
    for ours, other, old, each in pairs:
        mask = each.sample.sampled
        assert other.numpy()[mask] == pytest.approx(ours.numpy()[mask], abs=1e-3)
        assert abs(other.numpy() - old.numpy())[mask].max() > 0.05


def test_settings_that_need_more_than_log_probabilities_are_refused(client: Any) -> None:
    with pytest.raises(ValueError, match=r"rollout.temperature cannot be used"):
        TinkerLearner(client, LearnerConfig(temperature=0.7), 1)
    table = {"name": "t", "engine": {"kind": "tinker", "urls": ["http://h"], "model": "m"}}
    with pytest.raises(RecipeError, match="policy.checkpoint"):
        recipe_of(table)


class SilentSampler:
    """Stands in for an endpoint that keeps its log-probabilities, which ours never does."""

    async def sample_async(self, **_: Any) -> Any:
        sequence = tinker.SampledSequence("length", "0", tokens_np=np.array([1, 2]))
        return SimpleNamespace(sequences=[sequence])


def test_samples_without_log_probabilities_are_an_error() -> None:
    engine = TinkerEngine(context=16)
    engine.use(SilentSampler(), 1)
    with pytest.raises(ServerError, match="no log-probabilities"):
        asyncio.run(engine.generate(TokenRequest([3], TokenSampling(max_tokens=2))))


def test_an_unknown_base_model_ends_the_run(checkpoint: Path, tmp_path: Path) -> None:
    with served(endpoint(checkpoint, "tiny")) as url:
        engine = {"kind": "tinker", "urls": [url], "model": "other"}
        table = {"name": "t", "policy": {"checkpoint": str(checkpoint)}, "engine": engine}
        with pytest.raises(UnknownModel, match="has tiny, not 'other'"):
            train(recipe_of(table), tmp_path / "run", lambda *_: None)


def test_the_guides_recipe_is_one() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "guides" / "tinker.md").read_text()
    table = tomllib.loads(text.partition("```toml\n")[2].partition("```")[0])
    recipe = recipe_of({"name": "guide", **table})
    assert (recipe.engine.kind, recipe.engine.model) == ("tinker", "base")


def test_a_run_plays_learns_saves_and_resumes(tmp_path: Path) -> None:
    known = HalfLearned(TaskListing(EVENT, level="tiny").row("train", 0)["task"])
    renderer = ChatRenderer(known.tokenizer)
    prompt = TokenConversation(renderer).open(known.messages)
    answers = [[*renderer.encode(text), renderer.end_of_turn] for text in known.answers]
    model = known.model(prompt, answers)
    base, out = tmp_path / "half", tmp_path / "run"
    save_policy(base, model, known.tokenizer)
    (base / SETTINGS).write_text(json.dumps({"dialect": "json"}))
    with served(endpoint(base, "half", tmp_path / "saved")) as url:
        table = {
            "name": "at-an-endpoint", "steps": 2, "save_every": 1,
            "tasks": {"level": "tiny", "pool": 1, "turns": 1},
            "policy": {"checkpoint": str(base), "dialect": "json"},
            "rollout": {"groups": 1, "members": 16, "max_tokens": 64},
            "learn": {"optimiser": {"learning_rate": 3e-3}},
            "evaluation": {"tasks": 2},
            "engine": {"kind": "tinker", "urls": [url], "model": "half"},
        }  # fmt: skip
        rows: list[dict[str, float]] = []
        recipe = recipe_of(table)
        results = train(recipe, out, lambda phase, step, steps, metrics: rows.append(metrics))
        assert results.keys() == {"before", "after"} and len(rows) == 2
        assert 0.0 < rows[0]["reward"] < 1.0
        assert all(row["engine/difference"] < 1e-4 for row in rows)
        again = train(recipe, out, lambda *_: pytest.fail("there is no step left"))
        assert again == results and (out / "curve.html").exists()
        path = json.loads((out / "tinker.json").read_text())["path"]
    trained = load_checkpoint(tmp_path / "saved" / path.removeprefix("tinker://")).model
    before, after = (known.chances(each, prompt, answers) for each in (model, trained))
    assert after[0] > before[0]
