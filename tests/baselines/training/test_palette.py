"""Runs whose rollouts begin with soft prefixes (Reasoning Palette)."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.algorithms.estimators import all_samples
from hexathlon.baselines.engines.errors import EngineMissing
from hexathlon.baselines.engines.local.loading import load_checkpoint
from hexathlon.baselines.kernels.library import KernelsMissing, kernels
from hexathlon.baselines.learner.batching import Example
from hexathlon.baselines.learner.ranks import ALONE
from hexathlon.baselines.rollout.environments import make_env
from hexathlon.baselines.tokens.soft import is_soft
from hexathlon.baselines.training.backend import IdleBackend
from hexathlon.baselines.training.metrics import read_metrics
from hexathlon.baselines.training.palette import has_palette, make_palette
from hexathlon.baselines.training.recipe import Recipe, RecipeError, load_recipe
from hexathlon.baselines.training.rollouts import stored
from hexathlon.baselines.training.run import train
from hexathlon.baselines.training.start import load_reference, load_start
from hexathlon.baselines.training.trainer import Trainer
from support import dice  # noqa: F401 - registers its source
from support.method_recipes import part
from support.registered_parts import SHAPE, calls_of, tiny_recipe

PALETTE = {"share": 0.5, "tokens": 3, "latent": 4, "pairs": 24, "fit_steps": 40, "warmup_steps": 4}
CLONE = {"demonstrations": 64, "settings": {"steps": 60, "batch": 16}}
SIZE = {"groups": 2, "members": 6, "max_tokens": 12}
KEPT = ("start", "palette", "palette.safetensors")


def quiet(*told: Any) -> None:
    """Report nothing."""


def recipe_with(palette: dict[str, Any] | None = None, **changes: Any) -> Recipe:
    tables = {"clone": CLONE, "rollout": SIZE, **changes}
    return tiny_recipe(palette={**PALETTE, **(palette or {})}, **tables)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    """A rank is a core, as in `train`; with several threads, sums round differently."""
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run before its first step."""
    folder = tmp_path_factory.mktemp("made")
    load_start(recipe_with(), folder, quiet, ALONE)
    return folder


@contextmanager
def trainer_in(folder: Path, recipe: Recipe, made: Path, **more: Any) -> Iterator[Any]:
    """Open a trainer that begins as the run in `made`."""
    folder.mkdir(exist_ok=True)
    for name in KEPT:
        copy = shutil.copytree if (made / name).is_dir() else shutil.copy
        if not (folder / name).exists():
            copy(made / name, folder / name)
    model, tokenizer = load_start(recipe, folder, quiet, ALONE)
    reference = load_reference(recipe, folder)
    trainer = Trainer(recipe, model, tokenizer, make_env, folder, reference, **more)
    try:
        trainer.resume()
        yield trainer
    finally:
        trainer.close()


def trained_groups(monkeypatch: pytest.MonkeyPatch, trainer: Any) -> tuple[list[Any], Any]:
    """Take a step; return the groups that it trained on, and its metrics."""
    calls = calls_of(monkeypatch)
    metrics = trainer.advance()
    (call,) = [call for call in calls if call.registry == "ESTIMATORS"]
    return call.arguments[0], metrics


def steered(sample: Any) -> bool:
    return bool(is_soft(sample.ids).any())


def told(metrics: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in metrics.items() if not name.startswith("seconds/")}


@pytest.mark.parametrize("switch", ["on", "off"])
def test_rollouts_are_trained_with_the_prefix_that_they_were_sampled_with(
    made, tmp_path, monkeypatch, switch
) -> None:
    """Log-probabilities of engine and learner agree on every sampled token, kernels on or off."""
    if switch == "off":
        monkeypatch.setenv("HEXATHLON_KERNELS", "off")
    kernels.cache_clear()
    try:
        if switch == "on":
            kernels()
        with trainer_in(tmp_path / "run", recipe_with(), made) as trainer:
            first = {n: w.clone() for n, w in trainer.components.model.state_dict().items()}
            groups, metrics = trained_groups(monkeypatch, trainer)
            learner = trainer.components.learner
            learner.model.load_state_dict(first)
            samples = all_samples(groups)
            examples = [Example(s, np.zeros(len(s.ids)), s.sampled * 1.0) for s in samples]
            found = [score.numpy() for score in learner.score(examples)]
    except KernelsMissing as error:
        pytest.skip(str(error))
    finally:
        kernels.cache_clear()
    for sample, score in zip(samples, found, strict=True):
        assert np.abs(score - sample.behaviour)[sample.sampled].max() < 1e-4
    marks = [[steered(sample) for sample in group.samples] for group in groups]
    assert any(len(set(row)) == 2 for row in marks)  # with and without, in one group
    assert metrics["palette/share"] == 0.5 and metrics["sampler_gap"] < 1e-5
    assert metrics["palette/drawn"] == pytest.approx(np.mean(marks))
    prefixes = [tuple(s.ids[:3]) for s in samples if steered(s)]
    assert len(set(prefixes)) == len(prefixes) and all(is_soft(np.array(prefixes)).all(1))
    for sample in samples:
        assert is_soft(sample.ids).sum() in (0, 3)
        assert not (is_soft(sample.ids) & (sample.sampled | sample.observed)).any()


