"""The bench of methods: its event, budgets, continuation, verdicts and page, in a tiny form."""

import json
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

import numpy as np

from hexathlon.baselines.learner.batching import Example
from hexathlon.tasks.seeding import generator_for

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
CLAIMS = """
others = ["echo"]
[[setting]]
name = "plain"
title = "Tiny"
about = "two rooms"
budget = 400
knobs = { colours = 4, rooms = 2, horizon = 4, letters = 2, episodes = 16, members = 4 }
[[claim]]
name = "mc"
topic = "Groups"
title = "MC-GRPO is better"
method = "mc_grpo"
setting = "plain"
expect = "higher"
[[claim]]
name = "later"
topic = "Trees"
title = "Untested"
method = "forks"
setting = "plain"
expect = "higher"
missing = "there is no such structure"
"""


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, with a shorter training of the initial policies."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    module, runs = import_module("methods"), import_module("method_run")
    fewer = partial(runs.rooms_policy.fit_novice, steps=4, batch=32)
    monkeypatch.setattr(runs.rooms_policy, "fit_novice", fewer)
    monkeypatch.setattr(module.method_results, "TUNING", (1000,))
    monkeypatch.setattr(module.method_results, "RATES", (1e-3, 4e-3))
    monkeypatch.setattr(runs, "FINAL_EPISODES", 64)
    monkeypatch.setattr(runs, "MARKS", 2)
    return module


@pytest.fixture
def rooms(bench: ModuleType) -> Any:
    return bench.rooms


def small(rooms: Any, /, **changes: Any) -> Any:
    knobs = rooms.Knobs(colours=4, rooms=3, horizon=5, letters=2, episodes=16, members=4)
    return replace(knobs, **changes)


def begun(bench: ModuleType, method: str, budget: int = 10**9, **changes: Any) -> Any:
    """A run that has not taken a step."""
    knobs = small(bench.rooms, **changes)
    setting = bench.Setting("plain", knobs, budget, "plain")
    begin = bench.start(knobs, 0, {})
    return bench.MethodRun(bench.methods()[method], setting, 1e-3, 0, begin)


def test_an_oracle_leaves_every_room_that_can_be_left(rooms: Any) -> None:
    knobs = small(rooms, unsolvable=0.5, distractors=2)
    world, draw = rooms.World(knobs, 0), generator_for("test")
    walks = rooms.Walks(world, np.arange(4), knobs.horizon)
    while len(walks.active):
        walks.step(rooms.oracle, draw)
    assert walks.solved.tolist() == world.solvable.tolist()
    assert 0 < walks.solved.sum() < 4
    assert [s.reward for s in walks.samples(draw)] == walks.solved.astype(float).tolist()
    assert walks.turns[walks.solved].tolist() == [3, 3]
    assert walks.turns[~walks.solved].tolist() == [5, 5]


def test_the_learner_computes_the_log_probabilities_of_the_sampler(bench: ModuleType) -> None:
    run = begun(bench, "grpo", distractors=1)
    for group in run._rollouts():
        zeros = [np.zeros(len(s.ids)) for s in group.samples]
        examples = [Example(s, z, z + 1) for s, z in zip(group.samples, zeros, strict=True)]
        for sample, values in zip(group.samples, run.learner.score(examples), strict=True):
            own = sample.sampled
            assert own.sum() == 2 * len(sample.rewards)
            assert np.abs(values.numpy()[own] - sample.behaviour[own]).max() < 1e-5


def test_forked_rollouts_share_their_first_turns_bit_for_bit(bench: ModuleType) -> None:
    run = begun(bench, "forks")
    groups = run._rollouts()
    drawn = sum(2 * len({node for s in g.samples for node in s.branches}) for g in groups)
    assert run.drawn == drawn < sum(s.tokens for g in groups for s in g.samples)
    shared = 0
    for group in groups:
        for one, other in zip(group.samples, group.samples[1:], strict=False):
            pairs = zip(one.branches, other.branches, strict=False)
            turns = sum(a == b for a, b in pairs)
            stop = run.setting.knobs.prompt + turns * run.setting.knobs.turn_tokens
            assert one.ids[:stop].tolist() == other.ids[:stop].tolist()
            assert one.behaviour[:stop].tolist() == other.behaviour[:stop].tolist()
            shared += turns
    assert shared > 0


