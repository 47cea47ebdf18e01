"""The training loop calls every registered component, and each has its documented effect."""

import gzip
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.algorithms.samples import turns_given
from hexathlon.baselines.engines.errors import EngineMissing
from hexathlon.baselines.pipeline.catalogue import SHAPINGS
from hexathlon.baselines.pipeline.generation import HintFailed
from hexathlon.baselines.training.backend import IdleBackend
from hexathlon.baselines.training.recipe import RecipeError
from hexathlon.baselines.training.start import make_start
from support import dice  # noqa: F401 - registers its source
from support.method_recipes import METHODS, part
from support.registered_parts import REGISTRIES, calls_of, named_parts, tiny_recipe, trainer_of
from support.toy import ToySource

GAE = {"critic": {"optimiser": {"learning_rate": 1e-3}}}
TASKS = {"env": "harness/Toy-v0", "source": "dice", "turns": 5}


def credit(name: str, parameters: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A recipe's credit table."""
    return {"credit": {"estimator": {"name": name, "parameters": parameters or {}}, **more}}


def learn(bounds: str = "clip", **objective: Any) -> dict[str, Any]:
    """A recipe's learn table."""
    return {
        "learn": {
            "optimiser": {"learning_rate": 1e-3},
            "bounds": {"name": bounds},
            "objective": objective,
        }
    }


def stale(late: str, **more: Any) -> dict[str, Any]:
    """A recipe's asynchrony table."""
    return {"asynchrony": {"staleness": 1, "late": late, **more}}


def grown(estimator: str, structure: str, **parameters: Any) -> dict[str, Any]:
    """A recipe whose rollouts grow as a tree."""
    return {**credit(estimator), "generate": {"structure": part(structure, **parameters)}}


SMALL = {"groups": 2, "members": 4, "max_tokens": 12}
FORKED = {"structure": part("forked", after=[1, 2], width=2)}
RECIPES: list[dict[str, Any]] = [
    {},
    {
        **credit("dr_grpo", filters=[part("varied")]),
        **learn("absolute", surrogate="cispo", correction="tis", aggregation="sequence_mean"),
        "generate": {"sampler": part("uniform"), "candidates": 3},
    },
    {
        **credit("rloo", filters=[part("reachable", low=0, high=1)]),
        **learn("bapo", surrogate="gspo", correction="mask", beta=0.1, divergence="k1"),
        "generate": {"sampler": part("frontier", target=1, temperature=0.2), "candidates": 3},
    },
    {
        **credit("lite_ppo", filters=[part("finished", least=1)]),
        **learn(surrogate="topr", correction="icepop", aggregation="constant", beta=0.1),
        "generate": {"sampler": part("thompson"), "candidates": 3},
    },
    {
        **credit("mc_grpo", filters=[part("most_variance", keep=3)]),
        **learn(surrogate="reinforce", correction="dppo_tv", beta=0.1, divergence="k2"),
        "generate": {"allocator": part("variance", least=1, most=7)},
    },
    {
        **credit("max_rl", filters=[part("successes", least=1)]),
        **learn(surrogate="sft", correction="chunk_band", aggregation="sequence_sum"),
        "replay": {"name": "recent", "parameters": {"share": 0.5}},
    },
    {
        **credit("reinforce", {"baseline": 1}, shapings=[part("fapo", penalty=1), part("moa")]),
        **learn(beta=0.1, divergence="r_k3"),
        "replay": {"name": "rescue"},
    },
    {
        **credit("ipa", shapings=[part("overlong", limit=30, cushion=20)]),
        **learn(surrogate="ipa"),
        "generate": {"hint": part("fading", most=1)},
    },
    {**credit("reinforce_pp"), "generate": {"hint": part("rescue", share=1, below=1)}},
    {**credit("gigpo"), **stale("pace", ratio="snapshot")},
    {**credit("gae"), **GAE, **stale("token_mask", window=2.0, ratio="a3po")},
    {**credit("gae_turns"), **GAE, **stale("withhold", over_provision=1.5, update="abort")},
    {**credit("tree_steps"), "generate": FORKED, **stale("drop", ratio="ewma")},
    {**credit("tree_groups"), "generate": FORKED},
    {
        **credit(
            "polychromic",
            {"size": 2},
            shapings=[part("effort"), part("tool_gain"), part("mode_cost")],
        ),
        "generate": {
            "sampler": part("gdro"),
            "candidates": 3,
            "allocator": part("dars", least=1, most=7),
            "horizon": part("growing", first=2, every=1),
        },
    },
    {
        **credit("segpo"),
        "generate": {
            "sampler": part("solving_progress"),
            "candidates": 3,
            "allocator": part("uncertainty", least=1, most=7),
        },
    },
    {**credit("xrpo")},
    {**credit("portool"), "generate": FORKED},
    {**credit("ui_s1")},
    {**credit("hifpo")},
    *METHODS,
    grown("tree_steps", "random_branches", chains=0.5),
    grown("aepo", "arpo"),
    grown("aepo", "aepo"),
    grown("tree_steps", "trace"),
    grown("tree_steps", "tree_ps"),
    grown("tree_groups", "treepo"),
    grown("polychromic", "vines"),
    grown("grpo", "latr", least=0),
    {**grown("entropy_damped", "ettrl"), **stale("pace")},
    grown("entropy_damped", "echo_ttrl", by="state"),
    grown("grpo", "reex"),
    grown("grpo", "cleaner", similar=0),
    grown("grpo", "scope", late=0),
    {**grown("reinforce", "intervention"), **learn(surrogate="sft")},
]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A policy cloned from demonstrations of the toy event."""
    place = tmp_path_factory.mktemp("start")
    cloned = {"demonstrations": 64, "settings": {"steps": 60, "batch": 16}}
    make_start(tiny_recipe(clone=cloned), place, lambda *told: None)
    yield place


def weights(trainer: Any) -> bytes:
    return b"".join(
        value.numpy().tobytes()
        for _, value in sorted(trainer.components.model.state_dict().items())
    )


def told(metrics: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in metrics.items() if not name.startswith("seconds/")}


def test_every_part_has_a_recipe() -> None:
    named = set().union(*(named_parts(tiny_recipe(**changes)) for changes in RECIPES))
    assert named == {(kind, name) for kind, registry in REGISTRIES.items() for name in registry}


@pytest.mark.parametrize("changes", RECIPES, ids=lambda changes: "+".join(changes) or "defaults")
def test_loop_calls_the_components_of_a_recipe(changes, start, tmp_path, monkeypatch) -> None:
    recipe = tiny_recipe(**changes)
    with trainer_of(recipe, start, tmp_path) as trainer:
        before, calls = weights(trainer), calls_of(monkeypatch)
        trainer.advance()
        assert {(call.registry, call.name) for call in calls} == named_parts(recipe)
        (credited,) = [call.result for call in calls if call.registry == "ESTIMATORS"]
        if any(advantage.any() for advantage in credited.advantages) and recipe.critic is None:
            assert weights(trainer) != before


def groups_of(trainer: Any, calls: list[Any], estimator: str) -> list[Any]:
    """Run a step and return the groups that the estimator received."""
    calls.clear()
    trainer.advance()
    (credited,) = [call for call in calls if call.name == estimator]
    return credited.arguments[0]


@pytest.mark.parametrize("name", ["frontier", "thompson"])
def test_samplers_prefer_tasks_solved_half_of_the_time(name, start, tmp_path) -> None:
    recipe = tiny_recipe(
        tasks={**TASKS, "pool": 12}, generate={"sampler": part(name), "candidates": 6}
    )
    with trainer_of(recipe, start, tmp_path) as trainer:
        generation = trainer.components.generation
        pool = recipe.tasks[0].addresses("train", 12)
        generation.known.counts = {task: (400.0, 0.0) for task in pool}
        half = set(pool[3:5])
        generation.known.counts |= {task: (200.0, 200.0) for task in half}
        assert set(generation.tasks(0, 0)) == half
        plain = tiny_recipe(tasks={**TASKS, "pool": 12}, generate={"candidates": 6})
        generation._config = plain.generate
        assert set(generation.tasks(0, 0)) != half


def test_statistics_count_only_rollouts_without_hints(start, tmp_path) -> None:
    with trainer_of(tiny_recipe(), start, tmp_path / "plain") as trainer:
        trainer.advance()
        known = trainer.components.generation.known.counts
        assert len(known) == 2
        assert all(sum(counts) == 4 for counts in known.values())
    hinted = tiny_recipe(generate={"hint": part("fading")})
    with trainer_of(hinted, start, tmp_path / "hinted") as trainer:
        trainer.advance()
        assert trainer.components.generation.known.counts == {}


def test_variance_gives_groups_of_different_sizes(start, tmp_path, monkeypatch) -> None:
    recipe = tiny_recipe(
        tasks={**TASKS, "pool": 2}, generate={"allocator": part("variance", least=1)}
    )
    with trainer_of(recipe, start, tmp_path) as trainer:
        sure, open_ = recipe.tasks[0].addresses("train", 2)
        trainer.components.generation.known.counts = {sure: (500.0, 0.0), open_: (250.0, 250.0)}
        groups = groups_of(trainer, calls_of(monkeypatch), "grpo")
        assert {group.task: len(group.samples) for group in groups} == {sure: 1, open_: 7}


@pytest.mark.parametrize("estimator", ["tree_steps", "tree_groups"])
def test_forked_rollouts_share_their_first_turns(estimator, start, tmp_path, monkeypatch) -> None:
    recipe = tiny_recipe(**credit(estimator), generate=FORKED)
    with trainer_of(recipe, start, tmp_path) as trainer:
        calls = calls_of(monkeypatch)
        groups = groups_of(trainer, calls, estimator)
        (credited,) = [call for call in calls if call.name == estimator]
    shared = 0
    for group in groups:
        for one, other in combinations(group.samples, 2):
            same = [a == b for a, b in zip(one.branches, other.branches, strict=False)]
            common = sum(same)
            assert same == [True] * common + [False] * (len(same) - common)
            if common:
                shared += 1
                end = int(np.flatnonzero(one.sampled & (one.turn == common - 1)).max()) + 1
                for name in ("ids", "sampled", "behaviour", "turn"):
                    assert (getattr(one, name)[:end] == getattr(other, name)[:end]).all()
    assert shared >= 6
    # A turn that several rollouts hold is trained once.
    samples = [sample for group in groups for sample in group.samples]
    pairs = zip(samples, credited.result.weights, strict=True)
    assert any((weight[sample.sampled] < 1).any() for sample, weight in pairs)


def test_hinted_turns_are_not_trained(start, tmp_path, monkeypatch) -> None:
    recipe = tiny_recipe(generate={"hint": part("fading", most=0.5)})
    with trainer_of(recipe, start, tmp_path) as trainer:
        groups = groups_of(trainer, calls_of(monkeypatch), "grpo")
        plans = trainer.components.generation.plans(trainer.components.generation.tasks(0, 0), 0, 0)
        hinted = trainer.components.complete(
            trainer.components.generation.hinted(plans, trainer.components.executor)
        )
        turns = {plan.task: plan.start.turns for plan in hinted}
        decode = trainer._renderer.tokenizer.decode
        assert {group.task for group in groups} == set(turns)
        for group in groups:
            for sample in group.samples:
                first = int(np.flatnonzero(sample.sampled)[0])
                assert int(sample.turn[first]) == turns[group.task] >= 1
                assert not sample.sampled[:first].any()
                assert decode(sample.ids[:first].tolist()).count("add") >= turns[group.task]


def test_a_share_of_a_group_can_be_hinted(start, tmp_path, monkeypatch) -> None:
    recipe = tiny_recipe(
        **credit("ad_hint"), generate={"hint": part("fading", most=0.5), "hinted": 0.5}
    )
    with trainer_of(recipe, start, tmp_path) as trainer:
        groups = groups_of(trainer, calls_of(monkeypatch), "ad_hint")
        known = trainer.components.generation.known
        for group in groups:
            given = [turns_given(sample) > 0 for sample in group.samples]
            assert given == [False, False, True, True]
            ((share, won, lost),) = known.hinted[group.task]
            assert 0 < share <= 0.5 and won + lost == 2
            assert sum(known.counts[group.task]) == 2
        trainer.save()
        kept = dict(known.hinted)
    with trainer_of(recipe, start, tmp_path) as trainer:
        assert trainer.components.generation.known.hinted == kept
    with pytest.raises(RecipeError, match="generate.hinted below 1 needs"):
        tiny_recipe(generate={"structure": FORKED["structure"], "hinted": 0.5})


def test_stopped_rollouts_are_absent_and_the_head_learns(start, tmp_path, monkeypatch) -> None:
    recipe = tiny_recipe(
        **credit("survivors"),
        generate={"pruning": part("hopeless", below=1, chance=0.5)},
        rollout={"groups": 3, "members": 6, "max_tokens": 12},
    )
    broken = []
    for _ in range(2):  # the second trainer resumes after two steps
        with trainer_of(recipe, start, tmp_path / "broken") as trainer:
            broken += [told(trainer.advance()) for _ in range(2)]
            trainer.save()
            head = trainer.components.collector.pruner.head.state()
    with trainer_of(recipe, start, tmp_path / "whole") as trainer:
        calls = calls_of(monkeypatch)
        groups = groups_of(trainer, calls, "survivors")
        whole = [told(trainer.advance()) for _ in range(3)]
        assert trainer.components.collector.pruner.head.state() == head
    assert whole == broken[1:] and any(head)
    assert all(row["rollouts/pruned"] > 0 for row in broken)
    samples = [sample for group in groups for sample in group.samples]
    assert len(samples) == 18 - broken[0]["rollouts/pruned"]
    assert {sample.started for sample in samples} == {6}
    for sample in samples:  # those of one turn ended before the decision
        assert sample.survival == (0.5 if len(sample.rewards) > 1 else 1.0)
    with pytest.raises(RecipeError, match="generate.pruning compares the rollouts"):
        tiny_recipe(generate={"pruning": part("balanced")}, **stale("pace"))
    with pytest.raises(RecipeError, match="generate.pruning needs rollouts that do not fork"):
        tiny_recipe(generate={"pruning": part("balanced"), "structure": FORKED["structure"]})


def test_the_temperature_by_entropy_follows_the_last_step(start, tmp_path) -> None:
    """Its scale is that of the trained tokens, survives a resumption, and changes the rollouts."""
    recipe = tiny_recipe(**credit("hapo", tokens=[part("hapo")]), rollout={**SMALL, "heat": 0.5})
    scales, told_broken = [], []
    for _ in range(2):  # the second trainer resumes after one step
        with trainer_of(recipe, start, tmp_path / "broken") as trainer:
            scales.append(trainer.components.opened.engine.entropy_scale)
            told_broken.append(told(trainer.advance()))
            trainer.save()
    with trainer_of(recipe, start, tmp_path / "whole") as trainer:
        whole = [told(trainer.advance()) for _ in range(2)]
    assert scales[0] is None and scales[1].lowest < scales[1].median < scales[1].highest
    assert told_broken == whole
    plain = tiny_recipe(**credit("hapo", tokens=[part("hapo")]), rollout=SMALL)
    with trainer_of(plain, start, tmp_path / "plain") as trainer:
        cold = [told(trainer.advance()) for _ in range(2)]
    assert cold[0] == whole[0] and cold[1] != whole[1]
    with pytest.raises(RecipeError, match="rollout.heat needs a local engine and a synchronous"):
        tiny_recipe(rollout={"heat": 0.1}, **stale("pace"))
    elsewhere = trainer_of(recipe, start, tmp_path / "elsewhere", IdleBackend())
    with pytest.raises(EngineMissing, match="needs the engine in the trainer's process"), elsewhere:
        pass


def test_contexts_are_read_and_cut_out_again(start, tmp_path, monkeypatch) -> None:
    """They are in the engine's tokens, but in no record, and in no token that is trained on."""
    recipe = tiny_recipe(
        **credit("grpo", filters=[part("hint_free")]),
        generate={
            "context": part("guide", below=1, plain=0.5, share=0.7),
            "structure": part("forked", after=[1], width=2),
        },
        rollout={"groups": 2, "members": 8, "max_tokens": 12},
    )
    with trainer_of(recipe, start, tmp_path) as trainer:
        calls = calls_of(monkeypatch)
        groups = groups_of(trainer, calls, "grpo")
        (filtered,) = [call for call in calls if call.name == "hint_free"]
        known, decode = trainer.components.generation.known, trainer._renderer.tokenizer.decode
    text = ""
    for before, after in zip(filtered.arguments[0], groups, strict=True):
        plain = [sample for sample in before.samples if not sample.context]
        hinted = [sample for sample in before.samples if sample.context]
        assert plain and hinted and known.hinted[before.task][0][0] == 0.7
        assert sum(known.counts[before.task]) == len(plain)
        text = hinted[0].context
        assert text.startswith("A solution begins with:\n") and '"add"' in text
        for sample in hinted:
            ((begin, end),) = sample.hints
            assert "solution" in decode(sample.ids[begin:end].tolist())
        prompts = set()
        for sample in after.samples:
            assert not sample.hints
            prompts.add(tuple(sample.ids[: int(np.flatnonzero(sample.sampled)[0])].tolist()))
        assert len(prompts) == 1, "without contexts, all prompts are the same"
    for path in (tmp_path / "rollouts").iterdir():
        assert "A solution begins" not in gzip.decompress(path.read_bytes()).decode()


def test_parts_that_do_not_fit_are_errors() -> None:
    with pytest.raises(RecipeError, match="independent or forked, got treepo"):
        tiny_recipe(generate={"structure": part("treepo"), "context": part("modes")})
    with pytest.raises(RecipeError, match="asyppo compares the heads of a critic"):
        tiny_recipe(**credit("gae", tokens=[part("asyppo")]), critic={})
    with pytest.raises(RecipeError, match="there is no token rule 'nothing'"):
        tiny_recipe(**credit("grpo", tokens=[part("nothing")]))


def test_examples_are_other_tasks_with_their_solutions(start, tmp_path, monkeypatch) -> None:
    recipe = tiny_recipe(
        **credit("grpo", filters=[part("hint_free")]),
        generate={"context": part("examples", below=1, plain=0.5)},
    )
    with trainer_of(recipe, start, tmp_path) as trainer:
        calls = calls_of(monkeypatch)
        groups_of(trainer, calls, "grpo")
        (filtered,) = [call for call in calls if call.name == "hint_free"]
        known = trainer.components.generation.known
    for group in filtered.arguments[0]:
        texts = {sample.context for sample in group.samples} - {""}
        (text,) = texts
        assert "Bring the counter to" in text and text.endswith(
            '{"name": "submit", "arguments": {}}'
        )
        assert sum(known.counts[group.task]) == 2, "rollouts with an example do not count"


def test_hinted_rollouts_fork_after_the_policys_own_turns(start, tmp_path, monkeypatch) -> None:
    forked = {"structure": part("forked", after=[1], width=4), "hint": part("fading", most=0.5)}
    recipe = tiny_recipe(**credit("tree_steps"), generate=forked)
    with trainer_of(recipe, start, tmp_path) as trainer:
        groups = groups_of(trainer, calls_of(monkeypatch), "tree_steps")
    assert any(len(group.samples) == 4 for group in groups)


def test_recent_groups_are_replayed(start, tmp_path, monkeypatch) -> None:
    recipe = tiny_recipe(**credit("grpo"), replay=part("recent", share=0.5))
    with trainer_of(recipe, start, tmp_path) as trainer:
        calls = calls_of(monkeypatch)
        first = groups_of(trainer, calls, "grpo")
        assert len(first) == 2
        kept = [group for group in first if group.varies]
        assert kept
        second = groups_of(trainer, calls, "grpo")
        assert [any(group is old for old in kept) for group in second[2:]] == [True] * len(kept)


def test_a_stored_success_rescues_a_failed_group(start, tmp_path, monkeypatch) -> None:
    """Before the filter `varied`, which drops groups that failed as a whole."""
    recipe = tiny_recipe(
        **credit("grpo", filters=[part("varied")], shapings=[part("fapo")]),
        tasks={**TASKS, "pool": 1},
        rollout={"groups": 1, "members": 2, "max_tokens": 12, "tries": 40},
        replay=part("rescue"),
    )
    with trainer_of(recipe, start, tmp_path) as trainer:
        trainer.advance()
        assert trainer.components.replay.memory.successes
        monkeypatch.setitem(SHAPINGS._parts, "fapo", lambda groups: list(map(failed, groups)))
        (group,) = groups_of(trainer, calls_of(monkeypatch), "grpo")
        assert sorted(group.rewards) == [0.0, 1.0]
        assert trainer.components.replay.memory.successes
        (rescued,) = [sample for sample in group.samples if sample.reward == 1.0]
        assert rescued.version[rescued.sampled].max() == 0
        assert not set(rescued.branches) & {
            name for sample in group.samples if sample is not rescued for name in sample.branches
        }


def failed(group: Any) -> Any:
    """Return a group without its successes."""
    samples = [replace(sample, rewards=(0.0,) * len(sample.rewards)) for sample in group.samples]
    return replace(group, samples=tuple(samples))


@pytest.mark.parametrize("replay", ["recent", "rescue"])
def test_statistics_and_memory_resume_bit_for_bit(replay, start, tmp_path) -> None:
    recipe = tiny_recipe(
        tasks={**TASKS, "pool": 3},
        rollout={"groups": 2, "members": 2, "max_tokens": 12},
        replay=part(replay),
        generate={
            "sampler": part("frontier"),
            "candidates": 2,
            "allocator": part("variance", least=1),
            "hint": part("rescue", below=0.4),
        },
    )
    with trainer_of(recipe, start, tmp_path / "whole") as trainer:
        whole = [told(trainer.advance()) for _ in range(8)]
        end, known = weights(trainer), trainer.components.generation.known.counts
    broken = []
    for _ in range(2):
        with trainer_of(recipe, start, tmp_path / "broken") as trainer:
            broken += [told(trainer.advance()) for _ in range(4)]
            trainer.save()
            again, counts = weights(trainer), trainer.components.generation.known.counts
    assert broken == whole
    assert again == end
    assert list(counts.items()) == list(known.items())
    assert sum(row["samples/replayed"] for row in whole) > 0


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"generate": {"sampler": part("fronteer")}}, "no task sampler 'fronteer'; there are"),
        ({"generate": {"hint": part("fading", least=1)}}, "no parameter least; it has most"),
        ({"generate": {"hint": part("fading", most=2.0)}}, "must be a share from 0 to 1, got 2"),
        ({"generate": {"hint": part("fading", most="all")}}, "most of the hint .* is 'all'"),
        ({"generate": {"sampler": part("frontier", temperature=0)}}, "must be positive, got 0"),
        ({"generate": {"allocator": part("variance", least=5)}}, "4 rollouts is out of range"),
        ({"generate": {"structure": part("forked", width=3)}}, "must be a multiple of 3, .* got 4"),
        ({"generate": {"structure": part("forked", after=[0])}}, "expected turns of at least 1"),
        ({"generate": {"structure": part("forked", after=1)}}, "after of the rollout structure"),
        ({"replay": part("recent", share=1.0)}, "at least 0 and less than 1, got 1.0"),
        ({"learn": {"bounds": part("clap")}}, "no bounds rule 'clap'; there are"),
        ({"replay": part("resent")}, "there is no replay 'resent'; there are"),
        (
            {"tasks": {**TASKS, "pool": 1}},
            "at least the 2 tasks of a step, got 1",
        ),
    ],
)
def test_invalid_values_give_one_line_errors_on_reading(changes, complaint) -> None:
    with pytest.raises(RecipeError, match=complaint) as raised:
        tiny_recipe(**changes)
    assert "\n" not in str(raised.value)


def test_failing_oracle_gives_no_hint(start, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(ToySource, "oracle", lambda self, task: self.policies(task)["dump"])
    recipe = tiny_recipe(
        tasks={**TASKS, "source": "toy"}, generate={"hint": part("rescue", below=1.0)}
    )
    with trainer_of(recipe, start, tmp_path) as trainer:
        with pytest.raises(HintFailed, match="the oracle of toy/.* did not solve it"):
            trainer.advance()


def test_a_resumed_run_grows_the_same_trees(start, tmp_path) -> None:
    recipe = tiny_recipe(**grown("aepo", "arpo"))
    with trainer_of(recipe, start, tmp_path / "whole") as trainer:
        trainer.advance()
        trainer.advance()
        whole = weights(trainer)
    with trainer_of(recipe, start, tmp_path / "parts") as trainer:
        trainer.advance()
        trainer.save()
    with trainer_of(recipe, start, tmp_path / "parts") as trainer:
        assert trainer.step == 1
        trainer.advance()
        assert weights(trainer) == whole


def test_a_tree_has_no_redundant_rollouts() -> None:
    with pytest.raises(RecipeError, match="arpo grows a group as one tree"):
        tiny_recipe(**grown("grpo", "arpo"), asynchrony={"redundant": 1})