def test_a_share_of_0_is_a_run_without_a_palette_bit_for_bit(tmp_path) -> None:
    runs = []
    for name, tables in (("none", {}), ("share 0", {"palette": {**PALETTE, "share": 0.0}})):
        recipe, folder = tiny_recipe(clone=CLONE, rollout=SIZE, **tables), tmp_path / name
        folder.mkdir()
        model, tokenizer = load_start(recipe, folder, quiet, ALONE)
        assert not has_palette(folder)
        trainer = Trainer(recipe, model, tokenizer, make_env, folder)
        try:
            trainer.resume()
            metrics = [told(trainer.advance()) for _ in range(2)]
        finally:
            trainer.close()
        runs.append((metrics, model.state_dict()))
    assert runs[0][0] == runs[1][0]
    assert all(torch.equal(runs[0][1][name], runs[1][1][name]) for name in runs[0][1])


@pytest.mark.parametrize(
    ("schedule", "shares"),
    [("linear", [0.8, 0.6, 0.4, 0.2, 0, 0]), ("two_phase", [0.8, 0.8, 0.8, 0.8, 0, 0])],
)
def test_the_share_of_prefixes_decays(made, tmp_path, schedule, shares) -> None:
    recipe = recipe_with({"share": 0.8, "schedule": schedule}, rollout={**SIZE, "groups": 4})
    with trainer_in(tmp_path / "run", recipe, made) as trainer:
        rows = [trainer.advance() for _ in shares]
    assert [row["palette/share"] for row in rows] == pytest.approx(shares)
    drawn = [row["palette/drawn"] for row in rows]
    assert all(abs(a - b) < 0.35 for a, b in zip(drawn, shares, strict=True)) and drawn[0] > 0
    assert drawn[4:] == [0, 0] and "palette/reward" not in rows[4] and "palette/reward" in rows[0]


def test_a_run_resumes_bit_for_bit(made, tmp_path) -> None:
    broken = []
    for _ in range(3):
        with trainer_in(tmp_path / "broken", recipe_with(), made) as trainer:
            broken.append(told(trainer.advance()))
            trainer.save()
    with trainer_in(tmp_path / "whole", recipe_with(), made) as trainer:
        assert [told(trainer.advance()) for _ in range(3)] == broken


def test_the_palette_depends_on_the_recipe_alone(made, tmp_path) -> None:
    """Another folder gets the same bytes, another seed other ones."""
    shutil.copytree(made / "start", tmp_path / "start")
    load_start(recipe_with(), tmp_path, quiet, ALONE)
    for name in ("palette.safetensors", "palette/model.safetensors"):
        assert (tmp_path / name).read_bytes() == (made / name).read_bytes()
    (tmp_path / "palette.safetensors").unlink()
    load_start(recipe_with(seed=1), tmp_path, quiet, ALONE)
    assert (tmp_path / "palette.safetensors").read_bytes() != (
        made / "palette.safetensors"
    ).read_bytes()


def test_the_warm_up_changes_the_policy_and_keeps_its_kind(made) -> None:
    start, learned = (
        load_checkpoint(made / name).model.state_dict() for name in ("start", "palette")
    )
    assert start.keys() == learned.keys()
    assert any(not torch.equal(start[name], learned[name]) for name in start)


def test_without_a_warm_up_the_policy_starts_as_it_was(made, tmp_path) -> None:
    shutil.copytree(made / "start", tmp_path / "start")
    make = recipe_with({"warmup_steps": 0})
    load_start(make, tmp_path, quiet, ALONE)
    start, kept = (
        load_checkpoint(tmp_path / name).model.state_dict() for name in ("start", "palette")
    )
    assert all(torch.equal(start[name], kept[name]) for name in start)


def test_evaluations_have_no_prefix(made, tmp_path) -> None:
    recipe = recipe_with({"share": 1.0})
    with trainer_in(tmp_path / "run", recipe, made) as trainer:
        assert trainer.advance()["palette/drawn"] == 1.0
        requests, engine = [], trainer.components.opened.engine
        generate = engine.generate
        engine.generate = lambda request: (requests.append(request), generate(request))[1]
        trainer.measure(1)
    assert requests and not any(is_soft(np.array(request.ids)).any() for request in requests)