def test_hints_are_turns_of_the_oracle_that_are_not_trained(bench: ModuleType) -> None:
    run = begun(bench, "hint_fading")
    groups = run._rollouts()  # untried tasks have the prior's success of 0.5: one of three turns
    plain = [s for g in groups for s in g.samples if s.states[0].endswith("/0")]
    hinted = [s for g in groups for s in g.samples if s.states[0].endswith("/1")]
    assert (len(plain), len(hinted)) == (8, 8)
    begin = run.setting.knobs.prompt + run.setting.knobs.turn_tokens
    assert not any(s.sampled[:begin].any() or s.observed[:begin].any() for s in hinted)
    assert all(s.sampled[begin] and s.turn[begin] == 0 for s in hinted)
    assert {len({s.states[0] for s in g.samples}) for g in groups} == {1}


UNPLAYED = {
    "[generate]\nstructure = { name = 'aepo' }": "generate.structure 'aepo'",
    "[generate]\ncontext = { name = 'guide' }": "generate.context 'guide'",
    "[generate]\nhinted = 0.5\nhint = { name = 'rescue' }": "generate.hinted = 0.5",
    "[generate]\npruning = { name = 'balanced' }": "generate.pruning",
    "[credit]\ntokens = [{ name = 'd3s' }]": "credit.tokens",
    "[credit]\nper_event = true": "credit.per_event",
    "[replay]\nname = 'corrections'": "replay 'corrections'",
    "[replay]\nname = 'external'": "replay 'external'",
    "[asynchrony]\nredundant = 1": "asynchrony.redundant",
}


@pytest.mark.parametrize(("recipe", "part"), UNPLAYED.items(), ids=UNPLAYED.values())
def test_parts_that_the_bench_would_ignore_are_refused(
    bench: ModuleType, tmp_path: Path, recipe: str, part: str
) -> None:
    file = tmp_path / "methods.toml"
    base = "base = \"name = 'rooms'\"\n[[method]]\nname = 'new'\n"
    file.write_text(f"{base}recipe = {json.dumps(recipe)}\n")
    with pytest.raises(ValueError, match=f"'new' has parts that .* cannot play, {part}: "):
        bench.methods(file)


def with_credit(run: Any, **parts: Any) -> Any:
    """The run with other parts of credit."""
    credit = type(run.recipe.credit)(**run.recipe.credit.model_dump() | parts)
    run.recipe = run.recipe.model_copy(update={"credit": credit})
    return run


def test_shapings_read_the_statistics_of_the_run(bench: ModuleType) -> None:
    shaping = {"name": "effort", "parameters": {"running": True}}
    run = with_credit(begun(bench, "grpo", rooms=1, horizon=16), shapings=[shaping])
    groups = run._rollouts()
    assert max(group.rewards.max() for group in groups) == 1.0
    run.known.lengths = {group.task: 1.0 for group in groups}  # all successes are far longer
    assert max(group.rewards.max() for group in run._kept(groups, 0)) == 0.0


def test_an_estimator_whose_streams_would_be_lost_is_refused(bench: ModuleType) -> None:
    run = with_credit(begun(bench, "grpo"), estimator={"name": "rl_plus"})
    with pytest.raises(ValueError, match=r"'rl_plus' gives streams.*got external"):
        run._examples(run._rollouts())


def test_unfinished_groups_go_on_or_are_dropped(bench: ModuleType) -> None:
    kept, dropped = (begun(bench, name, skill=0.9, unknown=0.4) for name in ("april", "april_drop"))
    for run in (kept, dropped):
        for _ in range(4):
            assert len(run._rollouts()) == run.tasks == 4
    assert kept.pending is not None
    assert dropped.pending is None
    left = kept.submitted - 4 * kept.tasks
    assert len(np.unique(kept.pending.group)) == left
    assert dropped.submitted == 4 * 6 > kept.submitted


def test_runs_stay_within_their_budget(bench: ModuleType) -> None:
    run = begun(bench, "grpo", budget=1500)
    row = run.play()
    assert 0 < row["trained"]
    assert row["trained"] + row["drawn"] <= 1500 + 16 * 5 * 2  # a last batch is played, not trained
    assert len(row["curve"]) == 2 + 1
    assert row["curve"][-1] == row["final"]


def test_an_interrupted_comparison_ends_like_an_uninterrupted_one(
    bench: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench.method_results, "LEAST_SEEDS", 2)
    file = tmp_path / "claims.toml"
    file.write_text(CLAIMS)
    words = ["--file", str(file), "--seeds", "2", "--docs", str(tmp_path), "--out"]

    def lines(folder: str) -> list[dict[str, Any]]:
        text = (tmp_path / folder / "results.jsonl").read_text()
        return [{**json.loads(line), "cpu_s": 0} for line in text.splitlines()]

    for more in (["--most", "4"], []):
        bench.main([*words, str(tmp_path / "stopped"), *more])
    bench.main([*words, str(tmp_path / "whole")])
    assert lines("stopped") == lines("whole")
    assert len(lines("whole")) == 3 * (2 + 2)  # three methods, two rates and two seeds
    marks = ("claims", "settings", "others", "catalogue")
    page = "".join(f"<!-- {mark} -->\n<!-- end of {mark} -->\n" for mark in marks)
    (tmp_path / "methods.md").write_text(page)
    bench.main([*words, str(tmp_path / "whole"), "--write"])
    text = (tmp_path / "methods.md").read_text()
    assert "| MC-GRPO is better | " in text
    assert "| Untested |  |  |  |  |  | not run: there is no such structure |" in text
    assert "MC-GRPO is better" in (tmp_path / "methods.svg").read_text()


def outcome(bench: ModuleType, expect: str, values: list[float], margin: float = 0.0) -> str:
    """The verdict on differences of eight seeds, alone among the claims."""
    results = bench.method_results
    claim = results.Claim("c", "t", "c", "echo", "plain", expect, margin=margin)
    names = [str(number) for number in range(8)]
    difference = results.paired_comparison(
        dict(zip(names, values, strict=True)), dict.fromkeys(names, 0.0)
    )
    verdict: str = results.verdict(claim, difference, difference.p_value)
    return verdict


def test_verdicts_follow_the_rule(bench: ModuleType) -> None:
    up = [0.2, 0.25, 0.3, 0.2, 0.22, 0.28, 0.24, 0.21]
    down = [-value for value in up]
    mixed = [0.2, -0.2, 0.1, -0.1, 0.15, -0.15, 0.05, -0.04]
    assert outcome(bench, "higher", up) == "supported"
    assert outcome(bench, "higher", down) == "contradicted"
    assert outcome(bench, "lower", down) == "supported"
    assert outcome(bench, "lower", up) == "contradicted"
    assert outcome(bench, "higher", mixed) == "not supported"
    assert outcome(bench, "equal", up, margin=0.05) == "contradicted"
    assert outcome(bench, "equal", mixed, margin=0.05) == "not supported"
    assert outcome(bench, "equal", mixed, margin=0.2) == "supported"


def test_tokens_saved_are_measured_at_the_level_of_the_other_arm(bench: ModuleType) -> None:
    other = {"curve": [0.0, 0.5, 1.0], "final": 1.0}
    fast = {"curve": [0.0, 1.0, 1.0], "final": 1.0}
    never = {"curve": [0.0, 0.1, 0.2], "final": 0.2}
    measured = bench.method_results.measured
    assert measured("saved", fast, other)[0] == pytest.approx(0.5)  # 0.45 in place of 0.9
    assert measured("saved", never, other)[0] == pytest.approx(1 - 1 / 0.9)
    with pytest.raises(ValueError, match="expected the measure final"):
        measured("speed", fast, other)


def test_the_claims_name_methods_and_settings_that_exist(bench: ModuleType) -> None:
    results = bench.method_results
    claims, settings, methods = results.claims_of(), results.settings_of(), bench.methods()
    assert len({claim.name for claim in claims}) == len(claims)
    for claim in claims:
        assert {method for method, _ in claim.arms} <= set(methods)
        assert {setting for _, setting in claim.arms} <= set(settings)
        assert claim.expect in ("higher", "lower", "equal")
        assert (claim.margin > 0) == (claim.expect == "equal")
    compared = {method for claim in claims for method, _ in claim.arms} | {*results.others_of()}
    assert compared == set(methods)
    assert {table["tuned"] for table in settings.values()} <= set(settings)