def test_rollouts_that_split_share_their_prefix(made, tmp_path, monkeypatch) -> None:
    recipe = recipe_with(
        {"share": 1.0},
        generate={"structure": part("forked", after=[1], width=2)},
        credit={"estimator": part("tree_groups")},
    )
    with trainer_in(tmp_path / "run", recipe, made) as trainer:
        groups, _ = trained_groups(monkeypatch, trainer)
    for group in groups:
        prefixes = {s.key.rpartition("#")[2]: tuple(s.ids[:3]) for s in group.samples}
        pairs = [(prefixes.get(str(n)), prefixes.get(str(n + 1))) for n in range(0, 6, 2)]
        assert all(a == b for a, b in pairs if a and b) and len({a for a, _ in pairs}) == 3


def test_contexts_are_cut_out_and_prefixes_stay(made, tmp_path, monkeypatch) -> None:
    recipe = recipe_with(
        {"share": 1.0},
        generate={"context": part("strategies", texts=["one", "two"], dropout=0.5)},
        credit={"estimator": part("nudge"), "filters": [part("hint_free")]},
    )
    calls = calls_of(monkeypatch)
    with trainer_in(tmp_path / "run", recipe, made) as trainer:
        trainer.advance()
        decode = trainer._renderer.tokenizer.decode
    (call,) = [call for call in calls if call.name == "hint_free"]
    for before, after in zip(call.arguments[0], call.result, strict=True):
        assert {bool(sample.hints) for sample in before.samples} == {True, False}
        prompts = set()
        for hinted, plain in zip(before.samples, after.samples, strict=True):
            for begin, end in hinted.hints:
                assert hinted.context in decode(hinted.ids[begin:end].tolist())
            assert tuple(plain.ids[:3]) == tuple(hinted.ids[:3]) and steered(plain)
            first = int(np.argmax(plain.sampled))
            prompts.add(tuple(plain.ids[3:first]))
        assert len(prompts) == 1


def test_critics_references_and_snapshots_read_prefixes(made, tmp_path) -> None:
    """With a reference that is the initial policy, the first divergence is 0."""
    recipe = recipe_with(
        credit={"estimator": part("gae")},
        critic={"optimiser": {"learning_rate": 1e-3}},
        learn={"optimiser": {"learning_rate": 1e-3}, "objective": {"beta": 0.1}},
        replay={"name": "recent", "parameters": {"share": 0.5}},
    )
    with trainer_in(tmp_path / "run", recipe, made) as trainer:
        rows = [trainer.advance() for _ in range(2)]
        trainer.save()
    assert rows[0]["palette/drawn"] > 0 and rows[0]["loss/divergence"] == pytest.approx(0, abs=1e-7)
    assert rows[1]["loss/divergence"] > 1e-6
    with trainer_in(tmp_path / "run", recipe, made) as trainer:
        assert trainer.step == 2


def test_adapters_are_trained_with_prefixes(made, tmp_path, monkeypatch) -> None:
    pytest.importorskip("peft", reason="pip install 'hexathlon[lora]'")
    recipe = recipe_with()
    policy = recipe.policy.model_copy(update={"lora_rank": 2})
    with trainer_in(
        tmp_path / "run", recipe.model_copy(update={"policy": policy}), made
    ) as trainer:
        rows = [trainer.advance() for _ in range(2)]
    assert all(row["palette/drawn"] > 0 and row["sampler_gap"] < 1e-4 for row in rows)


@pytest.mark.parametrize(
    ("tables", "cause"),
    [
        ({"engine": {"kind": "vllm"}}, "'vllm': it takes no embeddings"),
        ({"asynchrony": {"staleness": 1}}, "an asynchronous run: rollouts of several steps"),
        ({"swarm": {"share": True}}, "a swarm: peers read rollouts as text"),
        ({"swarm": {"peers": ["runs/other"]}}, "a swarm: peers read rollouts as text"),
        ({"learner": {"kind": "sharded"}}, "reads prefixes is not on one rank"),
        ({"generate": {"structure": part("arpo")}}, "the structure arpo: a branch"),
        ({"palette": {"share": 1.5}}, "palette.share"),
        ({"palette": {"share": -0.1}}, "palette.share"),
        ({"palette": {"share": 0.5, "until": 0}}, "palette.until"),
        ({"palette": {"share": 0.5, "tokens": 0}}, "palette.tokens"),
        ({"palette": {"share": 0.5, "tokens": 257}}, "palette.tokens"),
        ({"palette": {"share": 0.5, "latent": 0}}, "palette.latent"),
        ({"palette": {"share": 0.5, "beta": -1}}, "palette.beta"),
        ({"palette": {"share": 0.5, "pairs": 1}}, "palette.pairs"),
        ({"palette": {"share": 0.5, "schedule": "cosine"}}, "palette.schedule"),
        ({"palette": {"warm_up": 3}}, "palette has no setting 'warm_up'"),
    ],
)
def test_bad_values_and_other_executors_are_refused(tables, cause) -> None:
    with pytest.raises(RecipeError, match=cause):
        tiny_recipe(**{"palette": {"share": 0.5}, **tables})


def test_an_engine_in_another_process_is_refused(made, tmp_path) -> None:
    recipe = recipe_with()
    with (
        pytest.raises(EngineMissing, match="palette.share needs the engine in the trainer's"),
        trainer_in(tmp_path / "run", recipe, made, backend=IdleBackend()),
    ):
        pass


def test_a_whole_run_stores_its_prefixes_and_ends_with_a_plain_checkpoint(tmp_path) -> None:
    tasks = {"env": "harness/Toy-v0", "source": "toy", "turns": 5}
    recipe = tiny_recipe(
        tasks=tasks,
        steps=2,
        clone=CLONE,
        credit={"estimator": part("reinforce", baseline=0.5)},
        rollout={**SIZE, "keep_tokens": True},
        palette={**PALETTE, "until": 1.0},
        evaluation={"tasks": 4},
    )
    phases: list[str] = []
    results = train(recipe, tmp_path / "run", lambda phase, *rest: phases.append(phase))
    assert {"before", "after"} <= set(results) and phases.count("palette") == 5
    rows = read_metrics(tmp_path / "run" / "metrics.jsonl")
    assert [row["palette/share"] for row in rows[1:3]] == [0.5, 0.25]
    played = [each for path in sorted((tmp_path / "run" / "rollouts").glob("step-*"))
              for each in stored(path)]  # fmt: skip
    roots = [each.tokens.nodes[0] for each in played if each.tokens is not None]
    soft = [root for root in roots if is_soft(root.ids[0])]
    assert 0 < len(soft) < len(roots) and {root.kind for root in roots} == {"prompt"}
    assert len({root.ids[:3] for root in soft}) == len(soft)
    model = load_checkpoint(tmp_path / "run" / "policy").model
    assert type(model.get_input_embeddings()) is torch.nn.Embedding
    again = train(recipe, tmp_path / "run", lambda phase, *rest: phases.append(phase))
    assert again == results and phases.count("palette") == 5


def test_two_ranks_share_a_palette(tmp_path) -> None:
    """They warm up, play and train what one rank does, up to the order of additions."""
    adam = {"learning_rate": 1e-3, "eps": 1e-4}
    cloned = {
        "demonstrations": 64,
        "settings": {"steps": 2, "optimiser": {**adam, "kind": "adamw"}},
    }
    changes = {
        "steps": 1, "save_every": 1, "tasks.templates": ["filter_rows"], "clone": cloned,
        "policy.shape": {**SHAPE, "vocabulary": 400, "context": 1024}, "learn.optimiser": adam,
        "rollout": {"groups": 2, "members": 3, "max_tokens": 8}, "evaluation.tasks": 1,
        "credit": {"estimator": part("reinforce", baseline=0.5)}, "palette": PALETTE,
        "evaluation.every": 0,
    }  # fmt: skip
    runs = [tmp_path / str(ranks) for ranks in (1, 2)]
    for ranks, run in zip((1, 2), runs, strict=True):
        train(load_recipe("sql-tiny", {**changes, "ranks": ranks}), run, quiet)
    for name in ("palette", "policy"):
        one, two = (load_checkpoint(run / name).model.state_dict() for run in runs)
        assert max(float((one[key] - two[key]).abs().max()) for key in one) <= 1e-5
    one, two = (read_metrics(run / "metrics.jsonl")[1] for run in runs)
    assert one["palette/drawn"] == two["palette/drawn"] > 0
    assert one["tokens/drawn"] == two["tokens/drawn"] and two["sampler_gap"] < 1e-5


@pytest.mark.parametrize("latent", [4, 2 * SHAPE["width"]])
def test_the_fit_reports_its_loss(made, tmp_path, latent) -> None:
    from hexathlon.baselines.warmstart.demonstrations import Demonstrator, Noise

    shutil.copytree(made / "start", tmp_path / "start")
    recipe, rows = recipe_with({"warmup_steps": 0, "latent": latent}), []
    with Demonstrator("harness/Toy-v0", make_env, Noise()) as demonstrator:
        (table,) = recipe.tasks
        played = [demonstrator.demonstrate(task) for task in table.addresses("train", 12)]
    make_palette(recipe, tmp_path, played, lambda *row: rows.append(row))
    ((phase, step, steps, metrics),) = rows
    assert (phase, step, steps) == ("palette", 0, 0)
    assert metrics["palette/reconstruction"] > 0 and metrics["palette/divergence"] > 0
